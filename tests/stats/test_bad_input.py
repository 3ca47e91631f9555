"""Errors name the argument; nothing turns what is missing into 0. And the room's own house rules."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.stats import association, rates, wilson
from tiltmeter.stats.shuffles import divergence, resampling
from tiltmeter.stats.shuffles.permutation import (
    base_against_group,
    concentration_difference,
    pairs_within,
)
from tiltmeter.stats.shuffles.shuffling import Shuffles

NAN = float("nan")
ROOM = Path(rates.__file__).parent
DRAWN = Shuffles(draws=9, generator=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: wilson.wilson(-1, 10), "successes"),
        (lambda: wilson.wilson(NAN, 10), "successes"),
        (lambda: wilson.wilson(11, 10), "successes"),
        (lambda: wilson.wilson(1, -10), "n"),
        (lambda: wilson.wilson(1, 10, confidence=95), "confidence"),
        (lambda: rates.clustered_share(successes=[1, NAN], n=[2, 2]), "successes"),
        (lambda: rates.clustered_share(successes=[1, 1], n=[2, -2]), "n"),
        (lambda: rates.clustered_share(successes=[1, 3], n=[2, 2]), "successes"),
        (lambda: rates.clustered_share(successes=[1, 1], n=[2, 2, 2]), "successes"),
        (lambda: rates.clustered_share(successes=[[1, 1]], n=[[2, 2]]), "successes"),
        (
            lambda: rates.clustered_difference(
                successes_a=[1], n_a=[2], successes_b=[1, 1], n_b=[2, 2]
            ),
            "n_a",
        ),
        (
            lambda: rates.clustered_difference(successes_a=[1], n_a=[2], successes_b=[5], n_b=[2]),
            "successes_b",
        ),
        (lambda: rates.clustered_mean(values=[0.1, NAN]), "values"),
        (lambda: rates.bounds(successes=1, failures=1, missing=-1), "missing"),
        (
            lambda: association.ratio(successes_a=[1], n_a=[2], successes_b=[NAN], n_b=[2]),
            "successes_b",
        ),
        (lambda: association.odds(first=[1, -1], second=[1, 1]), "first"),
        (lambda: association.odds(first=[1, 1], second=[1]), "first"),
        (lambda: association.paired_t(differences=[0.1, NAN]), "differences"),
        (lambda: association.equivalence(value=NAN, se=1, df=9, margin=1), "value"),
        (lambda: association.equivalence(value=0, se=-1, df=9, margin=1), "se"),
        (lambda: resampling.sign_flip(differences=[0.1, float("inf")]), "differences"),
        (lambda: resampling.permuted_means(first=[NAN], second=[1, 2]), "first"),
        (lambda: divergence.entropy(counts=[-1, 2]), "counts"),
        (lambda: divergence.js_divergence(first=[1, 2], second=[1, 2, 3]), "first"),
        (lambda: base_against_group(base=[[0.5]], group=[[1]], shuffles=DRAWN), "group 0"),
        (lambda: base_against_group(base=[[0]], group=[[-2]], shuffles=DRAWN), "group 1"),
        (lambda: base_against_group(base=[[0, 1]], group=[[0]], shuffles=DRAWN), "group 1"),
        (lambda: pairs_within(groups=[], shuffles=DRAWN), "groups"),
        (
            lambda: concentration_difference(base=[[0]], group=[[1]], shuffles=DRAWN, values=[1]),
            "values",
        ),
        (lambda: Shuffles(draws=0, generator=np.random.default_rng(1)), "draws"),
    ],
)
def test_errors_name_the_argument(call, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: "):
        call()


clusters = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20)


@settings(max_examples=150, deadline=None, database=None)
@given(clusters, clusters)
def test_intervals_hold_their_estimate_or_are_none(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    size = min(len(one), len(other))
    a, b = (
        np.array(one[:size], dtype=float).reshape(-1, 2),
        np.array(other[:size], dtype=float).reshape(-1, 2),
    )
    sides = {"successes_a": a[:, 0], "n_a": a.sum(1), "successes_b": b[:, 0], "n_b": b.sum(1)}
    found = [
        rates.clustered_share(successes=a[:, 0], n=a.sum(1)),
        rates.clustered_difference(**sides),
        association.ratio(**sides),
        association.ratio(**sides, paired=False),
        association.odds(first=a[:, 0], second=a[:, 1]),
    ]
    for row in found:
        if row.value is None or row.low is None:
            assert row.note
        else:
            assert row.low - 1e-9 <= row.value <= row.high + 1e-9
            assert np.isfinite([row.low, row.value, row.high]).all()


def test_the_room_imports_nothing_of_ours_and_no_scipy_stats() -> None:
    for file in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith("tiltmeter") or name.startswith("tiltmeter.stats"), (
                    file.name,
                    name,
                )
                assert not name.startswith(("scipy.stats", "statsmodels")), (file.name, name)


def test_the_package_itself_costs_no_numpy_and_the_explorer_no_scipy() -> None:
    """The explorer holds its columns in arrays, so numpy comes with it, and nothing heavier."""
    code = (
        "import sys, tiltmeter.stats;"
        " heavy = {'numpy', 'polars', 'scipy'} & {*sys.modules};"
        " import tiltmeter.explore.server;"
        " sys.exit(bool(heavy or {'polars', 'scipy'} & {*sys.modules}))"
    )
    path = str(ROOM.parents[1])
    assert (
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONPATH": path}, check=False
        ).returncode
        == 0
    )
