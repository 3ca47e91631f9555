"""How often does a history of runs tell a step where nothing changed?

The counts of one planted run (`roles` in one language, one claim a step; `decisions`, six) are
taken for the truth: each run of a history draws every cell of the design anew from the shares in
it, so that all runs are of one model. Each run is held against the one before it, and the last
against the first, as `tiltmeter history` does, and all are adjusted as one family.

    python benchmarks/history_null.py                   # 1,000 histories of six runs each
    python benchmarks/history_null.py --histories 200 --runs 12

Exit status 1 where any step is told in more than 5 % + 3 Monte-Carlo standard errors. The seed is
fixed.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

import tiltmeter
from tiltmeter.analyse.between_runs import compare, histories, paired_runs
from tiltmeter.analyse.between_runs.verdicts import RunPair
from tiltmeter.analyse.claims import families
from tiltmeter.analyse.counts.label_counts import count_labels
from tiltmeter.analyse.whole_run import measure_run
from tiltmeter.protocol import Protocol
from tiltmeter.store import Store

ALPHA, SEED = 0.05, 20261122
PRIOR = 0.5  # outputs added to each value of a cell: one of four "she" need not be all she
PLANTED = {
    "roles": "planted:she=0.6,spread=1,order=0.2,refuse=0.1,seed=1",
    "decisions": "planted:spread=1,refuse=0.1,seed=1",
}
LANGUAGE, LIMIT = {"roles": ("en",)}, {"decisions": 20}


def headline_only(protocol: Protocol) -> Protocol:
    """The protocol with its headline measures, of the whole of each stratum."""
    wanted = (measure for measure in protocol.measures if measure.headline)
    return replace(protocol, measures=tuple(replace(m, by=m.by[:1]) for m in wanted))


def draw(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Every cell of the design with as many outputs, drawn from its own shares."""
    cells = [name for name in frame.columns if name not in ("value", "weight", "outputs")]
    order = frame.sort([*cells, "value"])
    weights = order["weight"].to_numpy()
    ends = order.select(pl.struct(cells).rle_id()).to_series().to_numpy()
    drawn = np.zeros(len(weights))
    for cell in np.split(np.arange(len(weights)), np.flatnonzero(np.diff(ends)) + 1):
        shares = weights[cell] + PRIOR * (len(cell) > 1)
        drawn[cell] = rng.multinomial(round(weights[cell].sum()), shares / shares.sum())
    return order.with_columns(weight=pl.Series(drawn))


def draw_histories(
    store: Store, protocol: Protocol, runs: int, rng: np.random.Generator
) -> Iterator[float]:
    """The smallest adjusted p of each history's headline differences."""
    names = measure_run.factor_names(protocol, protocol.variants["default"])
    truth = _with_every_value(count_labels(store, protocol, names))
    while True:
        parts = []
        for number in range(runs):
            with patch.object(measure_run, "count_labels", return_value=draw(truth, rng)):
                parts.append(compare.read_parts(f"run {number}", store, protocol))
        yield _smallest(protocol, parts)


def _with_every_value(frame: pl.DataFrame) -> pl.DataFrame:
    """With a row of no outputs for each value that a cell could have had."""
    cells = [name for name in frame.columns if name not in ("value", "weight", "outputs")]
    values = frame.select("attribute", "value").unique()
    whole = frame.select(cells).unique().join(values, on="attribute")
    joined = whole.join(frame, on=[*cells, "value"], how="left", nulls_equal=True)
    filled = joined.with_columns(pl.col("weight").fill_null(0.0), pl.col("outputs").fill_null(0))
    return filled.select(frame.columns)


def _smallest(protocol: Protocol, parts: Sequence[Sequence[paired_runs.RunPart]]) -> float:
    places = dict.fromkeys([*pairwise(range(len(parts))), (0, len(parts) - 1)])
    rows = [
        row.estimate
        for first, second in places
        for pair in zip(parts[first], parts[second], strict=True)
        for row in compare.pair_rows(protocol, RunPair(*pair), compare.MARGIN)
    ]
    adjusted = families.adjust_by_claim(histories.as_one_family([protocol]), rows)
    leads = (row for row in adjusted if (row.family or "").startswith(families.HEADLINE))
    return min(row.p_adjusted for row in leads if row.p_adjusted is not None)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=6, help="of each history")
    parser.add_argument("--only", default="", help="roles or decisions")
    chosen = parser.parse_args(arguments)
    failed = False
    for name in PLANTED:
        if chosen.only not in ("", name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = tiltmeter.run(
                name,
                PLANTED[name],
                Path(folder) / "run",
                language=LANGUAGE.get(name, ()),
                limit=LIMIT.get(name),
                samples=4,
            )
            with Store(run.folder) as store:
                rng = np.random.default_rng(SEED)
                each = draw_histories(store, headline_only(run.protocol), chosen.runs, rng)
                told = sum(next(each) < ALPHA for _ in range(chosen.histories))
        share, error = told / chosen.histories, math.sqrt(ALPHA * (1 - ALPHA) / chosen.histories)
        print(
            f"{name}: {chosen.histories} histories of {chosen.runs} runs, a step told in "
            f"{share:.4f} (bound {ALPHA + 3 * error:.4f})",
            flush=True,
        )
        failed |= share > ALPHA + 3 * error
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
