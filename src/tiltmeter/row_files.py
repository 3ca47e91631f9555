"""CSV and JSON lines → rows. The one reader of such files, of those that ship and of those that
somebody gives, as programs and spreadsheets write them: parted by commas, semicolons or tabs, in
UTF-8, in UTF-16 with its mark, or in a code page of Windows where all read it alike.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from . import intake
from .errors import UsageError
from .records import Json

Row = dict[str, str]  # a row by its columns
JsonObject = dict[str, Json]
# semicolons where a comma parts decimals, as in German and French
_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Of Central Europe, Western Europe, Turkish and Baltic: a spreadsheet writes one of them unasked.
_CODE_PAGES = ("cp1250", "cp1252", "cp1254", "cp1257")
_OTHER_SCRIPT = re.compile(rb"[\xa0-\xff]{3}")  # letters of a code page or of two bytes each
_NAMED_DELIMITER = re.compile(r"sep=([,;\t])\r?\n", re.IGNORECASE)  # a first line for Excel alone


class BadTable(UsageError):
    """What is no table; the message begins with the line and says what is wrong with it."""


def read_rows(
    path: Path, delimiter: str = "", short_rows: bool = False, needs: Sequence[str] = ()
) -> Iterator[tuple[int, Row]]:
    """`numbered_rows` of a file that somebody gives. UsageError names the file."""
    with _naming(path):
        text = intake.read_text(path, decode=table_text)
        yield from numbered_rows(text, delimiter, short_rows, needs)


def read_objects(path: Path) -> Iterator[tuple[int, JsonObject]]:
    """`numbered_objects` of a file that somebody gives. UsageError names the file."""
    with _naming(path):
        yield from numbered_objects(intake.read_text(path, decode=table_text))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors of reading a file, with its name."""
    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from None
    except BadTable as error:
        raise BadTable(f"{path.name}, {error}") from None


def table_text(content: bytes) -> str:
    """The text of a table, without a mark at its beginning. BadTable where it may be read in more
    than one way.
    """
    try:
        return content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        readings = set()
        with suppress(UnicodeDecodeError):
            readings = {content.decode(page) for page in _CODE_PAGES}
        if len(readings) == 1 and not _OTHER_SCRIPT.search(content):
            return readings.pop()
        line = 1 + content.count(b"\n", 0, error.start)
        raise BadTable(
            f"line {line} is not UTF-8. Save the file as UTF-8 (in Excel: CSV UTF-8)."
        ) from None


def numbered_rows(
    text: str, delimiter: str = "", short_rows: bool = False, needs: Sequence[str] = ()
) -> Iterator[tuple[int, Row]]:
    """(line, row) of a text with a header; the line, from 1, is the one on which the row ends.
    Empty lines are left out, with delimiters or without, spaces around the names of columns, and
    columns at the end that have neither a name nor anything in them.

    delimiter:  "" for a comma, a semicolon or a tab: what `sep=` names, or the header has most of.
    short_rows: True if a row may have fewer cells than the header; what is missing is "".
    needs:      columns that must be there.
    Raises BadTable: a column that has no name, or one twice; a row with more or fewer cells.
    """
    named = _NAMED_DELIMITER.match(text)
    above = 1 if named else 0  # lines
    if named:
        text, delimiter = text[named.end() :], delimiter or named[1]
    delimiter = delimiter or max(_DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, ())]
        width = len(header)
        while header and not header[-1]:
            header.pop()
        _refuse_header(header, needs)
        for cells in reader:
            if not any(cells) and len(cells) != 1:
                continue
            line = above + reader.line_num
            if len(cells) > width or (len(cells) < len(header) and not short_rows):
                raise BadTable(
                    f"line {line} has not as many cells as the header: {len(cells)}, not {width}. "
                    f"A cell with {_DELIMITERS[delimiter]} in it is put in quotation marks."
                )
            if any(cells[len(header) :]):
                raise BadTable(f"line {line} has a cell in a column without a name.")
            missing = [""] * (len(header) - len(cells))
            yield line, dict(zip(header, [*cells[: len(header)], *missing], strict=True))
    except csv.Error as error:
        raise BadTable(f"line {above + reader.line_num} is not CSV ({error}).") from None


def numbered_objects(text: str) -> Iterator[tuple[int, JsonObject]]:
    """(line, object) of JSON lines, without the empty ones. BadTable names a line that is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadTable(f"line {number} is no JSON: {error}.") from None
        if not isinstance(row, dict):
            raise BadTable(f'line {number} is no JSON object, such as {{"job": "nurse"}}.')
        yield number, row


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
