"""Atomic writing of files: whole or not at all, and never through a link that a stranger left."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from . import NO_LINK

_NO_NAME = re.compile(r"[^\w.-]+")


def file_stem(*names: str) -> str:
    """Makes a safe file name, without suffix, from names that a stranger may have given."""
    return "_".join(_NO_NAME.sub("-", name) for name in names if name)


def write_whole(path: Path, text: str, errors: str = "strict") -> None:
    """Writes a text in UTF-8 atomically, replacing the file. errors: of `str.encode`."""
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
