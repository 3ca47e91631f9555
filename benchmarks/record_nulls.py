"""How often does a published audit claim something if nothing is there, and how often is an effect
of 20 points of a picture found?

Each record is imported once, its labels are drawn anew under the null, again and again, and the
headline analysis is done each time, as in null_runs.py:

    bbq       of each template, answers that follow the stereotype and those against it change
              places at random
    letters   of each occupation, letters for men and for women change places at random
    gest      which nine of the sixteen stereotypes are those of men is drawn anew
    pairs     20 scenes of four pictures, ten answers to each, as `pairs` asks: each has a share of
              its own, men have 20 points more than women, skin does nothing; so gender is to
              be found and skin is not

    python benchmarks/record_nulls.py --runs 400 --data ../shared/data/record

Exit status 1 if a null is claimed in more than 7.2 % of the runs, or the effect is found in fewer
than 92 %. Results go to benchmarks/results/record_nulls.csv.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

import tiltmeter
from tiltmeter.analyse import estimates
from tiltmeter.analyse.claims import verdicts
from tiltmeter.analyse.counts.label_counts import count_labels
from tiltmeter.analyse.whole_run import measure_run
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.store import Store

RESULTS = Path(__file__).parent / "results" / "record_nulls.csv"
COLUMNS = ("record", "runs", "false_claims", "found")
MOST_FALSE, LEAST_FOUND = 0.072, 0.92
EFFECT, SCENES, ANSWERS, SPREAD = 0.2, 20, 10, 0.15
Redraw = Callable[[np.random.Generator], pl.DataFrame]
MEN = 9  # of the sixteen stereotypes


def mirror(frame: pl.DataFrame, item: str, column: str, pairs: Sequence[Sequence[str]]) -> Redraw:
    """In half of the items, two values of a column change places."""
    names, places = np.unique(frame[item].to_numpy(), return_inverse=True)
    exchanged = {a: b for pair in pairs for a, b in (pair, pair[::-1])}

    def redraw(rng: np.random.Generator) -> pl.DataFrame:
        turned = pl.Series((rng.random(names.size) < 0.5)[places])
        changed = pl.col(column).replace(exchanged)
        return frame.with_columns(pl.when(turned).then(changed).otherwise(pl.col(column)))

    return redraw


def sides(frame: pl.DataFrame) -> Redraw:
    """Which stereotypes are those of men, drawn anew."""
    names, places = np.unique(frame["stereotype"].to_numpy(), return_inverse=True)

    def redraw(rng: np.random.Generator) -> pl.DataFrame:
        men = np.isin(np.arange(names.size), rng.permutation(names.size)[:MEN])[places]
        return frame.with_columns(side=pl.Series(np.where(men, "men", "women").tolist()))

    return redraw


def scenes(frame: pl.DataFrame) -> Redraw:
    """Answers of each scene around a share of its own, with the effect for pictures of men."""
    cells = frame.drop("value", "weight", "outputs").unique(maintain_order=True)
    names, places = np.unique(cells["scenario"].to_numpy(), return_inverse=True)
    men = cells["gender"].to_numpy() == "man"

    def redraw(rng: np.random.Generator) -> pl.DataFrame:
        share = np.clip(rng.normal(0.5, SPREAD, names.size)[places], 0.1, 0.9)
        said = rng.binomial(ANSWERS, np.clip(share + EFFECT * (men - 0.5), 0, 1))
        parts = [
            cells.with_columns(value=pl.lit(value), weight=pl.Series(n.astype(float)))
            for value, n in (("men", said), ("women", ANSWERS - said))
        ]
        every = pl.concat(parts).with_columns(outputs=pl.col("weight").cast(pl.Int64))
        return every.filter(pl.col("weight") > 0).select(frame.columns)

    return redraw


def analyse(
    run: tiltmeter.Run, begin: Callable[[pl.DataFrame], Redraw], runs: int, seed: int
) -> Iterator[Sequence[verdicts.Verdict]]:
    """Yields the verdicts of one drawn run after another."""
    headline = tuple(one for one in run.protocol.measures if one.headline)
    protocol, rng = replace(run.protocol, measures=headline), np.random.default_rng(seed)
    with Store(run.folder) as store:
        names = measure_run.factor_names(protocol, protocol.variants["default"])
        redraw = begin(count_labels(store, protocol, names))
        for _ in range(runs):
            with (
                patch.object(measure_run, "count_labels", return_value=redraw(rng)),
                patch.object(estimates, "with_detectable", lambda row: replace(row, detect=None)),
                patch.object(measure_run, "outcome_rates", return_value=()),
            ):
                yield verdicts.verdicts(protocol, estimates.estimates(store, protocol))


def record(name: str, data: Path, folder: Path) -> tiltmeter.Run:
    """The run of a record: its published answers; of pairs, those of a planted model."""
    if name != "pairs":
        return tiltmeter.import_outputs(name, data / name, folder / name)
    tiltmeter.use_copy("pairs", data / "pairs")
    return tiltmeter.run("pairs", "planted:protocol=pairs", folder / name, samples=1)


BEGIN: dict[str, Callable[[pl.DataFrame], Redraw]] = {
    "pairs": scenes,
    "bbq": lambda frame: mirror(frame, "template", "value", [("stereotype", "against")]),
    "letters": lambda frame: mirror(
        frame, "occupation", "gender", [("female", "male"), ("Kelly", "Joseph")]
    ),
    "gest": sides,
}


def keep(*row: str) -> None:
    """Writes a row of the results in place of what is there of its record, and prints it."""
    kept = {}
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            kept = {one[0]: one for one in csv.reader(file)}
    kept |= {COLUMNS[0]: list(COLUMNS), row[0]: list(row)}
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        order = (name for name in (COLUMNS[0], *BEGIN) if name in kept)
        csv.writer(file, lineterminator="\n").writerows(kept[name] for name in order)
    print(*row, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args(arguments)
    wrong = False
    for number, (name, begin) in enumerate(BEGIN.items()):
        if chosen.only not in ("", name):
            continue
        false = found = 0
        with tempfile.TemporaryDirectory() as folder:
            run = record(name, chosen.data, Path(folder))
            for made in analyse(run, begin, chosen.runs, number):
                tilts = {one.measure for one in made if one.word == Word.TILT}
                found += "gender" in tilts and name == "pairs"
                false += bool(tilts - ({"gender"} if name == "pairs" else set()))
        power = f"{found / chosen.runs:.4f}" if name == "pairs" else ""
        keep(name, str(chosen.runs), f"{false / chosen.runs:.4f}", power)
        wrong |= false / chosen.runs > MOST_FALSE or (power != "" and float(power) < LEAST_FOUND)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
