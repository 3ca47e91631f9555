"""The parts that a protocol declares: modes, instruments, measures, variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records import Json, Sampling
from .measures import measure_kind
from .paper_tables import TableLayout
from .source.keys import BandKeys, SentenceKeys


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to obtain outputs: sampled (`logprobs` 0) or read from probabilities.

    size:  WIDTHxHEIGHT in pixels of the wanted pictures; "" in a protocol of texts.
    for_discovery: True if sampled in addition to the measured mode, for an instrument to learn
           from, and never labelled. `aside` in files of version 0.1.
    """

    name: str
    samples: int = 1
    begin: str = ""
    logprobs: int = 0
    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int = 256
    size: str = ""
    for_discovery: bool = False

    @property
    def sampling(self) -> Sampling:
        """The sampling settings; all None for a picture, since image models take only a seed."""
        return (
            Sampling(None, None, 0)
            if self.size
            else Sampling(self.temperature, self.top_p, self.max_tokens)
        )


@dataclass(frozen=True, slots=True)
class InstrumentSpec:
    """A named instrument: `kind` is looked up in the registry, `settings` are passed to it.

    also: further attributes that it labels, for measures to name.
    told: settings of the judges that label beside it, overriding its own (those of a variant).
    unsure: settings, overriding its own, with which it marks outputs as unsure; its judges label
          only these, and form one instrument with it. None: judges label everything, beside it.
    unread: the question and the values for judges that label the outputs it cannot read, as one
          instrument with it; None for no such judges.
    """

    name: str
    kind: str
    attribute: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # what each kind declares
    also: tuple[str, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    unsure: Mapping[str, Any] | None = None
    unread: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """A declared measure: a number computed from labels.

    kind:     a name in `measures.names()` (share, difference, …).
    values:   the label values that are counted; `["*"]` gives each value a row of its own.
    among:    the values in the denominator; () for all labels except those in `without`.
    per:      the unit of the denominator, "labels" or "outputs".
    where:    {factor: [levels]}: only these trials, for a rate that is defined on some of them.
    by:       groupings, each a list of factors; [] is the whole.
    contrast: {factor, level, baseline}: the difference level − baseline, paired by cluster.
    null:     the value that means no tilt, for the test; None for no test.
    over:     parts of the stratum (subject, language) that are pooled for it; it has no row if the
              run has only one of each.
    expected: {factor: {level: value}}: the one value that counts as a hit at each level of a
              factor.
    scores:   {value: number} for the mean of labels that are not numbers; values without a score
              are left out.
    figure:   its drawing, a name in FIGURES, or several with | between; forest plots are only for
              headlines and contrasts.
    band:     {low, high, text}: shaded in its forest plot, such as the four-fifths band.
    family:   tests of all measures and groupings of one family are adjusted together; "" for each
              grouping by itself.
    parts:    measures whose rows are parts of its claim: if tested parts point in both directions,
              its direction is not settled.
    nuisance: the name of the factor it measures, if that is not a question of the audit (a
              position, an order): its claims are a family of their own, and not tilts.
    reference: the reference of the shares: a column with a share per item, or {value: share} of the
              whole.
    sentence: the report's sentences about its claims, by verdict (wording.py).
    """

    name: str
    kind: str
    attribute: str
    values: tuple[str, ...]
    among: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ((),)
    contrast: Mapping[str, str] | None = None
    null: float | None = None
    unit: str = "share"
    headline: bool = False
    per: str = "labels"
    without: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    figure: str = "forest"
    band: BandKeys | None = None
    family: str = ""
    over: tuple[str, ...] = ()
    expected: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reference: str | Mapping[str, float] = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    nuisance: str = ""
    sentence: SentenceKeys = field(default_factory=SentenceKeys)

    @property
    def signed(self) -> bool:
        """True if its values are differences, which have a sign."""
        has_negative = any(score < 0 for score in self.scores.values())
        return self.contrast is not None or has_negative or measure_kind(self.kind).signed


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to compute the same measures. where: the trials that it keeps.

    several:   the meaning of a cell with several values: "alone" leaves a word of two classes out
               of both; "each" counts it in each, as papers do.
    intervals: False if the authors gave none.
    adjust:    False if the authors adjusted no p: p, stars and verdicts are then unadjusted.
    measures:  the measures that it has, () for all; `only`: measures that no other variant has.
    headline:  its headline measures if they differ from the default ones.
    reads:     {attribute: another attribute to count instead, if the run has it}.
    says:      {measure: its text}, for measures that are other numbers here than by default; such
               measures have no null value.
    tables:    the paper's own tables, which `analyse` prints in full.
    judges:    {instrument: settings} of the judges beside it, for runs made in this variant.
    """

    name: str
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    several: str = "alone"
    intervals: bool = True
    adjust: bool = True
    measures: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    headline: tuple[str, ...] = ()
    text: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[TableLayout, ...] = ()
    judges: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
