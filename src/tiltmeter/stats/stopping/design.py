"""The plan that is frozen before the first output of a run that may stop early."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.multiplicity import LEAST_DRAWS, Method

# number of looks → the share of α that each may spend, and the predictive probability below which
# a claim is not pursued: three and four looks as simulated
# (docs/how-to/stopping.md), two looks between these
DEFAULTS: dict[int, tuple[tuple[float, ...], tuple[float, ...]]] = {
    1: ((1.0,), ()),
    2: ((0.4, 0.6), (0.10,)),
    3: ((0.2, 0.3, 0.5), (0.05, 0.10)),
    4: ((0.10, 0.15, 0.25, 0.50), (0.02, 0.05, 0.10)),
}
FRACTIONS = (0.125, 0.25, 0.5, 1.0)
GRID = 64  # levels of the grid between 1/N and 1, beside those of Holm and Benjamini–Hochberg
FLIPS_PER_LEVEL = 10  # flips for each 1/(α·w_1/m), so that the first look can reject
ROUNDING = 1e-9

Canonical: TypeAlias = "dict[str, int | float | str | list[int] | list[float]]"


@dataclass(frozen=True)
class StoppingDesign:
    """Looks, the share of α that each may spend, and the family; all fixed before the first output.

    looks: rounds after which a look is made, rising, the last the full run (a round is one sample
    of every active condition). weights: the share of α that each look adds, in sum 1. futility: for
    each look but the last, the predictive probability below which a claim is not pursued. claims:
    m, the size of the family. method: Holm for headline claims, Benjamini–Hochberg for a secondary
    measure. seed: the flips' seed. Raises ``ValueError`` if the fields do not fit together.
    """

    looks: tuple[int, ...]
    weights: tuple[float, ...]
    futility: tuple[float, ...]
    claims: int
    alpha: float = 0.05
    method: Method = "holm"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("looks", "weights", "futility"):  # lists, as JSON and TOML have them
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _check(self)

    @cached_property
    def spending(self) -> tuple[float, ...]:
        """The share of α spent by each look, w_1 + … + w_k; the last is 1."""
        sums = np.cumsum(self.weights)
        return (*(float(spent) for spent in sums[:-1]), 1.0)

    @cached_property
    def draws(self) -> int:
        """The number N of flips, including the observed one, of a test that samples its flips."""
        needed = FLIPS_PER_LEVEL * self.claims / (self.alpha * self.weights[0])
        return max(LEAST_DRAWS, math.ceil(needed - ROUNDING))

    @cached_property
    def levels(self) -> Floats:
        """The rising levels that p can have: 64 from 1/N to 1, and α/j and α·j/m for j ≤ m."""
        steps = np.arange(1, self.claims + 1)
        of_methods = np.concatenate([self.alpha / steps, self.alpha * steps / self.claims])
        spread = np.geomspace(1 / self.draws, 1.0, GRID)
        spread[-1] = 1.0
        return np.unique(np.concatenate([spread, of_methods]))

    def as_dict(self) -> Canonical:
        """Returns the fields as plain values, for hashing and for ``StoppingDesign(**values)``."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


def design_of(
    *,
    samples: int,
    claims: int,
    balanced: int = 1,
    method: Method = "holm",
    seed: int = 0,
    alpha: float = 0.05,
) -> StoppingDesign:
    """Returns the design for a protocol that declares none: ``default_looks`` with ``DEFAULTS``."""
    looks = default_looks(samples=samples, balanced=balanced)
    weights, futility = DEFAULTS[len(looks)]
    return StoppingDesign(looks, weights, futility, claims, alpha, method, seed)


def default_looks(*, samples: int, balanced: int = 1) -> tuple[int, ...]:
    """Returns looks after ⅛, ¼, ½ and all of the samples, each raised to a multiple of
    ``balanced``, the rounds after which orders and names are even; fewer looks if some coincide.

    By hand: 16 samples: 2, 4, 8, 16; 20: 3, 5, 10, 20; 10 in two orders: 2, 4, 6, 10; 2: 1, 2.
    """
    if samples < 1 or balanced < 1:
        raise ValueError("samples and balanced: numbers of rounds of at least 1 expected")
    looks = (balanced * math.ceil(part * samples / balanced - ROUNDING) for part in FRACTIONS)
    return tuple(sorted({min(look, samples) for look in looks}))


def items_needed(*, design: StoppingDesign, look: int = 1, conditions: int = 2) -> int:
    """Computes the fewest items with which a claim can be rejected at this look.

    m claims: ⌈1 + log₂(m/(α·(w_1+…+w_k)))⌉ for two conditions, ⌈log_K(m/(α·(…)))⌉ for K permuted
    ones. By hand, α = .05, first look: m 60 and w_1 = .1: 15 items; m 9 and w_1 = .2: 11.
    """
    tails = 2.0 if conditions == 2 else 1.0
    level = design.alpha * design.spending[look - 1] / design.claims
    return math.ceil(math.log(tails / level) / math.log(conditions) - ROUNDING)


def _check(design: StoppingDesign) -> None:
    looks, weights, futility = design.looks, design.weights, design.futility
    if not looks or looks[0] < 1 or any(a >= b for a, b in pairwise(looks)):
        raise ValueError(f"looks: rising numbers of rounds expected, got {looks}")
    if len(weights) != len(looks):
        raise ValueError(f"weights: expected {len(looks)} (one per look), got {len(weights)}")
    if min(weights) <= 0 or abs(sum(weights) - 1) > ROUNDING:
        raise ValueError(f"weights: positive numbers with the sum 1 expected, got {weights}")
    if len(futility) != len(looks) - 1:
        raise ValueError(
            f"futility: expected {len(looks) - 1} bounds (one for each look but the last), got "
            f"{len(futility)}"
        )
    if any(not 0 <= bound < 1 for bound in futility):
        raise ValueError(f"futility: probabilities below 1 expected, got {futility}")
    if design.claims < 1:
        raise ValueError(f"claims: at least 1 expected, got {design.claims}")
    arguments.level("alpha", design.alpha)
    if design.method not in ("holm", "benjamini-hochberg"):
        raise ValueError(f"method: holm or benjamini-hochberg expected, got {design.method!r}")
