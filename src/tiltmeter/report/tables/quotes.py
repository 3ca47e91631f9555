"""Quotes sample answers by label, as papers print them: the first answers per label, in the order
of trial ids. These are hashes, so the choice ignores the answers' content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import UnknownName, UsageError
from ...protocol import Protocol
from ...records import Trial
from ...store import Store
from ...store.queries import labels, outputs
from .cross_table_axes import ALIASES, Levels
from .cross_tables import CrossTable

ANSWER = "answer"
LONGEST_CHARACTERS = 2_000  # of an answer; the run holds it whole


def quotes(
    store: Store,
    protocol: Protocol,
    attribute: str,
    *,
    number: int = 2,
    by: Sequence[str] = (),
    named: Mapping[str, str] | None = None,
) -> CrossTable:
    """Tabulates `number` answers per value of an attribute and level of the factors in `by`.
    attribute: "" for the only attribute with labels; named: {model: short name}.

    Raises UnknownName for an attribute without labels or a factor that the design lacks, UsageError
    if the outputs are not texts.
    """
    by = tuple(ALIASES.get(name, name) for name in by)
    for name in by:
        if name not in (*protocol.factors, protocol.item, "model"):
            raise UnknownName("factor", name, (*protocol.factors, protocol.item, "model"))
    present = labels.attributes(store)
    if not attribute and len(present) == 1:
        attribute = present[0]
    if attribute not in present:
        raise UnknownName("attribute with labels", attribute, present)
    groups: dict[Levels, list[str]] = {}
    for output, value in sorted(_values(store, attribute).items()):
        stored = outputs.one(store, output)
        if stored is None:
            continue
        trial, reply = stored
        group = groups.setdefault((value, *_levels(trial, by, named or {})), [])
        if len(group) < number and reply.text.strip():
            group.append(reply.text.strip()[:LONGEST_CHARACTERS])
    rows = [
        (key, (text,)) for key in _in_order(protocol, attribute, by, groups) for text in groups[key]
    ]
    if not rows:
        raise UsageError(
            f"{store.folder} holds no texts to quote. Look at pictures with: tiltmeter explore "
            f"{store.folder}"
        )
    note = (
        f"The first {number} of each in the order of their trial ids, which are hashes, so that "
        "none was chosen for what it says."
    )
    title = f"Sample answers by {attribute}"
    return CrossTable(title, (attribute, *by), (ANSWER,), ((ANSWER,),), tuple(rows), (note,))


def _values(store: Store, attribute: str) -> dict[str, str]:
    """Returns {output: the first value that a model or a rule gave to it}."""
    values: dict[str, str] = {}
    for output, _, value in labels.of_machines(store, (attribute,)):
        values.setdefault(output, value)
    return values


def _levels(trial: Trial, by: Sequence[str], named: Mapping[str, str]) -> Levels:
    levels = {**trial.factors, "model": named.get(trial.subject, trial.subject)}
    return tuple(levels.get(name, "") for name in by)


def _in_order(
    protocol: Protocol, attribute: str, by: Sequence[str], groups: Mapping[Levels, Sequence[str]]
) -> list[Levels]:
    """Sorts by value, in the order of a measure that counts the attribute, then by level."""
    among = [v for spec in protocol.measures if spec.attribute == attribute for v in spec.among]
    first = {value: place for place, value in enumerate(dict.fromkeys(among))}
    orders = [first, *(protocol.levels.get(name, {}) for name in by)]
    return sorted(
        groups,
        key=lambda key: [
            (order.get(level, len(order)), level) for order, level in zip(orders, key, strict=True)
        ],
    )
