"""Runs against one another in the terminal: what changed and what did not, the headline
differences, cautions, as far as a screen goes, and where the rest is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from rich.console import Console

from ...analyse.between_runs import first_words
from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.paired_runs import ComparisonRow
from ...analyse.words import numerals
from ...display import shorten
from ...stats.results import count_of
from ..page_model.page import Column, Table
from ..several_runs import changes
from ..tables import judges
from .fit_terminal import print_columns, print_first_that_fits, print_lines
from .terminal import nothing_trailing

CAUTIONS = 3  # that are told beside the table
LONGEST_NAME = 16  # characters of a run's name in the table; the lines above have all of it


class Room(NamedTuple):
    """How many differences and cautions are printed."""

    differences: int
    cautions: int


def print_comparison(
    found: Comparison, names: Mapping[str, str], console: Console, full: bool, taken: int = 0
) -> None:
    """Prints a comparison: `full` every measure and group, else what fits the terminal. names:
    {model: its short name}; taken: lines of the screen that warnings have.
    """
    shown = changes.headline_differences(found)
    table, cautions = _table(shown.rows), changes.cautions(found)
    words, pills = first_words.of_comparison(found), first_words.pills(found.verdicts)
    every = Room(0 if full else len(table.rows), len(cautions))
    others = 0 if full else len(found.rows) - len(shown.rows)

    def attempt(room: Room) -> None:
        print_lines(words.headline, console, "bold")
        print_lines(" ".join(words.lede), console)
        if pills:
            print_lines(" · ".join(f"{pill.symbol} {pill.text}" for pill in pills), console)
        if room.differences:
            print_columns(table, table.rows[: room.differences], console)
        for text in cautions[: room.cautions]:
            print_lines(f"! {text}", console, "yellow")
        for model, name in names.items():
            print_lines(f"{name} = {model}", console, "dim")
        kind = "headline number" if any(row.claim for row in shown.rows) else "difference"
        left = (
            (every.differences - room.differences, f"more {kind}"),
            (others, "difference of other measures and groups"),
            (every.cautions - room.cautions, "caution"),
        )
        told = ", ".join(_count(number, what) for number, what in left if number)
        if told:
            print_lines(f"The rest ({told}): --full", console)

    if full:
        attempt(every)
        _print_every(judges.comparison(found, everything=True), console)
    else:
        print_first_that_fits(console, (partial(attempt, room) for room in _rooms(every)), taken)


def _print_every(table: Table, console: Console) -> None:
    """Every difference of a comparison, with what is to be known of all and of some."""
    _, group, *others = table.columns
    rows = [(f"{measure}: {by}", *rest) for measure, by, *rest in table.rows]
    with nothing_trailing(console):
        print_columns(replace(table, columns=(group, *others)), rows, console)
    print_lines(table.about, console, "dim")
    for letter, text in table.notes:
        print_lines(f"{letter}  {text}", console, "dim")


def _count(number: int, what: str) -> str:
    first, *rest = what.split(" of ")
    return " of ".join((count_of(number, first), *rest))


def _rooms(every: Room) -> Iterator[Room]:
    """Everything, then less and less."""
    yield every
    for differences in dict.fromkeys(min(every.differences, n) for n in (10**6, 12, 8, 5, 3, 2, 0)):
        for cautions in dict.fromkeys(min(every.cautions, n) for n in (CAUTIONS, 1, 0)):
            yield Room(differences, cautions)


def _table(rows: Sequence[ComparisonRow]) -> Table:
    """A row a difference: what tells it from the others, its values and its verdict."""
    several = len({row.runs for row in rows}) > 1
    return Table(
        "differences",
        "",
        "",
        (
            Column("number", brief=True),
            Column("run", brief=several),
            Column("values", "number", True),
            Column("difference", "number", True),
            Column("p adj.", "number", True),
            Column("verdict", brief=True),
        ),
        tuple(_cells(row, rows) for row in rows),
    )


def _cells(row: ComparisonRow, others: Sequence[ComparisonRow]) -> tuple[str, ...]:
    measure, _, _, values, difference, p, verdict, _ = judges.comparison_cells(row)
    levels = {**row.estimate.condition, **(row.estimate.contrast or {})}
    told = [
        level
        for name, level in levels.items()
        if level and name != "run" and any(_level(other, name) != level for other in others)
    ]
    sign = row.verdict.symbol if row.verdict else "·"
    return (
        ", ".join((measure, *told)),
        shorten(row.runs[1], LONGEST_NAME),
        values if numerals.NOTHING not in values else numerals.NOTHING,
        difference,
        p,
        f"{sign} {verdict}",
    )


def _level(row: ComparisonRow, name: str) -> str:
    return {**row.estimate.condition, **(row.estimate.contrast or {})}.get(name, "")
