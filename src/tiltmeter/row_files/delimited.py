"""Reads delimited text: with commas, semicolons or tabs; in UTF-8, in UTF-16 with a byte-order
mark, or in a Windows code page if all these pages give the same text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from .cells import BadTable, Row, rows_of_cells

# semicolons where a comma parts decimals, as in German and French
_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Of Central Europe, Western Europe, Turkish and Baltic: a spreadsheet writes one of them unasked.
_CODE_PAGES = ("cp1250", "cp1252", "cp1254", "cp1257")
_OTHER_SCRIPT = re.compile(rb"[\xa0-\xff]{3}")  # letters of a code page or of two bytes each
_LOST = re.compile(r"[^\W\d_]+\?+[^\W\d_]+")
_NAMED_DELIMITER = re.compile(r"sep=([,;\t])\r?\n", re.IGNORECASE)  # a first line for Excel alone


def table_text(content: bytes) -> str:
    """Decodes a table, without byte-order mark. BadTable if several decodings are possible."""
    try:
        return content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        readings: list[str] = []
        with suppress(UnicodeDecodeError):
            readings = [content.decode(page) for page in _CODE_PAGES]
        is_one_script = not _OTHER_SCRIPT.search(content)
        if is_one_script and len(set(readings)) == 1:
            return readings[0]
        at, letters = error.start, ""
        if is_one_script and readings:
            at = next(n for n, signs in enumerate(zip(*readings, strict=True)) if len({*signs}) > 1)
            letters = ", ".join(dict.fromkeys(reading[at] for reading in readings))
        line = 1 + content.count(b"\n", 0, at)
        why = letters and f" One letter could be {letters}, by the computer that saved it."
        raise BadTable(
            f"line {line} is not UTF-8. Save the file as UTF-8 (in Excel: CSV UTF-8).{why}"
        ) from None


def lost_letters(texts: Iterable[str]) -> str:
    """Returns a warning about the first word with a question mark inside, which programs write for
    a letter that an encoding lacks (Y?lmaz); "" if there is none.
    """
    words = (word for text in texts if "?" in text for word in text.split() if "://" not in word)
    lost = next((match[0] for word in words if (match := _LOST.search(word))), "")
    return lost and (
        f"A table has '{lost}': a letter was lost when it was saved, and models would read a "
        "question mark. Export the table again as UTF-8 (in Excel: CSV UTF-8)."
    )


def numbered_rows(
    text: str, delimiter: str = "", short_rows: bool = False, needs: Sequence[str] = ()
) -> Iterator[tuple[int, Row]]:
    """Yields (line, row) of a text with a header, as `rows_of_cells` does. A row that spans several
    lines has the number of its last line, from 1.

    delimiter:  "" for the one that a line `sep=` names, or the header's most frequent of , ; tab.
    short_rows: True if a row may have fewer cells than the header; missing cells are "".
    needs:      the required columns.
    """
    named = _NAMED_DELIMITER.match(text)
    above = 1 if named else 0  # lines
    if named:
        text, delimiter = text[named.end() :], delimiter or named[1]
    delimiter = delimiter or max(_DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines = ((above + reader.line_num, cells) for cells in reader)
    hint = f" Put cells that have {_DELIMITERS[delimiter]} into quotation marks."
    try:
        yield from rows_of_cells(lines, short_rows, needs, hint)
    except csv.Error as error:
        raise BadTable(f"line {above + reader.line_num} is not CSV ({error}).") from None
