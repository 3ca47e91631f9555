"""Names of files and columns as people write them in tables about pictures."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

COLUMNS = {  # the names under which people have each column
    "file": ("file", "picture", "image", "filename"),
    "prompt": ("prompt",),
    "item": ("item",),
    "group": ("group", "condition", "cue"),
}


def column_for(field: str, columns: Iterable[str]) -> str:
    """Returns the column that holds a field, under any of its names and in any case; "" if none."""
    by_name = {fold(column): column for column in columns}
    return next((by_name[name] for name in COLUMNS[field] if name in by_name), "")


def fold(text: str) -> str:
    """Returns a text in the form in which two of people's spellings are compared."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def by_spelling(paths: Iterable[str]) -> dict[str, str]:
    """Returns {folded name: path}; the names are the path, its last part, and that without its
    ending, each unless several files have it.
    """
    names = {path: _spellings(path) for path in paths}
    counts = Counter(name for spellings in names.values() for name in spellings)
    return {
        name: path
        for path, spellings in names.items()
        for name in spellings
        if counts[name] == 1 or name == fold(path)
    }


def spelling(name: str) -> str:
    """Returns the key of a name in `by_spelling`."""
    return fold(name.replace("\\", "/").removeprefix("./"))


def _spellings(path: str) -> set[str]:
    parts = PurePosixPath(path)
    return {fold(path), fold(parts.name), fold(parts.stem)}
