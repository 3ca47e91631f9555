"""Youden's J: by hand, its coverage, and how much gold would do."""

import numpy as np
import pytest

from tiltmeter.stats.judges import confusion, youden


def gold_of(table: list[list[int]]) -> confusion.Confusion:
    """One item a label, counts by truth (rows) and answer (columns)."""
    pairs = [(t, s, k) for t, row in enumerate(table) for s, k in enumerate(row)]
    truth = np.repeat([t for t, _, _ in pairs], [k for *_, k in pairs])
    said = np.repeat([s for _, s, _ in pairs], [k for *_, k in pairs])
    wide = max(len(table), len(table[0]))
    return confusion.confusion(truth=truth, said=said, classes=len(table), answers=wide)


def test_by_hand() -> None:
    found = youden.youden(gold=gold_of([[45, 5], [10, 40]]), positive=[1])
    assert found.value == pytest.approx(0.7)
    se, sp = (
        confusion.class_quality(gold=gold_of([[45, 5], [10, 40]]), positive=1).sensitivity,
        confusion.class_quality(gold=gold_of([[45, 5], [10, 40]]), positive=1).specificity,
    )
    assert found.value - found.low == pytest.approx(np.hypot(se.value - se.low, sp.value - sp.low))


def test_several_values_count_together() -> None:
    """she and he are what is counted: to take one for the other is no error of this claim."""
    table = [[20, 5, 0], [5, 20, 0], [2, 3, 45]]
    assert youden.youden(gold=gold_of(table), positive=[0, 1]).value == pytest.approx(0.9)
    assert youden.youden(gold=gold_of(table), positive=[0]).value == pytest.approx(
        0.8 + 68 / 75 - 1
    )


def test_an_answer_that_is_no_class_is_a_miss_and_no_false_alarm() -> None:
    found = youden.youden(gold=gold_of([[40, 0, 10], [0, 30, 20]]), positive=[1])
    assert found.value == pytest.approx(0.6 + 1 - 1)


def test_the_lowest_level_counts_and_may_refute() -> None:
    good, bad = gold_of([[95, 5], [5, 95]]), gold_of([[60, 40], [40, 60]])
    lowest = youden.lowest_youden(golds=[good, bad], positive=[1])
    assert lowest.value == pytest.approx(0.2) and youden.is_refuted(lowest)
    assert not youden.is_refuted(youden.youden(gold=good, positive=[1]))
    few = youden.youden(gold=gold_of([[3, 2], [2, 3]]), positive=[1])
    assert not youden.is_refuted(few) and "few_gold" in few.cautions
    none = youden.lowest_youden(golds=[gold_of([[5, 0], [0, 0]])], positive=[1])
    assert none.value is None and none.note == "no gold of the values"
    assert not youden.is_refuted(none)


@pytest.mark.parametrize(("se", "sp", "labels"), [(0.75, 0.7, 30), (0.95, 0.98, 20)])
def test_the_interval_covers(se: float, sp: float, labels: int) -> None:
    generator, held = np.random.default_rng([11, labels]), 0
    for _ in range(400):
        hit, right = generator.binomial(labels, se), generator.binomial(labels, sp)
        table = [[right, labels - right], [labels - hit, hit]]
        found = youden.youden(gold=gold_of(table), positive=[1])
        held += found.low <= se + sp - 1 <= found.high
    assert held / 400 >= 0.95 - 0.02 - 2 * (0.05 * 0.95 / 400) ** 0.5


def test_how_many_more_labels() -> None:
    known = {"half_width": 0.2, "least_half_width": 0.1, "labels": 50}
    assert youden.gold_needed(difference=0.15, **known) == 70
    assert youden.gold_needed(difference=0.21, **known) == 0
    assert youden.gold_needed(difference=0.09, **known) is None
    with pytest.raises(ValueError, match="positive"):
        youden.youden(gold=gold_of([[1, 0], [0, 1]]), positive=[2])
