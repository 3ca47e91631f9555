"""Published data that tests read beside the repository, and that is not in it.

It lies in ../shared/data of the clone, or in the folder that SHARED_DATA names. Tests that need it are
skipped elsewhere, and the end of a test run says how many, by file (conftest.py).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SHARED_DATA") or ROOT.parent / "shared" / "data")
WANTS = "published data that is not in the repository: "


def needs(name: str) -> pytest.MarkDecorator:
    """Skips a test unless the file or folder is there."""
    return pytest.mark.skipif(not (DATA / name).exists(), reason=WANTS + name)


def published(name: str) -> Path:
    """Returns the path of a file or folder; skips the test unless it is there."""
    if not (DATA / name).exists():
        pytest.skip(WANTS + name)
    return DATA / name
