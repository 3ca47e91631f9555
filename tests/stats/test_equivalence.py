"""Different, equivalent, inconclusive: against statsmodels, by hand, and how often each word is wrong."""

import math

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from tests.benchmark import benchmark
from tiltmeter.stats import equivalence
from tiltmeter.stats.results import Interval


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.02, 0.05, 0.2])
def test_paired_verdict_equals_statsmodels(seed: int, margin: float) -> None:
    d = np.random.default_rng(seed).normal(0.02, 0.1, 24)
    found, theirs = equivalence.paired_verdict(differences=d, margin=margin), DescrStatsW(d)
    assert found.equivalence.p == pytest.approx(theirs.ttost_mean(-margin, margin)[0])
    assert found.difference.p == pytest.approx(theirs.ttest_mean(0)[1])
    assert (found.low, found.high) == pytest.approx(theirs.tconfint_mean(alpha=0.1))


@pytest.mark.parametrize(
    ("value", "se", "margin", "word"),
    [
        (0.01, 0.01, 0.03, "equivalent"),
        (0.01, 0.01, 0.02, "inconclusive"),
        (0.1, 0.01, 0.03, "different"),
        (0.02, 0.03, 0.03, "inconclusive"),
        (-0.1, 0.02, 0.03, "different"),
    ],
)
def test_the_word_by_hand(value: float, se: float, margin: float, word: str) -> None:
    found = equivalence.verdict(value=value, se=se, df=20, margin=margin)
    assert found.word == word
    assert (word == "equivalent") == (-margin < found.low and found.high < margin)


def test_p_by_hand() -> None:
    found = equivalence.verdict(value=0.01, se=0.01, df=20, margin=0.03)
    assert round(found.equivalence.p, 4) == 0.0296
    assert (
        round(equivalence.verdict(value=0.01, se=0.01, df=20, margin=0.02).equivalence.p, 4)
        == 0.1646
    )
    paired = equivalence.paired_verdict(differences=[0.01, 0.02, 0.03], margin=0.1)
    assert (paired.word, round(paired.equivalence.p, 4), round(paired.difference.p, 4)) == (
        "equivalent",
        0.0026,
        0.0742,
    )


def test_small_and_certain_is_equivalent_and_says_that_it_is_not_zero() -> None:
    found = equivalence.verdict(value=0.01, se=0.001, df=50, margin=0.03)
    assert (found.word, found.note) == ("equivalent", equivalence.WITHIN)
    assert found.difference.p < 0.001


def test_nothing_to_test_against_has_no_word() -> None:
    for found in (
        equivalence.verdict(value=0.0, se=0.0, df=10, margin=0.1),
        equivalence.paired_verdict(differences=[0.1], margin=0.1),
        equivalence.paired_verdict(differences=[0.0, 0.0, 0.0], margin=0.1),
        equivalence.interval_verdict(
            wide=Interval(0.1, None, None, "x"),
            narrow=Interval(0.1, None, None, "x", 0.9),
            margin=0.1,
        ),
    ):
        assert found.word is None and found.note


@pytest.mark.parametrize(
    ("wide", "narrow", "word"),
    [
        ((-0.02, 0.03), (-0.01, 0.02), "equivalent"),
        ((0.01, 0.2), (0.02, 0.18), "different"),
        ((-0.01, 0.2), (0.0, 0.18), "inconclusive"),
        ((0.001, 0.02), (0.002, 0.018), "equivalent"),
    ],
)
def test_interval_verdict(
    wide: tuple[float, float], narrow: tuple[float, float], word: str
) -> None:
    found = equivalence.interval_verdict(
        wide=Interval(0.01, *wide, "x"), narrow=Interval(0.01, *narrow, "x", 0.9), margin=0.03
    )
    assert found.word == word
    assert (found.note == equivalence.WITHIN) == (word == "equivalent" and wide[0] > 0)


def test_both_verdicts_are_the_same_on_t_intervals() -> None:
    for value in np.linspace(-0.1, 0.1, 41):
        t = equivalence.verdict(value=value, se=0.015, df=12, margin=0.05)
        wide, narrow = (
            Interval(value, value - q * 0.015, value + q * 0.015, "t", c)
            for q, c in ((2.1788128, 0.95), (1.7822876, 0.9))
        )
        assert equivalence.interval_verdict(wide=wide, narrow=narrow, margin=0.05).word == t.word


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: equivalence.verdict(value=0, se=1, df=9, margin=0), "margin"),
        (lambda: equivalence.verdict(value=math.nan, se=1, df=9, margin=1), "value"),
        (lambda: equivalence.verdict(value=0, se=1, df=9, margin=1, alpha=0.5), "alpha"),
        (lambda: equivalence.paired_verdict(differences=[0.1, math.nan], margin=1), "differences"),
        (
            lambda: equivalence.interval_verdict(
                wide=Interval(0, 0, 0, "x"), narrow=Interval(0, 0, 0, "x"), margin=1
            ),
            "narrow",
        ),
    ],
)
def test_errors_name_the_argument(call, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: "):
        call()


def test_words_are_wrong_at_most_as_often_as_promised() -> None:
    module = benchmark("correction")
    said = module.verdicts(tables=1000, generator=np.random.default_rng(20))
    assert module.verdicts_kept(said, 1000)
    assert said["0"]["equivalent"] > 0.5 and said["0.1"]["different"] > 0.95
