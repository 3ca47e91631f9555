"""The user's cache: what can be fetched or made again.

Beside fetched weights it holds texts that were computed once, each under a key of all that it
depends on. They are kept here and not in a run's folder: a run that somebody else hands over is
computed from its labels, whatever its folder says.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

CACHE = "TILTMETER_CACHE"
KEEP = "TILTMETER_KEEP"  # "0": nothing that was computed is kept or looked up
MOST_TEXTS = 400  # that are kept; then the older half goes


def cache() -> Path:
    """The folder that TILTMETER_CACHE names, else the system's place for caches; it need not
    exist.
    """
    named = os.environ.get(CACHE)
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("tiltmeter"))


def keeps() -> bool:
    """False where the environment says that nothing is kept or looked up."""
    return os.environ.get(KEEP) != "0"


def read_text(key: str) -> str | None:
    """The text that was kept under a key; None where there is none, or it cannot be read."""
    if not key or not keeps():
        return None
    try:
        return zlib.decompress(_texts().joinpath(key).read_bytes()).decode()
    except (OSError, ValueError, zlib.error):
        return None


def keep_text(key: str, text: str) -> None:
    """Keeps a text under a key, the name of a file. Where the cache cannot be written to, nothing
    is kept.
    """
    if not key or not keeps():
        return
    folder = _texts()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{key}.{os.getpid()}"
        part.write_bytes(zlib.compress(text.encode(), 1))
        part.replace(folder / key)
        _forget_oldest(folder)


def key_of(*options: str) -> str:
    """The key of a text that depends on these options and on what is installed."""
    return hashlib.sha256("\n".join((installation(), *options)).encode()).hexdigest()[:32]


def _texts() -> Path:
    return cache() / "computed"


def _forget_oldest(folder: Path) -> None:
    there = list(os.scandir(folder))
    if len(there) > MOST_TEXTS:
        there.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in there[: MOST_TEXTS // 2]:
            Path(entry.path).unlink(missing_ok=True)


@lru_cache
def installation() -> str:
    """Returns a text that changes with the installation: the sizes and dates of the package's own
    files, and the dates of the folders of other packages.
    """
    marks = [f"{size} {date}" for size, date in _files(str(Path(__file__).parents[1]))]
    for place in sys.path:
        if place and Path(place) != Path.cwd():
            with suppress(OSError):
                marks.append(f"{place} {Path(place).stat().st_mtime_ns}")
    return "\n".join((sys.version, *marks))


def _files(folder: str) -> list[tuple[int, int]]:
    """(bytes, date) of every file below a folder but compiled ones."""
    found: list[tuple[int, int]] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            found += _files(entry.path)
        else:
            status = entry.stat()
            found.append((status.st_size, status.st_mtime_ns))
    return found
