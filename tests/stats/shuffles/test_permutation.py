"""The kernel against a plain scipy loop over the same shuffles, and against all arrangements by hand."""

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import chisquare, multivariate_hypergeom

from tests.pace import within
from tiltmeter.stats.shuffles import divergence, shuffling
from tiltmeter.stats.shuffles.permutation import (
    Permuted,
    base_against_group,
    concentration_difference,
    each_value,
    pairs_within,
)
from tiltmeter.stats.shuffles.shuffling import Shuffles


def shuffles(draws: int = 199, seed: int = 1) -> Shuffles:
    return Shuffles(draws=draws, generator=np.random.default_rng(seed))


def plain_js(first: np.ndarray, second: np.ndarray) -> list[float]:
    """JS divergence in bits per attribute, by scipy; NaN where a side is missing."""
    found = []
    for a, b in zip(first.T, second.T, strict=True):
        a, b = a[a >= 0], b[b >= 0]
        if not a.size or not b.size:
            found.append(math.nan)
            continue
        size = max(a.max(), b.max()) + 1
        found.append(
            jensenshannon(np.bincount(a, minlength=size), np.bincount(b, minlength=size), base=2)
            ** 2
        )
    return found


def plain_pairs(groups: list[np.ndarray]) -> list[float]:
    return list(np.nanmean([plain_js(a, b) for a, b in combinations(groups, 2)], axis=0))


def drawn_labels(shuffled: Shuffles, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """The group of each row in each shuffle."""
    found = []
    for members in shuffled.counts(sizes, np.eye(sum(sizes), dtype=bool)):  # each row is a value
        found += list(np.where(members.any(axis=0), members.argmax(axis=0), len(sizes) - 1).T)
    return found


def split(pooled: np.ndarray, labels: np.ndarray, groups: int) -> list[np.ndarray]:
    return [pooled[labels == g] for g in range(groups)]


CELLS = {
    "two groups": ([20, 20], [5, 3, 7], 0.0),
    "unequal sizes": ([12, 25], [4, 6], 0.0),
    "three groups": ([20, 20, 20], [5, 3], 0.0),
    "three unequal groups": ([9, 14, 20], [5, 3, 2], 0.0),
    "missing labels": ([20, 20], [5, 3, 7], 0.2),
    "three groups, missing labels": ([15, 20, 20], [4, 3], 0.2),
    "one value": ([10, 10], [1, 1], 0.0),
}


@pytest.mark.parametrize("name", CELLS)
def test_kernel_equals_a_plain_loop(name: str) -> None:
    sizes, values, missing = CELLS[name]
    generator = np.random.default_rng(5)
    groups = [np.column_stack([generator.integers(0, k, n) for k in values]) for n in sizes]
    for group in groups:
        group[generator.random(group.shape) < missing] = -1
    shuffled = shuffles()
    found = pairs_within(groups=groups, shuffles=shuffled)
    pooled = np.concatenate(groups)
    loop = np.array(
        [
            plain_pairs(split(pooled, labels, len(groups)))
            for labels in drawn_labels(shuffled, tuple(sizes))
        ]
    )
    observed = np.array(plain_pairs(groups))
    assert found.value == pytest.approx(observed.mean(), abs=1e-9)
    assert found.expected == pytest.approx(loop.mean(axis=1).mean(), abs=1e-9)
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(loop.mean(axis=1), [0.025, 0.975])), abs=1e-7
    )
    reached = int((loop.mean(axis=1) >= observed.mean() - 1e-7).sum())
    assert found.p == pytest.approx((1 + reached) / 200)
    for a, each in enumerate(found.attributes):
        assert each.value == pytest.approx(observed[a], abs=1e-9)
        assert each.expected == pytest.approx(loop[:, a].mean(), abs=1e-9)
        assert each.p == pytest.approx((1 + int((loop[:, a] >= observed[a] - 1e-7).sum())) / 200)
    if len(groups) == 2:
        same = base_against_group(base=groups[0], group=groups[1], shuffles=shuffled)
        assert (same.value, same.p, same.expected) == (found.value, found.p, found.expected)


def test_concentration_equals_a_plain_loop() -> None:
    generator = np.random.default_rng(6)
    base = np.column_stack([generator.integers(0, 5, 20), generator.integers(0, 3, 20)])
    group = np.column_stack([generator.integers(0, 2, 16), generator.integers(0, 3, 16)])
    declared, shuffled = [6, 3], shuffles()

    def vac(rows: np.ndarray) -> np.ndarray:
        counted = [np.bincount(rows[:, a], minlength=k) for a, k in enumerate(declared)]
        return np.array([divergence.concentration(counts=c, miller_madow=True) for c in counted])

    found = concentration_difference(base=base, group=group, shuffles=shuffled, values=declared)
    pooled = np.concatenate([base, group])
    loop = np.array(
        [vac(pooled[ls == 1]) - vac(pooled[ls == 0]) for ls in drawn_labels(shuffled, (20, 16))]
    )
    observed, means = (vac(group) - vac(base)).mean(), loop.mean(axis=1)
    assert found.value == pytest.approx(observed, abs=1e-9)
    assert found.expected == pytest.approx(means.mean(), abs=1e-9)
    centre = (means.sum() + observed) / 200
    assert found.p == pytest.approx(
        (1 + (np.abs(means - centre) >= abs(observed - centre) - 1e-9).sum()) / 200
    )
    assert found.adjusted is None
    assert [each.value for each in found.attributes] == pytest.approx(
        list(vac(group) - vac(base)), abs=1e-9
    )


def test_any_two_draws_are_independent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two deals in two orders the first draw has its order in common with the second, its deal
    with the third, and neither with the fourth: all nine pairs of arrangements are equally likely.
    """
    monkeypatch.setattr(shuffling, "ORDERS", 2)
    many = 1800
    places = [
        [int(labels.argmin()) for labels in drawn_labels(shuffles(4, seed), (1, 2))]
        for seed in range(many)
    ]
    for other in (1, 2, 3):
        pairs = Counter((draws[0], draws[other]) for draws in places)
        assert len(pairs) == 9
        assert chisquare(list(pairs.values())).pvalue > 0.001


def test_by_hand_over_all_six_splits() -> None:
    """Two and two: 2 of 6 splits separate (JS 1), 4 mix fully (JS 0); E₀ = 1/3, p = 1/3."""
    found = base_against_group(base=[[0], [0]], group=[[1], [1]], shuffles=shuffles(20_000))
    assert found.value == 1
    assert found.adjusted == 1
    assert found.expected == pytest.approx(1 / 3, abs=0.015)
    assert found.p == pytest.approx(1 / 3, abs=0.015)
    assert found.smallest_p == pytest.approx(1 / 3)


def test_concentration_by_hand() -> None:
    found = concentration_difference(base=[[0], [1]], group=[[0], [0]], shuffles=shuffles(9))
    assert found.value == pytest.approx(1 + 1 / (4 * math.log(2)), abs=1e-12)


def test_full_separation_is_exactly_one() -> None:
    """PROTOCOLS 3: six values against six others; subtracting E₀ alone would give about .75."""
    generator = np.random.default_rng(3)
    base, group = generator.integers(0, 6, (20, 4)), generator.integers(6, 12, (20, 4))
    found = base_against_group(base=base, group=group, shuffles=shuffles(999))
    assert found.value == pytest.approx(1, abs=1e-12)
    assert found.adjusted == pytest.approx(1, abs=1e-12)
    assert found.value - found.expected < 0.8
    assert found.p == 1 / 1000


def test_chance_adjusted_is_zero_where_nothing_differs() -> None:
    """K = 6, n = 20: the plug-in is .10 bits and its root .25 (PROTOCOLS 3); adjusted 0 within .01."""
    generator = np.random.default_rng(7)
    shuffled = shuffles(299)
    found = [
        base_against_group(
            base=generator.integers(0, 6, 20), group=generator.integers(0, 6, 20), shuffles=shuffled
        )
        for _ in range(1500)
    ]
    plugin = np.array([cell.value for cell in found])
    assert abs(np.mean([cell.adjusted for cell in found])) < 0.01
    assert plugin.mean() == pytest.approx(0.10, abs=0.01)
    assert np.sqrt(plugin * math.log(2)).mean() == pytest.approx(
        0.25, abs=0.01
    )  # the paper's distance


def test_rows_stay_together() -> None:
    """A copied attribute changes no p: rows move whole. Shuffled apart, it would halve the spread."""
    generator = np.random.default_rng(9)
    base, group = generator.integers(0, 4, (20, 1)), generator.integers(0, 4, (20, 1))
    one = base_against_group(base=base, group=group, shuffles=shuffles())
    copied = base_against_group(
        base=np.repeat(base, 5, 1), group=np.repeat(group, 5, 1), shuffles=shuffles()
    )
    assert (one.p, one.expected) == (copied.p, pytest.approx(copied.expected))
    assert (one.low, one.high) == pytest.approx((copied.low, copied.high))


def test_seeded_and_independent_of_other_cells() -> None:
    generator = np.random.default_rng(10)
    cells = [
        (generator.integers(0, 5, (n, 3)), generator.integers(0, 5, (n, 3))) for n in (20, 12, 20)
    ]
    shared = shuffles()
    together = [base_against_group(base=b, group=g, shuffles=shared) for b, g in cells]
    alone = [base_against_group(base=b, group=g, shuffles=shuffles()) for b, g in cells]
    assert together == alone
    assert (
        base_against_group(base=cells[0][0], group=cells[0][1], shuffles=shuffles(seed=2))
        != together[0]
    )


def test_large_cells_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """More masks than are kept: the blocks are drawn anew and still follow from the seed."""
    generator = np.random.default_rng(12)
    base, group = generator.integers(0, 3, (300, 2)), generator.integers(0, 3, (300, 2))
    kept = base_against_group(base=base, group=group, shuffles=shuffles(1999))
    monkeypatch.setattr(shuffling, "CACHE_BYTES", 1000)
    monkeypatch.setattr(shuffling, "BLOCK", 50_000)
    one, other = (
        base_against_group(base=base, group=group, shuffles=shuffles(1999)) for _ in range(2)
    )
    assert one == other
    assert one.value == kept.value
    assert one.expected == pytest.approx(kept.expected, rel=0.1)


def test_names_of_codes_do_not_matter() -> None:
    generator = np.random.default_rng(13)
    base, group = generator.integers(0, 4, (20, 2)), generator.integers(0, 4, (20, 2))
    renamed = [np.array([7, 3, 1000, 5])[rows] for rows in (base, group)]
    one = base_against_group(base=base, group=group, shuffles=shuffles())
    other = base_against_group(base=renamed[0], group=renamed[1], shuffles=shuffles())
    assert (one.p, one.value) == (other.p, pytest.approx(other.value))


def test_what_cannot_be_measured_is_none() -> None:
    rows = np.zeros((5, 2), dtype=int)
    empty = base_against_group(base=rows, group=np.zeros((0, 2), dtype=int), shuffles=shuffles())
    assert (empty.value, empty.p, empty.adjusted) == (None, None, None)
    assert "empty group" in empty.note
    assert pairs_within(groups=[rows], shuffles=shuffles()).value is None
    half = rows.copy()
    half[:, 1] = -1
    part = base_against_group(base=rows, group=half, shuffles=shuffles())
    assert part.value == 0 and part.attributes[1].value is None
    assert part.note.startswith("1 attributes not measured")
    nothing = base_against_group(base=rows, group=np.full((5, 2), -1), shuffles=shuffles())
    assert nothing.value is None and nothing.note
    three = pairs_within(groups=[rows, rows[:0], rows], shuffles=shuffles())
    assert three.value == 0 and three.note == "1 empty groups left out"
    single = concentration_difference(base=rows, group=rows, shuffles=shuffles())
    assert single.value is None and single.note


def test_one_value_everywhere_is_no_difference() -> None:
    rows = np.zeros((10, 3), dtype=int)
    found = base_against_group(base=rows, group=rows, shuffles=shuffles())
    assert (found.value, found.adjusted, found.p) == (0, 0, 1)


def test_one_image_against_one() -> None:
    found = base_against_group(base=[[0]], group=[[1]], shuffles=shuffles())
    assert (found.value, found.expected, found.adjusted, found.p) == (1, 1, None, 1)


ALIKE = {
    "two groups": ([300, 340], 5, 0.0, 0.0),
    "two groups that differ": ([150, 150], 4, 0.03, 0.0),
    "four groups": ([200, 260, 230, 210], 7, 0.0, 0.0),
    "three groups, two values, unequal": ([60, 400, 90], 2, 0.02, 0.0),
    "missing labels": ([200, 180], 3, 0.0, 0.3),
}


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("statistic", ["divergence", "distance", "concentration"])
def test_drawn_counts_have_the_distribution_of_shuffled_rows(
    name: str, statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ways to one null: mean, band and p agree within what 16,000 draws of each leave open (five standard errors)."""
    sizes, values, tilt, missing = ALIKE[name]
    generator, draws = np.random.default_rng(17), 16000
    groups = []
    for g, size in enumerate(sizes):
        shares = np.full(values, 1 / values)
        shares[[0, -1]] += np.array([tilt, -tilt]) * g
        rows = generator.choice(values, (size, 1), p=shares)
        rows[generator.random(rows.shape) < missing] = -1
        groups.append(rows)

    def found(seed: int) -> Permuted:
        shuffled = shuffles(draws, seed)
        if statistic == "concentration":
            return concentration_difference(base=groups[0], group=groups[1], shuffles=shuffled)
        return pairs_within(groups=groups, shuffles=shuffled, root=statistic == "distance")

    counted = found(2)
    monkeypatch.setattr(shuffling, "ALIKE", math.inf)
    rows = found(3)
    assert counted.value == rows.value
    assert counted.expected != rows.expected  # they were drawn apart
    spread = rows.high - rows.low  # of a unimodal null, more than three standard deviations
    assert counted.expected == pytest.approx(
        rows.expected, abs=5 * spread / 3 * math.sqrt(2 / draws)
    )
    assert (counted.low, counted.high) == pytest.approx(
        (rows.low, rows.high), abs=0.12 * spread
    )  # a step of 1/60 too
    assert counted.p == pytest.approx(
        rows.p, abs=5 * math.sqrt(2 * max(rows.p * (1 - rows.p), 1 / draws) / draws)
    )
    assert counted.smallest_p == rows.smallest_p


def test_drawn_counts_against_all_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of ten: the mean, p and both ends of the band over all 210 splits."""
    monkeypatch.setattr(shuffling, "ALIKE", 0)
    base, group = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1, 2, 2])
    pooled = np.concatenate([base, group])
    every = []
    for chosen in combinations(range(10), 4):
        side = np.isin(np.arange(10), chosen)
        every.append(plain_js(pooled[side][:, None], pooled[~side][:, None])[0])
    observed = plain_js(base[:, None], group[:, None])[0]
    found = base_against_group(base=base, group=group, shuffles=shuffles(40_000))
    assert found.value == pytest.approx(observed)
    assert found.expected == pytest.approx(np.mean(every), abs=5 * np.std(every) / 200)
    assert found.p == pytest.approx(np.mean(np.array(every) >= observed - 1e-9), abs=5 * 0.5 / 200)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.025, 0.975])))


def test_drawn_tables_against_their_probabilities() -> None:
    """Three groups of 3, 2 and 2 rows of three kinds: each table as often as scipy's multivariate hypergeometric has it."""
    alike, sizes, draws = np.array([3, 2, 2]), (3, 2, 2), 100_000
    drawn = Counter()
    for block in shuffles(draws).tables(alike, sizes):
        assert all(
            (part.sum(axis=1) == size).all() for part, size in zip(block, sizes, strict=True)
        )
        assert (sum(block) == alike).all()
        drawn.update(zip(map(tuple, block[0].tolist()), map(tuple, block[1].tolist()), strict=True))
    total = 0.0
    for first, second in product(product(range(4), range(3), range(3)), repeat=2):
        if sum(first) != 3 or sum(second) != 2 or (np.array(first) + second > alike).any():
            continue
        expected = multivariate_hypergeom.pmf(first, alike, 3) * multivariate_hypergeom.pmf(
            second, alike - first, 2
        )
        total += expected
        assert drawn[first, second] / draws == pytest.approx(
            expected, abs=5 * math.sqrt(expected / draws)
        )
    assert total == pytest.approx(1)


def test_time_does_not_grow_with_rows_of_one_attribute() -> None:
    """9,999 shuffles of 200,000 rows would take minutes."""
    groups = [np.random.default_rng(g).integers(0, 7, 100_000) for g in range(2)]
    with within(2):
        found = pairs_within(groups=groups, shuffles=shuffles(9_999))
    assert found.expected == pytest.approx(
        6 / (2 * 200_000 * math.log(2)), rel=0.05
    )  # 2·N·ln 2·JS is χ² with K - 1


@pytest.mark.parametrize("sizes", [[10, 15], [12, 9, 15], [200, 300, 240]])
def test_each_value_is_that_value_against_all_others(sizes: list[int]) -> None:
    """Values as scipy has them; where rows are shuffled the same shuffles give the same p, where counts are drawn a near one."""
    generator, draws = np.random.default_rng(23), 2000
    groups = [generator.choice(5, n, p=[0.1, 0.2, 0.4, 0.2, 0.1]) for n in sizes]
    found = each_value(groups=groups, shuffles=shuffles(draws))
    assert len(found.attributes) == 5
    for value, one in enumerate(found.attributes):
        sides = [(group == value).astype(int)[:, None] for group in groups]
        alone = pairs_within(groups=sides, shuffles=shuffles(draws))
        assert one.value == pytest.approx(plain_pairs(sides)[0], abs=1e-12)
        error = 0 if sizes[0] < 50 else 5 * math.sqrt(2 * alone.p * (1 - alone.p) / draws)
        assert one.p == pytest.approx(alone.p, abs=error + 1e-12)


def test_each_value_by_hand() -> None:
    found = each_value(groups=[[0, 1], [0, 2]], shuffles=shuffles())
    assert [one.value for one in found.attributes] == pytest.approx(
        [0, 0.311278, 0.311278], abs=1e-6
    )
    assert each_value(groups=[[0, 1]], shuffles=shuffles()).attributes == ()
