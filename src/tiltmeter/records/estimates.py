"""The row in which every audit ends, and the parts of it: populations, cells, items, voices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypedDict


class Population(TypedDict):
    """Of which items and cue words an estimate speaks.

    items: "like these" or "these"; cue_words: "like these", "these" or "all" (the word itself is
    the cue). words: how many on each side, the baseline first; words_sd: how far those of one side
    differ among themselves, in the unit of the estimate (log for a ratio), None if each stands in
    one item; items_n: items. df and
    se: of the test for words like these; se_items: of that over items alone; se_within: if the same
    prompts were asked again, None if none was answered twice; p_these: of the
    narrower population (these words; with few items these items too), p_these_adjusted in its own
    family; p_like_these: for items and words like these.
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
    """One value of one attribute, whose share a claim of many cells names.

    object: None if it is over all of several objects. base: the level that it is held against; None
    if that is all other groups. share and base_share: the raw shares of n and base_n outputs with a
    value of the attribute. p_adjusted: over all cells of the claim, times the claims of the run.
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
    """The cells that a claim of many cells names: `Estimate.cells` and `Verdict.cells`.

    named: the strongest first, one per attribute; empty if the claim is not rejected, or if it is
    and no cell by itself is ("pictures differ; in which attribute cannot be said"). largest: the
    strongest cell as it was seen, whatever its p (None if nothing could be measured); it may not be
    told as a finding. follows: values that differ too, and no longer among the answers that are
    left without the named one ("the rest follows"). follows_from: the value that this claim
    follows from, if it is such. tested: how many cells. level: at which names are tested (α over
    the claims of the run). detectable_all, detectable_one: the rise of one value from .15 in one
    group, in all objects and in one, that is found in 80 % of runs.
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
    """One item whose share differs from the others' together: in `Estimate.between_items` under
    "exceptions", the most surprising first, up to three; empty if none can be named.

    hits of n answers; others_share: the pooled share of the other items; p_adjusted: exact binomial
    against it, by Holm over the items of the claim.
    """

    item: str
    hits: float
    n: float
    others_share: float
    p_adjusted: float


class Voice(NamedTuple):
    """A row as the labels of some people alone correct it. who: their name, or "without NAME"."""

    who: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None


STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))  # p below → how papers mark it


@dataclass(frozen=True, slots=True)
class Estimate:
    """The one row in which every audit ends. None where nothing could be measured, with a note that
    says why; never 0.

    value, low, high, null_low and null_high are in `unit`; p in [0, 1]; `detectable` is the
    smallest difference from the null value that this design would find with 80 % power; `family` is
    where p is adjusted, among `family_size` claims by `adjustment` (holm, benjamini-hochberg);
    `outcomes` counts labels (sums of weights).
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
    # codes of the marks of its interval, which the note tells in words
    cautions: tuple[str, ...] = field(default=(), repr=False, compare=False)
    # of an interval by t: its standard error and degrees of freedom
    spread: tuple[float, float] | None = field(default=None, repr=False, compare=False)
    # tests whether its items differ more than chance lets them, until it is known which rows claim
    test_items: Callable[[], Mapping[str, Any] | None] | None = field(
        default=None, repr=False, compare=False
    )
    # what that found: p and p_adjusted among so many `claims`; of so many `items` how many lie
    # `above` and `below` no tilt, and if they differ which are `exceptions` (NamedItem)
    between_items: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    # of rows with cue words: which population they speak of
    population: Population | None = field(default=None, repr=False, compare=False)
    # of what compares two sides, both raw numbers: `level` and `baseline`; of a joint effect those
    # of each group (`masculine`) and of its controls (`masculine_en`) too
    sides: Mapping[str, float] | None = field(default=None, repr=False, compare=False)
    # of claims of many cells: which cells they name
    cells: CellClaim | None = field(default=None, repr=False, compare=False)
    # names its cells at a level, if it is rejected, until it is known over how many claims
    name_cells: Callable[[float, bool], CellClaim] | None = field(
        default=None, repr=False, compare=False
    )
    # of a row that several people's gold corrects: what it is by each of them alone
    voices: tuple[Voice, ...] = field(default=(), repr=False, compare=False)
    # of a claim that a run stops by: its look and round, of how many, and what became of it
    stopped: Mapping[str, int | str] | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """Tells the row from every other of its run."""
        where = tuple(self.condition.items()), tuple((self.contrast or {}).items())
        return (self.measure, self.subject, self.instrument, self.variant, *where)

    def without_value(self, measure: str) -> Estimate:
        """The row of another measure, with nothing measured or tested yet."""
        return replace(
            self,
            measure=measure,
            value=None,
            low=None,
            high=None,
            confidence=None,
            interval_method=None,
            test=None,
            p=None,
            family=None,
            detectable=None,
            detect=None,
            spread=None,
            test_items=None,
            between_items=None,
            population=None,
            sides=None,
            cells=None,
            name_cells=None,
            cautions=(),
        )

    @property
    def deciding_p(self) -> float | None:
        """The adjusted p, or p if it is not adjusted; None if no test was made."""
        return self.p if self.p_adjusted is None else self.p_adjusted

    @property
    def stars(self) -> str | None:
        """`***` below .001, `**` below .01, `*` below .05 of the deciding p; "" above, and None if
        no test was made.
        """
        p = self.deciding_p
        return None if p is None else next((text for bound, text in STARS if p < bound), "")

    @classmethod
    def columns(cls) -> list[str]:
        """The names of what is told, in the order of the table; stars after what they rest on."""
        names = [one.name for one in fields(cls) if one.repr]
        names.insert(names.index("adjustment") + 1, "stars")
        return names

    def as_dict(self) -> dict[str, Any]:
        """Plain values in the order of the table; `stopped` only of a claim that a run stops by."""
        told = {name: getattr(self, name) for name in self.columns()}
        return told if self.stopped is None else told | {"stopped": self.stopped}
