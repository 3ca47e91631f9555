"""Drops the tests of answers' likeness for a system that always answers a prompt the same.

Likeness is compared with asking the same prompt again. If all repeats are identical, any other name
or word in a prompt changes the answer, and a cue's effect cannot be told from any other word's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...instruments.comparing.similarity import AGAIN, ALIKE, DIFFERS
from ...protocol import Protocol
from ...records import Estimate
from ...store import Store
from ...store.queries import label_counts
from ..words.caution_kinds import CautionKind


def without_tests(store: Store, protocol: Protocol, rows: Sequence[Estimate]) -> list[Estimate]:
    """Returns the rows; rows of likeness lose their p if every repeat gave the same answer."""
    kinds = {spec.name for spec in protocol.instruments if spec.kind == "similarity"}
    attributes = {spec.name: spec.attribute for spec in protocol.measures}
    tested: dict[tuple[str, str], dict[str, set[str]]] = {}
    result = []
    for row in rows:
        attribute = attributes.get(row.measure, AGAIN)
        if row.instrument.partition("/")[0] in kinds and not attribute.endswith(AGAIN):
            key = row.instrument, f"{attribute}{AGAIN}"
            if key not in tested:
                tested[key] = _values_by_subject(store, *key)
            values = tested[key].get(row.subject, set())
            if row.value is not None and ALIKE in values and DIFFERS not in values:
                row = replace(row, p=None, cautions=(*row.cautions, CautionKind.REPEATS_ALIKE))
        result.append(row)
    return result


def _values_by_subject(store: Store, annotator: str, attribute: str) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for one in label_counts.condition_weights(store, annotator, attribute):
        values.setdefault(one.subject, set()).add(one.value)
    return values
