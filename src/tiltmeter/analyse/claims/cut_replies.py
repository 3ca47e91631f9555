"""The replies cut off at the limit of tokens, among all replies behind a number.

A choice stated before the limit counts as complete. An answer that became unreadable has the label
`cut`, as do cut lists, dialogues, rewrites and rankings. Prose is labelled even if the limit cut
it, so this file counts every cut reply of prose.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol import Protocol
from ...records import CUT, Estimate
from ...registry import instrument_kind
from ...store import Store
from ...store.queries import outputs
from ..words import numerals
from ..words.reading import TOGETHER

SOME, MUCH = 0.02, 0.10  # of the replies: worth a caution; too many to conclude anything
Counts = Mapping[tuple[str, str, str], tuple[int, int]]  # (cut, replies) by instrument kind, …


def count_cut(store: Store, protocol: Protocol) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Returns {(instrument, subject, mode): (replies cut off, all replies)} for prose."""
    prose = [
        spec.name
        for spec in protocol.instruments
        if instrument_kind(spec.kind, spec.name).answers == "prose"
    ]
    if not prose:
        return {}
    counted = outputs.cut_by_mode(store)
    return {(name, *key): counts for name in prose for key, counts in counted.items()}


def share_of(row: Estimate, counts: Counts) -> float:
    """Returns the share of cut replies among the replies behind a row."""
    total = sum(row.outcomes.values())
    labelled = row.outcomes.get(CUT, 0.0) / total if total else 0.0
    name, mode = row.instrument.partition("/")[0], row.condition.get("mode", "")
    pairs = [counts.get((name, subject, mode), (0, 0)) for subject in row.subject.split(TOGETHER)]
    number = sum(replies for _, replies in pairs)
    return max(labelled, sum(cut for cut, _ in pairs) / number if number else 0.0)


def sentence(share: float) -> str:
    """Writes the caution about a share of cut replies."""
    finding = f"{numerals.percent(share)} of the replies were cut at the limit of tokens"
    if share > MUCH:
        return f"{finding}: too many to conclude anything. Raise it with --max-tokens."
    return f"{finding}; with a higher --max-tokens they would be whole."
