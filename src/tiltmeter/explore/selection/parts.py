"""The parts of an explorer page, as plain dataclasses."""

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
    """A part of a distribution. share, begin: of the whole, 0 to 1; colour: a CSS class."""

    value: str
    count: float
    share: float
    begin: float
    colour: str


@dataclass(frozen=True, slots=True)
class Card:
    """One output. blob: its picture's name; text: its beginning; surprise: in bits, or None."""

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
        """RUN-OUTPUT, as it stands in addresses."""
        return f"{self.run}-{self.id}"


class Effect(NamedTuple):
    """A change. size: distance of two columns' labels, 0 to 1; changed: another commonest."""

    size: float
    changed: bool


class Count(NamedTuple):
    """hits of n with a share, its interval and p against the baseline; None where there is none."""

    hits: float
    n: float
    share: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Banner:
    """The number that outputs were counted for. number: as it was shown, "" where nobody said;
    facts: (name, level) of what was counted; address: of the view without it.
    """

    number: str
    outputs: int
    facts: tuple[tuple[str, str], ...]
    address: str


@dataclass(frozen=True, slots=True)
class GridCell:
    """total: outputs of the condition; found: of these, the ones that the filters leave; address:
    of the wall of this cell alone.
    """

    bars: tuple[ShareBar, ...]
    total: int
    found: int
    cards: tuple[Card, ...]
    address: str = ""
    count: Count | None = None


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """An option: what it is called, how many there are, its address, whether it is chosen; effect:
    of an item, None where columns are not compared.
    """

    value: str
    count: int | None
    address: str
    chosen: bool
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A factor that can be narrowed down. name: of the parameter."""

    name: str
    title: str
    choices: tuple[OptionChoice, ...]


@dataclass(frozen=True, slots=True)
class OutputsPage:
    """view: with its defaults filled in. columns: (level, is it the baseline). value: the one that
    is counted; title: of a level of a factor; changed: of how many rows the commonest label
    changes, and of how many; views: pairs, wall and counts of the same.
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
        """True if it shows outputs, and not counts alone."""
        return self.view.show != "counts"

    @property
    def effects(self) -> dict[str, Effect]:
        """Item → how much its columns differ, where they are compared."""
        return {tab.value: tab.effect for tab in self.tabs if tab.effect is not None}
