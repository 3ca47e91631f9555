"""The first replies of a run, with their labels, tokens and cost, and the results of pilots."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from .. import Store
from ..packing import id_number

PILOT = "pilot"  # the setting: by subject, what its pilot found


class FirstReply(NamedTuple):
    """A reply. label: the likeliest value by the rules, "" for none."""

    trial: str
    outcome: str
    text: str
    ended: str
    thought: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    label: str


_REPLIES = """
SELECT o.trial, o.outcome, o.text, o.ended, o.thought, c.prompt_tokens, c.completion_tokens, c.cost,
  coalesce((SELECT l.value FROM labels l WHERE l.current AND l.n = o.n
    AND l.annotator IN (SELECT value FROM json_each(?2)) ORDER BY l.weight DESC, l.id LIMIT 1), '')
FROM outputs o LEFT JOIN calls c ON c.n = o.c
WHERE o.n IN (SELECT value FROM json_each(?1))
"""


def replies(
    store: Store, trials: Sequence[str], annotators: Sequence[str]
) -> dict[str, FirstReply]:
    """Returns the replies to some trials, by trial, with the labels by some annotators."""
    rows = store.rows(
        _REPLIES, (json.dumps([*map(id_number, trials)]), json.dumps(list(annotators)))
    )
    return {row[0]: FirstReply(*row) for row in rows}


def is_begun(store: Store, subject: str) -> bool:
    """True if a subject has outputs."""
    query = "SELECT 1 FROM outputs o JOIN trials t ON t.n = o.n WHERE t.subject = ? LIMIT 1"
    return store.first(query, (subject,)) is not None


def kept(store: Store, subject: str) -> dict[str, str]:
    """Returns a pilot's stored result; if it stopped the run, with the cause and the message."""
    stored = (store.get(PILOT) or {}).get(subject)
    return stored if isinstance(stored, dict) else {}


def keep(store: Store, subject: str, finding: dict[str, str]) -> None:
    """Stores the result of a subject's pilot."""
    store.put(PILOT, {**(store.get(PILOT) or {}), subject: finding})
