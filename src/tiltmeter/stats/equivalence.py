"""Different, equivalent, or not known: an effect against 0 and against a margin named
beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, association
from tiltmeter.stats.quantiles import t_quantile, t_two_sided
from tiltmeter.stats.results import Interval, Test, join_notes

Word = Literal["different", "equivalent", "inconclusive"]
WITHIN = "differs from 0 by less than the margin"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``word`` and what it rests on: the test against 0, the two one-sided tests, and the 1-2α
    interval (``low``, ``high``) that lies inside ±margin where the word is "equivalent". ``note``
    says when the effect is both different from 0 and inside the margin (the word is then
    "equivalent"), or why nothing is known. ``word`` is None where there is no variance to test
    against.
    """

    word: Word | None
    difference: Test
    equivalence: Test
    margin: float
    low: float | None = None
    high: float | None = None
    note: str | None = None


def verdict(*, value: float, se: float, df: float, margin: float, alpha: float = 0.05) -> Verdict:
    """One word for an estimate with its standard error and degrees of freedom.

    "equivalent": both one-sided tests against ±margin reject at α (the 1-2α interval is inside the
    margin); else "different": the two-sided test against 0 rejects at α; else "inconclusive". The
    margin is in the unit of the estimate, larger than 0, and must be named before the data. If the
    true effect is ±margin or beyond, "equivalent" is said with probability ≤ α; if it is 0,
    "different" with probability ≤ α.
    Source: Schuirmann (1987), J. Pharmacokinet. Biopharm. 15; the words: Tryon & Lewis (2008),
    Psychol. Methods 13; Lakens (2017), Soc. Psychol. Personal. Sci. 8. By hand: value .01, se .01,
    df 20, margin .03: t = 4 and -2, p = .0296: equivalent; margin .02: p = .1646, and .3293 against
    0: inconclusive. ``ValueError``: NaN, negative se, margin ≤ 0, α outside (0, 1/2).
    """
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha: a number between 0 and 0.5 expected, got {alpha!r}")
    inside = association.equivalence(value=value, se=se, df=df, margin=margin)
    if inside.p is None:
        return Verdict(
            None, Test(None, None, "t", df=df, note=inside.note), inside, margin, note=inside.note
        )
    apart = Test(value / se, t_two_sided(value / se, df), "t", df=df)
    half = t_quantile(1 - alpha, df) * se
    different = apart.p is not None and apart.p <= alpha
    word = _word(inside.p <= alpha, different)
    note = WITHIN if word == "equivalent" and different else None
    return Verdict(word, apart, inside, margin, value - half, value + half, note)


def paired_verdict(*, differences: ArrayLike, margin: float, alpha: float = 0.05) -> Verdict:
    """``verdict`` for one difference an item, shape (C,): value d̄, se s/√C, df C-1.

    By hand: (.01, .02, .03), margin .1: d̄ = .02, se = .00577, t = 20.8 and -13.9, p = .0026:
    equivalent; against 0 t = 3.46, p = .0742. Fewer than two differences, or all equal: no word,
    and a note.
    """
    d = arguments.vector("differences", differences)
    if d.size < 2 or float(np.ptp(d)) <= 1e-12 * max(1.0, float(np.abs(d).max())):
        inside = association.paired_equivalence(differences=d, margin=margin)
        return Verdict(None, association.paired_t(differences=d), inside, margin, note=inside.note)
    se = float(d.std(ddof=1)) / d.size**0.5
    return verdict(value=float(d.mean()), se=se, df=d.size - 1.0, margin=margin, alpha=alpha)


def interval_verdict(*, wide: Interval, narrow: Interval, margin: float) -> Verdict:
    """The same word from intervals that are no value ± t·se (Fieller's, Wilson's): inversion of
    their tests.

    ``wide`` at confidence 1-α, ``narrow`` of the same estimate at 1-2α. "equivalent": narrow is
    inside ±margin; else "different": 0 is not in wide. There are no p values. By hand: narrow
    [-.01, .02], margin
    .03: equivalent. ``ValueError``: confidences that do not belong together, margin ≤ 0.
    """
    margin = arguments.number("margin", margin)
    if margin == 0:
        raise ValueError("margin: must be larger than 0")
    if abs((1 - narrow.confidence) - 2 * (1 - wide.confidence)) > 1e-9:
        raise ValueError(
            f"narrow: confidence {2 * wide.confidence - 1:g} expected, got {narrow.confidence:g}"
        )
    tests = (
        Test(wide.value, None, "0 outside of the interval"),
        Test(narrow.value, None, f"interval within ±{margin:g}"),
    )
    if wide.low is None or wide.high is None or narrow.low is None or narrow.high is None:
        return Verdict(None, *tests, margin, note=join_notes("no interval", wide.note))
    different = not wide.low <= 0 <= wide.high
    word = _word(-margin < narrow.low and narrow.high < margin, different)
    note = WITHIN if word == "equivalent" and different else None
    return Verdict(word, *tests, margin, narrow.low, narrow.high, note)


def _word(inside: bool, different: bool) -> Word:
    if inside:
        return "equivalent"
    return "different" if different else "inconclusive"
