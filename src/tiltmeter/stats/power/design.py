"""A planned design, and the factor that corrects differences of few items."""

from __future__ import annotations

import math
from dataclasses import dataclass

POWER = 0.8  # with which a difference is found that is called detectable
MOST_OUTPUTS = 100_000  # outputs per item, beyond which no sampling error is left


@dataclass(frozen=True, slots=True)
class Design:
    """A planned design: items with outputs in each of the compared conditions.

    outputs: number per item and condition (samples × picks); infinite if probabilities are read.
    conditions: 1 for a share against ``share``, 2 for a paired difference, more if one condition is
    tested against the mean of the others. icc: correlation of outputs that share item and
    condition; correlation: of an item's shares in two conditions.
    """

    share: float
    items: int
    outputs: float
    icc: float
    conditions: int = 1
    correlation: float = 0.0


def stretch(items: int, lost: int) -> float:
    """Returns the factor √(C/(C-lost)) that stretches centred differences of few items.

    √(C/(C-1)) corrects their spread on average. But a spread that is too small by chance loses more
    power than one that is too large gains, the more so the smaller the level is. So ``lost`` was
    chosen by simulation: the power of a report of 12 to 40 items is then near .8 on average
    (docs/explanation/statistics.md).
    """
    return math.sqrt(items / max(items - lost, 1))
