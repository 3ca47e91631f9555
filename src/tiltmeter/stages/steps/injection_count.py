"""Counts attempts to instruct the reader, in texts that judges were shown and in judges' own
replies, after labelling.

The counts are stored in the run as the artefact ("injection", "counts"), so that a report can show
them. The texts shown to a judge are read from its requests, which mark each answer
(instruments/judge.py, negotiation.py).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TypedDict

from ...instruments.judges.injection import attempts
from ...records import ANSWER
from ...store import Store
from ...store.queries import calls, outputs

KIND, NAME = "injection", "counts"
MOST_EXAMPLES = 5  # ids of outputs that are kept
_SHOWN = "<answer "  # stands in every request that shows an answer to a judge


class InjectionCounts(TypedDict):
    """Counts. outputs, replies: texts examined; *_attempts: texts that try to instruct the reader;
    sorts: {sort of attempt: number, in outputs}; examples: ids of outputs.
    """

    outputs: int
    output_attempts: int
    replies: int
    reply_attempts: int
    sorts: dict[str, int]
    examples: list[str]


def count(store: Store) -> InjectionCounts | None:
    """Counts the attempts; None if no judge was shown an answer."""
    output_ids = calls.outputs_shown(store, _SHOWN)
    if not output_ids:
        return None
    replies = attempts_seen = 0
    sorts: Counter[str] = Counter()
    for outcome, text in calls.judge_replies(store, _SHOWN):
        if outcome == ANSWER:
            replies += 1
            attempts_seen += bool(attempts(text))
    ids: list[str] = []
    for trial, text in outputs.texts(store):
        if trial in output_ids and (kinds := attempts(text)):
            ids.append(trial)
            sorts.update(kinds)
    return {
        "outputs": len(output_ids),
        "output_attempts": len(ids),
        "replies": replies,
        "reply_attempts": attempts_seen,
        "sorts": dict(sorted(sorts.items())),
        "examples": ids[:MOST_EXAMPLES],
    }


def write_counts(store: Store) -> None:
    """Counts the attempts and stores the counts in a run that is open for writing."""
    counts = count(store)
    if counts is not None:
        store.keep(KIND, NAME, json.dumps(counts))


def read_counts(store: Store) -> InjectionCounts | None:
    """Returns the stored counts of a run, or None if no judge labelled it."""
    text = store.artefact(KIND, NAME)
    counts: InjectionCounts | None = json.loads(text) if text else None
    return counts


def warning(store: Store) -> str:
    """Writes a warning if any text tried to instruct its reader, else ""."""
    counts = read_counts(store)
    if not counts or not (counts["output_attempts"] or counts["reply_attempts"]):
        return ""
    return (
        f"{counts['output_attempts']} of {counts['outputs']} outputs shown to judges, and "
        f"{counts['reply_attempts']} of {counts['replies']} replies of judges, "
        f"try to instruct their reader ({', '.join(counts['examples']) or '–'}). "
        "They were shown as data; read them before you trust these labels."
    )
