"""Files of a run, each stored once under the hash of its content: `blobs/HASH.SUFFIX`."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from .database import translate_errors

FOLDER = "blobs"


def read_blob(run: Path, name: str) -> bytes:
    """The content of a file by its name. StoreError where it is not there."""
    path = run / FOLDER / name
    with translate_errors(path):
        return path.read_bytes()


def write_blob(run: Path, content: bytes, suffix: str) -> str:
    """Stores a file unless it is there already; returns its name.

    It is written beside its place and then renamed, so that a name stands for whole content.
    """
    name = sha256(content).hexdigest()[:32] + suffix
    path = run / FOLDER / name
    if not path.exists():
        with translate_errors(path):
            path.parent.mkdir(exist_ok=True)
            part = path.with_name(f"{name}.{os.getpid()}.part")
            part.write_bytes(content)
            part.replace(path)
    return name
