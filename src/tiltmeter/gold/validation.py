"""Judges against people: report cards of annotators, and the effect of their errors on comparisons.

Per annotator, class and condition: the confusion matrix, sensitivity, specificity, precision and
F1, clustered by item and weighted as the gold was sampled; the agreement of the annotator with
people, of people with one another, of annotators and of a panel's votes; and a warning if the error
rates differ by condition, as this alone can make or hide a gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from .. import gold
from ..errors import UsageError
from ..protocol import Protocol
from ..records import Json
from ..stats.judges import confusion
from ..stats.judges.confusion import ClassQuality, Confusion
from ..stats.results import ALPHA, FEW_GOLD, Interval
from ..store import Store
from . import GoldPair, people, review
from .agreement import Agreement, agreements, reviewer_agreements
from .classes import ClassShare, shares
from .consensus import PanelAccuracy, panel_accuracies
from .label_check import CheckedGroup, check_labels
from .lists import values_of
from .review import MarkShare

FEWEST_COMPARED = 5  # gold labels of a class in a condition, else its error is not compared


@dataclass(frozen=True, slots=True)
class GoldGroup:
    """The gold of one level, or of all (factor ""). matrix: {truth: {label: number of outputs}}."""

    factor: str
    level: str
    labels: int
    accuracy: Interval
    macro_f1: Interval
    weighted_precision: Interval  # each class by its gold, as the paper's Table 2
    weighted_recall: Interval
    weighted_f1: Interval
    classes: Mapping[str, ClassQuality]
    matrix: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ErrorGap:
    """The difference of a class's error rate between two levels, if its interval excludes 0."""

    factor: str
    level: str
    against: str
    value: str
    rate: str
    found: Interval


@dataclass(frozen=True, slots=True)
class ReportCard:
    """The comparison of an annotator's labels with gold. random: the gold is a random sample."""

    annotator: str
    attribute: str
    random: bool
    groups: tuple[GoldGroup, ...]
    gaps: tuple[ErrorGap, ...]
    warnings: tuple[str, ...]
    shares: tuple[ClassShare, ...] = ()


@dataclass(frozen=True, slots=True)
class Validation:
    """The comparison of annotators with gold. skipped: {attribute: {reason: number of outputs}}."""

    cards: tuple[ReportCard, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    gold: Mapping[str, int] = field(default_factory=dict)  # attribute → outputs with gold
    skipped: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reviews: tuple[MarkShare, ...] = ()
    checked: tuple[CheckedGroup, ...] = ()
    panels: tuple[PanelAccuracy, ...] = ()

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values, for JSON."""
        return {
            "gold": dict(self.gold),
            "cards": [asdict(card) for card in self.cards],
            "agreement": [asdict(agreement) for agreement in self.agreements],
            "skipped": {attribute: dict(why) for attribute, why in self.skipped.items()},
            "taxonomy": [asdict(one) for one in self.reviews],
            "checked": [asdict(one) for one in self.checked],
            "panels": [asdict(panel) for panel in self.panels],
        }


def validate(store: Store, protocol: Protocol) -> Validation:
    """Compares annotators with gold and each other. Raises UsageError if there is nothing to do."""
    validation = check(store, protocol)
    if not validation.cards and not validation.agreements and not validation.reviews:
        run = store.folder
        raise UsageError(
            f"{run} has no gold, and no output that several annotators labelled. Type: tiltmeter "
            f"annotate {run} --annotator NAME, or: tiltmeter validate {run} --sample 100 --sheet "
            f"sheet.csv, fill in its column 'value', then: tiltmeter import gold {run} sheet.csv"
        )
    return validation


def check(store: Store, protocol: Protocol) -> Validation:
    """Compares annotators with gold and each other; empty if there is nothing to compare."""
    pairs = gold.pairs(store)
    by_judge = gold.by_judge(pairs)
    cards = [_card(store, protocol, key, rows) for key, rows in by_judge.items()]
    numbers = Counter(attribute for _, attribute in gold.truths(store))
    values = review.taxonomy_values(store, protocol)
    return Validation(
        tuple(cards),
        (*agreements(store, protocol, by_judge), *reviewer_agreements(store, values)),
        numbers,
        people.skips(store),
        tuple(review.shares(store, values)),
        tuple(check_labels(store, protocol, pairs)),
        tuple(panel_accuracies(store, protocol, pairs)),
    )


# report cards


@dataclass(frozen=True, slots=True)
class _Codes:
    """Indices of a confusion matrix: classes (rows), answers (columns, classes first), items."""

    classes: tuple[str, ...]
    answers: tuple[str, ...]
    items: Mapping[str, int]

    def confusion(self, rows: Sequence[GoldPair], item: str) -> Confusion:
        """Returns the confusion matrix of these rows of gold, clustered by item."""
        answers = {value: code for code, value in enumerate(self.answers)}
        return confusion.confusion(
            truth=[answers[row.truth] for row in rows],
            said=[answers[row.said] for row in rows],
            classes=max(2, len(self.classes)),
            answers=max(2, len(self.answers)),
            items=len(self.items),
            clusters=[self.items[row.item(item)] for row in rows],
            weights=[row.weight for row in rows],
        )


def _card(
    store: Store, protocol: Protocol, key: tuple[str, str], rows: Sequence[GoldPair]
) -> ReportCard:
    annotator, attribute = key
    order = {value: place for place, value in enumerate(values_of(store, protocol, attribute))}
    classes = sorted({row.truth for row in rows}, key=lambda value: order.get(value, len(order)))
    others = sorted(
        {row.said for row in rows} - set(classes), key=lambda value: order.get(value, len(order))
    )
    names = dict.fromkeys(row.item(protocol.item) for row in rows)
    items = {item: n for n, item in enumerate(names)}
    codes = _Codes(tuple(classes), (*classes, *others), items)
    groups = [_group(codes, protocol, "", "", rows)]
    gaps: list[tuple[str, str, str, Confusion, Confusion]] = []
    row_levels = [row.factors for row in rows]
    conditions = gold.conditions(protocol, row_levels)
    for factor in ("subject", "mode", "language", *conditions):
        levels = _levels(protocol, factor, rows)
        if len(levels) < 2:
            continue
        groups += [_group(codes, protocol, factor, level, part) for level, part in levels.items()]
        first = _baseline(protocol, factor, levels)
        base = codes.confusion(levels[first], protocol.item)
        gaps += [
            (factor, level, first, codes.confusion(part, protocol.item), base)
            for level, part in levels.items()
            if level != first
        ]
    gaps_of = tuple(_gaps(codes, gaps))
    return ReportCard(
        annotator,
        attribute,
        gold.is_random(store, attribute),
        tuple(groups),
        gaps_of,
        (
            *_warnings(annotator, groups[0], gaps_of),
            *_shared_replies(annotator, rows, protocol.item),
        ),
        tuple(shares(store, protocol, annotator, attribute, rows, classes)),
    )


def _levels(protocol: Protocol, factor: str, rows: Sequence[GoldPair]) -> dict[str, list[GoldPair]]:
    """Returns {level: its gold}, in the order of the design."""
    by_level: dict[str, list[GoldPair]] = {}
    for row in rows:
        about = {"subject": row.subject, "mode": row.mode, **row.factors}
        by_level.setdefault(about.get(factor, ""), []).append(row)
    order = protocol.levels.get(factor, {})
    return {
        level: by_level[level]
        for level in sorted(by_level, key=lambda level: (order.get(level, len(order)), level))
        if level
    }


def _baseline(protocol: Protocol, factor: str, levels: Mapping[str, Sequence[GoldPair]]) -> str:
    """Returns the level that the protocol uses as baseline, else the factor's first level."""
    named = [
        (measure.contrast or {}).get("baseline", "")
        for measure in protocol.measures
        if (measure.contrast or {}).get("factor") == factor
    ]
    return next((name for name in named if name in levels), next(iter(levels)))


def _group(
    codes: _Codes, protocol: Protocol, factor: str, level: str, rows: Sequence[GoldPair]
) -> GoldGroup:
    made = codes.confusion(rows, protocol.item)
    quality = confusion.quality(gold=made)
    matrix: dict[str, dict[str, int]] = {}
    for row in rows:
        cells = matrix.setdefault(row.truth, {})
        cells[row.said] = cells.get(row.said, 0) + 1
    return GoldGroup(
        factor,
        level,
        len(rows),
        quality.accuracy,
        quality.macro_f1,
        quality.weighted_precision,
        quality.weighted_recall,
        quality.weighted_f1,
        dict(zip(codes.classes, quality.classes, strict=False)),
        matrix,
    )


def _gaps(
    codes: _Codes, compared: Sequence[tuple[str, str, str, Confusion, Confusion]]
) -> Iterator[ErrorGap]:
    """Yields error rates that differ between levels, by confidence intervals with Bonferroni."""
    looked = []
    for factor, level, first, mine, base in compared:
        for k, value in enumerate(codes.classes):
            for rate in ("sensitivity", "specificity"):
                if min(_denominator(mine, k, rate), _denominator(base, k, rate)) >= FEWEST_COMPARED:
                    looked.append((factor, level, first, mine, base, k, value, rate))
    for factor, level, first, mine, base, k, value, rate in looked:
        rates = confusion.error_gaps(first=mine, second=base, confidence=1 - ALPHA / len(looked))[k]
        gap = rates[0] if rate == "sensitivity" else rates[1]
        if gap.low is not None and gap.high is not None and not gap.low <= 0 <= gap.high:
            yield ErrorGap(factor, level, first, value, rate, gap)


def _denominator(made: Confusion, k: int, rate: str) -> float:
    """Returns the denominator of class k's rate: the number of gold labels of k, or of others."""
    mine = float(made.labels[:, k].sum())
    return mine if rate == "sensitivity" else float(made.labels.sum()) - mine


def _shared_replies(annotator: str, rows: Sequence[GoldPair], item: str) -> Iterator[str]:
    """Yields a warning if outputs of several gold labels share a judge's reply and its errors."""
    items: dict[str, set[str]] = {}
    for row in rows:
        items.setdefault(row.call or row.output, set()).add(row.item(item))
    if len(items) == len(rows):
        return
    several = sum(len(shared) > 1 for shared in items.values())
    between = f", not between items, which share {several} of them" if several else ""
    yield (
        f"{len(rows)} gold labels rest on {len(items)} different replies of {annotator}, which is "
        "asked an equal question once: where one is wrong, so are all that share it. Intervals "
        f"over items allow for that inside an item{between}"
    )


def _warnings(annotator: str, whole: GoldGroup, gaps: Sequence[ErrorGap]) -> Iterator[str]:
    few = min(quality.labels for quality in whole.classes.values())
    if len(whole.classes) == 1:
        yield (
            f"all gold is '{next(iter(whole.classes))}': how often {annotator} takes other "
            "values for it is not known"
        )
    elif few < FEW_GOLD:
        yield (
            f"{few} gold labels of a class: what is said of {annotator} is hardly more than a "
            "direction"
        )
    for gap in gaps:
        interval = gap.found
        yield (
            f"{annotator} errs otherwise where {gap.factor} is {gap.level} than where it is "
            f"{gap.against}: {gap.rate} for {gap.value} differs by {interval.value:+.2f} "
            f"[{interval.low:+.2f}, {interval.high:+.2f}]. That alone makes a gap between the two, "
            "or hides one: read the corrected rows"
        )
