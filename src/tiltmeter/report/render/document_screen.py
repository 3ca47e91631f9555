"""A document in the terminal: as much of it as fits, and a count of the rest."""

from __future__ import annotations

from functools import partial

from rich.console import Console

from ...stats.results import count_of
from ..page_model.document import Document, Part
from ..page_model.page import Table
from .fit_terminal import print_columns, print_first_that_fits, print_lines


def print_document(
    document: Document, console: Console, full: bool = False, taken: int = 0
) -> None:
    """Prints a document: `full` all of it, else as much as fits the terminal. taken: lines of the
    screen that warnings have.
    """
    attempts = 1 if full else max(1, *(len(part.most) for part in document.parts))
    print_first_that_fits(
        console,
        (partial(_print, document, console, None if full else n) for n in range(attempts)),
        taken,
    )


def _print(document: Document, console: Console, attempt: int | None) -> None:
    if document.with_line:
        print_lines(" · ".join(filter(None, document.line)), console, "dim")
    print_lines(document.headline, console, "bold")
    if document.lede:
        print_lines(" ".join(document.lede), console)
    if document.pills:
        print_lines(" · ".join(f"{pill.symbol} {pill.text}" for pill in document.pills), console)
    left = []
    for part in document.parts:
        number = _print_part(part, console, attempt)
        left += [_count(number, part.noun)] if number and part.noun else []
    if left:
        print_lines(f"The rest ({', '.join(left)}): --full", console)
    if document.kind == "history":
        print_lines("As a page with a figure: --out history.html", console)


def _print_part(part: Part, console: Console, attempt: int | None) -> int:
    """Prints the rows that this attempt has room for; returns the number of the others."""
    rows = part.rows.rows if isinstance(part.rows, Table) else part.rows
    most = len(rows) if attempt is None or not part.most else part.most[attempt]
    places = sorted((part.order or range(len(rows)))[:most])
    if isinstance(part.rows, Table):
        if places:
            print_columns(part.rows, [part.rows.rows[place] for place in places], console)
    else:
        for place in places:
            print_lines(f"{part.begin}{part.rows[place]}", console, part.style)
    return len(rows) - len(places)


def _count(number: int, noun: str) -> str:
    first, *rest = noun.split(" of ")
    return " of ".join((count_of(number, first), *rest))
