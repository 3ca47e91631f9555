"""Small pictures for the grid, made at the first request and kept in memory, never in a run."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from ... import images
from ...errors import StoreError, UsageError
from ...store.blobs import FOLDER, place_of
from ...system import intake

BLOB = re.compile(r"[0-9a-f]{32}\.(png|jpg|webp|gif|bin)")
TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "bin": "application/octet-stream",
}
SIDE_PIXELS = 384  # of the longer side: twice the default height, for dense screens
MOST_BYTES = 64_000_000  # that are kept; a thumbnail has 5 to 30 KB


def content(folder: Path, name: str) -> tuple[str, bytes]:
    """Reads (media type, bytes) of a file in a run's `blobs/`. UsageError for any other name."""
    if not BLOB.fullmatch(name):
        raise UsageError("This is not the name of a stored file.")
    home = Path(os.path.realpath(folder)) / FOLDER
    path = Path(os.path.realpath(place_of(folder, name)))
    if path not in (home / name, home / name[:2] / name):
        raise UsageError("This file lies outside the run.")
    try:
        return TYPES[name.rpartition(".")[2]], intake.read_bytes(path)
    except OSError as error:
        raise StoreError(f"{name} cannot be read: {error.strerror or error}.") from None


class Thumbnails:
    """A cache of small pictures, which drops the least recently used ones if it is full."""

    def __init__(self, room: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[tuple[Path, str], bytes] = OrderedDict()
        self._room, self._used, self._lock = room, 0, Lock()

    def small(self, folder: Path, name: str) -> bytes:
        """Returns a small JPEG of a picture. Raises as `content`, or Unusable if it is none."""
        key = (folder, name)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        jpeg = images.thumbnail(content(folder, name)[1], SIDE_PIXELS)[1]
        with self._lock:
            if key not in self._kept and len(jpeg) <= self._room:
                self._kept[key] = jpeg
                self._used += len(jpeg)
            while self._used > self._room:
                self._used -= len(self._kept.popitem(last=False)[1])
        return jpeg

    @property
    def used(self) -> int:
        """The size of the cache in bytes."""
        return self._used
