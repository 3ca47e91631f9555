"""A page about several runs as data: words, a figure, one prompt, tables, terminal blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .figures import Figure
from .table import Table

if TYPE_CHECKING:  # comparisons of runs, which a report of one run does without
    from ...analyse.between_runs.first_words import Pill


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt with (run, answer, label) per run. count: how many prompts differ the same way."""

    prompt: str
    answers: tuple[tuple[str, str, str], ...]
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenBlock:
    """Rows of a table, or lines, of which a smaller terminal shows fewer.

    style: of lines; begin: prefix of each line. noun: names omitted rows in a count, "" for no
    count; hidden: number of rows omitted anyway. fewer: numbers of rows to try for less room.
    order: row indices, most important first; () for the order of the rows. weight: blocks of higher
    weight are shown whole first.
    """

    rows: Table | tuple[str, ...] = ()
    style: str = ""
    begin: str = ""
    noun: str = ""
    hidden: int = 0
    fewer: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    weight: int = 0


def warnings_block(lines: tuple[str, ...]) -> ScreenBlock:
    """Makes a block of cautions that a small terminal cuts to three, one or none."""
    begin, style = "! ", "yellow"
    return ScreenBlock(
        rows=lines, begin=begin, style=style, noun="caution", fewer=(3, 1, 0), weight=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsPage:
    """A comparison or a history of runs. cautions: reasons for care in reading it; blocks: follow
    the first words in a terminal; with_line: print `line` before these words there; end: the last
    line there; simulated: a warning about planted models, on the page.
    """

    kind: str
    title: str
    question: str
    line: tuple[str, ...]
    headline: str
    lede: tuple[str, ...]
    pills: tuple[Pill, ...]
    figure: Figure | None
    tables: tuple[Table, ...]
    cautions: tuple[str, ...]
    blocks: tuple[ScreenBlock, ...]
    example: Example | None = None
    simulated: str = ""
    with_line: bool = False
    end: str = ""
