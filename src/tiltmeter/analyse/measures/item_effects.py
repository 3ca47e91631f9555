"""The effect of each item (word) separately, ranked: a description of the list; no item is tested
(GRAMVIS, Figures 4 and 5).

An item goes *with* the expectation if its tested side has a larger share of the expected value than
every control, *against* it if it has a smaller share than every control, and else neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ..counts.count_table import CountTable
from ..words.numerals import share
from .controlled_effects import TESTED, Sides, item_sides
from .estimate_rows import row_of

WITH, AGAINST, NEITHER = "with the expected direction", "against it", "in neither direction"


@dataclass(frozen=True, slots=True)
class _Item:
    """One item: its share on each side, and the sides' denominators."""

    condition: Mapping[str, str]
    name: str
    shares: Mapping[str, float]
    n: Mapping[str, float]

    @property
    def effects(self) -> dict[str, float]:
        """{control: the tested side's share less the control's}."""
        mine = self.shares[TESTED]
        return {side: mine - value for side, value in self.shares.items() if side != TESTED}

    @property
    def mean(self) -> float:
        """The mean effect over controls, by which items are ranked."""
        return float(np.mean(list(self.effects.values())))

    @property
    def direction(self) -> str:
        """The item's direction: with, against or neither, as the module defines them."""
        signs = {float(np.sign(value)) for value in self.effects.values()}
        return WITH if signs == {1.0} else AGAINST if signs == {-1.0} else NEITHER


def item_effects(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields a row for each item and control, the items with the largest mean effect first.

    Items whose share is not defined on every side are left out. By hand: a word with 3 of 4 hits,
    1 of 4 in en and 2 of 4 in zh: +.50 and +.25, with the expected direction.
    """
    effects = [item for sides in item_sides(table, measure, by) for item in _items(sides)]
    effects.sort(key=lambda one: (-one.mean, one.name))
    controls = (measure.contrast or {})["controls"].split(SEVERAL)
    for rank, one in enumerate(effects, 1):
        text = ", ".join(
            f"{side} {share(value, 2)} (n {one.n[side]:g})" for side, value in one.shares.items()
        )
        for control in (name for name in controls if name in one.effects):
            yield row_of(
                measure,
                {**one.condition, table.protocol.item: one.name},
                {(measure.contrast or {})["factor"]: control},
                one.effects[control],
                n=one.n[TESTED] + one.n[control],
                note=f"rank {rank} of {len(effects)}; {one.direction}; {text}",
            )


def _items(sides: Sides) -> Iterator[_Item]:
    for place, name in enumerate(sides.items):
        n = {side: float(values[place]) for side, values in sides.among.items()}
        if all(n.values()):
            shares = {side: float(values[place]) / n[side] for side, values in sides.hits.items()}
            yield _Item(sides.condition, name, shares, n)
