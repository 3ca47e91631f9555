"""Safe reading of files that a stranger may have made or named: only ordinary files of a bounded
size, inside the folder that names them.

A refusal is an OSError with its reason in `strerror`, so that it reads like any other file error. A
named pipe does not hang, a device does not fill the memory.
"""

from __future__ import annotations

import errno
import lzma
import os
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath

from . import READ_FLAGS

XZ = ".xz"
MOST_BYTES = 256 * 2**20  # of a table, a list of answers
MOST_DECLARED_BYTES = 16 * 2**20  # of a protocol, a taxonomy


class NotTaken(OSError):
    """Raised for a refused file, with the reason in `strerror`."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


def read_bytes(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Reads a whole file. NotTaken if it is not an ordinary file, or has more than `most` bytes."""
    number = os.open(path, READ_FLAGS)
    with os.fdopen(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise NotTaken(path, "is not an ordinary file")
        if status.st_size > most:
            raise NotTaken(path, f"has more than {most / 2**20:g} MiB")
        content = file.read(most + 1)
    if len(content) > most:  # it grew meanwhile, or its size was a lie (/proc)
        raise NotTaken(path, f"has more than {most / 2**20:g} MiB")
    return content


def _utf_8(content: bytes) -> str:
    return content.decode("utf-8-sig")


def read_content(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Reads a whole file, decompressed if its name ends in .xz, to at most `most` bytes."""
    content = read_bytes(path, most)
    return _decompress(content, path, most) if str(path).endswith(XZ) else content


def read_text(
    path: Path | str, most: int = MOST_BYTES, decode: Callable[[bytes], str] = _utf_8
) -> str:
    """Reads a whole file as text: in UTF-8 without a byte-order mark, or by `decode`; line ends
    become newlines. A file whose name ends in .xz is decompressed.

    Raises UnicodeDecodeError if the file has another encoding.
    """
    return plain_lines(decode(read_content(path, most)))


def plain_lines(text: str) -> str:
    """Replaces all line ends by newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decompress(content: bytes, path: Path | str, most: int) -> bytes:
    reader = lzma.LZMADecompressor(memlimit=MOST_BYTES)
    try:
        plain = reader.decompress(content, max_length=most + 1)
    except lzma.LZMAError as error:
        raise NotTaken(path, f"cannot be decompressed: {error}") from None
    if len(plain) > most:
        raise NotTaken(path, f"has more than {most / 2**20:g} MiB when it is decompressed")
    if not reader.eof:
        raise NotTaken(path, "is incomplete: its compressed content breaks off")
    return plain


def is_inside(folder: Path, path: Path) -> bool:
    """True if a path lies in a folder once all links are followed. A link to itself is taken as an
    ordinary path (Path.resolve raises RuntimeError for it before Python 3.13).
    """
    if "\0" in str(path):
        return False
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def inside(folder: Path, name: str) -> Path:
    """Returns a file's path below a folder. NotTaken if `..` or a link leads out of it."""
    parts = {*PurePosixPath(name).parts, *PureWindowsPath(name).parts}
    absolute = name.startswith(("/", "\\")) or PureWindowsPath(name).drive
    if not name or "\0" in name or absolute or ".." in parts:
        raise NotTaken(name, "lies outside the folder of the file that names it")
    path = folder / name
    if not is_inside(folder, path):
        raise NotTaken(name, "is a link that leads out of the folder of the file that names it")
    return path
