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
    """A prompt, (run, answer, label) of each run, and how many prompts differ so."""

    prompt: str
    answers: tuple[tuple[str, str, str], ...]
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenBlock:
    """Rows of a table, or lines, of which a terminal with less room shows fewer.

    style: of lines; begin: stands before each. noun: names the rows that are left out, "" if they
    are not counted; hidden: how many are left out anyway. fewer: the numbers of rows for less room.
    order: places of rows, those first that are left out last; () for the order of the rows. weight:
    blocks of more weight are shown whole first.
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
    """Cautions: three, one or none of them if there is little room."""
    begin, style = "! ", "yellow"
    return ScreenBlock(
        rows=lines, begin=begin, style=style, noun="caution", fewer=(3, 1, 0), weight=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsPage:
    """A comparison or a history of runs. cautions: reasons not to read it as it stands; blocks:
    follow the first words in a terminal; with_line: those words begin with `line` there; end: the
    last line there; simulated: said of planted models on a page.
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
