"""Chances at a margin, by hand and by simulation."""

from __future__ import annotations

import numpy as np

from tiltmeter.stats.power.equivalence import clusters_to_pass, pass_chance


def test_by_hand() -> None:
    assert round(pass_chance(se=1, clusters=10**6, margin=3), 3) == 0.825
    assert clusters_to_pass(se=0.5, clusters=100, margin=1) == 271
    assert pass_chance(se=1, clusters=50, margin=1) == 0.0


def test_by_simulation() -> None:
    rng = np.random.default_rng(3)
    draws = rng.normal(0, 1, (4000, 200))
    means, errors = draws.mean(1), draws.std(1, ddof=1) / 200**0.5
    passed = float((np.abs(means) + 1.6525 * errors < 0.25).mean())
    assert abs(passed - pass_chance(se=200**-0.5, clusters=200, margin=0.25)) < 0.02
