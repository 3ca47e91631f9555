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
    """A prompt with (run, answer, label) per run. count: number of prompts that differ likewise."""

    prompt: str
    answers: tuple[tuple[str, str, str], ...]
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenBlock:
    """Rows of a table, or lines, of which a smaller terminal shows fewer.

    style: the style of lines; begin: prefix of each line. noun: the word for omitted rows in "3
    more …", "" for no count; hidden: number of rows omitted in any case. fewer: numbers of rows to
    try if room is short. order: row indices, most important first; () for the order of the rows.
    weight: blocks with a higher weight are shown whole first.
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
    """Makes a block of cautions, of which a small terminal shows three, one or none."""
    begin, style = "! ", "yellow"
    return ScreenBlock(
        rows=lines, begin=begin, style=style, noun="caution", fewer=(3, 1, 0), weight=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsPage:
    """A comparison or a history of runs. cautions: reasons for care in reading it; blocks: follow
    the headline and lede in a terminal; with_line: True to print `line` before them there; end: the
    last line there; simulated: a warning about planted models, for the page.
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
