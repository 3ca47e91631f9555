"""Claims of many cells, against enumerated shuffles, hand computations and scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tiltmeter.stats.exceptional_items import exceptional_gaps, exceptional_shares
from tiltmeter.stats.power.cell_rises import planned_critical, value_rise
from tiltmeter.stats.shuffles.many_cells import CellKey, ObjectOutputs, many_cells, minus_log_p
from tiltmeter.stats.shuffles.shuffling import Shuffles


def shuffles(draws: int = 1_999, seed: int = 1) -> Shuffles:
    return Shuffles(draws=draws, generator=np.random.default_rng(seed))


def column(*values: int) -> np.ndarray:
    return np.array(values)[:, None]


def test_by_hand() -> None:
    """aaa against bbb: the score of b is 1.5/√.45 in 2 of 20 splits."""
    part = ObjectOutputs([column(0, 0, 0), column(1, 1, 1)], ("x",), (("a", "b"),), shuffles(9_999))
    found = many_cells(parts=[part])
    assert found.p == pytest.approx(0.1, abs=0.01)
    assert found.cells[0] == CellKey("x", "b", None, 1)
    assert found.sizes == pytest.approx((1.5 / 0.45**0.5, -1.5 / 0.45**0.5))
    assert found.divergence == pytest.approx(1) and found.named(0.05) == []
    assert [p for _, p in found.named(0.2)] == pytest.approx([0.1, 0.1], abs=0.01)


def test_a_value_that_is_too_rare_is_no_cell() -> None:
    part = ObjectOutputs([column(0, 0), column(1, 1)], ("x",), (("a", "b"),), shuffles())
    assert many_cells(parts=[part]).p is None
    assert many_cells(parts=[]).p is None
    empty = ObjectOutputs([np.zeros((0, 1), int), column(1, 1)], ("x",), (("a", "b"),), shuffles())
    assert many_cells(parts=[empty]).cells == ()


def test_the_largest_score_is_that_of_every_split() -> None:
    """Two attributes with a missing value: scores of all 70 splits, worked out one by one."""
    rows = np.array([[0, 0], [0, 1], [1, 1], [1, -1], [0, 0], [1, 0], [1, 1], [0, 1]])
    part = ObjectOutputs(
        [rows[:4], rows[4:]], ("x", "y"), (("a", "b"), ("c", "d")), shuffles(20_000)
    )
    found = many_cells(parts=[part], with_mean=False)

    def largest(chosen: tuple[int, ...]) -> float:
        group = rows[list(chosen)]
        scores = []
        for attribute in (0, 1):
            known = rows[rows[:, attribute] >= 0, attribute]
            own = group[group[:, attribute] >= 0, attribute]
            for value in (0, 1):
                n, k, m = known.size, int((known == value).sum()), own.size
                var = stats.hypergeom(n, k, m).var()
                scores.append(abs((own == value).sum() - m * k / n) / max(var, 0.1) ** 0.5)
        return max(scores)

    every = [largest(chosen) for chosen in combinations(range(8), 4)]
    exact = np.mean(np.array(every) >= largest((4, 5, 6, 7)) - 1e-9)
    assert found.p == pytest.approx(exact, abs=0.012)


def planted(seed: int, rise: float, objects: int = 2, pictures: int = 25) -> list[ObjectOutputs]:
    """Attribute 0 is shared by name; its value 0 rises in the second group."""
    rng = np.random.default_rng(seed)
    parts = []
    for thing in range(objects):
        groups = [rng.integers(0, 5, (pictures, 4)) for _ in range(2)]
        moved = rng.random(pictures) < rise
        groups[1][moved, 0] = 0
        names = ("colour", *(f"{thing}{n}" for n in range(3)))
        parts.append(
            ObjectOutputs(groups, names, [tuple("abcde")] * 4, shuffles(999, seed + thing))
        )
    return parts


def test_a_planted_value_is_named_over_all_objects() -> None:
    hits = 0
    for seed in range(30):
        found = many_cells(parts=planted(seed, 0.6))
        named = found.named(0.05)
        hits += bool(named) and named[0][0] == CellKey("colour", "a", None, 1)
    assert hits >= 27


def test_nothing_is_found_more_often_than_it_may() -> None:
    """200 runs: 5 % + 3 standard errors are 9.6 %; names come of rejected claims alone."""
    claims = names = 0
    for seed in range(200):
        found = many_cells(parts=planted(1_000 + 7 * seed, 0.0, pictures=10))
        rejected = found.p is not None and found.p < 0.05
        claims += rejected
        names += rejected and bool(found.named(0.05))
    assert claims <= 19 and names <= claims


def test_of_three_groups_each_is_held_against_its_others() -> None:
    rng = np.random.default_rng(3)
    groups = [rng.integers(0, 4, (30, 2)) for _ in range(3)]
    groups[1][:20, 1] = 3
    part = ObjectOutputs(groups, ("x", "y"), [tuple("abcd")] * 2, shuffles())
    found = many_cells(parts=[part])
    assert found.cells[0] == CellKey("y", "d", None, 1) and found.sizes[0] > 0
    total = np.concatenate(groups)[:, 1]
    hits, own = int((total == 3).sum()), int((groups[1][:, 1] == 3).sum())
    law = stats.hypergeom(90, hits, 30)
    assert found.sizes[0] == pytest.approx((own - law.mean()) / law.std())
    assert found.p is not None and found.p < 0.01


def test_the_gamma_tail_has_three_moments() -> None:
    values = stats.gamma(3.0, loc=1.0, scale=2.0).rvs(200_000, random_state=1)
    exact = -stats.gamma(3.0, loc=1.0, scale=2.0).logsf(values[:100])
    assert minus_log_p(values)[:100] == pytest.approx(exact, rel=0.03, abs=0.03)
    assert (minus_log_p(np.ones(5)) == 0).all()


def test_the_rise_that_is_found() -> None:
    """Against simulated runs of the design: power near .8 at the rise, and less below."""
    critical = planned_critical(sizes=(25, 25), parts=2, attributes=(3, 1), values=5, level=0.05)
    rise = value_rise(group=50, base=50, critical=critical, parts=2)
    assert rise is not None and 0.2 < rise < 0.5
    rng = np.random.default_rng(5)
    found = 0
    for seed in range(150):
        parts = planted(50_000 + seed, 0.0)
        for part in parts:
            for group, share in zip(part.groups, (0.15, 0.15 + rise), strict=True):
                first = rng.random(len(group)) < share
                group[:, 0] = np.where(first, 0, rng.integers(1, 5, len(group)))
        p = many_cells(parts=parts).p
        found += p is not None and p < 0.05
    assert 0.68 <= found / 150 <= 0.92
    assert value_rise(group=2, base=2, critical=critical) is None
    one = value_rise(group=25, base=25, critical=critical)
    large = value_rise(group=1600, base=1600, critical=critical)  # 4 times the rows that are drawn
    assert type(large) is float  # a number of numpy's has another repr, which sentences write
    assert large == pytest.approx((value_rise(group=400, base=400, critical=critical) or 0) / 2)
    assert one is not None and one > rise


def test_items_that_differ_from_all_others() -> None:
    hits, n = np.array([9, 10, 8, 9, 0, 10]), np.full(6, 12)
    (one,) = exceptional_shares(hits=hits, n=n)
    assert one.place == 4 and one.others_share == pytest.approx(46 / 60)
    assert one.p_adjusted == pytest.approx(6 * stats.binomtest(0, 12, 46.5 / 61).pvalue)
    assert exceptional_shares(hits=[0, 6], n=[6, 6]) == []
    assert exceptional_shares(hits=[0, 3, 3, 3, 3, 3], n=[6] * 6) == []
    base = np.full(6, 2)
    (gap,) = exceptional_gaps(hits=hits, n=n, base_hits=base, base_n=n)
    assert gap.place == 4
