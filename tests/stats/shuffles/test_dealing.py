"""Dealt rows against all ways to deal them, and counted bits against a product."""

from collections import Counter
from math import factorial, prod

import numpy as np
import pytest
from scipy.stats import chisquare

from tiltmeter.stats.shuffles import dealing
from tiltmeter.stats.shuffles.dealing import count_bits, count_dealt, deal_rows, pack_rows


@pytest.mark.parametrize("sizes", [(1, 1), (3, 3), (1, 5), (5, 1), (2, 3, 1), (1, 2, 1, 2)])
def test_every_way_to_deal_is_equally_likely(sizes: tuple[int, ...]) -> None:
    ways = factorial(sum(sizes)) // prod(map(factorial, sizes))
    draws = 300 * ways
    dealt = deal_rows(sizes, draws, np.random.default_rng(4))
    seen = Counter(zip(*(group[0].tolist() for group in dealt), strict=True))
    assert len(seen) == ways
    assert chisquare(list(seen.values())).pvalue > 0.001


SIZES = [(222, 222), (64, 64), (20, 15), (83, 84, 1), (2, 900), (900, 2), (70,) * 9, (0, 40, 70)]


@pytest.mark.parametrize("sizes", SIZES)
def test_groups_have_their_sizes_and_rows_are_alike(sizes: tuple[int, ...]) -> None:
    """The rows of a group are spread as drawing without replacement spreads them: how many of the
    first half it has, with mean and variance of the hypergeometric law.
    """
    rows, draws = sum(sizes), 2000
    dealt = deal_rows(sizes, draws, np.random.default_rng(5))
    half = np.arange(rows)[:, None] < rows // 2
    for group, size, (counts,) in zip(
        dealt, sizes, count_dealt(dealt, pack_rows(half)), strict=False
    ):
        assert (count_bits(group).sum(axis=0) == size).all()
        share = rows // 2 / rows
        variance = size * share * (1 - share) * (rows - size) / (rows - 1)
        assert counts.mean() == pytest.approx(size * share, abs=5 * (variance / draws) ** 0.5)
        assert counts.var() == pytest.approx(variance, rel=0.25)


def test_counts_are_those_of_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    flags = generator.random((150, 7)) < 0.3
    dealt = deal_rows((40, 60, 50), 30, generator)
    octets = np.ascontiguousarray(dealt.transpose(0, 2, 1)).astype("<u8").view(np.uint8)
    members = np.unpackbits(octets, axis=-1, bitorder="little")[..., :150]
    product = (members.astype(int) @ flags.astype(int)).transpose(0, 2, 1)
    assert (count_dealt(dealt, pack_rows(flags)) == product).all()
    monkeypatch.setattr(dealing, "count_bits", dealing._count_by_table)  # as before numpy 2
    assert (count_dealt(dealt, pack_rows(flags)) == product).all()
