"""Unequal sides: outcomes dealt anew inside items."""

import numpy as np
import pytest

from tiltmeter.stats.shuffles import resampling


def test_two_items_by_hand() -> None:
    """1 of 1 against 0 of 1, twice: T = √2, reached in size by 2 of the 4 ways to deal."""
    found = resampling.studentised_shuffle(
        hits_a=[1, 1], n_a=[1, 1], hits_b=[0, 0], n_b=[1, 1], generator=np.random.default_rng(1)
    )
    assert found.statistic == 1
    assert found.p == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(("sizes", "alike"), [((2, 20), False), ((1, 12), True), ((3, 30), False)])
def test_level_where_the_sign_flip_has_none(sizes: tuple[int, int], alike: bool) -> None:
    """Twenty items near .1: .006 to .056 in the specification, the sign flip up to .16."""
    generator, tables = np.random.default_rng([9, *sizes]), 400
    share = np.full((tables, 20), 0.1) if alike else generator.beta(0.4, 3.6, (tables, 20))
    a, b = (generator.binomial(n, share) for n in sizes)
    size_a, size_b = (np.full(20, n) for n in sizes)
    p = np.array(
        [
            resampling.studentised_shuffle(
                hits_a=x, n_a=size_a, hits_b=y, n_b=size_b, generator=generator, draws=499
            ).p
            for x, y in zip(a, b, strict=True)
        ]
    )
    assert (p <= 0.05).mean() <= 0.05 + 2 * (0.05 * 0.95 / tables) ** 0.5


def test_it_weighs_items_as_the_difference_of_pooled_shares_does() -> None:
    """One large item, 18 of 40 against all of 40, and 20 of 1 against 2 outputs, 11 of them 1 of 1
    against 0 of 2: pooled 29 of 60 less 40 of 80, the items' own differences +.50 on average.
    """
    xa, na = np.array([18, *[1] * 11, *[0] * 9]), np.array([40, *[1] * 20])
    xb, nb = np.array([40, *[0] * 20]), np.array([40, *[2] * 20])
    found = resampling.studentised_shuffle(
        hits_a=xa, n_a=na, hits_b=xb, n_b=nb, generator=np.random.default_rng(2)
    )
    assert found.statistic == pytest.approx(29 / 60 - 40 / 80)
    assert (xa / na - xb / nb).mean() == pytest.approx(0.4976, abs=0.0001)


def test_which_sides_are_unequal() -> None:
    assert resampling.sides_are_unequal(n_a=[2, 3, 2], n_b=[20, 20, 20])
    assert not resampling.sides_are_unequal(n_a=[2, 3, 2], n_b=[2, 3, 2])
    assert not resampling.sides_are_unequal(n_a=[4, 5, 9], n_b=[20, 20, 20])
    assert not resampling.sides_are_unequal(n_a=[1, 0], n_b=[0, 9])  # no item on both sides


def test_nothing_to_deal() -> None:
    sides = {"n_a": [2, 2], "n_b": [9, 9], "generator": np.random.default_rng(0)}
    assert resampling.studentised_shuffle(hits_a=[0, 2], hits_b=[0, 9], **sides).p == 1
    empty = resampling.studentised_shuffle(
        hits_a=[1], n_a=[1], hits_b=[0], n_b=[0], generator=np.random.default_rng(0)
    )
    assert empty.p is None and "both sides" in empty.note
    with pytest.raises(ValueError, match="whole"):
        resampling.studentised_shuffle(hits_a=[0.5, 1], hits_b=[0, 0], **sides)


def test_few_items_are_never_tested_by_t() -> None:
    assert resampling.paired_test(differences=[1, 2, 3]).p == 0.25
    eleven, twelve = np.arange(1.0, 12), np.arange(1.0, 13)
    assert resampling.paired_test(differences=eleven).p == 2 / 2**11
    assert resampling.paired_test(differences=twelve).method == "paired t"
