"""What chance gives, against every deal written out; and the distances of the authors, against scipy's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from tiltmeter.stats.shuffles.chance import expected_divergence
from tiltmeter.stats.shuffles.divergence import clipped_distance, js_distance, js_divergence
from tiltmeter.stats.shuffles.permutation import base_against_group, pairs_within
from tiltmeter.stats.shuffles.shuffling import Shuffles


def deals(outputs: Sequence[int], sizes: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to deal outputs to groups of these sizes, each as likely as any other."""
    if len(sizes) == 1:
        yield [list(outputs)]
        return
    for chosen in combinations(range(len(outputs)), sizes[0]):
        rest = [value for place, value in enumerate(outputs) if place not in chosen]
        for more in deals(rest, sizes[1:]):
            yield [[outputs[place] for place in chosen], *more]


def by_enumeration(groups: Sequence[Sequence[int]]) -> float:
    outputs = [
        value for group in groups for value, number in enumerate(group) for _ in range(number)
    ]
    found = []
    for dealt in deals(outputs, [sum(group) for group in groups]):
        counts = [np.bincount(one, minlength=len(groups[0])) for one in dealt]
        found.append(
            np.mean([js_divergence(first=a, second=b) for a, b in combinations(counts, 2)])
        )
    return float(np.mean(found))


@pytest.mark.parametrize(
    "groups",
    [
        [(2, 0), (0, 2)],
        [(2, 1, 0), (1, 1, 1)],
        [(3, 1, 0), (0, 1, 2)],
        [(1, 1, 1, 1), (1, 0, 0, 0)],
        [(2, 1, 0), (0, 1, 1), (1, 0, 1)],
        [(1, 1), (1, 0), (2, 1)],
        [(4, 0), (3, 0)],
        [(1, 1, 1), (1, 1, 1)],
    ],
)
def test_every_deal(groups: list[tuple[int, ...]]) -> None:
    assert expected_divergence(groups=groups) == pytest.approx(by_enumeration(groups), abs=1e-12)


def test_the_shuffles_agree() -> None:
    generator = np.random.default_rng(3)
    sides = [generator.integers(0, 5, (n, 1)) for n in (20, 14, 9)]
    shuffles = Shuffles(draws=20_000, generator=generator)
    counts = [np.bincount(side[:, 0], minlength=5) for side in sides]
    two = base_against_group(base=sides[0], group=sides[1], shuffles=shuffles).expected
    assert two == pytest.approx(expected_divergence(groups=counts[:2]), abs=1e-3)
    assert pairs_within(groups=sides, shuffles=shuffles).expected == pytest.approx(
        expected_divergence(groups=counts), abs=1e-3
    )


def test_edges() -> None:
    assert expected_divergence(groups=[(5, 0), (7, 0)]) == 0.0
    assert math.isnan(expected_divergence(groups=[(5, 1), (0, 0)]))
    assert expected_divergence(groups=[(3, 2), (1, 4), (0, 0)]) == expected_divergence(
        groups=[(3, 2), (1, 4)]
    )
    assert expected_divergence(groups=[(1, 0), (0, 1)]) == 1.0
    with pytest.raises(ValueError, match="whole numbers"):
        expected_divergence(groups=[(0.5, 1), (1, 1)])
    with pytest.raises(ValueError, match="shape"):
        expected_divergence(groups=[(1, 1), (1, 1, 1)])


def test_the_clipped_distance_is_scipys_of_clipped_shares() -> None:
    generator = np.random.default_rng(4)
    for _ in range(200):
        a, b = (
            generator.multinomial(20, generator.dirichlet(np.ones(6))),
            generator.multinomial(17, generator.dirichlet(np.ones(6))),
        )
        kept = (a > 0) | (b > 0)
        p, q = (np.maximum(c[kept] / n, 1e-10) for c, n in ((a, 20), (b, 17)))
        expected = jensenshannon(p / p.sum(), q / q.sum())
        assert clipped_distance(first=a, second=b, of=(20, 17)) == pytest.approx(
            expected, abs=1e-12
        )
        plain = jensenshannon(a / 20, b / 17)
        assert js_distance(first=a, second=b, base=math.e) == pytest.approx(plain, abs=1e-12)
    assert clipped_distance(first=(0, 0), second=(1, 2), of=(0, 3)) == 0.0


def test_equal_shares_have_no_distance_at_all() -> None:
    """The root of a rounding error would be 1e-8."""
    assert js_distance(first=(1, 2, 4), second=(3, 6, 12), base=math.e) == 0.0


def test_the_kernel_of_distances() -> None:
    generator = np.random.default_rng(5)
    sides = [generator.integers(0, 4, (20, 3)) for _ in range(3)]
    found = pairs_within(groups=sides, shuffles=Shuffles(draws=50, generator=generator), root=True)
    for place, one in enumerate(found.attributes):
        counts = [np.bincount(side[:, place], minlength=4) for side in sides]
        expected = np.mean(
            [js_distance(first=a, second=b, base=math.e) for a, b in combinations(counts, 2)]
        )
        assert one.value == pytest.approx(expected, abs=1e-9)
    assert found.value == pytest.approx(np.mean([one.value for one in found.attributes]), abs=1e-12)
