"""Reads files of answers as rows; the content decides the format: CSV, a spreadsheet, JSON lines,
JSON, Parquet, or a log of another tool (logs.py, and the formats that `audit` reads). All but the
logs of logs.py may be compressed (.xz).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from ...errors import ModelError, UnknownName, UsageError
from ...records import Json
from ...row_files import (
    BadTable,
    are_objects,
    is_spreadsheet,
    numbered_objects,
    rows_of_content,
    table_text,
)
from ...row_files.logs import answers_of
from ...system import intake
from . import logs
from .answers import OWN, AnswerLine, line

_PARQUET = b"PAR1"  # its first bytes
_LINES = (".jsonl", ".ndjson")
MOST_ANSWERS_BYTES = 2**31  # of a file of answers
Row = dict[str, Json]
Rows = Iterator[tuple[int, Row]]  # with the number of its line, or of the row, from 1


def read_lines(
    path: Path, what: str = "text", columns: Mapping[str, str] | None = None
) -> Iterator[AnswerLine]:
    """Yields the answers of a file; every error names the line.

    what:    the field that holds the answer.
    columns: {field: the file's column for it}; "" drops a field.
    An empty cell of a table is no field, or an empty answer.
    """
    count = 0
    for number, row in _rows(path, what, {what, *(columns or {}).values()}):
        where = f"{path}, {'row' if path.suffix == '.parquet' else 'line'} {number}"
        logged = None if columns else answers_of(row)
        for one in [row] if logged is None else logged:
            count = max(number, count + 1)  # a line of a log may hold several
            yield line(_rename_columns(one, columns or {}, where, what), count, where, what)


def _rows(path: Path, what: str, kept: Set[str]) -> Rows:
    """Yields (number, row) by the file's content; the suffix tells JSON lines from an object. kept:
    columns of a table whose empty cells stay.
    """
    ending = Path(path.name.lower().removesuffix(intake.XZ)).suffix
    if ending == logs.ENDING:
        return logs.inspect_rows(path)
    content = read_content(path)
    if content.startswith(_PARQUET):
        return _parquet(path, content, kept)
    try:
        text = "" if is_spreadsheet(content) else table_text(content)
        begins = text.lstrip()[:1]
        if ending not in _LINES and (ending == ".json" or begins == "["):
            return _json(path, text)
        if ending in _LINES or are_objects(text):
            return _json_lines(path, intake.plain_lines(text), what)
        return _json(path, text) if begins == "{" else _table(path, content, kept)
    except BadTable as error:
        raise ModelError(f"{path}, {error}") from None


def _rename_columns(row: Row, columns: Mapping[str, str], where: str, what: str) -> Row:
    """Renames a row's columns to our fields, without empty ones but the answer (`what`). Raises
    ModelError if a column is missing.
    """
    taken = {column for column in columns.values() if column}
    renamed = {name: value for name, value in row.items() if name not in taken}
    for field, column in columns.items():
        if column and column not in row:
            raise ModelError(f"{where}: {UnknownName('column', column, row)}")
        renamed.pop(field, None)
        if column and (row[column] != "" or field == what):
            renamed[field] = row[column]
    return renamed


def read_content(path: Path) -> bytes:
    """Reads a whole file of answers. Raises UsageError if it cannot be read."""
    try:
        return intake.read_content(path, MOST_ANSWERS_BYTES)
    except FileNotFoundError:
        raise UsageError(
            f"There is no file {path}. Type: --model file:PATH, a file of answers with 'prompt' "
            "and 'text' (CSV, TSV, JSON lines, JSON or Parquet)."
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def _table(path: Path, content: bytes, kept: Set[str]) -> Rows:
    """Yields the rows of a table with a header that are not empty, without other empty cells than
    those of the columns `kept`.
    """
    try:
        for number, cells in rows_of_content(content, short_rows=True):
            if not kept & cells.keys():  # the message about it names all columns
                kept = {*kept, *cells} - {*OWN}
            data: Row = {name: cell for name, cell in cells.items() if cell or name in kept}
            if cells.get("sample", "").isdecimal():
                data["sample"] = int(cells["sample"])
            if any(data.values()):
                yield number, data
    except BadTable as error:
        raise ModelError(f"{path}, {error}") from None


def _json_lines(path: Path, text: str, what: str) -> Rows:
    try:
        for number, data in numbered_objects(text):
            if logs.is_harness(data):
                yield from ((number, row) for row in logs.harness_rows(data))
            else:
                yield number, data
    except BadTable as error:
        raise ModelError(
            f'{path}, {error} A line looks like: {{"prompt": "…", "{what}": "…"}}'
        ) from None


def _json(path: Path, text: str) -> Rows:
    """Yields the rows of a list of objects, an object with one such list, or a log of Inspect."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON ({error}).") from None
    if isinstance(data, dict) and logs.is_inspect(data):
        yield from enumerate(logs.sample_rows(data, data["samples"]), 1)
        return
    if isinstance(data, dict) and answers_of(data) is not None:
        yield 1, data
        return
    lists = [data] if isinstance(data, list) else []
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
    if len(lists) != 1 or not all(isinstance(row, dict) for row in lists[0]):
        raise ModelError(
            f'{path} is not a list of objects. Write: [{{"prompt": "…", "text": "…"}}, …]'
        )
    yield from enumerate(lists[0], 1)


def _parquet(path: Path, content: bytes, kept: Set[str]) -> Rows:
    import io

    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ModelError(f"{path} is not Parquet ({error}).") from None
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        filled = {name: value for name, value in row.items() if value is not None}
        yield number, dict.fromkeys(kept & row.keys(), "") | filled
