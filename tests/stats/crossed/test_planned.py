"""What a plan finds if names are a sample, against the table of another simulation."""

from __future__ import annotations

import pytest

from tiltmeter.stats.crossed.planned import WordsDesign, planned_shift_of_words


@pytest.mark.parametrize(
    ("words", "answers", "spread", "points"), [(3, 7, 0.2, 20), (5, 4, 0.4, 19), (10, 2, 0.2, 12)]
)
def test_detectable_points_of_names(words: int, answers: int, spread: float, points: float) -> None:
    """20 items × 20 answers a side, prompts of sd .5, group × item .3, at α .05."""
    shift = planned_shift_of_words(WordsDesign(words, 20, answers, spread))
    assert shift is not None and 100 * shift == pytest.approx(points, abs=1.6)


def test_two_names_find_next_to_nothing_in_a_family() -> None:
    assert planned_shift_of_words(WordsDesign(2, 20, 10, 0.4), level=0.05 / 8) is None
