"""How often are a mitigation that halves a tilt and its price in the first sentence, how often does
one that does nothing claim something, and does *they* lie in its interval?

Each run asks a planted model and goes through `analyse`, seeds 0 to RUNS − 1:

    halves    `roles`, 24 words: she .8 without and .65 with the mitigation, refusals .08 and .16;
              counted are runs whose first sentence says both
    nothing   the same of 12 words without a change: counted are runs with a claim of the mitigation
    they      `roles_people`, 12 words, `they` in .2 of answers: counted are runs whose interval of
              the share holds .2
    levels    `roles_people`, 12 words, nothing by gender among three levels: counted are runs that
              claim something

    python benchmarks/mitigations.py --runs 400 [KIND …]    # goes on where its results end

Exit status 1 if `halves` is below .9, `they` below .92, or one of the others above .072. Results go
to benchmarks/results/mitigations.csv.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tiltmeter
from tiltmeter.analyse import estimates
from tiltmeter.analyse.words.first_sentence.situations import first_sentence
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.records import Estimate

RESULTS = Path(__file__).parent / "results" / "mitigations.csv"
COLUMNS = ("kind", "runs", "counted", "bound")
TEXT = "mitigation,title,way,text\nfair,asked to be fair,suffix,Be fair.\n"
THEY = 0.2


def asked(folder: Path, protocol: str, model: str, seed: int, **options: Any) -> tiltmeter.Run:
    """A run of one seed, of the model and of the order."""
    model = f"planted:{model},seed={seed}"
    usual: dict[str, Any] = {"limit": 12, "samples": 20, "seed": seed, "pilot": False}
    return tiltmeter.run(protocol, model, folder / "run", **{**usual, **options})


def mitigated(folder: Path, model: str, seed: int, **options: int) -> tiltmeter.Run:
    """A run of `roles` with one mitigation."""
    file = folder / "mitigations.csv"
    file.write_text(TEXT, "utf-8")
    return asked(folder, "roles", model, seed, language="en", mitigate=str(file), **options)


def halves(folder: Path, seed: int) -> bool:
    """True if the first sentence says what became of the tilt and of refusals."""
    run = mitigated(
        folder, "she=0.8,she.fair=0.65,refuse=0.08,refuse.fair=0.16", seed, limit=24, samples=15
    )
    text = first_sentence([one.facts for one in run.verdicts()]).text
    lead = text.partition(".")[0].lower()
    return "asked to be fair, a gives “she” in" in lead and " and refuses " in lead


def nothing(folder: Path, seed: int) -> bool:
    """True if something is claimed of a mitigation that does nothing."""
    run = mitigated(folder, "she=0.8,refuse=0.08", seed, samples=6)
    own = (one for one in run.verdicts() if "mitigation" in (one.contrast or {}))
    return any(one.word == Word.TILT for one in own)


def they(folder: Path, seed: int) -> bool:
    """True if the interval of `they` holds what was planted."""
    where = {"dimension": "none"}
    run = asked(folder, "roles_people", f"they={THEY}", seed, where=where, samples=4)
    (row,) = (
        row
        for row in run.analyse()
        if row.measure == "share"
        and row.condition.get("pronoun") == "they"
        and not {"class", "order"} & row.condition.keys()
    )
    return row.low is not None and row.high is not None and row.low <= THEY <= row.high


def levels(folder: Path, seed: int) -> bool:
    """True if something is claimed of three genders that are treated alike."""
    places = {"dimension": ("none", "gender")}
    run = asked(folder, "roles_people", f"they={THEY},spread=0.5", seed, where=places, samples=2)
    own = (one for one in run.verdicts() if one.contrast)
    return any(one.word == Word.TILT for one in own)


KINDS: dict[str, tuple[Callable[[Path, int], bool], float]] = {
    "halves": (halves, 0.9),
    "nothing": (nothing, -0.072),
    "they": (they, 0.92),
    "levels": (levels, -0.072),
}


def results() -> dict[str, dict[str, str]]:
    """The rows of the results so far, by kind."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="") as file:
        return {row["kind"]: row for row in csv.DictReader(file)}


def keep(kind: str, runs: int, counted: int) -> float:
    """Writes the row of a kind into the results, and returns its share."""
    bound = KINDS[kind][1]
    text = f"at most {-bound}" if bound < 0 else f"at least {bound}"
    row = {"kind": kind, "runs": str(runs), "counted": f"{counted / runs:.4f}", "bound": text}
    rows = {**results(), kind: row}
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows[name] for name in KINDS if name in rows)
    return counted / runs


def without_detectable(row: Estimate) -> Estimate:
    """A row that is not told which difference its test would find: no claim rests on it."""
    return replace(row, detect=None, test_items=None, name_cells=None)


def main() -> int:
    """Runs the kinds that are named, all if none is, each from where its results end."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--anew", action="store_true", help="from seed 0")
    given = parser.parse_args()
    failed = False
    for kind in given.kinds or KINDS:
        count, bound = KINDS[kind]
        before = {} if given.anew else results().get(kind, {})
        begin = int(before.get("runs", 0))
        counted = round(begin * float(before.get("counted", 0)))
        for seed in range(begin, given.runs):
            with (
                tempfile.TemporaryDirectory() as folder,
                patch.object(estimates, "with_detectable", without_detectable),
            ):
                counted += count(Path(folder), seed)
            if (seed + 1) % 10 == 0 or seed + 1 == given.runs:
                share = keep(kind, seed + 1, counted)
                print(f"{kind} {seed + 1}: {share:.4f}", file=sys.stderr, flush=True)
        share = float(results()[kind]["counted"])
        failed |= share > -bound if bound < 0 else share < bound
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
