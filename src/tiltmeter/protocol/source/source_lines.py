"""On which line of a TOML file a value stands. Python's parser says so for its own errors only.

The text is cut into statements (a header, or a key with all of its value): the shortest runs of
lines that parse. Inside a statement of several lines a list's entry is found by how many entries
the lines up to there hold, a key by its name. Where none of this tells, the line is that of what
holds the value; where the text is no TOML, there is none.
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
    """A place in a declaration, for errors: as text `audit.toml, line 14, measures 'gap',
    contrast.factor`.

    name: the file's, or what stands for it; text: the file's, "" for what was declared in Python;
    data: as it was parsed.
    """

    name: str
    text: str = ""
    data: Json = None
    path: Path = ()

    def at(self, *path: str | int) -> SourceLocation:
        """A place inside this one."""
        return replace(self, path=(*self.path, *path))

    def __str__(self) -> str:
        line = line_of(self.text, self.path) if self.path else None
        parts = (self.name, f"line {line}" if line else "", self._path_in_words())
        return ", ".join(part for part in parts if part)

    def _path_in_words(self) -> str:
        """The path in words: entries by their `name` where they have one, else by their number from
        1.
        """
        found, data = "", self.data
        for part in self.path:
            data = _within(data, part)
            if isinstance(part, int):
                name = data.get("name") if isinstance(data, Mapping) else None
                found += f" '{name}'" if isinstance(name, str) else f" {part + 1}"
            else:
                found += ("" if not found else ", " if found[-1] in "'0123456789" else ".") + part
        return found


def _within(data: Json, part: str | int) -> Json:
    """The value under a key, or the entry with a number; None where there is none."""
    if isinstance(data, Mapping):
        return data.get(str(part))
    if isinstance(data, str) or not isinstance(data, Sequence) or not isinstance(part, int):
        return None
    return data[part] if part < len(data) else None


class _Statement(NamedTuple):
    """path: what it sets or opens, of which the first `least` parts are surely its own; line: its
    first, from 1.
    """

    path: Path
    least: int
    line: int
    text: str


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, of the value at a path (keys, and numbers of entries from 0), or of the
    nearest that holds it.
    """
    found = list(_statements(text))
    for one in found:
        if path and one.path[: len(path)] == path:
            return one.line
    holding = [one for one in found if one.path[: one.least] == path[: one.least]]
    if holding:
        nearest = max(holding, key=lambda one: _common(one.path, path))
        return nearest.line + _inside(nearest.text, path[_common(nearest.path, path) :])
    return None


def _common(one: Path, other: Path) -> int:
    """Counts the parts that two paths share from the start."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
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
    """The end of the shortest run of lines from `start` that parses, and what it says."""
    for end in range(start + 1, len(lines) + 1):
        if _UNFINISHED.search(lines[end - 1]):
            continue
        try:
            return end, tomllib.loads("\n".join(lines[start:end]) + "\n")
        except tomllib.TOMLDecodeError:
            continue
    return len(lines), None


def _keys(data: Json) -> Path:
    """The keys on the way down, as long as there is one."""
    keys: list[str] = []
    while isinstance(data, Mapping) and len(data) == 1:
        ((key, data),) = data.items()
        keys.append(key)
    return tuple(keys)


def _number_entries(keys: Path, counts: dict[Path, int]) -> Path:
    """A header's keys with the number of the entry that each list of tables is at."""
    path: Path = ()
    for key in keys:
        path = (*path, key)
        if path in counts:
            path = (*path, counts[path])
    return path


def _inside(text: str, rest: Path) -> int:
    """Counts the lines from a statement's first to the value of `rest`; of lists in a list, the
    outer one's entry.
    """
    lines = text.split("\n")
    begin, outer = 0, True
    for part in rest:
        if isinstance(part, str):
            named = re.compile(rf"(?:^|[\s{{,.])[\"']?{re.escape(part)}[\"']?\s*=")
            begin = next(
                (number for number in range(begin, len(lines)) if named.search(lines[number])),
                begin,
            )
        elif outer:
            begin, outer = _entry(lines, part), False
    return begin


def _entry(lines: list[str], wanted: int) -> int:
    """The line on which entry `wanted` of a statement's list begins: after those that hold all
    before it, if it fits there.
    """
    upto = range(1, len(lines) + 1)
    last = bisect_left(upto, wanted + 1, key=lambda number: _entries(lines[:number]))
    before = bisect_left(upto, wanted, key=lambda number: _entries(lines[:number]))
    after = before + 1 if before < len(lines) and _entries(lines[: before + 1]) == wanted else last
    return min(after, last, len(lines) - 1)


def _entries(lines: list[str]) -> int:
    """Counts the entries of a statement's list that are whole in its first lines."""
    for end in range(len(lines), 0, -1):
        try:
            (found,) = tomllib.loads(
                "\n".join(lines[:end]).rstrip().removesuffix("]") + "]"
            ).values()
        except (tomllib.TOMLDecodeError, ValueError):
            continue
        return len(found) if isinstance(found, list) else 0
    return 0
