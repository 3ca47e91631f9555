"""Reads the tables that ship or that a user gives, as rows. The content decides the format, not the
name: CSV as programs and spreadsheets write it, spreadsheets, JSON lines. The only reader of such
files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import UsageError
from ..records import Json
from ..system import intake
from .cells import BadTable, Row, names_of, rows_of_cells, short_name
from .delimited import lost_letters, numbered_rows, table_text
from .sheets import is_spreadsheet, sheet_lines

__all__ = [
    "BadTable",
    "JsonObject",
    "Row",
    "are_objects",
    "is_delimited",
    "is_spreadsheet",
    "lost_letters",
    "names_of",
    "numbered_objects",
    "numbered_rows",
    "own_rows",
    "read_objects",
    "read_rows",
    "rows_of_content",
    "short_name",
    "table_text",
]
JsonObject = dict[str, Json]


def read_rows(
    path: Path, short_rows: bool = False, needs: Sequence[str] = (), sheet: str = ""
) -> Iterator[tuple[int, Row]]:
    """Yields (line, row) of a user's file as `rows_of_content` does. UsageError names the file."""
    with _naming(path):
        content = intake.read_content(path)
        yield from rows_of_content(content, short_rows, needs, sheet)


def rows_of_content(
    content: bytes, short_rows: bool = False, needs: Sequence[str] = (), sheet: str = ""
) -> Iterator[tuple[int, Row]]:
    """Yields (line, row) of a file with a header, or of JSON objects; all cells are text.

    short_rows: True if a row may have fewer cells than the header; missing cells are "".
    needs:      the required columns.
    sheet:      the name of a spreadsheet's sheet; "" for the first.
    """
    if is_spreadsheet(content):
        yield from rows_of_cells(sheet_lines(content, sheet), short_rows, needs)
        return
    if sheet:
        raise BadTable("it is not a spreadsheet, so it has no sheets. Leave --sheet out.")
    text = intake.plain_lines(table_text(content))
    if are_objects(text):
        yield from _rows_of_objects(text, needs)
    else:
        yield from numbered_rows(text, "", short_rows, needs)


def is_delimited(path: Path) -> bool:
    """True if a file is plain delimited text, so that a reader of CSV alone can read it."""
    content = intake.read_content(path)
    return not is_spreadsheet(content) and not are_objects(table_text(content))


def are_objects(text: str) -> bool:
    """True if a text is JSON lines: its first line is an object."""
    first = text.lstrip().partition("\n")[0].strip()
    if not (first.startswith("{") and first.endswith("}")):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _rows_of_objects(text: str, needs: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """Yields (line, row) of objects, all with the same columns; missing or null values are ""."""
    rows = list(numbered_objects(text))
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    cells = ((line, [_cell(row.get(name)) for name in columns]) for line, row in rows)
    yield from rows_of_cells([(1, columns), *cells], False, needs)


def _cell(value: Json) -> str:
    """Returns a value as text: "" for null, unchanged if it is text, else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_objects(path: Path) -> Iterator[tuple[int, JsonObject]]:
    """Yields the objects of a user's file as `numbered_objects` does. UsageError names the file."""
    with _naming(path):
        yield from numbered_objects(intake.read_text(path, decode=table_text))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Adds a file's name to errors that occur while it is read."""
    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from None
    except BadTable as error:
        raise BadTable(f"{path.name}, {error}") from None


def numbered_objects(text: str) -> Iterator[tuple[int, JsonObject]]:
    """Yields (line, object) of JSON lines; skips empty lines. BadTable names an invalid line."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadTable(f"line {number} is not JSON: {error}.") from None
        if not isinstance(row, dict):
            raise BadTable(f'line {number} is not a JSON object, such as {{"job": "nurse"}}.')
        yield number, row


def own_rows(path: Path) -> list[Row]:
    """Returns the rows of a CSV file that ships with the package."""
    return [row for _, row in numbered_rows(path.read_text(encoding="utf-8"))]
