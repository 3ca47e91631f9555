"""The functions of ``scipy.special``, out of the extension module that holds them.

The package around it prepares other array libraries and docstrings: .17 of the .18 CPU s that it
takes to import, which every verb that computes would pay. The functions are the same objects or
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
    """The extension module by itself; all of the package where it is there already, where another
    thread could meet its stand-in, or where scipy is built otherwise.
    """
    if _PACKAGE in sys.modules or threading.active_count() > 1:
        return import_module(_PACKAGE)
    stand_in = ModuleType(_PACKAGE)
    stand_in.__path__ = [str(Path(scipy.__file__).parent / "special")]
    sys.modules[_PACKAGE] = stand_in
    try:
        found = import_module(f"{_PACKAGE}._ufuncs")
    except (ImportError, AttributeError):
        found = stand_in
    finally:  # whoever imports the package gets it whole: a part that is there is not put into it
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{_PACKAGE}.")]:
            del sys.modules[name]
    return found if all(hasattr(found, name) for name in _NAMES) else import_module(_PACKAGE)


_FOUND = _functions()

betainc, betaincinv, betaln = _FOUND.betainc, _FOUND.betaincinv, _FOUND.betaln
gammaincc, gammainccinv = _FOUND.gammaincc, _FOUND.gammainccinv
gammaln = _FOUND.gammaln
ndtr, ndtri, stdtr, stdtrit = _FOUND.ndtr, _FOUND.ndtri, _FOUND.stdtr, _FOUND.stdtrit
xlog1py, xlogy = _FOUND.xlog1py, _FOUND.xlogy
