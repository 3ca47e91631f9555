"""A history of runs in the terminal: what fits a screen, or all of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from rich.console import Console

from ...analyse.words.verdict_words import Word
from ...stats.results import count_of
from ..several_runs.history import HistoryPage
from .fit_terminal import print_columns, print_first_that_fits, print_lines

CAUTIONS = 3  # that are told beside the tables


class Room(NamedTuple):
    """How many differences and cautions are printed, and whether the runs and what changed in each
    step are.
    """

    numbers: int
    cautions: int
    runs: bool


def print_history(page: HistoryPage, console: Console, full: bool) -> None:
    """Prints a history: `full` all of it, else what fits the terminal."""
    every = Room(len(page.numbers.rows), len(page.cautions), True)
    rooms = [every] if full else _rooms(every)
    print_first_that_fits(console, (partial(_print, page, console, room) for room in rooms))


def _rooms(every: Room) -> Iterator[Room]:
    """Everything, then less and less."""
    yield every
    cautions = min(every.cautions, CAUTIONS)
    for runs in (True, False):
        yield every._replace(cautions=cautions, runs=runs)
    for numbers in (every.numbers, 12, 8, 5, 3, 0):
        for least in (min(1, cautions), 0):
            yield Room(min(every.numbers, numbers), least, False)


def _print(page: HistoryPage, console: Console, room: Room) -> None:
    print_lines(" · ".join(filter(None, page.line)), console, "dim")
    print_lines(page.headline, console, "bold")
    if page.lede:
        print_lines(" ".join(page.lede), console)
    if page.pills:
        told = " · ".join(f"{pill.symbol} {pill.text}" for pill in page.pills)
        print_lines(told, console)
    if room.numbers:
        print_columns(page.numbers, _choose_rows(page, room.numbers), console)
    if room.runs:
        for number, name, date, *_ in page.runs.rows:
            print_lines(f"run {number}: {name}, {date}", console)
        for step, _, changed, _ in page.steps.rows:
            print_lines(f"{step}: {changed}", console, "dim")
    for text in page.cautions[: room.cautions]:
        print_lines(f"! {text}", console, "yellow")
    left = (
        (len(page.numbers.rows) - room.numbers, "difference"),
        (len(page.cautions) - room.cautions, "caution"),
        (0 if room.runs else len(page.runs.rows), "run"),
    )
    told = ", ".join(count_of(number, what) for number, what in left if number)
    if told:
        print_lines(f"The rest ({told}): --full", console)
    print_lines("As a page with a figure: --out history.html", console)


def _choose_rows(page: HistoryPage, most: int) -> list[tuple[str, ...]]:
    """So many differences: those that are told, then the latest; in their order."""
    rows = list(enumerate(page.numbers.rows))
    rows.sort(key=lambda row: (not row[1][-1].startswith(Word.DIFFERENT.symbol), -row[0]))
    return [row for _, row in sorted(rows[:most])]
