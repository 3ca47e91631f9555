"""Files of a run, each stored once under the hash of its content: `blobs/ab/HASH.SUFFIX`, in a
folder named after the first two digits of the hash, so that with a million files a folder holds
4,000. Older runs keep their files directly in `blobs/`; new files go into such folders there too.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from contextlib import suppress
from pathlib import Path

from .. import images
from ..errors import StoreError
from ..records import blob_name
from ..system import intake, sync_file
from .damage import translate_errors

FOLDER = "blobs"
NAME = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")


class ChangedFile(StoreError):
    """Raised for a file whose content differs from what was stored under its name."""


def place_of(run: Path, name: str) -> Path:
    """Returns the path of a stored file (blob) in a run's folder, whether or not it exists."""
    older = run / FOLDER / name
    return older if older.is_file() else run / FOLDER / name[:2] / name


def read_blob(run: Path, name: str) -> bytes:
    """Reads a file by its name. Raises StoreError if it is missing, if the name is not a valid blob
    name, or if the content is not what was stored under this name.
    """
    if not NAME.fullmatch(name):
        raise StoreError(
            f"{run} is damaged at outputs.blob: {name[:60]!r} cannot name a stored file. "
            "Restore it from a copy."
        )
    path = place_of(run, name)
    if path.is_symlink() or path.parent.is_symlink():
        raise StoreError(
            f"{path} was not read, because it is a symbolic link. Put the file itself in its place."
        )
    with translate_errors(path):
        content = intake.read_bytes(path, images.MOST_BYTES)
    if not name.startswith(blob_name(content, ".")):
        raise ChangedFile(
            f"{path} is not what was stored: its content was changed. Restore it from a copy."
        )
    return content


def write_blob(run: Path, content: bytes, suffix: str) -> str:
    """Stores a file unless it is stored already; returns its name.

    The content is written to a temporary file, synced and then renamed, so that a name always
    stands for complete content, even after a power cut.
    """
    name = blob_name(content, suffix)
    path = place_of(run, name)
    if path.parent.is_symlink():
        raise StoreError(
            f"{path.parent} is a symbolic link, so nothing was written. Replace it by a real "
            "folder."
        )
    with translate_errors(path):
        if path.is_file() and path.stat().st_size == len(content):
            return name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{name}.{os.getpid()}-{threading.get_ident()}.part")
        try:
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                sync_file(file.fileno())
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise
    return name


def names(run: Path) -> list[str]:
    """Lists the names of a run's stored files (blobs), sorted."""
    files = {path.name for pattern in ("*", "*/*") for path in (run / FOLDER).glob(pattern)}
    return sorted(name for name in files if NAME.fullmatch(name))


def link_blob(source: Path, run: Path, name: str) -> bool:
    """Adds a file of one run to another by a hard link, or by a copy if linking fails. False if the
    other run has the file already.
    """
    old_path, new_path = place_of(source, name), place_of(run, name)
    with translate_errors(new_path):
        if new_path.is_file() and new_path.stat().st_size == old_path.stat().st_size:
            return False
        new_path.parent.mkdir(parents=True, exist_ok=True)
        part = new_path.with_name(f"{name}.{os.getpid()}-{threading.get_ident()}.part")
        part.unlink(missing_ok=True)
        try:
            os.link(old_path, part)
        except OSError:  # another disk, or a file system without links
            _copy(old_path, part)
        part.replace(new_path)
    return True


def _copy(old: Path, new: Path) -> None:
    """Copies a file; removes an incomplete copy if that fails (full disk)."""
    try:
        shutil.copyfile(old, new)
    except OSError:
        new.unlink(missing_ok=True)
        raise
