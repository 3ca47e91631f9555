"""Gold by people of whom one errs by group: how often does it make a tilt where none is?

Two groups, 20 items, 20 answers per item and group, a judge that is right in 85 %. 200 answers
drawn at random are labelled by one, two or three people, who are right in 95 %; the first takes
20 % of the "no" of one group for "yes" and 15 % of the "yes" of the other for "no". Corrected by
ppi++ as a report does: from the pooled labels, from each of two alone (one sign, the larger p), and
from the majority of three, which must stand without any one.

    python benchmarks/gold_people.py               # 2,000 runs each
    python benchmarks/gold_people.py --small       # seconds; tests/analyse runs it
    python benchmarks/gold_people.py --keep        # into benchmarks/results

Exit status 1 if the rule claims a tilt in more than .05 + 3 standard errors of the runs without an
effect. The seeds are fixed.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from tiltmeter.analyse.correction.voices import with_voices
from tiltmeter.records import Estimate
from tiltmeter.stats import inversion
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.judges.prediction_powered import Sums, prediction_powered_difference

ITEMS, EACH, GOLD, RUNS, SMALL_RUNS, ALPHA = 20, 20, 200, 2_000, 300, 0.05
JUDGE, PERSON, MORE, LESS = 0.85, 0.95, 0.20, 0.15
RESULTS = Path(__file__).parent / "results" / "gold_people.csv"
COLUMNS = ("people", "biased", "gap", "runs", "pooled", "rule")


def flip(values: Floats, right: float, rng: np.random.Generator) -> Floats:
    """Labels that are right with this chance."""
    wrong = rng.random(values.shape) > right
    found: Floats = np.where(wrong, 1 - values, values)
    return found


def biased(values: Floats, rng: np.random.Generator) -> Floats:
    """One person's labels, shape (2, answers): more yes for group 0, fewer for group 1."""
    drawn = rng.random(values.shape)
    made = values.copy()
    made[0][(values[0] == 0) & (drawn[0] < MORE)] = 1
    made[1][(values[1] == 1) & (drawn[1] < LESS)] = 0
    return made


def corrected(said: Floats, truth: Floats, known: Floats, items: Codes) -> Estimate:
    """The row that a report makes of the judge's labels and gold. known: 1 of answers with gold."""
    sums = [
        Sums(
            *(
                np.bincount(items, weights=one, minlength=ITEMS)
                for one in (said[g], np.ones(items.size), said[g] * k, truth[g] * k, k)
            )
        )
        for g, k in enumerate(known)
    ]
    found = prediction_powered_difference(first=sums[0], second=sums[1]).corrected
    p = inversion.invert_interval(interval=found, null=0.0).p
    row = Estimate("", "", "", "gap", {}, None, found.value, "share", found.low, found.high, 0.95)
    return replace(row, p=p)


def run(people: int, gap: float, is_biased: bool, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether the pooled labels, and the rule, claim a tilt."""
    items = np.repeat(np.arange(ITEMS), EACH)
    base = rng.normal(0, 0.7, ITEMS)[items]
    share = np.clip(0.5 + base / 6 + np.array([[gap / 2], [-gap / 2]]), 0.02, 0.98)
    truth = (rng.random(share.shape) < share).astype(np.float64)
    said = flip(truth, JUDGE, rng)
    picked = rng.permutation(truth.size)[:GOLD]
    known = np.zeros(truth.size)
    known[picked] = 1
    known = known.reshape(truth.shape)
    labels = [flip(truth, PERSON, rng) for _ in range(people)]
    if is_biased:
        labels[0] = biased(labels[0], rng)

    def by(own: list[Floats]) -> Estimate:
        votes = np.mean(own, axis=0)
        agreed = known * (votes != 0.5)
        return corrected(said, (votes > 0.5).astype(np.float64), agreed, items)

    whole = by(labels)
    if people == 1:
        return _tilts(whole), False  # one person's labels make no tilt
    names = [str(n) for n in range(people)]
    alone = [by([x for x in labels if (x is one) == (people == 2)]) for one in labels]
    return _tilts(whole), _tilts(with_voices(whole, alone, names, 0.0))


def _tilts(row: Estimate) -> bool:
    holds = row.low is None or row.high is None or row.low <= 0 <= row.high
    return row.p is not None and row.p < ALPHA and not holds


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="300 runs")
    parser.add_argument("--keep", action="store_true", help="write into benchmarks/results")
    chosen = parser.parse_args(arguments)
    runs, rows, failed = SMALL_RUNS if chosen.small else RUNS, [], False
    for gap, is_biased in ((0.0, True), (0.0, False), (0.2, False)):
        for people in (1, 2, 3):
            rng = np.random.default_rng([20261123, people, round(10 * gap), is_biased])
            found = np.mean([run(people, gap, is_biased, rng) for _ in range(runs)], axis=0)
            rows.append([people, int(is_biased), gap, runs, *found.round(4).tolist()])
            print(", ".join(f"{n} {v}" for n, v in zip(COLUMNS, rows[-1], strict=True)), flush=True)
            failed |= not gap and found[1] > ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)
    if chosen.keep:
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
