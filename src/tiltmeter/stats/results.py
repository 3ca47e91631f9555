"""An estimate with its interval, and a test: two frozen records without behaviour.

``None`` always means "not measured", with the reason in ``note``. It never means 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

ALPHA = 0.05  # of a test, for an estimate without a confidence of its own
CONFIDENCE = 0.95  # of an interval, unless somebody asks for another
UPPER = 0.5 + CONFIDENCE / 2  # the quantile of its upper limit
FEW_GOLD = (
    10  # gold labels of a class below which coverage left 95 ± 3 in docs/explanation/statistics.md
)


class IntervalCaution(NamedTuple):
    """A caution about an interval: a code for programs, and a text for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Interval:
    """One number with its interval.

    ``value`` is the estimate, ``low`` and ``high`` its limits at ``confidence``, in the unit of the
    estimate (a share lies in [0, 1], a difference in [-1, 1], a ratio in (0, inf)). ``se`` is the
    standard error on the scale that ``method`` names (the log scale for ratios), ``df`` the degrees
    of freedom of the t quantile, ``n`` the outcomes (or the sum of weights), ``clusters`` the items
    that they come from, ``effective_n`` the n of independent outcomes that would be as informative
    (the design effect is n over ``effective_n``). ``cautions`` are codes of cautions, and ``note``
    says the same in words.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    confidence: float = CONFIDENCE
    n: float | None = None
    clusters: int | None = None
    se: float | None = None
    df: float | None = None
    effective_n: float | None = None
    note: str | None = None
    cautions: tuple[str, ...] = ()


def not_corrected(plain: Interval, reason: str | None) -> Interval:
    """Returns an interval without a value, whose note is the reason why the correction failed."""
    return Interval(
        None,
        None,
        None,
        "not corrected",
        plain.confidence,
        n=plain.n,
        clusters=plain.clusters,
        note=reason,
    )


@dataclass(frozen=True, slots=True)
class Test:
    """One hypothesis test.

    ``p`` is two-sided unless ``method`` says otherwise. ``smallest_p`` is the smallest p that the
    test can reach on these data: a discrete test whose ``smallest_p`` is above α cannot reject.
    ``draws`` is the number of resamples, or of assignments if all are enumerated.
    """

    __test__ = False  # pytest collects by name otherwise

    statistic: float | None
    p: float | None
    method: str
    smallest_p: float | None = None
    df: float | None = None
    draws: int | None = None
    note: str | None = None


CUT = "cut at what is possible"  # the note of a clipped estimate


def join_notes(*notes: str | None) -> str | None:
    """Joins the notes that are not empty; None if all are empty."""
    return "; ".join(note for note in notes if note) or None


def count_of(number: float, noun: str) -> str:
    """Writes a number with its noun: "1 item", "2,000 items"."""
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"


def with_cautions(interval: Interval, *cautions: IntervalCaution | None) -> Interval:
    """Adds the cautions that are not None to an interval."""
    new = [caution for caution in cautions if caution]
    return replace(
        interval,
        note=join_notes(interval.note, *(caution.text for caution in new)),
        cautions=(*interval.cautions, *(caution.code for caution in new)),
    )
