"""Where `tiltmeter.models.http.connection` was in version 0.1. It goes with version 0.3."""

import warnings

from .http.connection import Connection

__all__ = ["Connection"]
warnings.warn(
    "tiltmeter.models.connection is tiltmeter.models.http.connection now",
    DeprecationWarning,
    stacklevel=2,
)
