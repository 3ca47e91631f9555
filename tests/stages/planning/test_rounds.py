"""Rounds of a run that stops early: every look holds each template, order and name equally often, in both arms alike."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from tiltmeter import registry
from tiltmeter.stages.planning import plan
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.planning.rounds import cross_levels, rounds_of

SHARES = (0.125, 0.25, 0.5, 1.0)


@pytest.mark.parametrize(
    ("protocol", "choices", "total", "looks"),
    [
        ("roles", Choices(("m",), ("en",)), 20, [3, 5, 10, 20]),  # two orders × 10
        ("roles", Choices(("m",), ("en",), limit=31), 20, [4, 6, 10, 20]),  # 31 words: even rounds
        ("gramvis", Choices(("m",), ("de",)), 16, [2, 4, 8, 16]),  # 4 templates × 4
        ("soda", Choices(("m",)), 20, [3, 5, 10, 20]),
        ("words", Choices(("m",), ("en",)), 9, [3, 3, 6, 9]),  # INFERENCE, part B, 1: 3, 6, 9
    ],
)
def test_looks_move_to_the_next_balanced_round(
    protocol: str, choices: Choices, total: int, looks: list[int]
) -> None:
    found = rounds_of(registry.protocol(protocol), choices)
    assert (found.total, found.looks(SHARES)) == (total, looks)


def test_both_arms_of_a_word_get_the_same_template_and_words_begin_with_different_ones() -> None:
    protocol, choices = registry.protocol("gramvis"), Choices(("m",), ("de",))
    found = rounds_of(protocol, choices)
    first: dict[str, set[str]] = {}
    trials = list(plan.trials(protocol, choices))
    for trial in trials:
        if found.number(trial.factors, trial.sample) == 1:
            first.setdefault(trial.factors["word"], set()).add(trial.factors["template"])
    assert {len(templates) for templates in first.values()} == {1}
    assert Counter(next(iter(t)) for t in first.values()) == {f"P{n}": 10 for n in (1, 2, 3, 4)}
    assert Counter(found.number(t.factors, t.sample) for t in trials) == dict.fromkeys(
        range(1, 17), 40 * 3
    )


def test_at_each_look_of_words_names_and_ages_are_even() -> None:
    protocol, choices = registry.protocol("words"), Choices(("m",), ("en",))
    found = rounds_of(protocol, choices)
    for look in (3, 6, 9):
        for factor in ("name", "age"):
            held: Counter[tuple[str, str]] = Counter()
            for trial in plan.trials(protocol, choices):
                if found.number(trial.factors, trial.sample) <= look:
                    held[trial.factors["gender"], trial.factors[factor]] += 1
            assert len(set(held.values())) == 1
            assert Fraction(held.total(), 360) == Fraction(look, 9)


def test_all_factors_move_at_each_step() -> None:
    assert cross_levels((2, 2)) == ((0, 0), (1, 1), (0, 1), (1, 0))
    assert len(set(cross_levels((3, 3, 2)))) == 18
