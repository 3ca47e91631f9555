"""The family's rule over looks, by hand; futility costs nothing but power."""

from dataclasses import replace

import numpy as np
import pytest

from tiltmeter.stats.stopping.decision import (
    PlainTests,
    StoppingClaim,
    decide,
    information,
)
from tiltmeter.stats.stopping.design import StoppingDesign
from tiltmeter.stats.stopping.paths import ItemPaths
from tiltmeter.stats.stopping.rules import are_rejected, levels_of, predictive_probability

DESIGN = StoppingDesign((2, 4), (0.4, 0.6), (0.1,), 3)


def claims(*p: tuple[float, ...] | None, calls: str = "") -> list[StoppingClaim]:
    return [StoppingClaim(f"c{i}", PlainTests(q) if q else None, calls) for i, q in enumerate(p)]


def test_holm_over_two_looks_by_hand() -> None:
    """p = q/.4 at the first look: .01 ≤ .05/3, .0225 ≤ .05/2, .125 > .05."""
    first = decide(DESIGN, claims((0.004,), (0.009,), (0.05,)), 1)
    assert [one.state for one in first] == ["rejected", "rejected", "on"]
    assert [one.p for one in first] == pytest.approx([0.01, 0.0225, 0.125])
    assert [one.level for one in first] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05])
    earlier = {one.key: one for one in first}
    for q, state in ((0.02, "rejected"), (0.04, "not rejected")):
        last = decide(DESIGN, claims(None, None, (0.05, q)), 2, earlier)
        assert [one.state for one in last] == ["rejected", "rejected", state]
        assert [one.look for one in last] == [1, 1, 2]


def test_what_is_not_pursued_is_rejected_when_the_others_are() -> None:
    """A claim stopped with p = .02 is below .05 once the other two are rejected."""
    runs = np.array([[0.02, 0.5, 0.6], [0.02, 0.001, 0.001]])
    assert are_rejected(DESIGN, runs).tolist() == [[False] * 3, [True] * 3]
    rate = replace(DESIGN, method="benjamini-hochberg")
    late = np.array([0.04, 0.03, 0.02])
    assert not are_rejected(DESIGN, late).any() and are_rejected(rate, late).all()


def test_futility_by_hand_and_claims_of_the_same_calls_end_together() -> None:
    """q = 1 at t = .5, level .05: 2Φ(-Φ⁻¹(.9825)) = .035 < .1."""
    one, level, half = np.array([1.0]), np.array([0.05]), np.array([0.5])
    assert predictive_probability(q=one, level=level, information=half) == pytest.approx(0.035)
    alone = decide(DESIGN, claims((1.0,), (0.9,), (0.05,)), 1)
    assert [one.state for one in alone] == ["not pursued", "not pursued", "on"]
    together = decide(DESIGN, claims((1.0,), (0.9,), (0.05,), calls="list"), 1)
    assert [one.state for one in together] == ["on", "on", "on"]
    earlier = {one.key: one for one in alone}
    last = decide(DESIGN, claims(None, None, (0.05, 0.5)), 2, earlier)
    assert [one.state for one in last] == ["not pursued", "not pursued", "not rejected"]


def test_levels_of_the_two_rules() -> None:
    """Of equal p the smaller q comes first; with one rejected the next level is 2α/m."""
    p, q = np.array([0.3, 0.001, 0.3]), np.array([0.2, 0.001, 0.1])
    rejected = np.array([False, True, False])
    assert levels_of(DESIGN, p, q, rejected) == pytest.approx([0.05, 0.05 / 3, 0.05 / 2])
    rate = replace(DESIGN, method="benjamini-hochberg")
    assert levels_of(rate, p, q, rejected) == pytest.approx([0.05, 0.1 / 3, 0.1 / 3])


def test_information_by_hand() -> None:
    """V_k = .1, sampling variance .06 after 2 of 4: 1 - .06·.5/.1 = .7."""
    d = np.array([0.1, 0.1 + 0.2**0.5])  # variance .1
    rates = np.stack([d, np.zeros(2)], axis=1)[:, :, None]
    paths = ItemPaths(rates, np.full((2, 2, 1), 0.03))
    assert information(DESIGN, paths, 1) == pytest.approx(0.7)
    assert information(DESIGN, PlainTests([0.5]), 1) == 0.5


def test_a_claim_asked_on_needs_its_data() -> None:
    first = {one.key: one for one in decide(DESIGN, claims((0.2,), (0.2,), (0.2,)), 1)}
    with pytest.raises(ValueError, match=r"c0: .*its data must reach look 2"):
        decide(DESIGN, claims(None, (0.2, 0.2), (0.2, 0.2)), 2, first)
    with pytest.raises(ValueError, match="claims: 3"):
        decide(DESIGN, claims((0.2,)), 1)
