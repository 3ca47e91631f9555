"""Raw answers to look at: a limited number, chosen by a stated rule, with a count of the rest.

The rule: answers are grouped by subject, mode and the first annotator's label (by outcome, if
labels are many); each group shows the same number, or all that it has, in the order of trial ids.
An id is a hash, so that order is arbitrary and the same on every machine: no answer is chosen for
its content. A group smaller than that number is shown whole, so rare outcomes all appear.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...analyse.words import numerals
from ...protocol import Protocol
from ...protocol.design.tables import SEVERAL
from ...records import Output, Token, Trial
from ...stats.results import count_of
from ...store import Store
from ...store.queries import label_counts, labels, outputs
from ..page_model.page import ExampleGroup, Examples, RawExample

LIMIT = 400  # answers in one page
LONGEST = 2_000  # characters of one answer; the run holds it whole
MANY = 24  # labels, beyond which answers are grouped by outcome instead
UNLABELLED = "not labelled"  # in place of a label
TOKENS = 6  # most probable first tokens that are shown


def examples(store: Store, protocol: Protocol, limit: int = LIMIT) -> Examples:
    """Returns at most `limit` answers of the run, in groups, by the module's rule."""
    if not outputs.have_content(store):
        total = outputs.number(store)
        return Examples(
            f"{count_of(total, 'label')} or counts were imported without their outputs."
            if total
            else _rule("", 0, 0, 0),
            (),
            0,
            total,
        )
    first = main(store, protocol)
    by_label = label_counts.number_of_values(store, *first) <= MANY
    rows = outputs.by_label(store, *first, UNLABELLED) if by_label else outputs.by_outcome(store)
    alike = sorted(rows, key=lambda one: (one.subject, one.mode, -len(one.ids), one.value))
    quota = _quota([len(one.ids) for one in alike], limit)
    groups = tuple(_group(store, protocol, one, quota) for one in alike)
    shown = sum(len(group.examples) for group in groups)
    total = sum(group.total for group in groups)
    what = f"label (of {first[0]})" if by_label and first[0] else "outcome"
    return Examples(_rule(what, quota, shown, total), groups, shown, total)


def main(store: Store, protocol: Protocol) -> tuple[str, str]:
    """Returns (annotator, attribute) whose labels group answers: those of the first instrument, or
    of people in its place.
    """
    pairs = labels.annotator_attributes(store)
    for spec in protocol.instruments:
        for annotator, attribute in pairs:
            is_its = annotator == labels.MAJORITY or annotator.startswith(f"{spec.name}/")
            if is_its and attribute == spec.attribute:
                return annotator, attribute
    return pairs[0] if pairs else ("", "")


def _group(
    store: Store, protocol: Protocol, alike: outputs.AlikeOutputs, most: int
) -> ExampleGroup:
    """Returns the first outputs that share a label, and the number of all that share it."""
    stored = (outputs.one(store, trial) for trial in alike.ids[:most])
    chosen = tuple(_example(store, protocol, *one) for one in stored if one)
    title = f"{alike.subject} · {alike.mode} · {alike.value}"
    return ExampleGroup(title, len(alike.ids), chosen)


def _rule(what: str, quota: int, shown: int, total: int) -> str:
    if not total:
        return "No answers are stored."
    if shown == total:
        return f"All {count_of(total, 'output')}, grouped by model, mode and {what}."
    return (
        f"{shown:,} of {count_of(total, 'output')}: of each model, mode and {what} the first "
        f"{quota:,} in the order of their trial ids, which are hashes, so none was chosen "
        f"for what it says. The other {total - shown:,} are in the run: tiltmeter export."
    )


def _quota(sizes: Sequence[int], limit: int) -> int:
    """Returns the largest k for which the sum of min(size, k) over sizes is within the limit."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high)
            if sum(min(size, middle) for size in sizes) <= limit
            else (low, middle - 1)
        )
    return low


def _example(store: Store, protocol: Protocol, trial: Trial, output: Output) -> RawExample:
    levels, text = trial.factors, output.text
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
    asked = f"{trial.prompt}\n[answer begun with: {trial.begin}]" if trial.begin else trial.prompt
    nothing = "[a picture]" if output.blob else f"[{output.outcome}: no text]"
    return RawExample(
        condition,
        asked,
        answer or nothing,
        _labels(store, trial.id),
        _probabilities(store, output.call),
        levels.get("language", ""),
        trial.id,
    )


def _labels(store: Store, trial: str) -> tuple[tuple[str, str], ...]:
    """Lists (annotator, its labels as text); the text names attributes if there are several."""
    rows = labels.of_output(store, trial)
    several = len({row.attribute for row in rows}) > 1
    labels_of: dict[str, list[str]] = {}
    for row in rows:
        text = row.value if row.weight == 1 else f"{row.value} {numerals.share(row.weight)}"
        labels_of.setdefault(row.annotator, []).append(
            f"{row.attribute}: {text}" if several else text
        )
    return tuple((name, " · ".join(values)) for name, values in labels_of.items())


def _probabilities(store: Store, call: str) -> str:
    """Writes the most probable first tokens, or "" if the call returned none."""
    reply = store.reply(call)
    return "" if reply is None else first_tokens(reply.alternatives, TOKENS)


def first_tokens(places: Sequence[Sequence[Token]], most: int) -> str:
    """Writes the most probable first tokens with their shares. places: {place: alternatives}."""
    best = sorted(places[0], key=lambda token: -token.logprob)[:most] if places else ()
    return " · ".join(
        f"{token.bytes.decode('utf-8', 'backslashreplace')!r} "
        f"{numerals.share(math.exp(token.logprob))}"
        for token in best
    )
