"""Forecasts beside a hand computation, and beside the exact flips that a run makes."""

import numpy as np
import pytest

from tiltmeter.stats.stopping.decision import information
from tiltmeter.stats.stopping.design import StoppingDesign, design_of
from tiltmeter.stats.stopping.follow import follow_runs, rounds_asked
from tiltmeter.stats.stopping.paths import ItemPaths
from tiltmeter.stats.stopping.planned import (
    ForecastClaim,
    ForecastFamily,
    drift_found,
    first_look_that_rejects,
    forecast,
    twice_the_items,
)
from tiltmeter.stats.stopping.sequential import scores_of, sequential_p

ONE = np.ones((1, 1), dtype=bool)


def test_a_single_look_by_hand() -> None:
    """Drift 1.96 + .84: found in .8 of runs, with all calls; without a truth in .05."""
    design = StoppingDesign((16,), (1.0,), (), 1)
    family = ForecastFamily(design, [ForecastClaim(4.2, (0.0,))], ONE)
    drift = drift_found(design=design)
    assert drift == pytest.approx(2.8016, abs=1e-4)
    made = forecast([family], np.ones(1), [drift])
    assert made.calls == 1.0
    assert made.full_power == pytest.approx(0.8, abs=0.03)
    assert made.power == pytest.approx(made.full_power, abs=0.002)
    assert forecast([family], np.ones(1), [0.0]).power == pytest.approx(0.05, abs=0.015)


def test_few_items_cannot_stop_early() -> None:
    """10 words for 36 claims: 2^-9 > .05/36, so nothing is ever found."""
    design = design_of(samples=16, claims=36)
    family = ForecastFamily(
        design, [ForecastClaim(4.2, (2.0**-9,) * 4)] * 36, np.eye(36, dtype=bool)
    )
    assert forecast([family], np.ones(36), [6.0]).power == 0.0
    sixty = design_of(samples=16, claims=60)
    for items, look in ((15, 1), (14, 2), (10, None)):
        claim = ForecastClaim(4.2, (2.0 ** (1 - items),) * 4)
        assert first_look_that_rejects(sixty, claim) == look


def test_claims_of_one_list_end_together() -> None:
    design = design_of(samples=9, balanced=3, claims=9)
    uses = np.ones((9, 1), dtype=bool)
    each, together = (
        forecast([ForecastFamily(design, [claim] * 9, uses)], np.ones(1), [0.0]).calls
        for claim in (ForecastClaim(4.0, (0.0,) * 3), ForecastClaim(4.0, (0.0,) * 3, calls="list"))
    )
    assert 0.6 < each <= together


@pytest.mark.parametrize("drift", [0.0, 2.8])
def test_as_the_exact_flips_of_ten_items(drift: float) -> None:
    """100 runs of one claim: calls and power of the Gaussian forecast are those of all 512 flips."""
    design, ratio, rng = design_of(samples=16, claims=1), 4.0, np.random.default_rng(7)
    steps = np.diff(design.looks, prepend=0)
    p, q, t = np.empty((3, 100, 1, 4))
    for run in range(100):
        own = rng.normal(drift / 10**0.5 * (1 + ratio / 16) ** 0.5, 1, (10, 1))
        sums = (rng.normal(size=(10, 4)) * (ratio * steps) ** 0.5).cumsum(axis=1)
        d = own + sums / np.array(design.looks)
        noise = np.broadcast_to(ratio / 2 / np.array(design.looks), (10, 2, 4))
        paths = ItemPaths(np.stack([d, np.zeros_like(d)], axis=1), noise)
        scores = scores_of(paths, design)
        p[run, 0] = sequential_p(scores, design)
        q[run, 0] = (scores >= scores[:, :1]).mean(axis=1)
        t[run, 0] = [information(design, paths.up_to(k), k) for k in range(1, 5)]
    followed = follow_runs(design, p, q, t, ONE)
    calls = rounds_asked(design, followed, ONE, sizes=np.ones(1)).mean()
    family = ForecastFamily(design, [ForecastClaim(ratio, (2.0**-9,) * 4, items=10)], ONE)
    made = forecast([family], np.ones(1), [drift])
    assert made.calls == pytest.approx(calls, abs=0.12)
    assert made.power == pytest.approx(followed.rejected.mean(), abs=0.15)


def test_items_against_samples_by_hand() -> None:
    """16 samples, s²/τ² = 4: √((1 + .5)/(2·1.25)) = .7746; many samples: 1/√2."""
    assert twice_the_items(samples=16, ratio=4.0) == pytest.approx(0.7746, abs=1e-4)
    assert twice_the_items(samples=1e9, ratio=4.0) == pytest.approx(0.5**0.5)
    assert twice_the_items(samples=16, ratio=float("inf")) == 1.0
