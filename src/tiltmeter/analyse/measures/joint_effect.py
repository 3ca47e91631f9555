"""The one question of a paired design: is there a difference over all groups and controls together?

While `effect` has a row per group and control, a joint effect is one number and one claim: per
item, the share of hits on the tested side less the mean of its shares in the controls, averaged
over items. Hits are the values that the measure's `expected` names for the item's group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...stats import rates
from ...stats.power.tested_shift import observed_tested_shift
from ...stats.results import join_notes
from ...stats.shuffles import conditions
from ..counts.count_table import CountTable, Floats, Key
from .controlled_effects import TESTED, Sides, item_sides
from .estimate_rows import finite, generator_of, row_of, with_test

LANGUAGE = "language"


def joint_effect(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields the joint effect of each group of `by`, in shares, with t(C-1) over items.

    Test: the tested condition of each item is sampled at random (exactly, if items are few). By
    hand: items (1; 0, .5) and (.5; .5, .5): (.75 + 0)/2 = .375, p = 1/3.
    """
    for group in joint_groups(table, measure, by):
        row = _row(group, measure, table)
        yield replace(row, note=join_notes(row.note or None, group.note) or "")


def effects_by_item(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> dict[Key, dict[str, float]]:
    """Returns {group of `by`: {item, or items with common controls: the tested share less the mean
    share in the controls}}.
    """
    return {
        tuple(group.condition.items()): {
            name: float(row[0] - row[1:].mean())
            for name, row in _by_cluster(group.complete, group.controls).items()
        }
        for group in joint_groups(table, measure, by)
    }


class JointGroup(NamedTuple):
    """The sides of all groups of items that one joint effect covers. contrast: the controls that
    occur; note: the languages that are left out.
    """

    condition: dict[str, str]
    contrast: dict[str, str]
    parts: list[Sides]
    controls: list[str]
    note: str | None

    @property
    def complete(self) -> list[Sides]:
        """The sides that have every control."""
        return [one for one in self.parts if all(name in one.hits for name in self.controls)]


def joint_groups(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[JointGroup]:
    """Yields, per group of `by`, the sides of all groups of items in it."""
    factors = [factor for factor in measure.expected if factor not in by]
    table, note = _with_all_groups(table, measure, factors)
    contrast = measure.contrast or {}
    groups: dict[Key, list[Sides]] = {}
    for sides in item_sides(table, measure, (*by, *factors)):
        key = tuple((name, sides.condition[name]) for name in by)
        groups.setdefault(key, []).append(sides)
    for key, parts in groups.items():
        controls = contrast["controls"].split(SEVERAL)
        present = [name for name in controls if any(name in sides.hits for sides in parts)]
        yield JointGroup(
            dict(key), {contrast["factor"]: " and ".join(present)}, parts, present, note
        )


def _with_all_groups(
    table: CountTable, measure: MeasureSpec, inside: Sequence[str]
) -> tuple[CountTable, str | None]:
    """Drops the languages that lack items of some group: with masculine nouns alone, no share of
    men separates grammatical gender from a model that shows men for any word.
    """
    if LANGUAGE not in measure.over or not inside:
        return table, None
    of_attribute = table.rows.filter(pl.col("attribute") == measure.attribute)
    by_language = of_attribute.group_by(LANGUAGE).agg(groups=pl.struct(list(inside)).n_unique())
    most_groups = by_language["groups"].max()
    lacking = by_language.filter(pl.col("groups") < most_groups)[LANGUAGE].sort().to_list()
    if not lacking:
        return table, None
    rows = table.rows.filter(~pl.col(LANGUAGE).is_in(lacking))
    return replace(table, rows=rows), f"without {', '.join(lacking)}: not of all groups"


def _row(group: JointGroup, measure: MeasureSpec, table: CountTable) -> Estimate:
    parts, shares = group.parts, _shares(group.complete, group.controls)
    interval = rates.clustered_mean(values=shares[:, 0] - shares[:, 1:].mean(axis=1))
    outcomes: dict[str, float] = {}
    for sides in parts:
        for side in (TESTED, *group.controls):
            for value, number in sides.outcomes.get(side, {}).items():
                outcomes[value] = outcomes.get(value, 0.0) + number
    intervals = table.variant.intervals
    row = row_of(
        measure,
        group.condition,
        group.contrast,
        finite(interval.value),
        low=finite(interval.low) if intervals else None,
        high=finite(interval.high) if intervals else None,
        confidence=interval.confidence if intervals else None,
        interval_method=interval.method if intervals else None,
        n=round(sum(float(n.sum()) for sides in parts for n in sides.among.values()), 6),
        clusters=len(shares),
        outcomes=outcomes,
        note=interval.note or "",
        cautions=interval.cautions,
        sides=_raw_shares(shares, parts, list(measure.expected)),
    )
    if measure.null is None or not intervals:
        return row
    test = conditions.tested_condition(rates=shares, draws=table.draws, generator=generator_of(row))

    def detect(level: float) -> float | None:
        return observed_tested_shift(rates=shares, level=level)

    return with_test(row, test, interval, detect)


def _raw_shares(
    shares: Floats, parts: Sequence[Sides], grouped: Sequence[str]
) -> dict[str, float] | None:
    """Returns the mean shares of the tested side and the controls, and pooled shares by group."""
    if not len(shares):
        return None
    raw = {"level": float(shares[:, 0].mean()), "baseline": float(shares[:, 1:].mean())}
    sums: dict[str, Floats] = {}
    for part in parts:
        group = next((part.condition[name] for name in grouped if name in part.condition), "")
        for side, hits in part.hits.items():
            name = group if side == TESTED else f"{group}_{side}"
            totals = np.array([hits.sum(), part.among[side].sum()])
            sums[name] = sums.get(name, np.zeros(2)) + totals
    return raw | {name: float(hit / n) for name, (hit, n) in sums.items() if name and n}


def _shares(parts: Sequence[Sides], controls: Sequence[str]) -> Floats:
    """Returns the shares by cluster, tested side first, shape (C, 1 + controls)."""
    rows = list(_by_cluster(parts, controls).values())
    return np.array(rows) if rows else np.zeros((0, 1 + len(controls)))


def _by_cluster(parts: Sequence[Sides], controls: Sequence[str]) -> dict[str, Floats]:
    """Returns {cluster: its shares, tested side first} over items that are defined on every side.
    Items that share their controls are averaged, even if their groups differ.
    """
    sums: dict[str, Floats] = {}
    number: Counter[str] = Counter()
    for sides in parts:
        use = np.flatnonzero(sides.defined)
        table = np.stack(
            [sides.hits[side][use] / sides.among[side][use] for side in (TESTED, *controls)],
            axis=1,
        )
        for cluster, shares in zip(sides.clusters[use], table, strict=True):
            name = sides.names[cluster]
            sums[name] = sums.get(name, np.zeros(len(shares))) + shares
            number[name] += 1
    return {name: total / number[name] for name, total in sums.items()}
