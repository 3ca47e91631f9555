"""An old address, for one version and with a warning: rows of estimates are made in rows.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from ..records import Estimate
from .rows import estimate_row


def __getattr__(name: str) -> Callable[..., Estimate]:
    if name != "_row":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    message = "tiltmeter.analyse.kinds._row is now tiltmeter.analyse.rows.estimate_row."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return estimate_row
