"""Evidence on a verdict from outside its rows: gold on the judge behind a claim, and the numbers of
planned and answered trials.

A judge's J is computed for the values that the claim counts: Youden's sensitivity + specificity −
1, the lowest over the levels that the claim compares. The judge is refuted if the upper end of J's
interval lies below one half, as its labels then say little about these values. If gold is too
scarce for that interval, no judge is refuted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ... import gold
from ...gold import GoldPair, majority
from ...protocol import EVERY, MeasureSpec, Protocol
from ...records import ADJUDICATED, Estimate
from ...stats.judges import youden
from ...stats.judges.confusion import Confusion, confusion, error_gaps
from ...stats.results import ALPHA, Interval
from ...store import Store
from ...store.queries import label_sets, labels, settings, trials
from ..words import numerals
from ..words.reading import TOGETHER
from . import cut_replies, families

Key = tuple[str, str, tuple[str, ...]]  # annotator, attribute, values that count


@dataclass(frozen=True, slots=True)
class GoldFacts:
    """Gold's evidence on the judge of one claim. labels: the number of gold labels; people: the
    number of people who gave them; refuted: the reason why gold refutes the judge, else "";
    errs_by_level: a text on errors that differ between the compared levels, else "".
    """

    labels: int = 0
    people: int = 0
    refuted: str = ""
    errs_by_level: str = ""


@dataclass(frozen=True, slots=True)
class Background:
    """Facts about a run beyond its rows. gold: {claim with gold: its evidence}. plan: {subject: its
    answered and planned trials}. labelled: {(subject, mode, annotator): (labelled answers, all
    answers)}. cut: numbers of cut-off replies. cascades: annotators of rules and a judge. uneven:
    {measure that people alone label: a text if its levels have unlike numbers of labels}.
    """

    gold: Mapping[Key, GoldFacts] = field(default_factory=dict)
    plan: Mapping[str, settings.Progress] = field(default_factory=dict)
    labelled: Mapping[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    cut: cut_replies.Counts = field(default_factory=dict)
    cascades: Collection[str] = ()
    uneven: Mapping[str, str] = field(default_factory=dict)

    def of_judge(self, spec: MeasureSpec, row: Estimate) -> GoldFacts:
        """Returns gold's evidence on the judge of a claim; empty if there is no gold."""
        return self.gold.get(claim_key(spec, row), GoldFacts())

    def of_plan(self, subject: str) -> settings.Progress:
        """Counts the answered and planned trials of a subject; sums over a pool of subjects."""
        planned = [self.plan[name] for name in subject.split(TOGETHER) if name in self.plan]
        return settings.Progress(
            sum(one.answered for one in planned), sum(one.planned for one in planned)
        )

    def of_labels(self, row: Estimate) -> tuple[int, int]:
        """Returns (answers that the annotator labelled, all answers) behind a claim."""
        mode = row.condition.get("mode", "")
        keys = [(subject, mode, row.instrument) for subject in row.subject.split(TOGETHER)]
        counts = [self.labelled[key] for key in keys if key in self.labelled]
        return sum(labelled for labelled, _ in counts), sum(stored for _, stored in counts)


def read_background(store: Store, protocol: Protocol, rows: Sequence[Estimate]) -> Background:
    """Reads the facts about a run that verdicts need beyond the rows."""
    labelled = {
        (one.subject, one.mode, one.annotator): (one.labelled, one.outputs)
        for one in label_sets.labelled(store)
    }
    cut = cut_replies.count_cut(store, protocol)
    facts = _gold_facts(store, protocol, rows)
    uneven = {
        spec.name: majority.uneven_votes(store, protocol, spec)
        for spec, row in families.headline(protocol, rows)
        if row.instrument == labels.MAJORITY
    }
    return Background(facts, _plan(store), labelled, cut, settings.cascades(store), uneven)


def claim_key(spec: MeasureSpec, row: Estimate) -> Key:
    """Returns the key of a claim in `Background.gold`."""
    values = spec.values
    if values in ((EVERY,), ()):
        value = row.condition.get(spec.attribute)
        values = (value,) if value else ()
    return (row.instrument, spec.attribute, values)


def _plan(store: Store) -> dict[str, settings.Progress]:
    planned = settings.planned_trials(store)
    answers: dict[str, int] = {}
    counts: dict[str, int] = {}
    for part in trials.parts(store):
        answers[part.subject] = answers.get(part.subject, 0) + part.answered
        counts[part.subject] = counts.get(part.subject, 0) + part.trials
    return {
        subject: settings.Progress(
            number,
            max(
                counts[subject],
                sum(sum(levels.values()) for levels in planned.get(subject, {}).values()),
            ),
        )
        for subject, number in answers.items()
    }


def _gold_facts(store: Store, protocol: Protocol, rows: Sequence[Estimate]) -> dict[Key, GoldFacts]:
    pairs = gold.by_judge(gold.pairs(store))
    persons = {(who.removesuffix(ADJUDICATED), a) for who, a in labels.people_attributes(store)}
    people = Counter(attribute for _, attribute in persons)
    facts: dict[Key, GoldFacts] = {}
    for spec, row in families.headline(protocol, rows) if pairs else ():
        key = claim_key(spec, row)
        of_attribute = pairs.get(key[:2], [])
        if of_attribute and key[2] and key not in facts:
            levels = _levels(spec, of_attribute)
            golds = [_binary(one, key[2], protocol.item, of_attribute) for one in levels.values()]
            facts[key] = GoldFacts(
                len(of_attribute),
                people.get(spec.attribute, 0),
                _refuted(key, golds, len(of_attribute)),
                errors_between((spec.contrast or {}).get("factor", ""), levels, key, protocol.item),
            )
    return facts


def _refuted(key: Key, golds: Sequence[Confusion], labels: int) -> str:
    index = youden.lowest_youden(golds=golds, positive=[1])
    if not youden.is_refuted(index):
        return ""
    return (
        f"Gold refutes {key[0].partition('@')[0]}: on {labels} gold labels its Youden's J for "
        f"{' or '.join(key[2])} is {_index(index.value)} [{_index(index.low)}, "
        f"{_index(index.high)}], where 1 is right and 0 is guessing."
    )


def _index(value: float | None) -> str:
    return numerals.NOTHING if value is None else numerals.fixed_decimals(value, 2)


def errors_between(
    factor: str, levels: Mapping[str, Sequence[GoldPair]], key: Key, item: str
) -> str:
    """Says how the judge's errors differ between two levels of a factor; "" unless an interval at 1
    - .05/2 shows a difference. levels: gold pairs by level; key: the claim's.
    """
    if len(levels) != 2:
        return ""
    one, other = levels
    pairs = [pair for group in levels.values() for pair in group]
    first, second = (_binary(group, key[2], item, pairs) for group in levels.values())
    values = "/".join(key[2])
    difference, kept_apart = error_gaps(first=first, second=second, confidence=1 - ALPHA / 2)[1]
    gaps = [
        f"{what} {numerals.points(gap)} {'more' if gap > 0 else 'less'} often"
        for what, gap in (
            (f"it finds {values} where it is", _sure_gap(difference)),
            (f"it sees {values} where it is not", -_sure_gap(kept_apart)),
        )
        if gap
    ]
    if not gaps:
        return ""
    return (
        f"The judge errs otherwise where {factor} is {one} than where it is {other}: there "
        f"{' and '.join(gaps)}. The uncorrected difference is in part the judge's."
    )


def _sure_gap(gap: Interval) -> float:
    """Returns a difference of rates; 0 if its interval contains 0, or is missing."""
    if gap.value is None or gap.low is None or gap.high is None or gap.low <= 0 <= gap.high:
        return 0.0
    return gap.value


def _levels(spec: MeasureSpec, pairs: Sequence[GoldPair]) -> dict[str, list[GoldPair]]:
    """Returns {level that a claim compares: its gold}; {"": all gold} if it compares no levels."""
    contrast = spec.contrast or {}
    compared = [contrast[name] for name in ("level", "baseline") if name in contrast]
    levels = {
        name: [p for p in pairs if p.factors.get(contrast["factor"]) == name] for name in compared
    }
    return {name: group for name, group in levels.items() if group} or {"": list(pairs)}


def _binary(
    pairs: Sequence[GoldPair], values: Sequence[str], item: str, every: Sequence[GoldPair]
) -> Confusion:
    """Tabulates truth against answer, clustered by item; 1 for the given values, 0 for others."""
    items = {name: n for n, name in enumerate(dict.fromkeys(p.item(item) for p in every))}
    return confusion(
        truth=[int(p.truth in values) for p in pairs],
        said=[int(p.said in values) for p in pairs],
        classes=2,
        items=len(items),
        clusters=[items[p.item(item)] for p in pairs],
        weights=[p.weight for p in pairs],
    )
