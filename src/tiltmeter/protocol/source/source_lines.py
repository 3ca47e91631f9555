"""The line of a value in a TOML file; Python's parser gives lines only for syntax errors.

The text is cut into statements (a header, or a key with all of its value): the shortest runs of
lines that parse. In a statement of several lines, a list's entry is found by counting the entries
of the lines so far, and a key by its name. If neither works, the line is that of the enclosing list
or table; a text that is not TOML has no lines.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...records import Json

Path = tuple[str | int, ...]  # keys of tables, numbers (from 0) of list entries
_UNFINISHED = re.compile(r"[,\[{=]\s*(#[^\"']*)?$")  # a line that ends so ends no statement


@dataclass(frozen=True)
class SourceLocation:
    """A location in a declaration; as text `audit.toml, line 14, measures 'gap', contrast.factor`.

    name: of the file, or of another source; text: of the file, "" for a declaration in Python;
    data: the parsed text.
    """

    name: str
    text: str = ""
    data: Json = None
    path: Path = ()

    def at(self, *path: str | int) -> SourceLocation:
        """Returns the location at `path` inside this location."""
        return replace(self, path=(*self.path, *path))

    def __str__(self) -> str:
        line = line_of(self.text, self.path) if self.path else None
        parts = (self.name, f"line {line}" if line else "", self._path_in_words())
        return ", ".join(part for part in parts if part)

    def _path_in_words(self) -> str:
        """Writes the path in words: entries of lists by their `name`, else by number from 1."""
        words, data = "", self.data
        for part in self.path:
            data = _value_at(data, part)
            if isinstance(part, int):
                name = data.get("name") if isinstance(data, Mapping) else None
                words += f" '{name}'" if isinstance(name, str) else f" {part + 1}"
            else:
                words += ("" if not words else ", " if words[-1] in "'0123456789" else ".") + part
        return words


def _value_at(data: Json, part: str | int) -> Json:
    """Returns the value at a key or index, or None."""
    if isinstance(data, Mapping):
        return data.get(str(part))
    if isinstance(data, str) or not isinstance(data, Sequence) or not isinstance(part, int):
        return None
    return data[part] if part < len(data) else None


class _Statement(NamedTuple):
    """A statement of a TOML file. path: the keys that it sets or opens, of which the first `least`
    are certain; line: its first line, from 1.
    """

    path: Path
    least: int
    line: int
    text: str


def line_of(text: str, path: Path) -> int | None:
    """Finds the line, from 1, of the value at a path, or of a statement that contains it."""
    statements = list(_statements(text))
    for statement in statements:
        if path and statement.path[: len(path)] == path:
            return statement.line
    holding = [
        statement
        for statement in statements
        if statement.path[: statement.least] == path[: statement.least]
    ]
    if holding:
        nearest = max(holding, key=lambda statement: _shared_parts(statement.path, path))
        return nearest.line + _lines_to(nearest.text, path[_shared_parts(nearest.path, path) :])
    return None


def _shared_parts(first: Path, second: Path) -> int:
    """Counts the leading parts that two paths share."""
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


def _statements(text: str) -> Iterator[_Statement]:
    lines = text.splitlines()
    header: Path = ()
    counts: dict[Path, int] = {}
    start = 0
    while start < len(lines):
        end, data = _parse_statement(lines, start)
        if data is None:
            return
        chunk = "\n".join(lines[start:end])
        keys = _keys(data)
        if chunk.lstrip().startswith("[["):
            path = _number_entries(keys[:-1], counts) + keys[-1:]
            counts[path] = counts.get(path, -1) + 1
            header = (*path, counts[path])
            yield _Statement(header, len(header), start + 1, chunk)
        elif chunk.lstrip().startswith("["):
            header = _number_entries(keys, counts)
            yield _Statement(header, len(header), start + 1, chunk)
        elif keys:
            yield _Statement(header + keys, len(header) + 1, start + 1, chunk)
        start = end


def _parse_statement(lines: list[str], start: int) -> tuple[int, dict[str, Json] | None]:
    """Returns the end of the shortest run of lines from `start` that parses, and its content."""
    for end in range(start + 1, len(lines) + 1):
        if _UNFINISHED.search(lines[end - 1]):
            continue
        try:
            return end, tomllib.loads("\n".join(lines[start:end]) + "\n")
        except tomllib.TOMLDecodeError:
            continue
    return len(lines), None


def _keys(data: Json) -> Path:
    """Returns the path through nested tables of a single key each."""
    keys: list[str] = []
    while isinstance(data, Mapping) and len(data) == 1:
        ((key, data),) = data.items()
        keys.append(key)
    return tuple(keys)


def _number_entries(keys: Path, counts: dict[Path, int]) -> Path:
    """Adds the current entry's number after each key of a header that is a list of tables."""
    path: Path = ()
    for key in keys:
        path = (*path, key)
        if path in counts:
            path = (*path, counts[path])
    return path


def _lines_to(text: str, rest: Path) -> int:
    """Counts lines from a statement's first line to the value at `rest` or its outermost entry."""
    lines = text.split("\n")
    begin, outer = 0, True
    for part in rest:
        if isinstance(part, str):
            key_re = re.compile(rf"(?:^|[\s{{,.])[\"']?{re.escape(part)}[\"']?\s*=")
            begin = next(
                (number for number in range(begin, len(lines)) if key_re.search(lines[number])),
                begin,
            )
        elif outer:
            begin, outer = _entry(lines, part), False
    return begin


def _entry(lines: list[str], wanted: int) -> int:
    """Finds the line on which entry `wanted` of a statement's list begins: after the lines of all
    earlier entries, if such a line is inside the statement.
    """
    upto = range(1, len(lines) + 1)
    last = bisect_left(upto, wanted + 1, key=lambda number: _entries(lines[:number]))
    before = bisect_left(upto, wanted, key=lambda number: _entries(lines[:number]))
    after = before + 1 if before < len(lines) and _entries(lines[: before + 1]) == wanted else last
    return min(after, last, len(lines) - 1)


def _entries(lines: list[str]) -> int:
    """Counts the entries of a statement's list that are complete in these first lines."""
    for end in range(len(lines), 0, -1):
        try:
            (entries,) = tomllib.loads(
                "\n".join(lines[:end]).rstrip().removesuffix("]") + "]"
            ).values()
        except (tomllib.TOMLDecodeError, ValueError):
            continue
        return len(entries) if isinstance(entries, list) else 0
    return 0
