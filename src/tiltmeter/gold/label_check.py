"""Compares all attributes of a judge with people at once, as in the SODA paper's check of 270
pictures × 8 attributes: the numbers of labels that people confirm, contradict, or call ambiguous,
by group.

Outputs that people call ambiguous count neither as errors of the judge nor as successes, but
separately. Counts are those of the sample, unweighted; the labels of one output are a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import gold
from ..protocol import Protocol
from ..stats.rates import share_of
from ..stats.results import Interval
from ..store import Store
from ..store.queries import labels
from . import GoldPair
from .answers import WORK, read_notes
from .lists import AMBIGUOUS
from .people import people

WHOLE, ATTRIBUTE = "", "attribute"


@dataclass(frozen=True, slots=True)
class CheckedGroup:
    """Labels at one level (factor "" for all) compared with people. wrong_share: with interval."""

    annotator: str
    factor: str
    level: str
    labels: int
    agreed: int
    wrong: int
    ambiguous: int
    wrong_share: Interval


class _Checked(NamedTuple):
    """A label that people checked. verdict: "agreed", "wrong" or "ambiguous"."""

    output: str
    attribute: str
    subject: str
    levels: Mapping[str, str]
    verdict: str


def check_labels(
    store: Store, protocol: Protocol, pairs: Sequence[GoldPair]
) -> Iterator[CheckedGroup]:
    """Yields results for each annotator whose labels people checked on several attributes: over all
    labels, per attribute, and per level of the compared factors (and of the items if a design has
    only a few items).
    """
    checked: dict[str, list[_Checked]] = {}
    for one in pairs:
        verdict = "agreed" if one.truth == one.said else "wrong"
        checked.setdefault(one.annotator, []).append(
            _Checked(one.output, one.attribute, one.subject, one.factors, verdict)
        )
    for annotator, label in _called_ambiguous(store):
        if annotator in checked:
            checked[annotator].append(label)
    for annotator, answers in checked.items():
        if len({one.attribute for one in answers}) > 1:
            yield from _groups(protocol, annotator, answers)


def _called_ambiguous(store: Store) -> Iterator[tuple[str, _Checked]]:
    """Yields (annotator, label) of outputs that people called ambiguous without giving a value."""
    known = gold.truths(store)
    skipped = {
        (output, attribute)
        for person, attribute in people(store)
        for output, state in read_notes(store, WORK, f"{person}/{attribute}").items()
        if state.skipped == AMBIGUOUS and (output, attribute) not in known
    }
    for label in labels.machines_beside_people(store) if skipped else ():
        if (label.output, label.attribute) in skipped:
            yield (
                label.annotator,
                _Checked(label.output, label.attribute, label.subject, label.levels, AMBIGUOUS),
            )


def _groups(
    protocol: Protocol, annotator: str, found: Sequence[_Checked]
) -> Iterator[CheckedGroup]:
    yield _group(annotator, WHOLE, WHOLE, found)
    conditions = gold.conditions(protocol, [one.levels for one in found])
    crossed = [(protocol.item, conditions[0])] if protocol.item in conditions[1:] else []
    factors: Iterable[tuple[str, ...]] = (
        (ATTRIBUTE,),
        ("subject",),
        *((name,) for name in conditions),
        *crossed,
    )
    for names in factors:
        levels: dict[tuple[str, ...], list[_Checked]] = {}
        for one in found:
            about = {ATTRIBUTE: one.attribute, "subject": one.subject, **one.levels}
            levels.setdefault(tuple(about.get(name, "") for name in names), []).append(one)
        if len(levels) > 1:
            order = [list(protocol.levels.get(name, ())) for name in names]
            for key in sorted(levels, key=lambda key: _rank(order, key)):
                yield _group(annotator, " × ".join(names), " × ".join(key), levels[key])


def _rank(order: Sequence[Sequence[str]], key: Sequence[str]) -> list[tuple[int, str]]:
    """Returns a sort key: levels in the order of the design, then others by name."""
    return [
        (levels.index(level) if level in levels else len(levels), level)
        for levels, level in zip(order, key, strict=True)
    ]


def _group(annotator: str, factor: str, level: str, found: Sequence[_Checked]) -> CheckedGroup:
    verdicts = [one.verdict for one in found]
    return CheckedGroup(
        annotator,
        factor,
        level,
        len(found),
        verdicts.count("agreed"),
        verdicts.count("wrong"),
        verdicts.count(AMBIGUOUS),
        share_of((one.output, one.verdict == "wrong") for one in found),
    )
