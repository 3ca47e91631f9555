"""Items that differ, by hand and in simulated tables."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.crossed.test_variances import design
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.whole_prompts import items_differ

TABLES = 300


def test_by_hand() -> None:
    """Residuals (1, 1 | -1, -1) and (-1, -1 | 1, 1): 2 of 36 deals part both items so far."""
    prompts = design(2, lambda *_: [0, 1])
    y = np.where(prompts.side == prompts.item, 1.0, 0.0)
    found = items_differ(prompts, y, generator=np.random.default_rng(1), draws=20_000)
    assert found.p == pytest.approx(2 / 36, abs=0.01)


def test_one_word_per_side_cannot_be_told_from_its_item() -> None:
    prompts = design(10, lambda *_: [0])
    found = items_differ(prompts, prompts.side * 1.0, generator=np.random.default_rng(1))
    assert found.p is None and found.note is not None


def rejected(prompts: Crossed, by_item: float, by_prompt: float) -> float:
    rng = np.random.default_rng(4)
    answers, count = prompts.n.astype(int), 0
    for _ in range(TABLES):
        logit = rng.normal(0, 1, prompts.items)[prompts.item]
        logit = logit + rng.normal(0, 0.4, prompts.words)[prompts.word]
        logit = logit + rng.normal(0, by_item, prompts.items)[prompts.item] * (prompts.side - 0.5)
        logit = logit + rng.normal(0, by_prompt, logit.size)
        shares = rng.binomial(answers, 1 / (1 + np.exp(-logit))) / answers
        p = items_differ(prompts, shares, generator=rng, draws=199).p
        count += p is not None and p <= 0.05
    return count / TABLES


def test_size_and_power() -> None:
    """12 items, 5 words a side, 4 answers: prompts of their own are not items that differ."""
    prompts = design(12, lambda *_: [0, 1, 2, 3, 4], n=4)
    slack = 3 * (0.05 * 0.95 / TABLES) ** 0.5
    assert rejected(prompts, 0.0, 1.0) <= 0.05 + slack
    assert rejected(prompts, 0.0, 8.0) <= 0.05 + slack
    assert rejected(prompts, 1.0, 0.5) == pytest.approx(0.69, abs=0.1)
