"""The user's cache: files that can be fetched or made again.

Beside fetched weights it holds computed texts, each under a key of everything that it depends on.
They lie here and not in the run's folder, so that the sender of a run cannot plant a text in it:
results are computed from the labels.
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
KEEP = "TILTMETER_KEEP"  # "0": computed texts are neither stored nor looked up
MOST_TEXTS = 400  # beyond which the older half is deleted


def cache() -> Path:
    """Returns the cache folder, TILTMETER_CACHE or the system's; it may not exist."""
    folder_name = os.environ.get(CACHE)
    if folder_name:
        return Path(folder_name).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("tiltmeter"))


def keeps() -> bool:
    """True unless the environment turns the cache of texts off."""
    return os.environ.get(KEEP) != "0"


def read_text(key: str) -> str | None:
    """Returns the text stored under a key; None if it is missing or unreadable."""
    if not key or not keeps():
        return None
    try:
        return zlib.decompress(_texts().joinpath(key).read_bytes()).decode()
    except (OSError, ValueError, zlib.error):
        return None


def keep_text(key: str, text: str) -> None:
    """Stores a text under a key (its file's name); does nothing if the cache is read-only."""
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
    """Makes the key of a text that depends on these options and on the installation."""
    return hashlib.sha256("\n".join((installation(), *options)).encode()).hexdigest()[:32]


def _texts() -> Path:
    return cache() / "computed"


def _forget_oldest(folder: Path) -> None:
    entries = list(os.scandir(folder))
    if len(entries) > MOST_TEXTS:
        entries.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in entries[: MOST_TEXTS // 2]:
            Path(entry.path).unlink(missing_ok=True)


@lru_cache
def installation() -> str:
    """Returns a text that changes with the installation: the sizes and dates of the package's own
    files, and the dates of the folders of other packages.
    """
    marks = [f"{size} {date}" for size, date in _files(str(Path(__file__).parents[1]))]
    for folder in sys.path:
        if folder and Path(folder) != Path.cwd():
            with suppress(OSError):
                marks.append(f"{folder} {Path(folder).stat().st_mtime_ns}")
    return "\n".join((sys.version, *marks))


def _files(folder: str) -> list[tuple[int, int]]:
    """Lists (bytes, date) of every file below a folder, except compiled ones."""
    files: list[tuple[int, int]] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            files += _files(entry.path)
        else:
            status = entry.stat()
            files.append((status.st_size, status.st_mtime_ns))
    return files
