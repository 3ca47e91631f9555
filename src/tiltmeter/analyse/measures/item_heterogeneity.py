"""A test whether the items of a headline claim differ by more than chance. A mean near no tilt
hides this if a cue moves half of the items up and the other half down.

Only sampled answers with one label each are tested: probabilities that were read have no sampling
error, and several labels of one answer are correlated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...protocol import MeasureSpec
from ...records import Estimate, NamedItem
from ...stats.crossed.whole_prompts import LEAST_WORDS, items_differ
from ...stats.exceptional_items import (
    ExceptionalItem,
    exceptional_gaps,
    exceptional_shares,
)
from ...stats.results import Test
from ...stats.shuffles import homogeneity
from ..counts.count_table import CountTable, Floats, Group, Pair
from ..counts.prompt_counts import PromptCounts
from .cue_word_rows import cue_of
from .estimate_rows import generator_of

Found = Mapping[str, Any]
DRAWS = 1_999
SIDE = 2  # outputs of an item and side, below which nothing is known of it


def with_items_of_pair(
    estimate: Estimate,
    pair: Pair,
    measure: MeasureSpec,
    table: CountTable,
    prompts: PromptCounts | None,
) -> Estimate:
    """Adds to a row that compares two levels a test whether items differ, shuffling whole prompts,
    if each side has two cue words. With fewer, prompt and item cannot be told apart: no test.
    """
    (xa, xb), (na, nb) = pair.hits, pair.among
    is_few = prompts is None or prompts.fewest < LEAST_WORDS
    if prompts is None or is_few or not _can_be_tested(measure, table, (xa, na, xb, nb)):
        return estimate
    design, shares = prompts.design, prompts.shares
    is_counted = (na >= SIDE) & (nb >= SIDE)
    xa, na, xb, nb = (one[is_counted] for one in (xa, na, xb, nb))
    names = [name for name, is_in in zip(pair.items, is_counted, strict=True) if is_in]

    def test() -> Found | None:
        result = items_differ(design, shares, generator=_generator(estimate), draws=DRAWS)
        summary = _result(result, xa * nb - xb * na, [(xa, na), (xb, nb)])
        exceptions = exceptional_gaps(hits=xa, n=na, base_hits=xb, base_n=nb)
        return summary and {**summary, "exceptions": _exceptions(exceptions, names, xa, na)}

    return replace(estimate, test_items=test)


def with_items_of_group(
    estimate: Estimate, group: Group, measure: MeasureSpec, table: CountTable
) -> Estimate:
    """Adds to a row of a share with a null value the test whether items differ, if it applies."""
    null = measure.null
    if cue_of(table, measure) is not None:  # prompts of an item differ by their words
        return estimate
    if null is None or not _can_be_tested(measure, table, (group.hits, group.among)):
        return estimate
    hits, among = _without_repeats(group.hits, group.among)
    is_counted = among >= SIDE
    hits, among = hits[is_counted], among[is_counted]
    names = [name for name, is_in in zip(group.items, is_counted, strict=True) if is_in]

    def test() -> Found | None:
        result = homogeneity.shares_alike(hits=hits, n=among, generator=_generator(estimate))
        summary = _result(result, hits - null * among, [(hits, among)])
        exceptions = exceptional_shares(hits=hits, n=among)
        return summary and {**summary, "exceptions": _exceptions(exceptions, names, hits, among)}

    return replace(estimate, test_items=test)


def _can_be_tested(measure: MeasureSpec, table: CountTable, counts: tuple[Floats, ...]) -> bool:
    if not (measure.headline and measure.per == "labels"):
        return False
    if not (table.drawn and table.variant.intervals and table.has_one_label(measure.attribute)):
        return False
    return all((count == np.rint(count)).all() for count in counts)


def _without_repeats(*counts: Floats) -> list[Floats]:
    """Divides counts by their greatest common divisor, the number of equal answers per prompt (five
    if each prompt is asked five times at temperature 0), as repeats are not independent. Counts
    stay as they are if none exceeds the divisor; then the row says that no answer varied.
    """
    lot = math.gcd(*(int(n) for count in counts for n in count))
    has_lots = lot > 1 and any((count > lot).any() for count in counts)
    return [count / lot if has_lots else count for count in counts]


def _generator(estimate: Estimate) -> np.random.Generator:
    """Returns a generator whose seed differs from that of the row's own test."""
    return generator_of(replace(estimate, measure=f"{estimate.measure}, between items"))


def _exceptions(
    found: Sequence[ExceptionalItem], names: Sequence[str], hits: Floats, n: Floats
) -> list[NamedItem]:
    return [
        NamedItem(
            item=names[one.place],
            hits=float(hits[one.place]),
            n=float(n[one.place]),
            others_share=one.others_share,
            p_adjusted=one.p_adjusted,
        )
        for one in found
    ]


def _result(test: Test, gaps: Floats, sides: Sequence[tuple[Floats, Floats]]) -> Found | None:
    """Returns p, the numbers of items, of positive and of negative gaps, and 1 if all answers of an
    item agree on each side (else 0); None if the test gave no p. sides: (hits, n) per side.
    """
    if test.p is None:
        return None
    tolerance = 1e-9 * np.maximum(1.0, np.abs(gaps).max())
    return {
        "p": test.p,
        "items": gaps.size,
        "above": int((gaps > tolerance).sum()),
        "below": int((gaps < -tolerance).sum()),
        "constant": int(all(((x == 0) | (x == n)).all() for x, n in sides)),
    }
