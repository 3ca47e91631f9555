"""Group-sequential bounds of a Gaussian statistic, by numerical integration.

Z_k has mean 0 under no drift; t_k is the information at look k as a fraction of the last look's,
and √t_k·Z_k grows by independent steps. Source: Armitage, McPherson & Rowe (1969),
JRSS A 132; Jennison & Turnbull (2000), Group Sequential Methods, ch. 19.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.quantiles import normal_quantile
from tiltmeter.stats.stopping.design import StoppingDesign

POINTS = 401  # odd: of Simpson's rule between the bounds of a look
HALVINGS = 60
FARTHEST_BOUND = 12.0
DEFAULT_RATIO = 4.2  # s²/τ² of the published cells of GRAMVIS, their median


def information_of(design: StoppingDesign, ratio: float = DEFAULT_RATIO) -> tuple[float, ...]:
    """Computes t_k = (τ² + s²/n_K)/(τ² + s²/n_k). ``ratio``: s²/τ², the variance of one sample over
    that of items; if it is infinite, t_k = n_k/n_K.

    By hand: 2 of 16, ratio 4.2: (1 + .2625)/(1 + 2.1) = .4073.
    """
    rounds = design.looks[-1]
    if np.isinf(ratio):
        return tuple(look / rounds for look in design.looks)
    return tuple((1 + ratio / rounds) / (1 + ratio / look) for look in design.looks)


@lru_cache(maxsize=4_096)
def bounds_of(
    level: float, weights: tuple[float, ...], information: tuple[float, ...]
) -> tuple[float, ...]:
    """Returns the bounds of abs(Z) that spend level·w_k at look k under no drift.

    By hand: one look, .05: 1.96.
    """
    bounds: list[float] = []
    density = _Density.at_start()
    for k, weight in enumerate(weights):
        step = information[k] - (information[k - 1] if k else 0.0)
        root = np.sqrt(information[k])
        low, high = 0.0, FARTHEST_BOUND
        for _ in range(HALVINGS if k else 0):
            middle = (low + high) / 2
            is_beyond = density.beyond(middle * root, step) > level * weight
            low, high = (middle, high) if is_beyond else (low, middle)
        bounds.append(high if k else normal_quantile(1 - level * weight / 2))
        density = density.inside(bounds[-1] * root, step)
    return tuple(bounds)


class _Density:
    """The density of √t·Z if no bound was crossed: support points (places), the mass at each."""

    def __init__(self, places: Floats, mass: Floats) -> None:
        self.places, self.mass = places, mass

    @classmethod
    def at_start(cls) -> _Density:
        return cls(np.zeros(1), np.ones(1))

    def beyond(self, reach: float, step: float) -> float:
        """Returns the probability that the next step ends outside [-reach, reach]."""
        root, mean = np.sqrt(step), self.places
        tails = special.ndtr((mean - reach) / root) + special.ndtr((-mean - reach) / root)
        return float(self.mass @ tails)

    def inside(self, reach: float, step: float) -> _Density:
        """Returns the density inside [-reach, reach] after the step."""
        places = np.linspace(-reach, reach, POINTS)
        weights = np.ones(POINTS)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
        weights *= (places[1] - places[0]) / 3
        z = (places[:, None] - self.places) / np.sqrt(step)
        density = np.exp(-z * z / 2) @ self.mass / np.sqrt(2 * np.pi * step)
        return _Density(places, density * weights)
