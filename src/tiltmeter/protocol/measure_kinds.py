"""The kinds of measures: one record and one function for each.

A package adds a kind by an entry point in the group `tiltmeter.measures`, a name and a
`MeasureKind`. The shipped kinds are listed in `built_in_measures.py`; their functions are given as
"module:NAME" and imported when a run is analysed, so that reading a protocol imports nothing heavy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from ..records import Estimate

# (analyse.groups.Table, MeasureSpec, the factors of one grouping) → the rows of that grouping
Compute = Callable[..., Iterator[Estimate]]
GROUP = "tiltmeter.measures"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureKind:
    """The record of one kind of measure.

    summary:    one line of description; `interval` and `test` for the documentation.
    compute:    the function of `analyse` that computes it, or "module:NAME" of one.
    contrast:   the keys that the contrast of its measures must have; () if it needs none.
    unit:       of its values; "" for the unit of the labels (words, a score).
    null:       the only value that its test can take as no tilt; None if measures name their own.
    low, high:  the range of its values.
    numbers:    True if its labels are numbers.
    reference:  the reference of its shares: a "column" of the tables; "any" for that or shares of
                the whole; "" if it takes no reference.
    signed:     True if its values are differences even without a contrast.
    sides:      the sides of its shares: a single one ("one"), a level and its baseline ("level"), a
                level and several controls ("controls"). Such measures are corrected by gold, and
                runs are compared on them. "" for all others.
    detectable: the method for the smallest difference that a design can find: that of a share near
                its null ("share") or near one half ("half"), simulation of a "divergence" or of the
                largest of many "cells", from the "spread" of the numbers; "" if there is none.
    counts:     the unit of its rows' n: "labels" (sums of weights), "numbers" (of labels that are
                numbers), "outputs" or "prompts".
    figure:     the default drawing in the report.
    """

    name: str
    summary: str
    compute: str | Compute
    interval: str = "none"
    test: str = "none"
    contrast: tuple[str, ...] = ()
    unit: str = "share"
    null: float | None = None
    low: float = -math.inf
    high: float = math.inf
    numbers: bool = False
    reference: Literal["", "column", "any"] = ""
    signed: bool = False
    sides: Literal["", "one", "level", "controls"] = ""
    detectable: Literal["", "share", "half", "divergence", "cells", "spread"] = ""
    counts: Literal["labels", "numbers", "outputs", "prompts"] = "labels"
    figure: str = "forest"

    def function(self) -> Compute:
        """Returns the function that computes it; if `compute` is an address, imports it first."""
        if not isinstance(self.compute, str):
            return self.compute
        module, _, name = self.compute.partition(":")
        function: Compute = getattr(import_module(module), name)
        return function
