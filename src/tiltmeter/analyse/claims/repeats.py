"""Systems that always answer a prompt alike, so that the likeness of their answers cannot be
tested.

Likeness is held against the same prompt asked again. If all repeats are identical, any other name
or word in a prompt makes another answer, and nothing tells a cue from chance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...instruments.comparing.similarity import AGAIN, ALIKE, DIFFERS
from ...protocol import Protocol
from ...records import Estimate
from ...store import Store
from ...store.queries import label_counts

SENTENCE = (
    "All answers to the same prompt were word for word alike, so nothing shows how much answers "
    "differ by chance, and no test was made of likeness. Ask with a higher --temperature to test "
    "it, or leave it out with --samples 1."
)


def always_alike(
    store: Store, protocol: Protocol, rows: Sequence[Estimate]
) -> set[tuple[str, str]]:
    """Returns the (instrument, subject) whose answers to one prompt never differ."""
    names = {spec.name for spec in protocol.instruments if spec.kind == "similarity"}
    attributes = {spec.name: spec.attribute for spec in protocol.measures}
    asked = {
        (row.instrument, attributes[row.measure])
        for row in rows
        if row.instrument.partition("@")[0].partition("/")[0] in names
        and not attributes.get(row.measure, AGAIN).endswith(AGAIN)
    }
    found = set()
    for annotator, attribute in asked:
        seen: dict[str, set[str]] = {}
        for one in label_counts.condition_weights(store, annotator, f"{attribute}{AGAIN}"):
            seen.setdefault(one.subject, set()).add(one.value)
        found |= {(annotator, who) for who, values in seen.items() if _alike(values)}
    return found


def _alike(values: Collection[str]) -> bool:
    return DIFFERS not in values and ALIKE in values
