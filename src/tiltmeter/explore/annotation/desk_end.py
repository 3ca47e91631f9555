"""The end of an annotation: the agreement of people and judges, the labels that a correction still
needs, and the next command. It comes last, so that nobody sees a judge's labels before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from ...analyse.claims import verdicts
from ...analyse.claims.background import read_background
from ...analyse.estimates import estimates
from ...analyse.words import numerals
from ...analyse.words.reading import CORRECTED
from ...gold import agreement, majority, validation
from ...report.page_model.sanitize import all_visible
from ..selection.index import Source

ENOUGH = "No headline number needs more labels for its correction."
NO_CORRECTION = "These labels correct no number yet."
SHOWN = ("agreement", "Cohen's κ")


class EndOfTask(TypedDict):
    """The end page. agreement, needs: sentences; next: a command; opened: prompts opened."""

    agreement: list[str]
    needs: list[str]
    next: str
    opened: int


def end_of_task(source: Source, attributes: Sequence[str], what: str, opened: int) -> EndOfTask:
    """Builds the end page of a task on some attributes. what: label, adjudicate or review."""
    store, protocol = source.store, source.protocol
    validation_of_run = validation.check(store, protocol)
    has_majority = bool({*attributes} & {*majority.attributes_by_people(store, protocol)})
    agreements = [one for one in validation_of_run.agreements if one.attribute in attributes]
    ending: EndOfTask = {
        "agreement": list(_agreements(agreements)),
        "needs": [] if has_majority or what == "review" else list(_needs(source)),
        "next": f"tiltmeter {'report' if has_majority else 'validate'} {store.folder}",
        "opened": opened,
    }
    return all_visible(ending)


def _agreements(rows: Sequence[agreement.Agreement]) -> Iterator[str]:
    for row in rows:
        if row.coefficient.startswith(SHOWN) and row.found.value is not None:
            number = numerals.share(row.found.value)
            bounds = numerals.interval(row.found.low, row.found.high, "share")
            yield f"{row.who}, {row.attribute}: {row.coefficient} {number} {bounds}"


def _needs(source: Source) -> Iterator[str]:
    """Yields, per headline claim, a sentence on its correction by gold and the labels that it still
    needs; one sentence if none is needed. If gold corrects no number at all, yields the reasons.
    """
    rows = estimates(source.store, source.protocol)
    background = read_background(source.store, source.protocol, rows)
    texts = dict.fromkeys(
        caution.text
        for verdict in verdicts.verdicts(source.protocol, rows, background)
        for caution in verdict.cautions
        if caution.kind.gold
    )
    corrected = [row for row in rows if row.measure.endswith(CORRECTED)]
    if texts:
        yield from texts
    elif any(row.value is not None for row in corrected):
        yield ENOUGH
    else:
        yield NO_CORRECTION
        yield from dict.fromkeys(row.note for row in corrected if row.note)
