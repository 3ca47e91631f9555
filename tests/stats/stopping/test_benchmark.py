"""The benchmark runs, and would say where too much is claimed."""

import numpy as np
import pytest

from tests.benchmark import benchmark


def test_small_version_of_the_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    stopping = benchmark("stopping")
    assert stopping.main(["--small", "--only", "classes", "--truth", "half"]) == 0
    header, _, holm, rate, _ = capsys.readouterr().out.splitlines()
    assert header.count("|") == holm.count("|") == rate.count("|")
    assert "| classes | half | Holm | 4 |" in holm
    assert not stopping.too_many([(0.05, 2_000), (0.06, 2_000)])
    assert stopping.too_many([(0.065, 2_000), (0.03, 2_000)])  # more than .05 + 3 errors in one


def test_shapes_draw_what_they_say() -> None:
    """A third of the shares of a word, whichever condition: cells are drawn with the conditions exchanged under
    the null, and with the effect × .35 where it is weak.
    """
    shapes = benchmark("stopping_shapes")
    shares = np.tile([0.9, 0.5, 0.4], (40, 1))
    population = shapes.Population(shares, 40)
    looks, rng = (2, 4, 8, 16), np.random.default_rng(1)
    null = shapes.draw_cell(population, "null", looks, rng)
    true = shapes.draw_cell(population, "truth", looks, rng)
    assert np.nanmean(null.rates[:, :, -1], axis=0) == pytest.approx([0.6] * 3, abs=0.12)
    assert np.nanmean(true.rates[:, :, -1], axis=0) == pytest.approx([0.9, 0.5, 0.4], abs=0.08)
    assert population.weakened(0.35).shares[0] == pytest.approx([0.705, 0.565, 0.53])
