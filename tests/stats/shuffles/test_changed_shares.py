"""The largest change of a difference: by hand, under the null, and of what moves all prompts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tiltmeter.stats.shuffles.changed_shares import ChangedPart, LargestChange, largest_change
from tiltmeter.stats.shuffles.shuffling import Shuffles


def codes(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array([["ab".index(letter)] for letter in text])


def shuffles(number: int, draws: int = 9_999) -> list[Shuffles]:
    return [Shuffles(draws=draws, generator=np.random.default_rng([number, k])) for k in range(2)]


def test_by_hand() -> None:
    """Base ab and ab, group aa and bb: a is 1 − .5 on the first side and 0 − .5 on the second. All
    36 ways to deal the four of the base and the four of the group are counted beside.
    """
    part = ChangedPart(
        [codes("ab"), codes("aa")], [codes("ab"), codes("bb")], ("x",), ("ab",), shuffles(1)
    )
    found = largest_change(parts=[part], based=True)
    assert found is not None
    assert (found.attribute, found.value, found.group) == ("x", "a", 1)
    assert found.gaps == (0.5, -0.5)
    sizes = []
    for base, group in itertools.product(itertools.combinations(range(4), 2), repeat=2):
        first, second = (
            sum(("aabb"[k] == "a") * (1 if (k in group) == side else 0) for k in range(4)) / 2
            - sum(("abab"[k] == "a") * (1 if (k in base) == side else 0) for k in range(4)) / 2
            for side in (True, False)
        )
        sizes.append(abs(second - first))
    assert sum(size >= 1 for size in sizes) == 18
    assert found.p == pytest.approx(18 / 36, abs=0.02)


def drawn(seed: int, shift: float) -> LargestChange:
    """Two groups of 40 with five values alike; the second side has more of the first value in
    both.
    """
    generator = np.random.default_rng(seed)
    sides = []
    for side in (0, 1):
        shares = np.full(5, 0.2) * (1 - side * shift)
        shares[0] += side * shift
        sides.append([generator.choice(5, size=(40, 1), p=shares) for _ in range(2)])
    part = ChangedPart(*sides, ("x",), ("abcde",), shuffles(seed, 199))
    found = largest_change(parts=[part], based=False)
    assert found is not None
    return found


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_nothing_is_claimed_of_what_moves_all_alike(shift: float) -> None:
    """At .05: of 200 at most .05 + 2 standard errors of .0154."""
    claimed = sum(drawn(seed, shift).p <= 0.05 for seed in range(200))
    assert claimed / 200 <= 0.05 + 2 * 0.0154


def test_nothing_to_compare() -> None:
    part = ChangedPart(
        [codes("aa"), codes("aa")], [codes("aa"), codes("aa")], ("x",), ("ab",), shuffles(2, 99)
    )
    assert largest_change(parts=[part], based=True) is None
