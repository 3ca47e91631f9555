"""What people say of outputs, set beside what judges said (intake.py takes in files of it).

Gold is stored as labels of annotators `human:NAME`. A later answer of the same person counts in
place of an earlier one; both are kept. `weight` of such a label is 1/(the probability that its
output was picked), as the sheet says. What somebody decided where people disagreed is a label of
`human:NAME (adjudicated)`, and counts in place of what they said.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import registry
from ..protocol import EVERY, Protocol
from ..records import OUTCOMES
from ..store import Store

HUMAN = "human:"
ADJUDICATED = " (adjudicated)"  # ends the annotator of a decision where people disagreed
VOTE = "_vote"  # ends the attribute of a panel's single votes
SAMPLE = "gold_sample"  # kind of the artefacts that hold what was drawn
FEW = 10  # gold labels below which nothing is corrected (stats/correction.py)
LEVELS = 12  # of a factor that makes conditions; more are items, not conditions
ANSWERED = 0.9  # of a sample that must be annotated for it to count as random


class Pair(NamedTuple):
    """A gold label beside what one annotator said of the same attribute of the same output."""

    output: str
    subject: str
    mode: str
    factors: Mapping[str, str]
    attribute: str
    annotator: str
    truth: str
    said: str
    weight: float


# what gold may say


def attributes(protocol: Protocol) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            name for spec in protocol.instruments for name in (spec.attribute, *spec.also)
        )
    )


def known_attributes(store: Store, protocol: Protocol) -> tuple[str, ...]:
    """Those of the protocol, and those that the run's labels have beside them (what a judge found
    out).
    """
    seen = (row[0] for row in store.rows("SELECT DISTINCT attribute FROM labels ORDER BY 1"))
    return tuple(
        dict.fromkeys((*attributes(protocol), *(name for name in seen if not name.endswith(VOTE))))
    )


def with_several(store: Store) -> set[str]:
    """Attributes of which some output has several values, and which are no gold for that reason."""
    query = (
        "SELECT DISTINCT attribute FROM labels WHERE current AND position > 0 AND attribute "
        f"NOT LIKE '%{VOTE}'"
    )
    return {row[0] for row in store.rows(query)}


def machines(store: Store) -> set[str]:
    """The annotators of a run that are no people, and the models that it asked."""
    query = f"SELECT DISTINCT annotator FROM labels WHERE annotator NOT LIKE '{HUMAN}%'"
    return {row[0] for row in (*store.rows(query), *store.rows("SELECT DISTINCT model FROM calls"))}


def values_of(store: Store, protocol: Protocol, attribute: str) -> tuple[str, ...]:
    """The list of an attribute: what measures name, what its instrument can say, what annotators of
    the run said, and the values that stand for no answer.
    """
    found: dict[str, None] = {}
    for measure in protocol.measures:
        if measure.attribute == attribute:
            found |= dict.fromkeys(
                value for value in (*measure.among, *measure.values) if value != EVERY
            )
    for spec in protocol.instruments:
        listed = registry.instrument(spec.kind, spec.name).values(spec).get(attribute, ())  # type: ignore[attr-defined]
        found |= dict.fromkeys(sorted(listed) if isinstance(listed, set | frozenset) else listed)
        if spec.attribute == attribute:
            found |= dict.fromkeys(spec.settings.get("topics", ()))
        lists = spec.settings.get("lists")
        found |= dict.fromkeys(lists.get(attribute, ()) if isinstance(lists, Mapping) else ())
    query = (
        "SELECT DISTINCT value FROM labels WHERE current AND attribute=? AND annotator NOT "
        f"LIKE '{HUMAN}%' ORDER BY 1"
    )
    found |= dict.fromkeys(row[0] for row in store.rows(query, (attribute,)))
    return tuple(dict.fromkeys((*(value for value in found if value not in OUTCOMES), *OUTCOMES)))


def conditions(protocol: Protocol) -> tuple[str, ...]:
    """The factors that the protocol's measures compare or group by, those compared first; items are
    no conditions.
    """
    own = {name for variant in protocol.variants.values() for name in variant.only}
    measures = [measure for measure in protocol.measures if measure.name not in own]
    compared = [(measure.contrast or {}).get("factor", "") for measure in measures]
    grouped = [factor for measure in measures for by in measure.by for factor in by]
    found = dict.fromkeys((*compared, *grouped))
    return tuple(
        name
        for name in found
        if name in protocol.factors
        and name not in ("language", protocol.item)
        and len(protocol.levels[name]) <= LEVELS
    )


# samples, which sheet.py draws


def samples(store: Store) -> list[dict[str, Any]]:
    return [
        json.loads(row[0])
        for row in store.rows("SELECT content FROM artefacts WHERE kind=? ORDER BY date", (SAMPLE,))
    ]


def drawn_weights(store: Store) -> dict[str, float]:
    """Output → weight, of all samples; a later one counts."""
    return {
        output: weight for one in samples(store) for output, (weight, _) in one["outputs"].items()
    }


def is_random(store: Store, attribute: str) -> bool:
    """Whether the gold of an attribute is a random sample with known weights: all of it from one
    sample that was drawn for the attribute, and nearly all of that annotated (a person who skips
    does not skip at random).
    """
    query = (
        "SELECT DISTINCT output FROM labels WHERE current AND attribute=? AND annotator "
        f"LIKE '{HUMAN}%'"
    )
    gold = {row[0] for row in store.rows(query, (attribute,))}
    drawn = (set(one["outputs"]) for one in samples(store) if one["attribute"] == attribute)
    return bool(gold) and any(
        gold <= picked and len(gold) >= ANSWERED * len(picked) for picked in drawn
    )


# gold beside judges


def has_gold(store: Store) -> bool:
    query = f"SELECT 1 FROM labels WHERE current AND annotator LIKE '{HUMAN}%' LIMIT 1"
    return next(store.rows(query), None) is not None


def truths(store: Store) -> dict[tuple[str, str], tuple[str, float]]:
    """(output, attribute) → what was decided by adjudication, else what most people said, and the
    weight. Where two values have as many voices there is none.
    """
    said: dict[tuple[str, str], list[tuple[str, str, float]]] = defaultdict(list)
    query = (
        "SELECT output, attribute, annotator, value, weight FROM labels WHERE current AND "
        f"annotator LIKE '{HUMAN}%' ORDER BY id"
    )
    for output, attribute, *answer in store.rows(query):
        said[output, attribute].append(tuple(answer))
    found = {}
    for key, answers in said.items():
        decided = [answer for answer in answers if answer[0].endswith(ADJUDICATED)] or answers
        (value, most), *others = Counter(value for _, value, _ in decided).most_common(2)
        if not others or others[0][1] < most:
            found[key] = value, answers[0][2]
    return found


def pairs(store: Store) -> list[Pair]:
    """Each truth with what each annotator that is no person said, one row a pair; drawn outputs
    only, one label each.
    """
    known = truths(store)
    if not known:
        return []
    query = (
        "SELECT l.output, l.attribute, l.annotator, l.value, t.subject, t.mode, t.factors FROM "
        "labels l"
        " JOIN trials t ON t.id = l.output WHERE l.current AND l.weight = 1 AND l.annotator NOT "
        f"LIKE '{HUMAN}%' AND l.output IN (SELECT output FROM labels WHERE current AND annotator "
        f"LIKE '{HUMAN}%') ORDER BY l.annotator, l.attribute, l.output"
    )
    found = []
    for output, attribute, annotator, value, subject, mode, factors in store.rows(query):
        if (output, attribute) in known:
            truth, weight = known[output, attribute]
            found.append(
                Pair(
                    output,
                    subject,
                    mode,
                    json.loads(factors),
                    attribute,
                    annotator,
                    truth,
                    value,
                    weight,
                )
            )
    return found
