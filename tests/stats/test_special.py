"""The functions out of scipy's extension module, against `scipy.special` itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "tiltmeter"

# In a process of its own: here the whole package is long there.
_CODE = """
import sys
import numpy as np
from tiltmeter.stats import special as ours
assert "scipy.special" not in sys.modules
import scipy.special as whole

shares, many = np.linspace(0.001, 0.999, 97), np.geomspace(1e-3, 1e5, 97)
arguments = {
    "betaincinv": (many, many[::-1], shares), "betaln": (many, many[::-1]),
    "betainc": (many, many[::-1], shares), "gammaincc": (many, many[::-1]),
    "gammainccinv": (many, shares), "gammaln": (many,),
    "ndtr": (np.log(many),), "ndtri": (shares,), "stdtr": (many, np.log(many)),
    "stdtrit": (many, shares), "xlog1py": (many, -shares), "xlogy": (many, shares),
}
assert sorted(arguments) == ours._NAMES
for name, given in arguments.items():
    assert getattr(ours, name)(*given).tobytes() == getattr(whole, name)(*given).tobytes(), name
assert whole.logsumexp([0.0, 0.0]) == np.log(2) and whole._ufuncs.ndtri is ours.ndtri
with whole.errstate(all="raise"):  # which reaches into all parts of the package
    assert ours.ndtr(0.0) == 0.5
"""


def test_no_other_module_imports_the_whole_of_scipy() -> None:
    importing = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^(?:from|import) scipy", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert importing == ["stats/special.py"]


def test_the_same_bytes_and_the_whole_package_imports_after() -> None:
    subprocess.run([sys.executable, "-c", _CODE], check=True)
