"""Raw answers to look at: a bounded number, chosen by a rule that is stated, with a count of the
rest.

The rule: answers are put in groups by subject, mode and the label of the first annotator (by
outcome, where there are many labels); each group gives as many as fit evenly, in the order of their
trial ids. An id is a hash, so that order is
arbitrary and the same on every machine: no answer is chosen for what it says. A group smaller than
its place is shown whole, so rare outcomes are all there.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from ..analyse import numerals
from ..protocol import Protocol
from ..protocol.tables import SEVERAL
from ..store import Store
from .model import Example, ExampleGroup, Examples

LIMIT = 400  # answers in one page
LONGEST = 2_000  # characters of one answer; the run holds it whole
MANY = 24  # labels, beyond which answers are grouped by outcome instead
TOKENS = 6  # most probable first tokens that are shown

_LABELLED = """
SELECT o.trial, t.subject, t.mode, coalesce(l.value, 'not labelled'), coalesce(l.weight, 0)
FROM outputs o JOIN trials t ON t.id = o.trial
LEFT JOIN labels l ON l.output = o.trial AND l.annotator = ? AND l.attribute = ? AND l.current ORDER BY o.trial
"""
_BY_OUTCOME = (
    "SELECT o.trial, t.subject, t.mode, o.outcome, 0 FROM outputs o JOIN trials t ON "
    "t.id = o.trial ORDER BY o.trial"
)
_ANYTHING = (
    "SELECT 1 FROM outputs o JOIN trials t ON t.id = o.trial WHERE o.text || o.blob || "
    "o.call || t.prompt != '' LIMIT 1"
)
_ONE = """
SELECT t.factors, t.prompt, t.begin, o.outcome, o.text, o.call, o.trial, o.blob
FROM outputs o JOIN trials t ON t.id = o.trial WHERE o.trial = ?
"""
Group = tuple[str, str, str]  # subject, mode, label


def examples(store: Store, protocol: Protocol, limit: int = LIMIT) -> Examples:
    if not next(store.rows(_ANYTHING), None):
        (total,) = next(store.rows("SELECT count(*) FROM outputs"))
        return Examples(
            f"{total:,} labels or counts were imported without their outputs."
            if total
            else _rule("", 0, 0, 0),
            (),
            0,
            total,
        )
    first = main(store, protocol)
    values = (
        "SELECT count(DISTINCT value) FROM labels WHERE annotator = ? AND attribute = ? AND current"
    )
    by_label = next(store.rows(values, first))[0] <= MANY
    sizes, first_of = _grouped(
        store.rows(_LABELLED, first) if by_label else store.rows(_BY_OUTCOME), limit
    )
    quota = _quota(list(sizes.values()), limit)
    chosen = {
        key: [
            _example(store, protocol, next(store.rows(_ONE, (trial,))))
            for trial in first_of[key][:quota]
        ]
        for key in sizes
    }
    groups = tuple(
        ExampleGroup(f"{subject} · {mode} · {value}", sizes[subject, mode, value], tuple(kept))
        for (subject, mode, value), kept in chosen.items()
    )
    shown, total = sum(len(group.examples) for group in groups), sum(sizes.values())
    what = f"label (of {first[0]})" if by_label and first[0] else "outcome"
    return Examples(_rule(what, quota, shown, total), groups, shown, total)


def main(store: Store, protocol: Protocol) -> tuple[str, str]:
    """The annotator whose label groups the answers, and its attribute: of the first instrument that
    labelled.
    """
    pairs = list(
        store.rows("SELECT DISTINCT annotator, attribute FROM labels WHERE current ORDER BY 1, 2")
    )
    for spec in protocol.instruments:
        for annotator, attribute in pairs:
            if annotator.startswith(f"{spec.name}/") and attribute == spec.attribute:
                return annotator, attribute
    return pairs[0] if pairs else ("", "")


def _grouped(rows: Iterable[Any], limit: int) -> tuple[dict[Group, int], dict[Group, list[str]]]:
    """How many outputs each group has, and the ids of its first, from rows in the order of trial
    ids.

    An output whose label is a set of probabilities belongs to the most probable one.
    """
    sizes: Counter[Group] = Counter()
    first_of: dict[Group, list[str]] = {}
    for trial, same in groupby(rows, key=lambda row: row[0]):
        _, subject, mode, value, _ = max(same, key=lambda row: row[4])
        sizes[subject, mode, value] += 1
        kept = first_of.setdefault((subject, mode, value), [])
        if len(kept) < limit:
            kept.append(trial)
    ordered = sorted(sizes, key=lambda key: (key[0], key[1], -sizes[key], key[2]))
    return {key: sizes[key] for key in ordered}, first_of


def _rule(what: str, quota: int, shown: int, total: int) -> str:
    if not total:
        return "No answers are stored."
    if shown == total:
        return f"All {total:,} outputs, grouped by model, mode and {what}."
    return (
        f"{shown:,} of {total:,} outputs: of each model, mode and {what} the first {quota:,} in "
        "the order of their trial "
        "ids, which are hashes, so none was chosen for what it says. The other "
        f"{total - shown:,} are in the run: tiltmeter export."
    )


def _quota(sizes: Sequence[int], limit: int) -> int:
    """The largest number k for which the sum of min(size, k) stays within the limit."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high)
            if sum(min(size, middle) for size in sizes) <= limit
            else (low, middle - 1)
        )
    return low


def _example(store: Store, protocol: Protocol, row: Sequence[Any]) -> Example:
    factors, prompt, begin, outcome, text, call, trial, blob = row
    levels: dict[str, str] = json.loads(factors)
    condition = " · ".join(
        f"{name}: {levels[name].replace(SEVERAL, ' / ')}"
        for name in protocol.factors
        if levels.get(name, "") != ""
    )
    answer = (
        text
        if len(text) <= LONGEST
        else f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters in the run)"
    )
    asked = f"{prompt}\n[answer begun with: {begin}]" if begin else prompt
    nothing = "[a picture]" if blob else f"[{outcome}: no text]"
    return Example(
        condition,
        asked,
        answer or nothing,
        _labels(store, trial),
        _probabilities(store, call),
        levels.get("language", ""),
    )


def _labels(store: Store, trial: str) -> tuple[tuple[str, str], ...]:
    """(annotator, what it said), its current labels; weights where they are probabilities,
    attributes where several.
    """
    rows = list(
        store.rows(
            "SELECT annotator, attribute, value, weight FROM labels WHERE output = ? AND current"
            " ORDER BY annotator, attribute, position, id",
            (trial,),
        )
    )
    several = len({row[1] for row in rows}) > 1
    said: dict[str, list[str]] = {}
    for annotator, attribute, value, weight in rows:
        text = value if weight == 1 else f"{value} {numerals.share(weight)}"
        said.setdefault(annotator, []).append(f"{attribute}: {text}" if several else text)
    return tuple((name, " · ".join(values)) for name, values in said.items())


def _probabilities(store: Store, call: str) -> str:
    """The most probable first tokens, where the call brought them."""
    reply = store.reply(call)
    if reply is None or not reply.alternatives:
        return ""
    best = sorted(reply.alternatives[0], key=lambda token: -token.logprob)[:TOKENS]
    texts = [repr(token.bytes.decode("utf-8", "backslashreplace")) for token in best]
    shares = [numerals.share(math.exp(token.logprob)) for token in best]
    return " · ".join(f"{text} {share}" for text, share in zip(texts, shares, strict=True))
