"""Rows of a protocol's tables: reading them, their natural join, and filling the slots of a text.

A cell may hold several values, joined by `|` (a word that a paper prints in two classes).
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Literal

from ...errors import ProtocolError, UnknownName
from ...languages.letters import NAME
from ...languages.pack import FILES as LANGUAGE_FILES
from ...languages.patterns import lazy
from ...records.json_text import whole_text
from ...row_files import (
    BadTable,
    JsonObject,
    Row,
    numbered_objects,
    numbered_rows,
    read_rows,
    table_text,
)
from ...system import intake
from ..source.keys import TableKeys
from ..source.source_lines import SourceLocation

__all__ = ["SEVERAL", "Beside", "Row", "fill", "given_rows", "join", "rows_of"]
SEVERAL = "|"
# columns of a mitigation: its text around {prompt}, and after the system prompt
MITIGATED, SYSTEM = "mitigation_prompt", "mitigation_system"
MOST_ROWS = 2_000_000  # that tables join to: some GB of memory
# The settings of a table that name its columns.
NAMING: tuple[Literal["where", "columns", "key", "needs", "slots"], ...] = (
    "where",
    "columns",
    "key",
    "needs",
    "slots",
)
_SLOT = lazy(rf"\{{\{{|\}}\}}|\{{({NAME})\}}")  # {{ and }} stand for braces


@dataclass(frozen=True)
class Beside:
    """The data files beside a protocol, by the names that the protocol gives them: files in a
    folder, or texts that a run stored.

    texts: the files read so far, so that the whole protocol can be stored. root: the folder that
    must contain every file, if not `folder`. pictures: {path: blob name} read so far; shown: the
    folder of pictures, if not `folder`.
    """

    folder: Path | None = None
    texts: dict[str, str] = field(default_factory=dict)
    root: Path | None = None
    pictures: dict[str, str] = field(default_factory=dict)
    shown: Path | None = None

    def rows(self, name: str, where: SourceLocation) -> list[Row]:
        """Reads rows of CSV or JSON lines, also compressed (.xz); non-text values stay JSON."""
        try:
            if name not in self.texts and self.folder is not None:
                self.texts[name] = self._read(self.folder, name)
            if name.removesuffix(intake.XZ).endswith(".jsonl"):
                return [_as_text(row) for _, row in numbered_objects(self.texts[name])]
            return [row for _, row in numbered_rows(self.texts[name])]
        except (FileNotFoundError, KeyError):
            raise ProtocolError(f"{where}: there is no file {name}{self._nearest(name)}") from None
        except OSError as error:
            raise ProtocolError(f"{where}: {name} cannot be read: {error}.") from None
        except BadTable as error:
            raise ProtocolError(f"{where}: {name}, {error}") from None

    def languages(self) -> dict[str, dict[str, str]]:
        """Reads the folder `languages/` beside the protocol: {code: {file name: text}}."""
        for path in sorted(self.folder.glob("languages/*/*")) if self.folder else ():
            name = f"languages/{path.parent.name}/{path.name}"
            if path.name in LANGUAGE_FILES and self.folder is not None:
                self.texts.setdefault(name, self._read(self.folder, name))
        codes: dict[str, dict[str, str]] = {}
        for name, text in self.texts.items():
            folder, *inside = name.split("/")
            if folder == "languages" and len(inside) == 2:
                codes.setdefault(inside[0], {})[inside[1]] = text
        return codes

    def _read(self, folder: Path, name: str) -> str:
        """Reads a file inside the folder; shipped protocols may share files inside their root."""
        path = folder / name
        if self.root is None or not intake.is_inside(self.root, path):
            path = intake.inside(folder, name)
        return intake.read_text(path, decode=table_text)

    def _nearest(self, name: str) -> str:
        known = (
            sorted(p.name for p in self.folder.glob("*.*"))
            if self.folder and self.folder.is_dir()
            else []
        )
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        return f". Did you mean '{near[0]}'?" if near else " beside the protocol. Put it there."


def _as_text(row: JsonObject) -> Row:
    """Turns an object into a row; a value that is not text stays JSON."""
    return {
        whole_text(key): whole_text(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
        for key, value in row.items()
    }


def rows_of(table: TableKeys, beside: Beside, where: SourceLocation) -> list[Row]:
    """Reads a table: its `rows`, a data file beside the protocol (`file`), or its `parts`."""
    sources = [name for name in ("rows", "file", "parts") if name in table]
    if len(sources) != 1:
        has = " and ".join(sources) or "none of them"
        raise ProtocolError(
            f'{where}: a table needs one of rows = [...], file = "….csv", parts = [...], but this '
            f"table has {has}."
        )
    if "rows" in table:
        rows = [{key: str(value) for key, value in row.items()} for row in table["rows"]]
        _refuse_unlike_rows(rows, where)
    elif "file" in table:
        rows = beside.rows(table["file"], where.at("file"))
        _refuse_empty_cells(rows, table, where)
    else:
        rows = [
            row
            for n, part in enumerate(table["parts"])
            for row in rows_of(part, beside, where.at("parts", n))
        ]
    rows = [{**row, **table["add"]} for row in rows] if "add" in table else rows
    _refuse_unknown_columns(rows, table, where)
    for column, allowed in table.get("where", {}).items():
        keep = [allowed] if isinstance(allowed, str) else allowed
        rows = [row for row in rows if row.get(column) in keep]
        if not rows:
            raise ProtocolError(
                f"{where.at('where', column)}: no row has {' or '.join(keep)} in the column "
                f"{column}."
            )
    if "columns" in table:
        rows = [{name: row[name] for name in table["columns"]} for row in rows]
    return _merge(rows, table["key"]) if "key" in table else rows


def _refuse_unlike_rows(rows: Sequence[Row], where: SourceLocation) -> None:
    """Raises ProtocolError for a row of the protocol's file with other columns than the first."""
    for number, row in enumerate(rows):
        for name in sorted(rows[0].keys() ^ row.keys(), reverse=True):
            has = "lacks the column" if name in rows[0] else "has the column"
            raise ProtocolError(
                f"{where.at('rows', number)}: this row {has} '{name}', unlike the first row. "
                f"Give all rows the columns of the first: {', '.join(rows[0])}."
            )


def _refuse_unknown_columns(rows: Sequence[Row], table: TableKeys, where: SourceLocation) -> None:
    """Raises ProtocolError for a table without rows, or a setting that names a missing column."""
    if not rows:
        raise ProtocolError(f"{where}: {table.get('file', 'the table')} has no rows.")
    for setting in NAMING:
        for name in table.get(setting, ()):
            columns = table["columns"] if setting == "key" and "columns" in table else rows[0]
            if name not in columns:
                raise ProtocolError(f"{where.at(setting)}: {UnknownName('column', name, columns)}")


def _refuse_empty_cells(rows: Sequence[Row], table: TableKeys, where: SourceLocation) -> None:
    """Raises ProtocolError for an empty cell that `needs` forbids, or a template without slots."""
    for number, row in enumerate(rows, 2):
        for name in table.get("needs", ()):
            if name in row and not row[name].strip():
                raise ProtocolError(
                    f"{where.at('needs')}: {table['file']}, line {number} has no {name}."
                )
        for name in table.get("slots", ()):
            if name in row and not any(slot[1] for slot in _SLOT.finditer(row[name])):
                line = f"{table['file']}, line {number}"
                raise ProtocolError(
                    f"{where.at('slots')}: {line}: the {name} has no slot for the word. Write it "
                    "in, as {noun}."
                )


def given_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """Yields (line, row) of a user's CSV file, with stripped cells and only these columns.

    Raises UsageError with the file, and the missing column or the line that cannot be read.
    """
    for line, row in read_rows(path, needs=columns):
        yield line, {name: row[name].strip() for name in columns}


def _merge(rows: list[Row], key: Sequence[str]) -> list[Row]:
    """Merges rows that agree in `key`; their other columns hold all values, joined by `|`."""
    merged: dict[tuple[str, ...], dict[str, dict[str, None]]] = {}
    for row in rows:
        cell = merged.setdefault(tuple(row[name] for name in key), {})
        for name, value in row.items():
            cell.setdefault(name, {})[value] = None
    return [
        {name: SEVERAL.join(values) for name, values in cell.items()} for cell in merged.values()
    ]


def join(left: list[Row], right: Sequence[Row]) -> list[Row]:
    """Joins two tables naturally, in order; cells with several values match on a common one."""
    if not left or not right:
        return []
    shared = [name for name in right[0] if name in left[0]]
    index: dict[tuple[str, ...], list[Row]] = {}
    for row in right:
        for key in _keys(row, shared):
            index.setdefault(key, []).append(row)
    if len(left) * len(right) > MOST_ROWS:
        rows = sum(len(index.get(key, ())) for row in left for key in _keys(row, shared))
        if rows > MOST_ROWS:
            raise ProtocolError(
                f"The tables join to {rows:,} rows or more; a protocol can have at most "
                f"{MOST_ROWS:,} cells. Share a column between tables that belong together, or list "
                "fewer rows."
            )
    return [
        {**a, **b, **{name: _shared(a[name], b[name]) for name in shared if a[name] != b[name]}}
        for a in left
        for b in {id(row): row for key in _keys(a, shared) for row in index.get(key, ())}.values()
    ]


def unmatched(left: Sequence[Row], right: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Returns the rows of each side that a join drops, as no row of the other side matches them."""
    shared = [name for name in right[0] if name in left[0]]
    keys = [{key for row in side for key in _keys(row, shared)} for side in (left, right)]
    return (
        [row for row in left if keys[1].isdisjoint(_keys(row, shared))],
        [row for row in right if keys[0].isdisjoint(_keys(row, shared))],
    )


def _keys(row: Row, names: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Yields the join keys of a row; several if a cell holds several values."""
    cells = tuple(row[name] for name in names)
    if not any(SEVERAL in cell for cell in cells):
        return (cells,)
    return product(*(cell.split(SEVERAL) for cell in cells))


def _shared(first: str, second: str) -> str:
    """Returns the values that two cells have in common, in the order of the first."""
    others = second.split(SEVERAL)
    return SEVERAL.join(part for part in first.split(SEVERAL) if part in others)


def fill(template: str, row: Mapping[str, str], where: str, missing: str = "refuse") -> str:
    """Fills the slots of a text from a row; `{{` and `}}` stand for braces.

    where: the location for error messages; missing: "refuse" raises ProtocolError for a slot
    without a column, "keep" leaves the slot unchanged.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0] if missing == "keep" else match[0][0]
        if match[1] in row:
            return row[match[1]]
        if missing == "keep":
            return match[0]
        raise ProtocolError(
            f"{where}: the prompt '{template[:80]}' has a slot {{{match[1]}}}. "
            f"{UnknownName('column', match[1], row)}"
        )

    return _SLOT.sub(value, template)
