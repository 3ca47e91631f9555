"""Accuracy of a panel by its judges' agreement, and of each single judge (GRAMVIS, section 3.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..protocol import Protocol
from ..records import BOTH, NEITHER, OTHER, OUTCOMES, VOTE
from ..stats.rates import share_of
from ..stats.results import Interval
from ..store import Store
from ..store.queries import labels
from . import GoldPair

ALL, SPLIT = "all judges agree", "no majority"
_NO_VOTES = frozenset(OUTCOMES) - {BOTH, NEITHER, OTHER}  # a refusal is a vote for nothing


@dataclass(frozen=True, slots=True)
class PanelAccuracy:
    """The share of a panel's labels, or of one judge's votes, that people confirm.

    who: the number of judges that agreed, or a judge's name; judge: True for a single judge's
    votes."""

    annotator: str
    attribute: str
    who: str
    judge: bool
    labels: int
    right: int
    accuracy: Interval


def panel_accuracies(
    store: Store, protocol: Protocol, pairs: Sequence[GoldPair]
) -> Iterator[PanelAccuracy]:
    """Yields the accuracy of a panel per number of agreeing judges, then of each single judge."""
    cast: dict[tuple[str, str], dict[str, dict[int, str]]] = {}
    for vote in labels.votes(store):
        of = (vote.annotator, vote.attribute.removesuffix(VOTE))
        cast.setdefault(of, {}).setdefault(vote.output, {})[vote.position] = vote.value
    for (annotator, attribute), votes in cast.items():
        judged = [
            pair
            for pair in pairs
            if (pair.annotator, pair.attribute) == (annotator, attribute) and pair.output in votes
        ]
        if judged:
            yield from _by_consensus(protocol, judged, votes)
            yield from _by_judge(protocol, judged, votes)


def _by_consensus(
    protocol: Protocol, pairs: Sequence[GoldPair], votes: Mapping[str, Mapping[int, str]]
) -> Iterator[PanelAccuracy]:
    judges = max(len(votes[pair.output]) for pair in pairs)
    groups: dict[int, list[tuple[GoldPair, bool]]] = {}
    for pair in pairs:
        words = [value for value in votes[pair.output].values() if value not in _NO_VOTES]
        agreeing = max(Counter(words).values(), default=0)
        agreeing = agreeing if 2 * agreeing > judges else 0
        groups.setdefault(agreeing, []).append((pair, pair.said == pair.truth))
    for agreeing in sorted(groups, reverse=True):
        who = ALL if agreeing == judges else f"{agreeing} of {judges} agree" if agreeing else SPLIT
        yield _accuracy(protocol, groups[agreeing], who, judge=False)


def _by_judge(
    protocol: Protocol, pairs: Sequence[GoldPair], votes: Mapping[str, Mapping[int, str]]
) -> Iterator[PanelAccuracy]:
    positions = sorted({place for pair in pairs for place in votes[pair.output]})
    names = judge_names(pairs[0].annotator, len(positions))
    for place, name in zip(positions, names, strict=True):
        rows = [
            (pair, votes[pair.output][place] == pair.truth)
            for pair in pairs
            if place in votes[pair.output]
        ]
        yield _accuracy(protocol, rows, name, judge=True)


def judge_names(annotator: str, number: int) -> list[str]:
    """Lists a panel's models by position; "judge 1", … if its name does not list them."""
    models = annotator.partition("/")[2].rpartition("@")[0].split("+")
    return models if len(models) == number else [f"judge {n + 1}" for n in range(number)]


def _accuracy(
    protocol: Protocol, rows: Sequence[tuple[GoldPair, bool]], who: str, judge: bool
) -> PanelAccuracy:
    first, _ = rows[0]
    right = sum(is_right for _, is_right in rows)
    share = share_of((pair.item(protocol.item), is_right) for pair, is_right in rows)
    return PanelAccuracy(first.annotator, first.attribute, who, judge, len(rows), right, share)
