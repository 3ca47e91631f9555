"""Turns lines of cells into rows by column, by the rules that all kinds of tables share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..errors import UsageError

Row = dict[str, str]  # a row by its columns
_INDEX = ("", "Unnamed: 0")  # names that pandas gives to the numbers of its rows
_LONGEST_NAME, _MOST_NAMES = 40, 12  # of columns in a message: what is longer may be a row's text


class BadTable(UsageError):
    """Raised if a file is not a table. The message begins with the line and names the fault, but
    never quotes a row.
    """


def rows_of_cells(
    lines: Iterable[tuple[int, Sequence[str]]],
    short_rows: bool = False,
    needs: Sequence[str] = (),
    hint: str = "",
) -> Iterator[tuple[int, Row]]:
    """Yields (line, row) from numbered lines of cells, the first of which is the header. Drops
    empty lines, spaces around column names, last columns without name and content, and the row
    numbers that pandas writes before the first column.

    short_rows: True if a row may have fewer cells than the header; missing cells are "".
    needs:      the required columns.
    hint:       advice to add to the error if a row has too many or too few cells.
    Raises BadTable if a column has no name or a repeated one, or a row has a wrong number of cells.
    """
    lines = iter(lines)
    header = [name.strip() for name in next(lines, (1, ()))[1]]
    width = len(header)
    while header and not header[-1]:
        header.pop()
    has_numbers = len(header) > 1 and header[0] in _INDEX
    named = header[1:] if has_numbers and not header[0] else header
    _refuse_header(named, needs)
    number = 0
    for line, cells in lines:
        if not any(cells) and len(cells) != 1:
            continue
        if len(cells) > width or (len(cells) < len(header) and not short_rows):
            raise BadTable(
                f"line {line} has {len(cells)} cell{'s' * (len(cells) != 1)}, but the header has "
                f"{width}.{hint}"
            )
        if any(cells[len(header) :]):
            raise BadTable(f"line {line} has a cell in a column without a name.")
        has_numbers = has_numbers and cells[0] in (str(number), str(number + 1))
        if not header[0] and not has_numbers:
            raise BadTable(f"line {line} has a cell in a column without a name.")
        missing = [""] * (len(header) - len(cells))
        row = dict(zip(header, [*cells[: len(header)], *missing], strict=True))
        if not header[0]:
            del row[""]
        yield line, row
        number += 1


def _refuse_header(header: Sequence[str], needs: Sequence[str]) -> None:
    missing = [name for name in needs if name not in header]
    if missing:
        raise BadTable(f"line 1 has no column {', '.join(missing)}. It needs: {', '.join(needs)}.")
    for name in header:
        if not name or header.count(name) > 1:
            what = f"the column '{short_name(name)}' twice" if name else "a column without a name"
            raise BadTable(f"line 1 has {what}. Its columns: {names_of(header)}.")


def short_name(name: str) -> str:
    """Returns a column's name for a message, or only its length if it is very long."""
    return name if len(name) <= _LONGEST_NAME else f"({len(name)} characters)"


def names_of(columns: Sequence[str]) -> str:
    """Returns the names of columns for a message, shortened if they are many."""
    names = ", ".join(map(short_name, columns[:_MOST_NAMES]))
    return names + (f", … ({len(columns)})" if len(columns) > _MOST_NAMES else "")
