"""Reads sheets of spreadsheets (xlsx, xls, ods) as lines of cells as text, by python-calamine."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, time, timedelta

from ..system.intake import MOST_BYTES
from .cells import BadTable, names_of

_XLS = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # a compound file of Microsoft's, as xls is
_ZIP = b"PK\x03\x04"
_PARTS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # of xlsx, xlsb, ods
Cell = str | float | bool | date | time | timedelta


def is_spreadsheet(content: bytes) -> bool:
    """True if a file's content is a spreadsheet."""
    if content.startswith(_XLS):
        return True
    return any(name in _sizes(content) for name in _PARTS)


def _sizes(content: bytes) -> dict[str, int]:
    """Returns {file in a zip archive: decompressed size}; {} if the content is not an archive."""
    if not content.startswith(_ZIP):
        return {}
    import zipfile  # few tables need it

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {part.filename: part.file_size for part in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # damaged, or of a later version
        return {}


def sheet_lines(content: bytes, sheet: str = "") -> Iterator[tuple[int, list[str]]]:
    """Yields (row number, cells as text) of a sheet ("" for the first), from its first non-empty
    row on. Raises BadTable if it cannot be read.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    _refuse_bomb(content)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
            names = book.sheet_names
            if not names or (sheet and sheet not in names):
                raise BadTable(f"it has no sheet '{sheet}'. Its sheets: {names_of(names)}.")
            rows = book.get_sheet_by_name(sheet or names[0]).to_python(skip_empty_area=False)
    except CalamineError as error:
        raise BadTable(f"it cannot be read as a spreadsheet ({type(error).__name__}).") from None
    first = next((at for at, row in enumerate(rows) if any(cell != "" for cell in row)), 0)
    for number, row in enumerate(rows[first:], first + 1):
        yield number, list(map(_text, row))


def _refuse_bomb(content: bytes) -> None:
    """Raises BadTable if a file would exceed MOST_BYTES when decompressed."""
    if sum(_sizes(content).values()) > MOST_BYTES:
        raise BadTable(f"it has more than {MOST_BYTES / 2**20:g} MiB when decompressed.")


def _text(cell: Cell) -> str:
    """Returns a cell as text; whole numbers without a decimal point (3, not 3.0)."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
