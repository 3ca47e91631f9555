"""Files that are written whole or not at all, and never through a link that a stranger left."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from . import NO_LINK


def write_whole(path: Path, text: str, errors: str = "strict") -> None:
    """Writes a text in UTF-8, in place of what is there. errors: of `str.encode`."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with suppress(FileNotFoundError):
        part.unlink()
    try:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o666)
        with os.fdopen(file, "w", encoding="utf-8", errors=errors, newline="\n") as lines:
            lines.write(text)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
