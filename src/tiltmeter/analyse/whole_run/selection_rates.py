"""Selection rates and impact ratios: each category's rate, and this rate divided by the highest
category's, as New York City's rules for automated employment decision tools ask (6 RCNY 5-301).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...protocol import MeasureSpec, Protocol
from ...protocol.source.keys import SelectionKeys
from ...stats import rates
from ...stats.impact import impact_ratios
from ...stats.results import Interval
from ...store import Store
from ..counts.count_table import CountTable, Group
from .measure_run import kept_rows, tables

SMALL = 0.02  # share of all below which the rules let a category's ratio be left out


@dataclass(frozen=True, slots=True)
class CategoryRate:
    """One category of one table in one stratum. number: how often its members were assessed;
    unknown: how often no decision could be read, None if that is not known per category.
    """

    stratum: Mapping[str, str]
    table: str
    category: str
    number: float
    unknown: float | None
    share_of_all: float
    rate: Interval
    ratio: Interval

    @property
    def small(self) -> bool:
        """True if fewer than 2 % of all belong to the category."""
        return self.share_of_all < SMALL


def selection_rates(store: Store, protocol: Protocol) -> list[CategoryRate]:
    """Computes the rates of each selection that the protocol declares, by stratum."""
    measures = {measure.name: measure for measure in protocol.measures}
    strata = list(tables(store, protocol)) if protocol.selections else []
    return [
        row
        for selection in protocol.selections
        for over, stratum, table, _ in strata
        if not over
        for row in _rates(selection, measures[selection["measure"]], stratum, table)
    ]


def _rates(
    selection: SelectionKeys, measure: MeasureSpec, stratum: Mapping[str, str], table: CountTable
) -> Iterator[CategoryRate]:
    table = replace(table, rows=kept_rows(table.rows, measure.where))
    groups = dict(_categories(selection, measure, table))
    if len(groups) < 2:
        return
    items = list(dict.fromkeys(item for group in groups.values() for item in group.items))
    aligned = [group.align_to(items) for group in groups.values()]
    hits, among = [list(side) for side in zip(*aligned, strict=True)]
    ratios = impact_ratios(successes=hits, n=among)
    total = sum(float(one.sum()) for one in among)
    for (category, group), x, n, ratio in zip(groups.items(), hits, among, ratios, strict=True):
        yield CategoryRate(
            stratum,
            selection["title"],
            category,
            float(n.sum()),
            group.missing if "by" in selection else None,
            float(n.sum()) / total if total else 0.0,
            rates.clustered_share(successes=x, n=n),
            ratio,
        )


def _categories(
    selection: SelectionKeys, measure: MeasureSpec, table: CountTable
) -> Iterator[tuple[str, Group]]:
    """Yields (category, group). A category is a combination of levels, or a set of values."""
    by: Sequence[str] = selection.get("by", ())
    if by:
        for group in table.groups(measure, by, measure.values):
            yield " · ".join(group.condition[name] for name in by), group
        return
    for cut in table.cuts(measure, ()):
        for category, values in selection.get("groups", {}).items():
            group = table.group(cut, measure, tuple(values))
            yield category, replace(group, among=group.among * len(values))
