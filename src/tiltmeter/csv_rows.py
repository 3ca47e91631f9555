"""CSV → rows. The one reader of such files, of those that ship and of those that somebody gives."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

Row = dict[str, str]  # a row by its columns


class BadTable(ValueError):
    """A text that is no table; the message begins with the line and says what is wrong with it."""


class NotCsv(BadTable):
    """A text that is no CSV at all, as where a quotation mark is not closed."""


def numbered_rows(
    text: str, delimiter: str = ",", short_rows: bool = False, needs: Sequence[str] = ()
) -> Iterator[tuple[int, Row]]:
    """(line, row) of a text with a header; the line, from 1, is the one on which the row ends.
    Empty lines are left out, and spaces around the names of columns.

    short_rows: True if a row may have fewer cells than the header; what is missing is "".
    needs:      columns that must be there.
    Raises BadTable: a column that has no name, or one twice; a row with more or fewer cells.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, ())]
        _refuse_header(header, needs)
        for cells in reader:
            if not cells:
                continue
            if len(cells) > len(header) or (len(cells) < len(header) and not short_rows):
                raise BadTable(
                    f"line {reader.line_num} has not as many cells as the header: {len(cells)}, "
                    f"not {len(header)}. A cell with a comma in it is put in quotation marks."
                )
            missing = [""] * (len(header) - len(cells))
            yield reader.line_num, dict(zip(header, [*cells, *missing], strict=True))
    except csv.Error as error:
        raise NotCsv(f"line {reader.line_num}: {error}") from None


def _refuse_header(header: Sequence[str], needs: Sequence[str]) -> None:
    missing = [name for name in needs if name not in header]
    if missing:
        raise BadTable(f"line 1 has no column {', '.join(missing)}. It needs: {', '.join(needs)}.")
    for name in header:
        if not name or header.count(name) > 1:
            what = f"the column '{name}' twice" if name else "a column without a name"
            raise BadTable(f"line 1 has {what}. Its columns: {', '.join(header)}.")


def own_rows(path: Path) -> list[Row]:
    """The rows of a CSV file that ships with the package."""
    return [row for _, row in numbered_rows(path.read_text(encoding="utf-8"))]
