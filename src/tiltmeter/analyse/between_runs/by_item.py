"""One measure in one stratum of two runs, item by item: the difference, its test, the verdict
against the margin, and where both have gold the corrected difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from ...protocol import MeasureSpec
from ...protocol.measures import measure_kind
from ...records import Estimate
from ...stats import association, inversion, rates
from ...stats.crossed.words import LEAST_WORDS
from ...stats.results import ALPHA, Interval, join_notes
from ...stats.share_shifts import shift_of_share
from ..correction import corrected_rows
from ..correction.correct import ALIKE, Sense, Side, correct, enough_gold, sum_by_cluster
from ..counts.count_table import Floats, Table
from ..counts.prompt_counts import change_of_prompts
from ..measures.controlled_effects import TESTED, shared_items
from ..measures.cue_word_rows import (
    PromptsByValue,
    fit_prompts,
    inference_of,
    with_cue_words,
)
from ..measures.estimate_rows import with_sign_flip
from ..measures.shares import with_paired_test
from ..words import numerals
from ..words.reading import BOUNDS, CORRECTED, MISSING
from .paired_runs import ComparisonRow, Pairing


@dataclass(frozen=True)
class RunPair:
    """Two parts compared item by item, in one grouping."""

    pairing: Pairing
    by: Sequence[str]

    @property
    def measure(self) -> MeasureSpec:
        """What is compared."""
        return self.pairing.measure

    def rows(self) -> Iterator[ComparisonRow]:
        """A comparison for each group that both runs have, second run less first."""
        sides = [
            corrected_rows.sides(table, self.measure, self.by) for table in self.pairing.tables
        ]
        for more, values in self.pairing.before.values(self.measure):
            for key in (key for key in sides[0] if key in sides[1]):
                condition = {**dict(key), **more}
                hits = (
                    corrected_rows.hits(self.measure, condition, self.by)
                    if self.measure.expected
                    else values
                )
                sense = Sense(
                    hits,
                    self.measure.among,
                    self.measure.without,
                    shared_items(self.pairing.before),
                )
                for name in self._names():
                    ends = tuple(dict.fromkeys((TESTED, name)))
                    parts = [[side[key][end] for end in ends if end in side[key]] for side in sides]
                    if all(len(part) == len(ends) for part in parts):
                        yield from self._row(condition, name, parts[0], parts[1], sense)

    def _names(self) -> list[str]:
        """What the tested side is held against: itself for a share, the baseline, or each
        control.
        """
        contrast = self.measure.contrast or {}
        compared = measure_kind(self.measure.kind).sides
        if compared == "one":
            return [TESTED]
        return contrast["controls"].split("|") if compared == "controls" else [contrast["baseline"]]

    def _held_against(self, name: str) -> dict[str, str]:
        """The levels of a difference, under the factor, as a run's own row names them."""
        contrast = self.measure.contrast or {}
        if name == TESTED:
            return {}
        return {contrast["factor"]: _levels(contrast, name)}

    def _row(
        self,
        condition: Mapping[str, str],
        name: str,
        before: Sequence[Side],
        after: Sequence[Side],
        sense: Sense,
    ) -> Iterator[ComparisonRow]:
        sides = (*before, *after)
        items, asked = (_common_items(sides, one) for one in (sense, replace(sense, among=())))
        every = [[_restrict(side, asked, sense) for side in part] for part in (before, after)]
        before, after = ([_restrict(side, items, sense) for side in part] for part in every)
        arrays = [
            [
                sum_by_cluster(side, sense, {item: n for n, item in enumerate(items)})
                for side in part
            ]
            for part in (before, after)
        ]
        found, gaps, values = (
            _share_difference(arrays) if len(before) == 1 else _gap_difference(arrays)
        )
        blank = self.pairing.blank(condition, "share", self.by)
        held = self._held_against(name)
        base = replace(
            _with_interval(blank, found, items),
            contrast={**(blank.contrast or {}), **held},
            cautions=found.cautions,
            note=join_notes(found.note, _note_items(sides, asked, items, sense)) or "",
        )
        if len(items) < 2:
            return  # one item is no population
        if len(before) == 1:
            base = _with_test_of_shares(base, arrays, found, self.pairing.before)
        else:
            base = with_sign_flip(base, gaps, found, self.pairing.before)
        base, found = self._over_words(base, found, condition)
        yield self._with(base, found, values)
        if self.measure.headline:
            yield from self._bounds_row(base, every[0], every[1], sense)
            yield from self._missing_row(base, every[0], every[1], sense)
        yield from self._corrected_row(base, before, after, sense)

    def _over_words(
        self, base: Estimate, found: Interval, condition: Mapping[str, str]
    ) -> tuple[Estimate, Interval]:
        """The row and its interval over items and cue words: of each prompt the second run less the
        first; as they were if the cue words are no sample.
        """
        about = {name: level for name, level in condition.items() if name not in self.by}
        first, second = (prompts.of(condition, about) for prompts in self._prompts)
        change = None if first is None or second is None else change_of_prompts(first, second)
        fit = fit_prompts(change)
        if change is None or fit is None or change.fewest < LEAST_WORDS:
            return base, found
        chosen = inference_of(change, fit)
        row = with_cue_words(base, change, null=0.0)
        spread = replace(found, low=row.low, high=row.high)
        return row, replace(spread, se=chosen.se, df=chosen.df) if chosen.se else spread

    @cached_property
    def _prompts(self) -> list[PromptsByValue]:
        return [PromptsByValue(table, self.measure, self.by) for table in self.pairing.tables]

    def _bounds_row(
        self, base: Estimate, before: Sequence[Side], after: Sequence[Side], sense: Sense
    ) -> Iterator[ComparisonRow]:
        """Between which values the difference lies, whatever the answers that are not in the
        denominator would have been; none where all are. Of all items that both runs have, since one
        that a run refuses altogether could have been anything.
        """
        first, second = (_bounds_of(part, sense) for part in (before, after))
        if first[0] == first[1] and second[0] == second[1]:
            return
        row = replace(
            base.without_value(base.measure + BOUNDS),
            value=base.value,
            low=second[0] - first[1],
            high=second[1] - first[0],
            interval_method="bounds",
            note="",
        )
        yield self.pairing.row(row, (None, None), None, headline=False)

    def _missing_row(
        self, base: Estimate, before: Sequence[Side], after: Sequence[Side], sense: Sense
    ) -> Iterator[ComparisonRow]:
        """How much more of the second run than of the first is in no denominator, or how much more
        this differs between their levels, where something is: refusals that fall on one run, or on
        one level of it, are a difference too, and the rest knows nothing of them.
        """
        values = dict.fromkeys(
            value for side in (*before, *after) for own in side.said.values() for value in own
        )
        left_out = [
            value for value in values if not (sense.counts(value) or value in sense.without)
        ]
        if not left_out or not self.pairing.before.drawn:
            return
        every = replace(sense, hits=left_out, among=())
        items = dict.fromkeys(sense.shared.get(item, item) for item in before[0].said)
        places = {item: place for place, item in enumerate(items)}
        arrays = [
            [sum_by_cluster(side, every, places) for side in part] for part in (before, after)
        ]
        alone = len(before) == 1
        found, gaps, shares = (_share_difference if alone else _gap_difference)(arrays)
        clear = replace(base.without_value(base.measure + MISSING), note=found.note or "")
        row = _with_interval(clear, found, items)
        if alone:
            row = _with_test_of_shares(row, arrays, found, self.pairing.before)
        else:
            row = with_sign_flip(row, gaps, found, self.pairing.before)
        yield self.pairing.row(row, shares, None, headline=False)

    def _corrected_row(
        self, base: Estimate, before: Sequence[Side], after: Sequence[Side], sense: Sense
    ) -> Iterator[ComparisonRow]:
        attribute = self.measure.attribute
        if not (attribute in self.pairing.first.gold or attribute in self.pairing.second.gold):
            return
        clear = base.without_value(base.measure + CORRECTED)
        parts_of_runs = (self.pairing.first, self.pairing.second)
        missing = [part.name for part in parts_of_runs if attribute not in part.gold]
        if missing:
            yield self._uncorrected(clear, f"no gold in {' and '.join(missing)}")
            return
        if len(before) > 1:
            yield self._uncorrected(clear, "a difference of differences is not corrected")
            return
        random = all(corrected_rows.is_random(table, attribute) for table in self.pairing.tables)
        parts, alike = [after[0], before[0]], ""
        # the errors of each run, of all its conditions together
        if not all(enough_gold(side, sense, random) for side in parts):
            parts = [
                Side(side.said, whole.weighted, whole.labels)
                for side, whole in zip(parts, self._wholes, strict=True)
            ]
            random, alike = False, ALIKE
        if not all(enough_gold(side, sense, random) for side in parts):
            yield self._uncorrected(clear, "too little gold of a class in one of the runs")
            return
        made = correct(parts, Side({}), sense, random)
        if made.name == "none":
            yield self._uncorrected(clear, made.note)
            return
        test = inversion.invert_interval(interval=made.found, null=0.0)
        row = replace(
            clear,
            value=made.found.value,
            low=made.found.low,
            high=made.found.high,
            correction=made.name,
            note=join_notes(made.note, alike) or "",
            confidence=made.found.confidence,
            interval_method=made.found.method,
            cautions=made.found.cautions,
            test=test.method,
            p=test.p,
        )
        second, first = (correct((side,), Side({}), sense, random).found.value for side in parts)
        yield self._with(row, made.found, (first, second))

    def _uncorrected(self, clear: Estimate, reason: str | None) -> ComparisonRow:
        nothing = Interval(None, None, None, "not corrected")
        return self._with(replace(clear, note=f"uncorrected: {reason}"), nothing, (None, None))

    @cached_property
    def _wholes(self) -> list[Side]:
        """What the annotator says of all conditions of the second run and of the first, with their
        gold.
        """
        share = replace(self.measure, kind="share")
        return [
            corrected_rows.sides(table, share, ()).get((), {}).get(TESTED, Side({}))
            for table in (self.pairing.after, self.pairing.before)
        ]

    def _with(
        self, row: Estimate, found: Interval, values: tuple[float | None, float | None]
    ) -> ComparisonRow:
        """Held to the margin."""
        within = None
        if found.value is not None and found.se and found.df:
            held = association.equivalence(
                value=found.value, se=found.se, df=found.df, margin=self.pairing.margin
            )
            within = held.p is not None and held.p <= ALPHA
        return self.pairing.row(row, values, within)


def _levels(contrast: Mapping[str, str], name: str) -> str:
    """`level − baseline`; of several controls the one."""
    return name if "controls" in contrast else f"{contrast['level']} {numerals.MINUS} {name}"


def _common_items(sides: Sequence[Side], sense: Sense) -> list[str]:
    """Items (or clusters of items that share their controls) that have something in the denominator
    on every side.
    """
    sets = [
        {
            sense.shared.get(item, item)
            for item, values in side.said.items()
            if any(map(sense.counts, values))
        }
        for side in sides
    ]
    return [
        item
        for item in dict.fromkeys(sense.shared.get(item, item) for item in sides[0].said)
        if all(item in one for one in sets)
    ]


def _note_items(
    sides: Sequence[Side], asked: Sequence[str], items: Sequence[str], sense: Sense
) -> str | None:
    """How many items are not compared. asked: what both runs have; items: what is compared."""
    every = {sense.shared.get(item, item) for side in sides for item in side.said}
    alone, unanswered = len(every) - len(asked), len(asked) - len(items)
    return join_notes(
        f"items that one run alone has: {alone}" if alone else None,
        f"items of which a run has no answer that counts: {unanswered}" if unanswered else None,
    )


_T = TypeVar("_T")


def _restrict(side: Side, items: Sequence[str], sense: Sense) -> Side:
    names = set(items)

    def keep(by_item: Mapping[str, _T]) -> dict[str, _T]:
        return {k: v for k, v in by_item.items() if sense.shared.get(k, k) in names}

    return Side(keep(side.said), keep(side.weighted), keep(side.labels))


def _bounds_of(sides: Sequence[Side], sense: Sense) -> tuple[float, float]:
    """The least and the most that a share, or a difference of two, can be."""
    ends = []
    for side in sides:
        cells = [cell for values in side.said.values() for cell in values.items()]
        whole = sum(number for _, number in cells)
        among = sum(number for value, number in cells if sense.counts(value))
        hits = sum(n for value, n in cells if value in sense.hits and sense.counts(value))
        ends.append((hits / whole, (hits + whole - among) / whole))
    (low, high), *other = ends
    return (low - other[0][1], high - other[0][0]) if other else (low, high)


Found = tuple[Interval, Floats, tuple[float | None, float | None]]


def _share_difference(arrays: Sequence[Sequence[tuple[Floats, Floats]]]) -> Found:
    """(second less first, each item's difference, the two shares)."""
    ((xa, na),), ((xb, nb),) = arrays
    found = rates.clustered_difference(successes_a=xb, n_a=nb, successes_b=xa, n_b=na)
    return found, xb / nb - xa / na, (_ratio(xa, na), _ratio(xb, nb))


def _with_interval(row: Estimate, found: Interval, items: Collection[str]) -> Estimate:
    """The row with a difference that was found over the items."""
    return replace(
        row,
        value=found.value,
        low=found.low,
        high=found.high,
        confidence=found.confidence if found.low is not None else None,
        interval_method=found.method,
        n=round(found.n or 0.0, 6),
        clusters=len(items),
    )


def _with_test_of_shares(
    row: Estimate, arrays: Sequence[Sequence[tuple[Floats, Floats]]], found: Interval, table: Table
) -> Estimate:
    ((xa, na),), ((xb, nb),) = arrays
    shares = float(xb.sum() / nb.sum()), float(xa.sum() / na.sum())

    def as_unit(shift: float) -> float | None:
        return shift_of_share(shift=shift, shares=shares)

    return with_paired_test(row, (xb, nb, xa, na), found, table, as_unit)


def _gap_difference(arrays: Sequence[Sequence[tuple[Floats, Floats]]]) -> Found:
    """The same of each item's difference between the tested side and what it is held against."""
    first, second = ((one[0] / one[1] - other[0] / other[1]) for one, other in arrays)
    found = rates.clustered_mean(values=second - first)
    number = sum(float(n.sum()) for part in arrays for _, n in part)
    values = (float(first.mean()), float(second.mean())) if first.size else (None, None)
    return replace(found, n=number), second - first, values


def _ratio(x: Floats, n: Floats) -> float | None:
    return float(x.sum() / n.sum()) if n.sum() > 0 else None
