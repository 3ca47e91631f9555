"""Drawn counts against the law itself, scipy's hypergeometric, and numpy's draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tiltmeter.stats.shuffles import hypergeometric
from tiltmeter.stats.shuffles.hypergeometric import draw_counts

DRAWS = 100_000


@pytest.mark.parametrize(
    ("alike", "size"),
    [
        ((2, 1), 1),
        ((3, 4, 2), 4),
        ((120, 200, 130, 116), 290),
        ((5, 1000), 3),
        ((1, 1, 1, 500), 30),
        ((0, 3, 0, 2), 4),
        ((50, 3), 53),
        ((5, 5), 0),
        ((1002, 1006, 900), 1500),
    ],
)
@pytest.mark.parametrize("dense", [hypergeometric.DENSE, 0], ids=["table", "numpy"])
def test_each_kind_is_hypergeometric_and_all_together_are_the_size(
    alike: tuple[int, ...], size: int, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """χ² of each kind's counts against scipy's law; 1 in 100,000 draws of it lies above the bound, for some 50 of them."""
    monkeypatch.setattr(hypergeometric, "DENSE", dense)
    found = draw_counts(np.array(alike), size, DRAWS, np.random.default_rng(7))
    assert (found.sum(axis=1) == size).all() and (found >= 0).all() and (found <= alike).all()
    for kind, many in enumerate(alike):
        expected = DRAWS * stats.hypergeom(sum(alike), many, size).pmf(np.arange(many + 1))
        seen, often = np.bincount(found[:, kind], minlength=many + 1), expected > 5
        assert expected[~often].sum() < 100 and seen[~often].sum() < 200
        chi = float(((seen[often] - expected[often]) ** 2 / expected[often]).sum())
        assert chi <= stats.chi2(max(1, often.sum() - 1)).isf(1e-5), (kind, chi)


def test_kinds_take_from_one_another_as_they_must() -> None:
    """Covariance of two kinds: -size·(N-size)/(N-1)·K₁K₂/N²."""
    alike, size, total = np.array([270, 444, 259]), 480, 973
    found = draw_counts(alike, size, DRAWS, np.random.default_rng(3))
    covariance = np.cov(found.T)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        true = -size * (total - size) / (total - 1) * alike[i] * alike[j] / total**2
        assert covariance[i, j] == pytest.approx(true, rel=0.03)


def test_a_seed_fixes_the_draws() -> None:
    first, again = (
        draw_counts(np.array([9, 30, 4]), 20, 500, np.random.default_rng(1)) for _ in range(2)
    )
    assert (first == again).all()
