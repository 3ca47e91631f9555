"""Shares of first ranks in line-ups of names: each group against an even share.

If each name is in one line-up only, line-ups are the sample and absorb the variation of names, and
the test reassigns groups inside them. If names recur, they are a second sample next to line-ups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from ...instruments.ranking.ranking import candidates
from ...protocol import MeasureSpec
from ...protocol.design.cue_words import lineup_column
from ...records import Estimate, Population
from ...stats.crossed.lineups import RECURRING, GroupShare, dealt, recurring
from ...stats.results import Interval
from ..counts.count_table import CountTable, Floats, Key
from .cue_word_rows import LIKE
from .estimate_rows import by_t, finite, with_test


@dataclass(frozen=True)
class Lineups:
    """The rankings of one condition. names: each group's name per line-up, shape (line-ups,
    groups); firsts: how often each name was ranked first, same shape.
    """

    lineup: Sequence[str]
    names: Sequence[Sequence[str]]
    firsts: Floats

    @cached_property
    def recur(self) -> bool:
        """True if a name occurs in several line-ups."""
        names: dict[tuple[int, str], str] = {}
        return any(
            names.setdefault((group, name), lineup) != lineup
            for lineup, row in zip(self.lineup, self.names, strict=True)
            for group, name in enumerate(row)
        )

    @cached_property
    def shares(self) -> list[GroupShare]:
        """Each group's share less an even share, with the names as a sample."""
        return recurring(
            lineup=self.lineup, names=self.names, n=self.firsts.sum(axis=1), firsts=self.firsts
        )


def lineups_of(
    table: CountTable, measure: MeasureSpec, by: Sequence[str], reference: Mapping[str, float]
) -> dict[Key, Lineups]:
    """Returns {condition: its rankings}; {} if the protocol has no line-ups, or its reference is
    not an even share of one name per group.
    """
    column = lineup_column(table.protocol)
    is_even = len({round(share, 9) for share in reference.values()}) == 1
    is_usable = table.variant.intervals and table.drawn and measure.per == "labels"
    if column not in table.rows.columns or not is_even or not is_usable:
        return {}
    groups = list(reference)
    rows = table.split_levels(by).filter(
        (pl.col("attribute") == measure.attribute) & pl.col("value").is_in(groups)
    )
    by_condition: dict[Key, dict[tuple[str, ...], Floats]] = {}
    keys = list(dict.fromkeys((*by, table.protocol.item, column, "value")))
    counts = rows.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())
    names_of: dict[str, tuple[str, ...]] = {}
    for row in counts.iter_rows(named=True):
        text = row[column]
        if text not in names_of:
            people = dict(candidates(text))
            names_of[text] = tuple(people.get(group, "") for group in groups)
        place = (row[table.protocol.item], *names_of[text])
        condition = tuple((name, str(row[name])) for name in by)
        firsts = by_condition.setdefault(condition, {}).setdefault(place, np.zeros(len(groups)))
        firsts[groups.index(row["value"])] += row["weight"]
    return {
        condition: Lineups(
            [place[0] for place in rankings],
            [place[1:] for place in rankings],
            np.array(list(rankings.values())),
        )
        for condition, rankings in by_condition.items()
        if all(all(place[1:]) for place in rankings) and len(rankings) > 1
    }


def _pool_names(names: int, lineups: int, found: Interval, p: float | None) -> Population:
    """Describes names and line-ups as one sample, for names in only one line-up each."""
    return Population(
        items=LIKE,
        cue_words=LIKE,
        words=(names,),
        words_sd=None,
        items_n=lineups,
        df=None,
        se=found.se or 0.0,
        se_items=found.se or 0.0,
        se_within=None,
        p_these=None,
        p_these_adjusted=None,
        p_like_these=p,
    )


def with_lineups(
    estimate: Estimate, rankings: Lineups | None, group: int, found: Interval, null: float
) -> Estimate:
    """Adds to the row of a group's share a test that allows for sampled names; returns the row
    unchanged without line-ups, or if its null value is not an even share.
    """
    if rankings is None or estimate.value is None or null:
        return estimate
    if not rankings.recur:
        test = dealt(rankings.firsts, group)
        names = len({row[group] for row in rankings.names})
        population = _pool_names(names, len({*rankings.lineup}), found, test.p)
        return replace(with_test(estimate, test, found), population=population)
    share = rankings.shares[group]
    pooled, separate = share.pooled, share.own
    if pooled.p is None:
        return estimate
    spread = Interval(
        share.value, None, None, RECURRING, se=pooled.se, clusters=max(2, round(pooled.df) + 1)
    )
    return replace(
        estimate,
        low=finite(separate.low),
        high=finite(separate.high),
        interval_method="line-ups and names as samples, t",
        test=RECURRING,
        p=pooled.p,
        detect=by_t(spread),
        population=Population(
            items=LIKE,
            cue_words=LIKE,
            words=(share.names,),
            words_sd=share.names_sd,
            items_n=share.lineups,
            df=round(pooled.df, 3),
            se=separate.se,
            se_items=found.se or separate.se,
            se_within=None,
            p_these=estimate.p,
            p_these_adjusted=None,
            p_like_these=pooled.p,
        ),
    )
