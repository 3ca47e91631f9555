"""Rows of data: read from a protocol's tables, put together by their natural join, and put into the slots of a text.

A cell may hold several values, joined by `|` (a word that a paper prints in two classes).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from .errors import ProtocolError, UnknownName, UsageError

Row = dict[str, str]
SEVERAL = "|"
_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)\}")  # {{ and }} stand for braces


def rows_of(table: dict[str, Any], folder: Path, where: str) -> list[Row]:
    """The rows of one table: from the file itself (`rows`), from a data file beside it (`file`), or of several `parts`."""
    only(table, {"rows", "file", "parts", "where", "key", "columns", "add", "needs", "slots"}, where)
    if "rows" in table:
        rows = [{key: str(value) for key, value in row.items()} for row in table["rows"]]
    elif "file" in table:
        rows = read_file(folder / table["file"], where)
        _filled(rows, table, f"{where}: {table['file']}")
    elif "parts" in table:
        parts = (rows_of(part, folder, f"{where}, part {number}") for number, part in enumerate(table["parts"], 1))
        rows = [row for part in parts for row in part]
    else:
        raise ProtocolError(f'{where}: needs rows = [...] or file = "….csv" (or .jsonl).')
    rows = [{**row, **table["add"]} for row in rows] if "add" in table else rows
    for column, allowed in table.get("where", {}).items():
        keep = [allowed] if isinstance(allowed, str) else allowed
        rows = [row for row in rows if row.get(column) in keep]
    if "columns" in table:
        rows = [{name: row[name] for name in table["columns"]} for row in rows]
    if "key" in table:
        rows = _merge(rows, table["key"])
    if not rows:
        raise ProtocolError(f"{where}: has no rows.")
    return rows


def _filled(rows: Sequence[Row], table: Mapping[str, Any], where: str) -> None:
    """Refuses a row of a data file without a cell that the table `needs`, or whose template has no slot."""
    for number, row in enumerate(rows, 2):
        for name in table.get("needs", ()):
            if not row.get(name, "").strip():
                shown = next((text for text in row.values() if text.strip()), "")
                raise ProtocolError(f"{where}, line {number} ('{shown}') has no {name}.")
        for name in table.get("slots", ()):
            if not any(slot[1] for slot in _SLOT.finditer(row.get(name, ""))):
                raise ProtocolError(f"{where}, line {number}: the {name} '{row.get(name, '')}' has no slot for the word, as "
                                    "{noun}.")  # fmt: skip


def read_file(path: Path, where: str) -> list[Row]:
    """The rows of a CSV or JSON-lines file in UTF-8; a cell of JSON lines that is not text is kept as JSON."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return [_texts(json.loads(line)) for line in text.split("\n") if line.strip()]
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except FileNotFoundError:
        raise ProtocolError(f"{where}: there is no file {path.name}.") from None
    except (OSError, ValueError, csv.Error) as error:
        raise ProtocolError(f"{where}: {path.name} cannot be read as {path.suffix[1:]} in UTF-8: {error}") from None
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise ProtocolError(f"{where}: {path.name}, line {number} has not as many cells as the header.")
    return rows


def numbered(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """(line, row) of a CSV file in UTF-8 that somebody gives, its cells without the spaces around them; other columns stay out.

    UsageError names the file, and the column or the line that is not as it should be.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(f"{path.name} has no column {', '.join(missing)}. It needs: {', '.join(columns)}.")
            for row in reader:
                if None in row or None in row.values():
                    raise UsageError(f"{path.name}, line {reader.line_num} has not as many cells as the header.")
                yield reader.line_num, {name: row[name].strip() for name in columns}
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path.name} cannot be read as CSV in UTF-8: {error}") from None


def _texts(row: dict[str, Any]) -> Row:
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for key, value in row.items()
    }


def _merge(rows: list[Row], key: Sequence[str]) -> list[Row]:
    """Rows that agree on `key` become one; where they differ in a column it holds all values, joined by `|`."""
    merged: dict[tuple[str, ...], dict[str, dict[str, None]]] = {}
    for row in rows:
        cell = merged.setdefault(tuple(row[name] for name in key), {})
        for name, value in row.items():
            cell.setdefault(name, {})[value] = None
    return [{name: SEVERAL.join(values) for name, values in cell.items()} for cell in merged.values()]


def join(left: list[Row], right: Sequence[Row]) -> list[Row]:
    """Natural join in the order of `left`, then of `right`. Cells with several values agree where they share one."""
    if not left or not right:
        return []
    shared = [name for name in right[0] if name in left[0]]
    index: dict[tuple[str, ...], list[Row]] = {}
    for row in right:
        for key in _keys(row, shared):
            index.setdefault(key, []).append(row)
    return [
        {**a, **b, **{name: _common(a[name], b[name]) for name in shared}}
        for a in left
        for b in {id(row): row for key in _keys(a, shared) for row in index.get(key, ())}.values()
    ]


def _keys(row: Row, names: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """What a row is found by: of a cell with several values, each."""
    return product(*(row[name].split(SEVERAL) for name in names))


def _common(one: str, other: str) -> str:
    """The values that two cells share, in the order of the first."""
    return one if one == other else SEVERAL.join(part for part in one.split(SEVERAL) if part in other.split(SEVERAL))


def fill(template: str, row: Mapping[str, str], where: str, missing: str = "refuse") -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0] if missing == "keep" else match[0][0]
        if match[1] in row:
            return row[match[1]]
        if missing == "keep":
            return match[0]
        raise ProtocolError(
            f"{where}: the prompt '{template[:80]}' has a slot {{{match[1]}}} and the tables have no such column. "
            f"There is: {', '.join(row)}."
        )

    return _SLOT.sub(value, template)


def only(values: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    known = sorted(known)
    for name in values:
        if name not in known:
            raise ProtocolError(f"{where}: {UnknownName('setting', name, known)}")
