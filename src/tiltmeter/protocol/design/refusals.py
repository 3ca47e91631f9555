"""Refusals and missing answers as claims of their own: a group that is refused, or gets no answer,
more often is treated differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...records import CUT, ERROR, INVALID, REFUSAL
from .. import EVERY, MeasureSpec
from ..source.keys import SentenceKeys

REFUSED, UNANSWERED = "_refused", "_unanswered"  # end the names of the measures
NO_ANSWER = (ERROR, CUT)  # outcomes of an output that is no answer, whatever was asked
# the labels of such outputs; of an empty text too
NO_ANSWERS = (*NO_ANSWER, INVALID)
KINDS = ("difference", "mean_difference")
_VALUES = {REFUSED: (REFUSAL,), UNANSWERED: NO_ANSWER}
_TEXTS = {
    REFUSED: "share of answers that refuse or cannot tell",
    UNANSWERED: "share of prompts without an answer",
}
_SENTENCES = {
    REFUSED: SentenceKeys(
        tilt="{subject} refuses or cannot tell in {share} of answers for {level}, "
        "{other_share} for {baseline}",
        also="refuses or cannot tell in {share} for {level}, {other_share} for {baseline}",
    ),
    UNANSWERED: SentenceKeys(
        tilt="{subject} gives no answer to {share} of prompts for {level}, {other_share} for "
        "{baseline}",
        also="gives no answer to {share} for {level}, {other_share} for {baseline}",
    ),
}


def derived_measure(spec: MeasureSpec, ending: str) -> MeasureSpec | None:
    """Makes the measure of refusals or of missing answers for a headline difference: their share at
    the level minus their share at the baseline. Returns None for any other measure. ending:
    REFUSED (among all answers) or UNANSWERED (among all outputs).
    """
    if not spec.headline or spec.contrast is None or spec.kind not in KINDS or spec.per != "labels":
        return None
    level, baseline = (spec.contrast.get(end, "") for end in ("level", "baseline"))
    more = "each other level" if level == EVERY else level
    less = "each" if baseline == EVERY else baseline
    compared = f", {more} less {less}" if level and baseline else ""
    return replace(
        spec,
        name=spec.name + ending,
        kind="difference",
        values=_VALUES[ending],
        among=(),
        without=NO_ANSWER if ending == REFUSED else (),
        by=spec.by[:1],
        null=0.0,
        unit="share",
        text=f"{_TEXTS[ending]}{compared}",
        figure="forest",
        band=None,
        family="",
        reference="",
        parts=(),
        sentence=_SENTENCES[ending],
    )


def with_derived_measures(measures: Iterable[MeasureSpec]) -> Iterator[MeasureSpec]:
    """Yields the measures; after the first one of each comparison, also its measures of refusals
    and of missing answers, unless the protocol declares them.
    """
    measures = list(measures)
    names, attributes = {spec.name for spec in measures}, []
    declared = [
        (spec.contrast, spec.where, value)
        for spec in measures
        if spec.headline and spec.contrast is not None
        for value in spec.values
    ]
    for spec in measures:
        yield spec
        for ending, values in _VALUES.items():
            derived = derived_measure(spec, ending)
            # an output is no answer whatever is measured, so one claim says it for all
            measured = spec.attribute if ending == REFUSED else ""
            compared = (measured, spec.contrast, spec.where, ending)
            if derived is None or (spec.contrast, spec.where, values[0]) in declared:
                continue
            if compared not in attributes and derived.name not in names:
                attributes.append(compared)
                yield derived
