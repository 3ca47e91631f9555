"""Refusals as a claim of their own: a group that is refused more often is treated differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...records import REFUSAL
from .. import EVERY, MeasureSpec
from ..source.keys import SentenceKeys

REFUSED = "_refused"  # ends the name of the measure
KINDS = ("difference", "mean_difference")
_SENTENCE = SentenceKeys(
    tilt="{subject} refuses {share} of answers for {level}, {other_share} for {baseline}",
    also="refuses {share} for {level}, {other_share} for {baseline}",
)


def refusal_measure(spec: MeasureSpec) -> MeasureSpec | None:
    """Makes the measure of refusals for a headline difference: their share of all answers at the
    level minus their share at the baseline. Returns None for any other measure.
    """
    if not spec.headline or spec.contrast is None or spec.kind not in KINDS or spec.per != "labels":
        return None
    level, baseline = (spec.contrast.get(end, "") for end in ("level", "baseline"))
    more = "each other level" if level == EVERY else level
    less = "each" if baseline == EVERY else baseline
    compared = f", {more} less {less}" if level and baseline else ""
    return replace(
        spec,
        name=spec.name + REFUSED,
        kind="difference",
        values=(REFUSAL,),
        among=(),
        without=(),
        by=spec.by[:1],
        null=0.0,
        unit="share",
        text=f"share of answers that are refusals{compared}",
        figure="forest",
        band=None,
        family="",
        reference="",
        parts=(),
        sentence=_SENTENCE,
    )


def with_refusal_measures(measures: Iterable[MeasureSpec]) -> Iterator[MeasureSpec]:
    """Yields the measures; after the first one of each comparison, also its measure of refusals."""
    measures = list(measures)
    names, attributes = {spec.name for spec in measures}, []
    declared = [
        (spec.contrast, spec.where)
        for spec in measures
        if spec.headline and spec.contrast is not None and spec.values == (REFUSAL,)
    ]
    for spec in measures:
        yield spec
        refused = refusal_measure(spec)
        compared = (spec.attribute, spec.contrast, spec.where)
        if refused is None or (spec.contrast, spec.where) in declared:
            continue
        if compared not in attributes and refused.name not in names:
            attributes.append(compared)
            yield refused
