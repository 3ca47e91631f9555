"""Where `tiltmeter.protocols.protext` was in version 0.1. This address goes with version 0.3."""

import runpy
import warnings

warnings.warn(
    "python -m tiltmeter.corpus is python -m tiltmeter.protocols.protext now",
    DeprecationWarning,
    stacklevel=1,
)
if __name__ == "__main__":
    runpy.run_module("tiltmeter.protocols.protext", run_name="__main__", alter_sys=True)
