"""Two shares of independent outputs, against Newcombe's printed interval and all deals counted out."""

from __future__ import annotations

from itertools import combinations

import pytest
from scipy import stats as reference

from tiltmeter.stats import independent


def test_newcombe_s_own_example() -> None:
    """Newcombe (1998), Stat. Med. 17, Table II, (a) 56/70 − 48/80, method 10."""
    found = independent.difference(successes_a=56, n_a=70, successes_b=48, n_b=80)
    assert found.value == pytest.approx(0.2)
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (0.0524, 0.3339)


def test_p_counts_all_deals() -> None:
    outputs = [1, 1, 1, 0, 0, 0, 0]  # 3 of 4 against 0 of 3
    seen = 3 / 4
    gaps = [
        abs(sum(outputs[i] for i in side) / 4 - (3 - sum(outputs[i] for i in side)) / 3)
        for side in combinations(range(7), 4)
    ]
    wanted = sum(gap >= seen - 1e-9 for gap in gaps) / len(gaps)
    found = independent.shuffled_difference(successes_a=3, n_a=4, successes_b=0, n_b=3)
    assert found.p == pytest.approx(wanted)


@pytest.mark.parametrize(("a", "b"), [(3, 9), (17, 20), (0, 5), (10, 10)])
def test_sides_of_one_size_have_fisher_s_p(a: int, b: int) -> None:
    found = independent.shuffled_difference(successes_a=a, n_a=25, successes_b=b, n_b=25)
    assert found.p == pytest.approx(reference.fisher_exact([[a, 25 - a], [b, 25 - b]]).pvalue)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("n_a", "n_b", "share"), [(20, 20, 0.3), (100, 60, 0.1)])
def test_p_is_right_under_the_null(alpha: float, n_a: int, n_b: int, share: float) -> None:
    """P(p ≤ α) over all outcomes of two binomials with one share, worked out and not simulated."""
    one, other = reference.binom(n_a, share), reference.binom(n_b, share)
    rejected = 0.0
    for x in range(n_a + 1):
        for y in range(n_b + 1):
            chance = float(one.pmf(x) * other.pmf(y))
            if chance > 1e-7:
                sides = {"successes_a": x, "n_a": n_a, "successes_b": y, "n_b": n_b}
                p = independent.shuffled_difference(**sides).p
                rejected += chance * (p is not None and p <= alpha)
    assert rejected <= alpha


def test_an_empty_side_is_not_measured_and_false_counts_are_refused() -> None:
    empty = {"successes_a": 0, "n_a": 0, "successes_b": 1, "n_b": 2}
    assert independent.difference(**empty).value is None
    assert independent.shuffled_difference(**empty).p is None
    with pytest.raises(ValueError, match="successes"):
        independent.shuffled_difference(successes_a=3, n_a=2, successes_b=0, n_b=2)
