"""Shares, differences and effects of two runs: computed as the measures of one run are, over both
tables joined, as a contrast on the factor `run`.

A share of two runs is a `difference` between the levels of `run`; a difference of two runs is the
interaction of its own contrast with `run`. Only items that both runs have on every side count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from ...protocol import MeasureSpec, few_items
from ...protocol.measures import measure_kind
from ...records import Estimate
from ...stats import association, independent
from ...stats.results import ALPHA, join_notes
from ..correction import corrected_rows
from ..correction.correct import Sense, Side, correct
from ..counts.count_table import CountTable, Group, Key, Pair
from ..counts.prompt_counts import change_of_prompts
from ..measures import shares
from ..measures.controlled_effects import TESTED, Sides, item_sides, shared_items
from ..measures.cue_word_rows import PromptsByValue, with_cue_words
from ..measures.estimate_rows import bounds_of_pair
from ..measures.interactions import double_difference
from ..words.reading import BOUNDS, CORRECTED, MISSING
from .common_items import CommonItems, common_items
from .paired_runs import RUN, ComparisonRow, PairedTables

Values = tuple[float | None, float | None]  # of the first run and of the second
SidesByPlace = dict[Key, dict[str, Side]]
NARROW = 0.90  # confidence of the interval that is held to the margin
OPEN = 1e-9  # bounds that are not wider leave nothing open


@dataclass(frozen=True)
class JoinedRuns:
    """A comparison of one measure in two runs, in one grouping."""

    pairing: PairedTables
    by: Sequence[str]

    @property
    def measure(self) -> MeasureSpec:
        """The measure that is compared."""
        return self.pairing.measure

    def rows(self) -> Iterator[ComparisonRow]:
        """Yields one comparison per group that both runs have, second run minus first."""
        sides = measure_kind(self.measure.kind).sides
        if sides == "one":
            yield from self._shares(common_items(self.pairing.tables, self.measure, self.by))
            return
        contrast = self.measure.contrast or {}
        several = contrast["controls"].split("|") if sides == "controls" else [contrast["baseline"]]
        for name in several:
            items = common_items(self.pairing.tables, self.measure, self.by, name)
            yield from self._gaps(name, items)

    def _shares(self, items: CommonItems) -> Iterator[ComparisonRow]:
        """Yields the comparison of a share, as a difference between the levels of `run`."""
        first, second = self.pairing.names
        contrast = {"factor": RUN, "level": second, "baseline": first}
        spec = replace(self.measure, kind="difference", contrast=contrast, null=0.0, unit="share")
        joined_table = self.pairing.join(items.counted)
        values = dict(_shares_by_run(joined_table, spec, self.by, self.pairing.names))
        rows = list(shares.difference(joined_table, spec, self.by))
        asked_rows, groups_asked = rows, values
        if self.measure.headline and items.some_unanswered:
            asked_table = self.pairing.join(items.asked)
            asked_rows = list(shares.difference(asked_table, spec, self.by))
            groups_asked = dict(_shares_by_run(asked_table, spec, self.by, self.pairing.names))
        sides_by_place = cache(
            lambda: [corrected_rows.sides(table, self.measure, self.by) for table in items.counted]
        )
        for row in rows:
            groups = values.get(_condition_key(row))
            if row.measure != spec.name or groups is None:
                continue
            if row.clusters == 1:
                if few_items(joined_table.protocol) and joined_table.drawn:
                    yield self._of_outputs(row, groups)
                continue
            about = {name: level for name, level in row.condition.items() if name not in self.by}
            row = self._over_words(replace(row, outcomes={}), items.counted, about)
            row = replace(row, note=join_notes(row.note, items.note(row.condition)) or "")
            yield self._test_equivalence(row, _ratios(groups))
            for other in (
                other for other in asked_rows if _condition_key(other) == _condition_key(row)
            ):
                if other.measure in (spec.name + BOUNDS, spec.name + MISSING):
                    is_missing = other.measure == spec.name + MISSING
                    asked_here = groups_asked[_condition_key(other)]
                    yield from self._companions(
                        row, other, _missing_shares(asked_here) if is_missing else None
                    )
            yield from self._corrected(row, items, sides_by_place)

    def _of_outputs(self, row: Estimate, groups: Mapping[str, Group]) -> ComparisonRow:
        """Compares a group of only one item, taking its outputs as the sample."""
        (xa, na), (xb, nb) = (
            (round(float(group.hits.sum())), round(float(group.among.sum())))
            for group in groups.values()
        )
        interval = independent.difference(
            successes_a=xb, n_a=nb, successes_b=xa, n_b=na, confidence=NARROW
        )
        is_within = None
        if interval.low is not None and interval.high is not None:
            is_within = -self.pairing.margin < interval.low and interval.high < self.pairing.margin
        plain = replace(row, outcomes={}, clusters=None)
        return self.pairing.row(plain, _ratios(groups), is_within)

    def _gaps(self, name: str, items: CommonItems) -> Iterator[ComparisonRow]:
        """Yields the comparison of a difference or an effect, as its interaction with `run`."""
        spec = replace(self.measure, unit="share", null=0.0)
        before, after = (dict(_pairs(table, spec, self.by, name)) for table in items.counted)
        asked = [dict(_pairs(table, spec, self.by, name)) for table in items.asked]
        for key in (key for key in before if key in after):
            pairs = [before[key], after[key]]
            row = self._gap_row(spec, pairs)
            if row is None or (row.clusters or 0) < 2:
                continue
            about = {name: level for name, level in row.condition.items() if name not in self.by}
            row = self._over_words(row, items.counted, about)
            row = replace(row, note=join_notes(row.note, items.note(row.condition)) or "")
            yield self._test_equivalence(row, (pairs[0].gap, pairs[1].gap))
            first, second = (one.get(key) for one in asked)
            if self.measure.headline and first is not None and second is not None:
                for other in self._beside_gap(spec, [first, second]):
                    is_missing = other.measure == spec.name + MISSING
                    gaps = (_missing(first).gap, _missing(second).gap) if is_missing else None
                    yield from self._companions(row, other, gaps)
            if self.measure.attribute in self.pairing.gold:
                yield self._uncorrected(row, "a difference of differences is not corrected")

    def _gap_row(self, spec: MeasureSpec, pairs: Sequence[Pair]) -> Estimate | None:
        """Returns the second run's difference less the first's; None if a run has no answers."""
        double = double_difference(pairs[1], pairs[0])
        if double is None:
            return None
        return double.row(replace(pairs[0], outcomes={}), spec, self.pairing.before)

    def _beside_gap(self, spec: MeasureSpec, pairs: Sequence[Pair]) -> Iterator[Estimate]:
        """Yields the range of the difference over all values that answers outside the denominators
        could have, and, for sampled answers, the difference in the share of such answers.
        """
        ends = []
        for pair in pairs:
            group = Group(pair.condition, (), pair.hits[0], pair.among[0], pair.outcomes)
            ends.append(bounds_of_pair(pair, group, spec))
        first, second = ends
        if None not in (first.low, first.high, second.low, second.high):
            low, high = second.low - first.high, second.high - first.low  # type: ignore[operator]
            yield replace(first, low=low, high=high)
        if self.pairing.before.drawn and any(part.sum() for pair in pairs for part in pair.missing):
            missing = replace(spec, name=spec.name + MISSING)
            row = self._gap_row(missing, [_missing(pair) for pair in pairs])
            if row is not None:
                yield row

    def _over_words(
        self, row: Estimate, tables: Sequence[CountTable], about: Mapping[str, str]
    ) -> Estimate:
        """Adds the test over items and cue words, from each prompt's change between runs."""
        first, second = (
            PromptsByValue(table, self.measure, self.by).of(row.condition, about)
            for table in tables
        )
        change = None if first is None or second is None else change_of_prompts(first, second)
        return with_cue_words(row, change, null=0.0)

    def _companions(
        self, row: Estimate, other: Estimate, values: Values | None = None
    ) -> Iterator[ComparisonRow]:
        """Yields a companion to the main row: bounds, or answers outside the denominator."""
        if other.measure.endswith(BOUNDS):
            if (other.high or 0.0) - (other.low or 0.0) <= OPEN:
                return
            other = replace(other, value=row.value, n=row.n, clusters=row.clusters, note="")
        elif other.p is None:
            return
        yield self.pairing.row(
            replace(other, outcomes={}), values or (None, None), None, headline=False
        )

    def _corrected(
        self, row: Estimate, items: CommonItems, sides_by_place: Callable[[], list[SidesByPlace]]
    ) -> Iterator[ComparisonRow]:
        """Yields the share corrected by gold, each run by its own judge's errors.

        sides_by_place: returns the sides of all rows, for each run.
        """
        attribute, gold = self.measure.attribute, self.pairing.gold
        if attribute not in gold:
            return
        lacking = [part.name for part in self.pairing.parts if attribute not in part.gold]
        if lacking:
            yield self._uncorrected(row, f"no gold in {' and '.join(lacking)}")
            return
        is_random = all(corrected_rows.is_random(table, attribute) for table in items.counted)
        place = tuple((name, row.condition[name]) for name in self.by)
        sides = [by_place[place][TESTED] for by_place in sides_by_place()]
        hits = corrected_rows.hits(self.measure, row.condition, self.by)
        sense = Sense(
            hits, self.measure.among, self.measure.without, shared_items(self.pairing.before)
        )
        chosen = corrected_rows.with_errors_of(sides, self._wholes, sense, is_random)
        if chosen is None:
            yield self._uncorrected(row, "too little gold of a class in one of the runs")
            return
        sides, is_random, remark = chosen
        result = correct(sides[::-1], Side({}), sense, is_random)
        if result.name == "none":
            yield self._uncorrected(row, result.note)
            return
        values = [correct((side,), Side({}), sense, is_random).found.value for side in sides]
        corrected = corrected_rows.corrected_row(row, result, 0.0)
        corrected = replace(corrected, note=join_notes(result.note, remark) or "")
        yield self._test_equivalence(corrected, (values[0], values[1]))

    def _uncorrected(self, row: Estimate, reason: str) -> ComparisonRow:
        empty = row.without_value(row.measure + CORRECTED)
        return self._test_equivalence(replace(empty, note=f"uncorrected: {reason}"), (None, None))

    @cached_property
    def _wholes(self) -> list[Side]:
        """The labels and gold of each run, over all conditions."""
        share = replace(self.measure, kind="share")
        return [
            corrected_rows.sides(table, share, ()).get((), {}).get(TESTED, Side({}))
            for table in self.pairing.tables
        ]

    def _test_equivalence(self, row: Estimate, values: Values) -> ComparisonRow:
        """Returns the row with its test of equivalence against the margin."""
        is_within = None
        if row.value is not None and row.spread is not None:
            se, df = row.spread
            is_equivalent = association.equivalence(
                value=row.value, se=se, df=df, margin=self.pairing.margin
            )
            is_within = is_equivalent.p is not None and is_equivalent.p <= ALPHA
        return self.pairing.row(row, values, is_within)


def _condition_key(row: Estimate) -> Key:
    return tuple(row.condition.items())


def _shares_by_run(
    joined: CountTable, spec: MeasureSpec, by: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[Key, dict[str, Group]]]:
    """Yields (condition, {run: its group}) for conditions in both runs, first run first."""
    cuts = joined.contrast_groups(spec, by).values()
    for added, values in joined.values(spec):
        for sides in cuts:
            if len(sides) == len(names):
                groups = {name: joined.group(sides[name], spec, values) for name in names}
                place = {**groups[names[0]].condition, **added}
                yield tuple(place.items()), groups


def _ratios(groups: Mapping[str, Group]) -> Values:
    first, second = (
        float(group.hits.sum() / group.among.sum()) if group.among.sum() > 0 else None
        for group in groups.values()
    )
    return first, second


def _missing_shares(groups: Mapping[str, Group]) -> Values:
    """Returns, for each run, the share of labels outside the denominator."""
    first, second = (group.missing / sum(group.outcomes.values()) for group in groups.values())
    return first, second


def _pairs(
    table: CountTable, spec: MeasureSpec, by: Sequence[str], name: str
) -> Iterator[tuple[Key, Pair]]:
    """Yields (condition, Pair of the tested side and its control) for one run."""
    if measure_kind(spec.kind).sides == "level":
        for added, pair in table.pairs(spec, by):
            placed = replace(pair, condition={**pair.condition, **added})
            yield tuple(placed.condition.items()), placed
        return
    for sides in item_sides(table, spec, by):
        if name in sides.hits:
            yield tuple(sides.condition.items()), _pair_of(sides, spec, name)


def _pair_of(sides: Sides, spec: MeasureSpec, control: str) -> Pair:
    """Returns the tested side and one control as a pair, summed by cluster of items."""
    hits, among, total = (
        tuple(sides.sum_by_cluster(values[side]) for side in (TESTED, control))
        for values in (sides.hits, sides.among, sides.total)
    )
    uncounted = tuple(every - counted for every, counted in zip(total, among, strict=True))
    about = {(spec.contrast or {})["factor"]: control}
    outcomes = {
        value: sum(sides.outcomes[side].get(value, 0.0) for side in (TESTED, control))
        for side in (TESTED, control)
        for value in sides.outcomes[side]
    }
    return Pair(
        sides.condition,
        about,
        (hits[0], hits[1]),
        (among[0], among[1]),
        (uncounted[0], uncounted[1]),
        outcomes,
        sides.names,
    )


def _missing(pair: Pair) -> Pair:
    """Returns a pair with labels outside the denominator as hits, and all labels as denominator."""
    (a, b), (na, nb) = pair.missing, pair.among
    return replace(pair, hits=pair.missing, among=(a + na, b + nb))
