"""The sequential p: by hand over all eight flips, under the null by enumeration, and its plain p."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from tiltmeter.stats.shuffles import conditions
from tiltmeter.stats.stopping.blocks import OutputBlocks
from tiltmeter.stats.stopping.design import (
    StoppingDesign,
    default_looks,
    design_of,
    items_needed,
)
from tiltmeter.stats.stopping.paths import ItemPaths, flip_scores, paths_of_counts
from tiltmeter.stats.stopping.sequential import (
    bonferroni_over_looks,
    plain_p,
    scores_of,
    sequential_p,
)

HALVES = StoppingDesign((1, 2), (0.5, 0.5), (0.05,), 1)


def paths(*looks: list[float]) -> ItemPaths:
    """Items whose difference between two conditions is this at each look."""
    d = np.array(looks).T
    rates = np.stack([d, np.zeros_like(d)], axis=1)
    return ItemPaths(rates, np.full(rates.shape, 0.01))


def up(design: StoppingDesign, level: float) -> float:
    """The smallest level of the grid that is no smaller."""
    return float(design.levels[design.levels >= level - 1e-12].min())


def test_eight_flips_by_hand() -> None:
    """|S_1| of the flips of (1, 1, 1, 1): one 4, four 2, three 0."""
    first = sequential_p(scores_of(paths([1, 1, 1, 1]), HALVES), HALVES)[-1]
    assert first == up(HALVES, 1 / 4)  # ⌊level · ½ · 8⌋ = 1 flip from level 1/4 on
    # observed |S_1| = 2 is tied with three others: nothing to spend on; S_2 = 8 is the largest
    two = paths([1, 1, 1, -1], [2, 2, 2, 2])
    assert sequential_p(scores_of(paths([1, 1, 1, -1]), HALVES), HALVES)[-1] == 1.0
    # at level 1/8 the first look could take ⌊1/2⌋ flips: its half is carried on to the second
    assert sequential_p(scores_of(two, HALVES), HALVES)[-1] == up(HALVES, 1 / 8)


@pytest.mark.parametrize("digits", [1, 9], ids=["with ties", "without"])
def test_p_is_at_least_uniform_whatever_the_flip(digits: int) -> None:
    """Every flip of one table taken for the observed one: at most a share a has p ≤ a."""
    design = StoppingDesign((2, 4, 8), (0.2, 0.3, 0.5), (0.05, 0.1), 3)
    table = np.random.default_rng(1).normal(size=(3, 7)).round(digits)
    p = []
    for signs in product((1, -1), repeat=7):
        scores = scores_of(paths(*(table * signs).tolist()), design)
        p.append(sequential_p(scores, design))
    least = np.array(p)[:, -1]
    assert (np.diff(p, axis=1) <= 0).all()
    assert all((least <= a).mean() <= a + 1e-12 for a in design.levels)
    if digits > 1:  # the smallest p there is, that of the largest |S_3|
        assert least.min() == up(design, 2 / 128)


def test_one_look_is_the_flip_p_of_scipy() -> None:
    single = StoppingDesign((4,), (1.0,), (), 1)
    d = np.random.default_rng(2).normal(0.5, 1, 9)
    both = (d, np.zeros(9))
    expected = stats.permutation_test(
        both,
        lambda a, b, axis: (a - b).sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue
    scores = scores_of(paths(d.tolist()), single)
    assert plain_p(scores) == pytest.approx(expected)
    assert sequential_p(scores, single)[-1] == up(single, expected)


def test_three_conditions_are_drawn_once_for_all_looks() -> None:
    rates = np.random.default_rng(3).random((6, 3, 2)) + np.array([0.4, 0, 0])[:, None]
    scores = scores_of(ItemPaths(rates, np.zeros_like(rates)), HALVES)
    assert scores.shape == (2, 3**6)
    for k in (0, 1):
        p = conditions.tested_condition(rates=rates[:, :, k]).p
        assert plain_p(scores[: k + 1]) == pytest.approx(p)


def test_one_condition_is_reflected_and_missing_items_add_nothing() -> None:
    hits = np.array([[[1, 2]], [[2, 4]], [[0, 0]]])
    share = paths_of_counts(hits=hits, outcomes=[[[2, 4]], [[2, 4]], [[0, 0]]])
    assert share.noise[0, 0] == pytest.approx([0.25, 0.25 / 3])
    assert np.isnan(share.noise[2]).all()
    assert share.differences.tolist() == [0.0, 0.5]
    assert share.sampling_variance == pytest.approx(0.25 / 6)
    assert share.up_to(1).sampling_variance == pytest.approx(0.25 / 2)
    scores = flip_scores(share, HALVES)
    assert scores.shape == (2, 4) and len(set(scores[1].tolist())) == 1  # one item moves


def test_drawn_flips_agree_with_all_of_them() -> None:
    rng = np.random.default_rng(4)
    many = rng.normal(0.35, 1, (2, 16))
    design = StoppingDesign((1, 2), (0.4, 0.6), (0.05,), 1)
    drawn = scores_of(paths(*many.tolist()), design)
    assert drawn.shape == (2, 9_999)
    every = StoppingDesign((1, 2), (0.4, 0.6), (0.05,), 70)  # wants more than 2^15
    exact = scores_of(paths(*many.tolist()), every)
    assert exact.shape == (2, 2**15)
    p, q = plain_p(drawn), plain_p(exact)
    assert p == pytest.approx(q, abs=4 * (q / 9_999) ** 0.5)


def test_outputs_change_groups_inside_their_block_only() -> None:
    """Two rounds a block: base (0, 0) and group (1, 1) can be dealt in 6 ways, 2 of which are
    as far apart: 1/3 at the first look and 2·2/36 + … at the second, where both blocks must agree.
    """
    block = [np.array([[0], [0]]), np.array([[1], [1]])]
    data = OutputBlocks([block, block])
    scores = scores_of(data, HALVES)
    assert scores.shape == (2, HALVES.draws)
    assert plain_p(scores[:1]) == pytest.approx(1 / 3, abs=0.02)
    assert plain_p(scores) == pytest.approx(2 / 36, abs=0.01)


def test_bonferroni_over_looks_by_hand() -> None:
    four = design_of(samples=16, claims=1)
    assert bonferroni_over_looks([0.01, 0.002], four) == pytest.approx(0.002 / 0.15)
    assert bonferroni_over_looks([0.5], four) == 1.0


def test_looks_and_floors_by_hand() -> None:
    assert default_looks(samples=16) == (2, 4, 8, 16)
    assert default_looks(samples=10, balanced=2) == (2, 4, 6, 10)
    assert default_looks(samples=9, balanced=3) == (3, 6, 9)
    assert default_looks(samples=1) == (1,)
    sixty, nine = design_of(samples=16, claims=60), design_of(samples=9, balanced=3, claims=9)
    assert (items_needed(design=sixty), items_needed(design=nine)) == (15, 11)
    assert design_of(samples=16, claims=36).draws == 72_000


@pytest.mark.parametrize(
    "change, word",
    [
        ({"looks": (2, 2)}, "looks"),
        ({"weights": (0.5, 0.4)}, "weights"),
        ({"futility": ()}, "futility"),
        ({"futility": (1.0,)}, "futility"),
        ({"claims": 0}, "claims"),
        ({"alpha": 1.0}, "alpha"),
        ({"method": "none"}, "method"),
    ],
)
def test_a_design_that_does_not_fit_is_refused(change: dict[str, object], word: str) -> None:
    values = HALVES.as_dict() | change
    with pytest.raises(ValueError, match=word):
        StoppingDesign(**values)


def test_a_design_comes_back_from_its_plain_values() -> None:
    assert StoppingDesign(**HALVES.as_dict()) == HALVES
