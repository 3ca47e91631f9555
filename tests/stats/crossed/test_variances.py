"""The two-way variance by hand, its weight in known designs, and its size in simulated tables."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.benchmark import benchmark
from tiltmeter.stats import rates
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.populations import populations
from tiltmeter.stats.crossed.variances import components, two_way, word_weight

Pairing = Callable[[int, int], list[int]]  # (side, item) -> words


def design(items: int, pairing: Pairing, n: int = 1, matched: bool = False) -> Crossed:
    rows = [
        (side, k, item) for side in (0, 1) for item in range(items) for k in pairing(side, item)
    ]
    side, word, item = zip(*rows, strict=True)
    return Crossed.of(side=side, word=word, item=item, n=[n] * len(rows), matched=matched)


def by_hand() -> tuple[Crossed, list[float]]:
    """Two items, two words a side, one answer a prompt: names a and b are accepted in (1, 1) and
    (1, 0) of the two items, names c and d of the baseline in (0, 1) and (0, 0).
    """
    rows = [(1, "a", 0, 1), (1, "a", 1, 1), (1, "b", 0, 1), (1, "b", 1, 0)]
    rows += [(0, "c", 0, 0), (0, "c", 1, 1), (0, "d", 0, 0), (0, "d", 1, 0)]
    side, word, item, y = zip(*rows, strict=True)
    return Crossed.of(side=side, word=word, item=item, n=[1] * 8), [float(one) for one in y]


def test_the_parts_by_hand() -> None:
    """p₁ = 3/4, p₀ = 1/4; e in sixteenths (1, 1, 1, -3 | 1, -3, 1, 1): items 4/16 and -4/16, so
    V_i = 2·(1/16 + 1/16) = 1/4. Items do not shift (a = 0): T = ±1/8 on each side, V_w = 2·2/64 =
    1/16 each. Inside words only b and c vary, ±2/16 about their mean: V_c = 2·2·2·(2/16)² = 1/8.
    """
    prompts, y = by_hand()
    parts = components(prompts, np.array([y]))
    assert parts.value[0] == 0.5
    assert parts.items[0] == pytest.approx(1 / 4)
    assert parts.words[0] == pytest.approx([1 / 16, 1 / 16])
    assert parts.cells[0] == pytest.approx([1 / 8, 1 / 8])


def test_variance_and_degrees_by_hand() -> None:
    """max(1/4, 1/4 + 1/8 - 1/4, 1/8) = 1/4; df = (1/16)/(1/16 + 2/256) = 8/9, at least 1."""
    prompts, y = by_hand()
    fit = two_way(prompts, np.array([y]))
    assert fit.variance[0] == pytest.approx(1 / 4)
    assert fit.df[0] == 1.0
    both = populations(prompts, y)
    assert both is not None and both.words_by_side == (2, 2) and both.these is None
    assert both.both.p == pytest.approx(1 - 2 / math.pi * math.atan(1.0))  # Cauchy at t = 1: .5
    assert both.items.se == both.both.se and both.items.df == 1


@pytest.mark.parametrize("words", [2, 5, 10])
def test_weight_of_crossed_designs_is_one(words: int) -> None:
    assert word_weight(design(20, lambda *_: list(range(words)))) == pytest.approx(1)
    unequal = design(20, lambda side, _: list(range(words + 3 * side)))
    assert word_weight(unequal) == pytest.approx(1)


def test_weight_of_words_nested_in_items_is_nought() -> None:
    assert word_weight(design(20, lambda _, item: [3 * item + k for k in range(3)])) == 0


def test_weight_of_one_word_of_five_per_item_is_four() -> None:
    pairing: Pairing = lambda side, item: [item % 5 if side else item // 5 % 5]  # noqa: E731
    assert word_weight(design(100, pairing)) == pytest.approx(4, rel=0.02)


def test_nested_words_leave_the_variance_over_items() -> None:
    prompts = design(12, lambda _, item: [3 * item + k for k in range(3)], n=4)
    hits = np.random.default_rng(1).binomial(4, 0.4, prompts.n.size)
    fit = two_way(prompts, hits[None] / 4)
    sides = [prompts.side == side for side in (1, 0)]
    xa, xb = (np.bincount(prompts.item[side], hits[side]) for side in sides)
    found = rates.clustered_difference(
        successes_a=xa, n_a=[12.0] * 12, successes_b=xb, n_b=[12.0] * 12
    )
    assert math.sqrt(fit.variance[0]) == pytest.approx(found.se)
    assert fit.df[0] == pytest.approx(11) and fit.value[0] == pytest.approx(found.value)


def test_matched_sets_are_clusters_over_both_sides() -> None:
    """What a set brings to both sides cancels: sets that differ alike on both carry nothing."""
    prompts = design(10, lambda *_: [0, 1, 2, 3], n=10, matched=True)
    y = np.array([[0.2, 0.4, 0.6, 0.8][k] for k in prompts.word])
    fit = two_way(prompts, y[None])
    assert fit.parts.words.sum() == pytest.approx(0)
    apart = two_way(design(10, lambda *_: [0, 1, 2, 3], n=10), y[None])
    assert apart.parts.words.sum() > 0.01


def test_ratio_is_the_difference_of_logs() -> None:
    prompts, _ = by_hand()
    y = np.where(prompts.side == 1, 0.4, 0.2)
    fit = two_way(prompts, y[None], ratio=True)
    assert fit.value[0] == pytest.approx(math.log(2)) and fit.variance[0] == 0


def test_spread_of_words_is_found_again() -> None:
    """Words' means ±.1 around their side, nothing else: the standard deviation is .1·√(K/(K-1))."""
    prompts = design(10, lambda *_: [0, 1, 2, 3], n=100)
    y = 0.5 + np.where(prompts.word % 2 == 0, 0.1, -0.1)
    fit = two_way(prompts, y[None])
    assert fit.words_sd[0] == pytest.approx(0.1 * math.sqrt(4 / 3))


def test_bad_designs_are_named() -> None:
    with pytest.raises(ValueError, match="the same side, word and item"):
        Crossed.of(side=[0, 0], word=["a", "a"], item=[1, 1], n=[1, 1])
    with pytest.raises(ValueError, match="every prompt needs at least one answer"):
        Crossed.of(side=[0, 1], word=["a", "b"], item=[1, 1], n=[1, 0])


def test_sizes_in_simulated_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """300 tables a design; benchmarks/crossed.py has 4,000."""
    assert benchmark("crossed").main(["--small"]) == 0
    assert "larger p" in capsys.readouterr().out


def test_power_and_coverage_of_five_names() -> None:
    """5 names × 4 answers at +.8 logit, names' sd .4, in 1,000 tables: power .44, coverage .97."""
    module = benchmark("crossed")
    chosen = next(one for one in module.power_designs() if "5 × 4, words sd 0.4" in one.name)
    result = module.measure(chosen, 1_000, 5)
    assert result.two_way == pytest.approx(0.44, abs=0.05)
    assert result.covered >= 0.95
