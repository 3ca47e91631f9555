"""Claims of many cells at several looks: T of all outputs so far, whole outputs shuffled inside blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.stats.arguments import Codes
from tiltmeter.stats.shuffles.many_cells import ObjectOutputs, many_cells
from tiltmeter.stats.shuffles.shuffling import Shuffles
from tiltmeter.stats.stopping.blocks import CellBlocks, CellPart, cell_scores
from tiltmeter.stats.stopping.decision import StoppingClaim, decide
from tiltmeter.stats.stopping.design import StoppingDesign
from tiltmeter.stats.stopping.sequential import plain_p

LOOKS, WEIGHTS = (5, 10, 20), (0.1, 0.3, 0.6)
RUNS, ALPHA = 150, 0.05
VALUES = ("red", "blue", "green")


def design(looks: tuple[int, ...] = LOOKS, weights: tuple[float, ...] = WEIGHTS) -> StoppingDesign:
    return StoppingDesign(looks, weights, (0.0,) * (len(looks) - 1), 1, ALPHA, "holm", 7)


def part(blocks: list[list[Codes]]) -> CellPart:
    width = blocks[0][0].shape[1]
    return CellPart(blocks, [f"a{n}" for n in range(width)], [VALUES] * width)


def pictures(drawn: np.random.Generator, number: int, red: float = 1 / 3) -> Codes:
    """Rows of four attributes; the first is red so often."""
    rows = drawn.integers(3, size=(number, 4))
    rows[:, 0] = np.where(drawn.random(number) < red, 0, drawn.integers(1, 3, size=number))
    return rows


def run(seed: int, red: float = 1 / 3) -> CellBlocks:
    """Two objects, the group's first attribute red so often, at three looks."""
    drawn = np.random.default_rng(seed)
    sizes = np.diff((0, *LOOKS))
    return CellBlocks(
        [
            part([[pictures(drawn, n), pictures(drawn, n, red)] for n in sizes.tolist()])
            for _ in range(2)
        ]
    )


def test_at_one_look_it_is_the_test_of_a_run_that_asks_all() -> None:
    """By hand: (a, a, a) and (b, b, b) are told apart by 2 of the 20 splits."""
    a, b = np.zeros((3, 1), dtype=np.int64), np.ones((3, 1), dtype=np.int64)
    one = CellBlocks([part([[a, b]])])
    assert plain_p(cell_scores(one, design((3,), (1.0,)))) == pytest.approx(0.1, abs=0.02)
    data = run(1, red=0.75)
    whole = [
        ObjectOutputs(
            [np.concatenate([block[g] for block in own.blocks]) for g in range(2)],
            own.names,
            own.values,
            Shuffles(draws=9_999, generator=np.random.default_rng(place)),
        )
        for place, own in enumerate(data.parts)
    ]
    found = many_cells(parts=whole).p
    joined = CellBlocks([part([list(one.groups)]) for one in whole])  # type: ignore[arg-type]
    assert found is not None
    assert plain_p(cell_scores(joined, design((20,), (1.0,)))) == pytest.approx(found, abs=0.004)


def test_outputs_stay_in_their_block() -> None:
    """What differs between blocks and not between groups is no difference: all is red first, then
    blue, so every shuffle gives what was seen.
    """
    red, blue = np.zeros((5, 1), dtype=np.int64), np.ones((5, 1), dtype=np.int64)
    data = CellBlocks([part([[red, red], [blue, blue]])])
    scores = cell_scores(data, design((5, 10), (0.5, 0.5)))
    assert (scores == scores[:, :1]).all()


def test_a_group_without_outputs_waits_for_its_look() -> None:
    none, some = np.zeros((0, 1), dtype=np.int64), np.zeros((4, 1), dtype=np.int64)
    data = CellBlocks([part([[some, none], [some, some + 1]])])
    scores = cell_scores(data, design((4, 8), (0.5, 0.5)))
    assert not scores[0].any() and plain_p(scores) < 0.1


def rejected(data: CellBlocks) -> bool:
    """True if some look rejects."""
    plan, made = design(), {}
    for look in range(1, len(LOOKS) + 1):
        seen = CellBlocks(
            [CellPart(one.blocks[:look], one.names, one.values) for one in data.parts]
        )
        (made["claim"],) = decide(plan, [StoppingClaim("claim", seen)], look, made or None)
        if made["claim"].state == "rejected":
            return True
    return False


def test_it_rejects_at_its_level_and_finds_what_is_there() -> None:
    false = sum(rejected(run(seed)) for seed in range(RUNS))
    assert false <= RUNS * ALPHA + 2 * (RUNS * ALPHA * (1 - ALPHA)) ** 0.5
    assert sum(rejected(run(seed, red=0.9)) for seed in range(20)) >= 18
