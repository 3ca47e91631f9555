"""Shares and differences corrected by gold: a row `MEASURE_corrected` beside each uncorrected one.

Gold joins the counted labels as extra attributes, whose values are pairs of truth and answer, so
that the same code groups them by the same conditions and items. The correction is prediction-
powered (ppi++) if the gold was sampled at random, else Rogan–Gladen. It uses the errors in the
group itself if the group has enough gold of both classes, else those in the whole stratum, as the
note then says (`judged.correct`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from ... import gold
from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...protocol.measures import measure_kind
from ...records import Estimate
from ...stats import inversion
from ...store import Store
from ..counts.count_table import CountTable, Cut
from ..measures.controlled_effects import TESTED, shared_items, side_cuts
from ..measures.cue_word_rows import ALL, widened
from ..measures.estimate_rows import spread_of
from ..words.reading import CORRECTED
from .correct import ALIKE, Pairs, Result, Sense, Side, correct, enough_gold
from .voices import with_voices

# begin the names of gold's attributes here
WEIGHTED, COUNTED, AT_RANDOM = ("gold:", "gold labels:", "random gold:")
BETWEEN = "\x1f"  # truth and answer in a value; a voice and the attribute in a name
Key = tuple[tuple[str, str], ...]


def with_gold(frame: pl.DataFrame, store: Store) -> pl.DataFrame:
    """Returns the counted labels with gold as extra attributes; if several people gave gold, also
    with the gold of each person alone (`gold.voices`).
    """
    named_pairs = [(pair, pair.attribute) for pair in gold.pairs(store)]
    random = {name for name in {name for _, name in named_pairs} if gold.is_random(store, name)}
    for attribute, voices in gold.voices(store).items():
        for who, people in voices.items():
            own_pairs = (one for one in gold.pairs(store, people) if one.attribute == attribute)
            named_pairs += [(pair, who + BETWEEN + attribute) for pair in own_pairs]
    keys = {"subject", "annotator", "mode", "attribute", "value", "weight", "outputs"}
    names = [name for name in frame.columns if name not in keys]
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for pair, name in named_pairs:
        source = (AT_RANDOM if pair.attribute in random else WEIGHTED) + name
        levels = tuple(pair.factors.get(name, "") for name in names)
        for attribute, number in ((source, pair.weight), (COUNTED + name, 1.0)):
            sums[
                pair.subject,
                pair.annotator,
                pair.mode,
                attribute,
                pair.truth + BETWEEN + pair.said,
                *levels,
            ] += number
    if not sums:
        return frame
    order = ("subject", "annotator", "mode", "attribute", "value", *names, "weight", "outputs")
    rows = pl.DataFrame(
        [(*key, number, 0) for key, number in sums.items()],
        {name: frame.schema[name] for name in order},
        orient="row",
    )
    return pl.concat([frame, rows.select(frame.columns)])


def attributes_with_gold(frame: pl.DataFrame) -> set[str]:
    """Returns the attributes for which the frame has gold paired with a judge's labels."""
    names = frame.filter(pl.col("attribute").str.starts_with(COUNTED))["attribute"].unique()
    return {name.removeprefix(COUNTED) for name in names if BETWEEN not in name}


def _voices(table: CountTable, attribute: str) -> list[str]:
    """Lists the people whose gold for an attribute is also counted separately."""
    end, named = BETWEEN + attribute, table.rows["attribute"].unique().sort()
    voices = [name for name in named if name.startswith(COUNTED) and name.endswith(end)]
    return [name.removeprefix(COUNTED).removesuffix(end) for name in voices]


def is_random(table: CountTable, attribute: str) -> bool:
    """True if an attribute's gold was sampled at random, with known weights."""
    return not table.rows.filter(pl.col("attribute") == AT_RANDOM + attribute).is_empty()


def can_correct(measure: MeasureSpec) -> bool:
    """True if the measure is a share of labels, or a comparison of such shares."""
    return bool(measure_kind(measure.kind).sides) and measure.per == "labels"


def corrected_rows(
    naive: Iterable[Estimate], table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields a corrected row per uncorrected share, difference and effect of several items."""
    rows = [row for row in naive if row.measure == measure.name and (row.clusters or 0) > 1]
    if not rows or not can_correct(measure) or not table.variant.intervals or not table.drawn:
        return
    corrected = _by_gold(rows, table, measure, by, "")
    who = _voices(table, measure.attribute)
    voices = zip(*(_by_gold(rows, table, measure, by, name) for name in who), strict=True)
    if not who:
        yield from corrected
        return
    for row, alone in zip(corrected, voices, strict=True):
        yield with_voices(row, alone, who, measure.null)


def _by_gold(
    rows: Sequence[Estimate], table: CountTable, measure: MeasureSpec, by: Sequence[str], voice: str
) -> Iterator[Estimate]:
    """Yields each row corrected by all gold, or by the gold of one voice."""
    whole = sides(table, replace(measure, kind="share"), (), voice).get((), {})
    random = is_random(table, measure.attribute)
    groups, shared = sides(table, measure, by, voice), shared_items(table)
    for row in rows:
        parts = groups.get(tuple((name, row.condition[name]) for name in by), {})
        present = [parts[name] for name in _names(row, measure) if name in parts]
        values = hits(measure, row.condition, by)
        if measure.expected and not values:
            empty = row.without_value(row.measure + CORRECTED)
            yield replace(empty, note="uncorrected: trials of it expect different values")
            continue
        sense = Sense(values, measure.among, measure.without, shared)
        yield _row(row, present, whole.get(TESTED, Side({})), sense, random, measure.null)


def _row(
    naive: Estimate,
    found: Sequence[Side],
    whole: Side,
    sense: Sense,
    random: bool,
    null: float | None,
) -> Estimate:
    """Corrects a row by gold; if impossible, returns the row without value and with the reason."""
    empty = naive.without_value(naive.measure + CORRECTED)
    if len(found) < (1 if naive.contrast is None else 2):
        return replace(empty, note="uncorrected: no outcomes on one side")
    result = correct(found, whole, sense, random)
    if result.name == "none":
        return replace(empty, note=f"uncorrected: {result.note}")
    return corrected_row(naive, result, null)


def corrected_row(naive: Estimate, made: Result, null: float | None) -> Estimate:
    """Returns a row with its corrected value; the interval is widened for sampled cue words."""
    interval = widened(made.found, naive.population)
    tests = [
        None if null is None else inversion.invert_interval(interval=one, null=null)
        for one in (interval, made.found)
    ]
    test, of_items = tests
    population = naive.population
    if population is not None and population["cue_words"] == ALL:
        population = None  # gold's interval is over items
    if population is not None:
        p_these = None if of_items is None else of_items.p
        p_like = None if test is None else test.p
        population = {**population, "p_these": p_these, "p_like_these": p_like}
    return replace(
        naive.without_value(naive.measure + CORRECTED),
        population=population,
        spread=spread_of(interval),
        value=interval.value,
        low=interval.low,
        high=interval.high,
        note=made.note,
        cautions=made.found.cautions,
        confidence=made.found.confidence,
        interval_method=made.found.method,
        correction=made.name,
        test=None if test is None else test.method,
        p=None if test is None else test.p,
    )


def with_errors_of(
    sides: Sequence[Side], wholes: Sequence[Side], sense: Sense, random: bool
) -> tuple[list[Side], bool, str] | None:
    """Returns (sides, True if all gold is random, remark). If a side has too little gold, each side
    gets the gold of its `whole`. Returns None if that is too little as well.
    """
    if all(enough_gold(side, sense, random) for side in sides):
        return [*sides], random, ""
    pooled_sides = [
        Side(side.said, whole.weighted, whole.labels)
        for side, whole in zip(sides, wholes, strict=True)
    ]
    has_enough = all(enough_gold(side, sense, False) for side in pooled_sides)
    return (pooled_sides, False, ALIKE) if has_enough else None


def _names(row: Estimate, measure: MeasureSpec) -> tuple[str, ...]:
    """Returns the names of a row's sides: the tested side, and the compared side, if any."""
    if row.contrast is None:
        return (TESTED,)
    contrast = measure.contrast or {}
    return (
        TESTED,
        contrast["baseline"]
        if measure_kind(measure.kind).sides == "level"
        else row.contrast[contrast["factor"]],
    )


def hits(measure: MeasureSpec, condition: Mapping[str, str], by: Sequence[str]) -> Collection[str]:
    """Returns the values that are hits in a row: those expected in its condition, its own value if
    the row is about one, or the measure's values. () if the row's trials expect different values.
    """
    if measure.expected:
        is_known = all(factor in condition for factor in measure.expected)
        expected = (
            value
            for factor, levels in measure.expected.items()
            for value in levels.get(condition.get(factor, ""), "").split(SEVERAL)
        )
        return [*filter(None, expected)] if is_known else ()
    return (
        (condition[measure.attribute],)
        if measure.attribute in condition and measure.attribute not in by
        else measure.values
    )


def sides(
    table: CountTable, measure: MeasureSpec, by: Sequence[str], voice: str = ""
) -> dict[Key, dict[str, Side]]:
    """Returns {condition: {TESTED or the name of a compared side: its labels by item, with gold}}.
    voice: the people whose gold is used; "" for all.
    """
    gold_name = f"{voice}{BETWEEN if voice else ''}{measure.attribute}"
    attributes = set(table.rows["attribute"].unique())
    cuts_by_group = side_cuts_of(table, measure, by)

    def gold_cuts(kind: str) -> dict[Key, dict[str, Cut]]:
        attribute = kind + gold_name
        if attribute not in attributes:
            return {}
        return side_cuts_of(table, replace(measure, without=(), attribute=attribute), by)

    weighted = gold_cuts(AT_RANDOM if AT_RANDOM + gold_name in attributes else WEIGHTED)
    labels = gold_cuts(COUNTED)
    return {
        key: {
            side: Side(
                _values(cut),
                _pairs(weighted.get(key, {}).get(side)),
                _pairs(labels.get(key, {}).get(side)),
            )
            for side, cut in cuts.items()
        }
        for key, cuts in cuts_by_group.items()
    }


def side_cuts_of(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> dict[Key, dict[str, Cut]]:
    """Returns {condition: {TESTED or the name of a compared side: its sums}}."""
    compared = measure_kind(measure.kind).sides
    if compared == "controls":
        return side_cuts(table, measure, by)
    if compared == "level":
        level = (measure.contrast or {})["level"]
        return {
            key: {TESTED if side == level else side: cut for side, cut in cuts.items()}
            for key, cuts in table.contrast_groups(measure, by).items()
        }
    return {tuple(cut.condition.items()): {TESTED: cut} for cut in table.cuts(measure, by)}


def _values(cut: Cut) -> dict[str, dict[str, float]]:
    return {
        item: {value: float(sums[place]) for value, sums in cut.values.items() if sums[place]}
        for place, item in enumerate(cut.items)
    }


def _pairs(cut: Cut | None) -> dict[str, Pairs]:
    if cut is None:
        return {}
    return {
        item: {_split_value(value): number for value, number in cells.items()}
        for item, cells in _values(cut).items()
    }


def _split_value(value: str) -> tuple[str, str]:
    truth, _, called = value.partition(BETWEEN)
    return truth, called
