"""Claims of several cells: the example of the docstring, and what a released α must not be spent on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from tiltmeter.stats.multiplicity import holm, nested

RUNS, CELLS, ALPHA = 4_000, 3, 0.05


def test_cells_are_adjusted_inside_their_claim_by_hand() -> None:
    found = nested(p=[("a", 0.01), ("a", 0.02), ("b", 0.04), ("a", 0.5), ("c", None)])
    assert found.p[:4] == pytest.approx((0.06, 0.08, 0.06, 1.0))
    assert found.p[4] is None and found.tests == 4


def test_claims_of_one_cell_are_holm() -> None:
    p = [0.01, 0.04, 0.03, 0.005, None]
    assert list(nested(p=list(enumerate(p))).p) == holm(p=p)


def test_one_claim_is_holm_over_its_cells() -> None:
    p = [0.01, 0.04, 0.03]
    assert list(nested(p=[("cue", one) for one in p]).p) == pytest.approx(holm(p=p))


@pytest.mark.parametrize("true", [0, 1, 2])
def test_a_false_cell_is_named_in_at_most_5_per_cent(true: int) -> None:
    """Two cues of three correlated instruments; so many cells of each cue really differ."""
    drawn = np.random.default_rng(true)
    common = drawn.standard_normal((RUNS, 2, 1))
    own = drawn.standard_normal((RUNS, 2, CELLS))
    z = np.sqrt(0.3) * common + np.sqrt(0.7) * own
    z[:, :, :true] += 8
    p = 2 * ndtr(-np.abs(z))
    false = 0
    for run in p:
        found = nested(p=[(cue, one) for cue in range(2) for one in run[cue]]).p
        false += any(
            one is not None and one < ALPHA for one in np.reshape(found, (2, 3))[:, true:].flat
        )
    assert false / RUNS <= ALPHA + 2 * (ALPHA * (1 - ALPHA) / RUNS) ** 0.5
