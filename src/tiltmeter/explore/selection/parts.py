"""Dataclasses for a page of the explorer, in plain text and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...protocol import Protocol
from .view import View

# what is no factor and is grouped by all the same
LABEL, OUTCOME, SUBJECT, MODE = ("label", "outcome", "subject", "mode")
NONE = "not labelled"


@dataclass(frozen=True, slots=True)
class ShareBar:
    """A segment of a bar. share, begin: fractions of the whole, 0 to 1; colour: a CSS class."""

    value: str
    count: float
    share: float
    begin: float
    colour: str


@dataclass(frozen=True, slots=True)
class Card:
    """One output. blob: its picture's file; text: its beginning; surprise: in bits, or None."""

    run: int
    id: str
    blob: str
    text: str
    outcome: str
    labels: tuple[str, ...]
    colour: str
    split: bool
    surprise: float | None
    about: str
    language: str

    @property
    def key(self) -> str:
        """The output's key: RUN-OUTPUT, as used in addresses."""
        return f"{self.run}-{self.id}"


class Effect(NamedTuple):
    """A difference between columns' labels. size: 0 to 1; changed: True if the commonest differ."""

    size: float
    changed: bool


class Count(NamedTuple):
    """Hits among n, the share, its interval and p against the baseline; None if not computed."""

    hits: float
    n: float
    share: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Banner:
    """The number whose outputs are shown. number: as printed, "" if unknown; outputs: how many;
    facts: (name, level) of these outputs; address: the view without this number.
    """

    number: str
    outputs: int
    facts: tuple[tuple[str, str], ...]
    address: str


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell. total: outputs of the condition; found: outputs that pass the filters; address: of
    the wall for this cell.
    """

    bars: tuple[ShareBar, ...]
    total: int
    found: int
    cards: tuple[Card, ...]
    address: str = ""
    count: Count | None = None


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """An option to choose. count: its number of outputs; address: the page with this option;
    chosen: True if this page has it; effect: an item's, None if columns are not compared.
    """

    value: str
    count: int | None
    address: str
    chosen: bool
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A factor to filter by. name: its parameter in the address; choices: its levels."""

    name: str
    title: str
    choices: tuple[OptionChoice, ...]


@dataclass(frozen=True, slots=True)
class OutputsPage:
    """A page. view: with defaults filled in; columns: (level, True for the baseline); value: the
    counted value; title: returns the title of a factor's level; changed: (number of rows
    whose commonest label changes, number of rows); views: links to pairs, wall and counts.
    """

    view: View
    protocol: Protocol
    pictures: bool
    tabs: tuple[OptionChoice, ...]
    by: tuple[str, ...]
    factors: tuple[str, ...]
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    attributes: tuple[str, ...]
    values: tuple[OptionChoice, ...]
    outcomes: tuple[OptionChoice, ...]
    filters: tuple[Filter, ...]
    found: int
    total: int
    pages: int
    missing: int
    notes: tuple[str, ...]
    banner: Banner | None = None
    value: str = ""
    changed: tuple[int, int] = (0, 0)
    views: tuple[OptionChoice, ...] = ()
    title: Callable[[str, str], str] = lambda name, level: level

    @property
    def has_sheet(self) -> bool:
        """True if the page shows outputs rather than counts."""
        return self.view.show != "counts"

    @property
    def effects(self) -> dict[str, Effect]:
        """{item: difference between its columns}, for the items whose columns are compared."""
        return {tab.value: tab.effect for tab in self.tabs if tab.effect is not None}
