"""The user's cache: what can be fetched or made again."""

from __future__ import annotations

import os
from pathlib import Path

CACHE = "TILTMETER_CACHE"


def cache() -> Path:
    """The folder that TILTMETER_CACHE names, else the system's place for caches; it need not
    exist.
    """
    named = os.environ.get(CACHE)
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("tiltmeter"))
