"""The functions of ``scipy.special``, taken from the extension module that contains them.

The package also prepares other array libraries and docstrings, which takes .17 of the .18 CPU s of
its import; every command that computes would pay for this. The functions are the same objects, or
give the same bytes (tests/stats/test_special.py).
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType

import scipy  # type: ignore[import-untyped, unused-ignore]

_PACKAGE = "scipy.special"
_NAMES = [
    "betainc",
    "betaincinv",
    "betaln",
    "gammaincc",
    "gammainccinv",
    "gammaln",
    "ndtr",
    "ndtri",
    "stdtr",
    "stdtrit",
    "xlog1py",
    "xlogy",
]


def _functions() -> ModuleType:
    """Imports the extension module alone; imports the whole package if it is loaded already, if
    another thread could see the temporary replacement of it, or if scipy is built differently.
    """
    if _PACKAGE in sys.modules or threading.active_count() > 1:
        return import_module(_PACKAGE)
    stand_in = ModuleType(_PACKAGE)
    stand_in.__path__ = [str(Path(scipy.__file__).parent / "special")]
    sys.modules[_PACKAGE] = stand_in
    try:
        functions = import_module(f"{_PACKAGE}._ufuncs")
    except (ImportError, AttributeError):
        functions = stand_in
    finally:  # whoever imports the package gets it whole: a part that is there is not put into it
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{_PACKAGE}.")]:
            del sys.modules[name]
    return (
        functions if all(hasattr(functions, name) for name in _NAMES) else import_module(_PACKAGE)
    )


_FUNCTIONS = _functions()

betainc, betaincinv, betaln = _FUNCTIONS.betainc, _FUNCTIONS.betaincinv, _FUNCTIONS.betaln
gammaincc, gammainccinv = _FUNCTIONS.gammaincc, _FUNCTIONS.gammainccinv
gammaln = _FUNCTIONS.gammaln
ndtr, ndtri, stdtr, stdtrit = (
    _FUNCTIONS.ndtr,
    _FUNCTIONS.ndtri,
    _FUNCTIONS.stdtr,
    _FUNCTIONS.stdtrit,
)
xlog1py, xlogy = _FUNCTIONS.xlog1py, _FUNCTIONS.xlogy
