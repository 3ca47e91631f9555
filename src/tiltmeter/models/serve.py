"""Where `tiltmeter.planted.server` was in version 0.1. This address goes with version 0.3."""

import runpy
import warnings

warnings.warn(
    "python -m tiltmeter.models.serve is tiltmeter serve now, or "
    "python -m tiltmeter.planted.server",
    DeprecationWarning,
    stacklevel=1,
)
if __name__ == "__main__":
    runpy.run_module("tiltmeter.planted.server", run_name="__main__", alter_sys=True)
