"""Checks of the natural join of a design's tables: it may drop rows only with a declared reason."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ProtocolError
from ...row_files import BadTable, numbered_rows
from ..design.tables import SEVERAL, Beside, Row, join, unmatched
from ..source.keys import TableKeys
from ..source.source_lines import SourceLocation


def refuse_unjoined(tables: Sequence[Sequence[Row]], place: SourceLocation) -> None:
    """Raises ProtocolError if the join is empty; the message names the table that empties it."""
    rows: list[Row] = [{}]
    for number, table in enumerate(tables):
        shared = [name for name in table[0] if name in rows[0]]
        joined = join(rows, table)
        if not joined:
            sides = " and ".join(
                f"{', '.join(list(dict.fromkeys(row[name] for row in side))[:5])}"
                for name in shared[:1]
                for side in (rows, table)
            )
            raise ProtocolError(
                f"{place.at('tables', number)}: in the column {', '.join(shared)} no row has a "
                f"value of the tables above ({sides}). Write the same values, or rename the column."
            )
        rows = joined


def refuse_dropped(
    declared: Sequence[TableKeys],
    tables: Sequence[Sequence[Row]],
    beside: Beside,
    place: SourceLocation,
) -> None:
    """Raises ProtocolError for rows that match no row of another table, with file, line and level,
    unless the table that drops them gives a reason (`leaves_out`).
    """
    rows: list[Row] = [{}]
    for number, table in enumerate(tables):
        left, right = unmatched(rows, table)
        if (left or right) and "leaves_out" not in declared[number]:
            lost = left or right
            name, level = _level(lost[0], table if left else rows)
            numbers = range(number) if left else (number,)
            source = next(n for n in numbers if name in tables[n][0])
            where = _row_with(declared[source], source, name, level, beside, place)
            others = "this table" if left else "the tables before it"
            count = "1 row is" if len(lost) == 1 else f"{len(lost)} rows are"
            raise ProtocolError(
                f"{place.at('tables', number)}: {count} left out of the design, as no row of "
                f"{others} matches (the first: {where}, {name} = '{level}'). Add a matching row, "
                'or write why in this table: leaves_out = "…"'
            )
        rows = join(rows, table)


def _level(row: Row, others: Sequence[Row]) -> tuple[str, str]:
    """Returns the first (column, level) of a row for which no other row has a match."""
    shared = [name for name in others[0] if name in row]
    for name in shared:
        known = {part for other in others for part in other[name].split(SEVERAL)}
        if known.isdisjoint(row[name].split(SEVERAL)):
            return name, row[name]
    return shared[0], row[shared[0]]


def _row_with(
    table: TableKeys, number: int, name: str, level: str, beside: Beside, place: SourceLocation
) -> str:
    """Locates a table's first row with a level: data file and line, or the line in the protocol."""
    place_of_table = place.at("tables", number)
    for at, row in enumerate(table.get("rows", ())):
        if str(row.get(name)) == level:
            return str(place_of_table.at("rows", at))
    for part in (table, *table.get("parts", ())):
        file = part.get("file", "")
        if file in beside.texts:
            try:
                lines = numbered_rows(beside.texts[file])
                line = next((line for line, row in lines if row.get(name) == level), 0)
            except BadTable:  # JSON lines
                line = 0
            return f"{file}, line {line}" if line else file
    return str(place_of_table)
