"""Impact ratios: each group's rate divided by the highest rate, as employment law counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...protocol import EVERY, MeasureSpec
from ...records import Estimate
from ...stats.impact import impact_ratios
from ..counts.count_table import CountTable, Group
from .estimate_rows import estimate_row


def impact_ratio(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields each group's rate divided by the highest rate of any group, at most 1.

    values = ["*"]: the groups are the values of the attribute (who is ranked first), in each group
    of `by`. Otherwise they are the levels of the last factor of `by` (the share of yes for each
    level of race), in each group of the factors before it.
    By hand: ranked first 40, 20 and 10 times of 70: 1, .5 and .25.
    """
    lists_of = _by_value if measure.values == (EVERY,) else _by_level
    for groups in lists_of(table, measure, by):
        if len(groups) < 2:
            continue
        items = list(dict.fromkeys(item for group in groups for item in group.items))
        aligned = [group.align_to(items) for group in groups]
        ratios = impact_ratios(
            successes=[hits for hits, _ in aligned], n=[among for _, among in aligned]
        )
        for group, ratio in zip(groups, ratios, strict=True):
            yield estimate_row(group, measure, ratio, table)


def _by_value(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[list[Group]]:
    for cut in table.cuts(measure, by):
        groups = []
        for value in table.answers(measure):
            group = table.group(cut, measure, (value,))
            condition = {**cut.condition, measure.attribute: value}
            groups.append(replace(group, condition=condition))
        yield groups


def _by_level(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[list[Group]]:
    """Yields lists of groups that differ only in the last factor of `by`; none if `by` is empty."""
    if not by:
        return
    together: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in table.groups(measure, by, measure.values):
        key = tuple((name, group.condition[name]) for name in by[:-1])
        together.setdefault(key, []).append(group)
    yield from together.values()
