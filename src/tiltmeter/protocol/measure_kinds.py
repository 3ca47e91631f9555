"""The kinds of measures: all that is known of one stands in one record, and what it computes in one
function.

A package adds one by an entry point in the group `tiltmeter.measures`, a name and a `MeasureKind`.
Those that ship are listed in `built_in_measures.py`; their functions are named as "module:NAME" and
imported when a run is analysed, so that reading a protocol imports nothing heavy.
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

    summary:    what it computes, in one line; `interval` and `test` as the documentation has them.
    compute:    the function of `analyse` that computes it, or "module:NAME" of one.
    contrast:   the keys that the contrast of its measures must have; () where it needs none.
    unit:       of its values; "" for the unit of the labels (words, a score).
    null:       the only value that its test can take as no tilt; None where the measure names one.
    low, high:  the range of its values.
    numbers:    True if it takes labels that are numbers.
    reference:  what its shares are held against: a "column" of the tables; "any" also takes shares
                of the whole; "" if it takes no reference.
    signed:     True if its values are differences even without a contrast.
    sides:      what a share is held against: nothing ("one"), the level of a factor ("level"), each
                of several controls ("controls"). Such measures are corrected by gold, and runs are
                compared on them. "" for all others.
    detectable: how the smallest difference that a design can find is worked out: as of a share near
                its null ("share"), near one half ("half"), by simulation of a "divergence" or of
                the largest of many "cells"; it
                depends on the "spread" of the numbers; "" if it has none.
    counts:     what the n of its rows counts: "labels" (sums of weights), "numbers" (of labels that
                are numbers), "outputs" or "prompts".
    figure:     the drawing in the report where a measure names none.
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
        """The function that computes it, imported now if it is named."""
        if not isinstance(self.compute, str):
            return self.compute
        module, _, name = self.compute.partition(":")
        function: Compute = getattr(import_module(module), name)
        return function
