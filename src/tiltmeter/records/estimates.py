"""The row in which every audit ends, and the parts that only some of these rows have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, NamedTuple, TypedDict


class Population(TypedDict):
    """The population of items and cue words that an estimate is about.

    items: "like these" or "these"; cue_words: "like these", "these" or "all" (the word itself is
    the cue). words: the number on each side, the baseline first; words_sd: the standard deviation
    among words of one side, in the unit of the estimate (log for a ratio), None if each word is in
    only one item; items_n: the number of items. df and se: of the test for words like these;
    se_items: se over items alone; se_within: se of asking the same prompts again, None if no prompt
    was answered twice; p_these: p for the narrower population (these words; with few items these
    items too), p_these_adjusted: in its own family; p_like_these: p for items and words like these.
    """

    items: str
    cue_words: str
    words: Sequence[int]
    words_sd: float | None
    items_n: int
    df: float | None
    se: float
    se_items: float
    se_within: float | None
    p_these: float | None
    p_these_adjusted: float | None
    p_like_these: float | None


class NamedCell(TypedDict):
    """One value of one attribute: a cell that shows a claim over many cells.

    object: None if the cell pools several objects. base: the level that it is compared with; None
    for all other groups. share and base_share: the raw shares of n and base_n outputs with a value
    of the attribute. p_adjusted: over all cells of the claim, times the claims of the run.
    """

    attribute: str
    value: str
    object: str | None
    group: str
    base: str | None
    share: float
    n: float
    base_share: float
    base_n: float
    p_adjusted: float


class CellClaim(TypedDict):
    """The cells that show a claim over many cells: `Estimate.cells` and `Verdict.cells`.

    named: the strongest first, one per attribute; empty if the claim is not rejected, or if no
    single cell is ("pictures differ; in which attribute cannot be said"). largest: the strongest
    observed cell, whatever its p (None if nothing could be measured); it is not a finding.
    follows: values that differ too, but no longer once answers with the named value are left out
    ("the rest follows"). follows_from: the value that this claim follows from, if any. tested: the
    number of cells. level: of the tests of single cells (α over the claims of the run).
    detectable_all, detectable_one: the rise of one value from .15 in one group, in all objects and
    in one, that is found in 80 % of runs.
    """

    named: Sequence[NamedCell]
    largest: NamedCell | None
    follows: Sequence[str]
    follows_from: str | None
    tested: int
    level: float
    detectable_all: float | None
    detectable_one: float | None


class NamedItem(TypedDict):
    """One item whose share differs from the pooled share of the others: in `Estimate.between_items`
    under "exceptions", the most surprising first, up to three.

    hits of n answers; others_share: the pooled share of the other items; p_adjusted: by an exact
    binomial test against that share, by Holm over the items of the claim.
    """

    item: str
    hits: float
    n: float
    others_share: float
    p_adjusted: float


class Voice(NamedTuple):
    """A row corrected by the labels of only some people. who: their name, or "without NAME"."""

    who: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None


_MEASURED_OR_TESTED = (
    *("value", "low", "high", "confidence", "interval_method", "test", "p", "family"),
    *("detectable", "detect", "spread", "test_items", "between_items", "population"),
    *("sides", "cells", "name_cells"),
)
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))  # p below → its mark in papers


@dataclass(frozen=True, slots=True)
class Estimate:
    """The one row in which every audit ends. A number that could not be measured is None, never 0,
    and `note` says why.

    value, low, high, null_low and null_high are in `unit`; p in [0, 1]; `detectable` is the
    smallest difference from the null value that this design would find with 80 % power; `family`
    names the `family_size` claims among which p is adjusted by `adjustment` (holm,
    benjamini-hochberg); `outcomes` counts labels (sums of weights).
    """

    protocol: str
    subject: str
    instrument: str
    measure: str
    condition: Mapping[str, str]
    contrast: Mapping[str, str] | None
    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    interval_method: str | None = None
    null_low: float | None = None
    null_high: float | None = None
    test: str | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: str | None = None
    family_size: int | None = None
    adjustment: str | None = None
    n: float = 0
    clusters: int | None = None
    detectable: float | None = None
    outcomes: Mapping[str, float] = field(default_factory=dict)
    correction: str = "none"
    variant: str = "default"
    note: str = ""
    signature: str = ""
    # the smallest difference found at a level (α over the family), until the family is known
    detect: Callable[[float], float | None] | None = field(default=None, repr=False, compare=False)
    # codes of the cautions about its interval, which the note has in words
    cautions: tuple[str, ...] = field(default=(), repr=False, compare=False)
    # the standard error and degrees of freedom of an interval by t
    spread: tuple[float, float] | None = field(default=None, repr=False, compare=False)
    # tests if its items differ by more than chance; dropped once it is known which rows are claims
    test_items: Callable[[], Mapping[str, Any] | None] | None = field(
        default=None, repr=False, compare=False
    )
    # the result of that test: p and p_adjusted among so many `claims`; the number of `items`, and
    # of those `above` and `below` no tilt; if they differ, the `exceptions` (NamedItem)
    between_items: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    # of rows with cue words: the population that they are about
    population: Population | None = field(default=None, repr=False, compare=False)
    # the raw numbers of both sides of a comparison, `level` and `baseline`; of a joint effect also
    # those of each group (`masculine`) and of its controls (`masculine_en`)
    sides: Mapping[str, float] | None = field(default=None, repr=False, compare=False)
    # the cells that a claim of many cells names
    cells: CellClaim | None = field(default=None, repr=False, compare=False)
    # names its cells at a level, if it is rejected; dropped once the number of claims is known
    name_cells: Callable[[float, bool], CellClaim] | None = field(
        default=None, repr=False, compare=False
    )
    # its numbers by each person alone, if several people's gold corrects it
    voices: tuple[Voice, ...] = field(default=(), repr=False, compare=False)
    # look, round and state of a claim that a run stops by
    stopped: Mapping[str, int | str] | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """The values that identify the row among all rows of its run."""
        levels = tuple(self.condition.items()), tuple((self.contrast or {}).items())
        return (self.measure, self.subject, self.instrument, self.variant, *levels)

    def with_fields(self, **others: Any) -> Estimate:
        """Copies the row with other values in some fields, in half the time of `replace`."""
        row = object.__new__(Estimate)
        for set_field, value in zip(_SETTERS, _values(self), strict=True):
            set_field(row, value)
        for name, value in others.items():
            object.__setattr__(row, name, value)
        return row

    def without_value(self, measure: str) -> Estimate:
        """Returns the row for another measure, without values and tests."""
        nothing: dict[str, Any] = dict.fromkeys(_MEASURED_OR_TESTED)
        return replace(self, measure=measure, cautions=(), **nothing)

    @property
    def deciding_p(self) -> float | None:
        """The adjusted p, or p if it is not adjusted; None if no test was made."""
        return self.p if self.p_adjusted is None else self.p_adjusted

    @property
    def stars(self) -> str | None:
        """`***` for a deciding p below .001, `**` .01, `*` .05, else ""; None without a test."""
        p = self.deciding_p
        return None if p is None else next((text for bound, text in STARS if p < bound), "")

    @classmethod
    def columns(cls) -> list[str]:
        """Returns the table's columns in order, with `stars` after the columns that decide them."""
        names = [column.name for column in fields(cls) if column.repr]
        names.insert(names.index("adjustment") + 1, "stars")
        return names

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values in the table's order; includes `stopped` if the claim has looks."""
        values = {name: getattr(self, name) for name in self.columns()}
        return values if self.stopped is None else values | {"stopped": self.stopped}


_NAMES = [column.name for column in fields(Estimate)]
_values, _SETTERS = attrgetter(*_NAMES), [getattr(Estimate, name).__set__ for name in _NAMES]
