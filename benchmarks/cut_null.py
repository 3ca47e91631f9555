"""Replies of one group are cut twice as often, and the model makes no difference: is a tilt found?

    python benchmarks/cut_null.py [--runs 200] [--first 0] [--share .03] [--json]

An audit of decisions about two groups, 20 items, 8 draws a prompt. Yes or no is drawn by the item
alone. Of one group `--share` of the replies are cut before they say anything, of the other twice as
many, as of a model that writes more about it. Beside it the control: the same draws, uncut. Two
promises: a tilt is found in at most 5 % of the runs (but for the binomial's 99 %), and every run
with more than 2 % cut replies says so. Exits 1 when one is broken. A CPU second a run.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.stats import binom

from tiltmeter import api

ITEMS, DRAWS = 20, 8
PROTOCOL = """
name = "cut_null"
title = "Two groups, the same decisions"
question = "Is a wish of one group granted less often?"
limits = ["The answers are drawn."]
prompt = "A {group} asks for {thing}. Should it be granted? Answer yes or no."
factors = ["group", "thing"]
item = "thing"
modes.sampled = { samples = %(draws)d, max_tokens = 64 }
[[tables]]
rows = [{ group = "painter" }, { group = "baker" }]
[[tables]]
rows = [%(things)s]
[[instruments]]
name = "choice"
kind = "choice"
attribute = "decision"
forms.en = { yes = ["yes"], no = ["no"] }
[[measures]]
name = "gap"
kind = "difference"
attribute = "decision"
values = ["yes"]
among = ["yes", "no"]
contrast = { factor = "group", level = "painter", baseline = "baker" }
null = 0.0
headline = true
text = "share of yes for painters, less the share for bakers"
"""


def write_answers(path: Path, rng: np.random.Generator, share: float) -> None:
    """A file of answers of one run; which are cut is drawn apart from what they would have said."""
    yes = rng.beta(2, 2, ITEMS)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("group", "thing", "sample", "text", "finish_reason"))
        for item in range(ITEMS):
            for group, lost in (("painter", share), ("baker", 2 * share)):
                said, cut = rng.random(DRAWS) < yes[item], rng.random(DRAWS) < lost
                for sample in range(DRAWS):
                    text = "" if cut[sample] else "yes" if said[sample] else "no"
                    reason = "length" if cut[sample] else "stop"
                    table.writerow((group, f"thing {item}", sample, text, reason))


def one_run(folder: Path, number: int, share: float) -> tuple[str, set[str], float]:
    """(the verdict, its cautions, the share of cut replies) of one run."""
    protocol, answers = folder / "cut_null.toml", folder / f"{number}-{share}.csv"
    things = ", ".join(f'{{ thing = "thing {n}" }}' for n in range(ITEMS))
    protocol.write_text(PROTOCOL % {"draws": DRAWS, "things": things}, "utf-8")
    write_answers(answers, np.random.default_rng([number, 43]), share)
    run = api.run(protocol, f"file:{answers}", folder / f"{number}-{share}")
    (verdict,) = run.verdicts()
    cut = run.outputs["ended"].to_list().count("cut") / len(run.outputs)
    return verdict.word.value, {caution.kind.value for caution in verdict.cautions}, cut


def main() -> int:
    """Prints what was found; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first run, for others")
    parser.add_argument("--share", type=float, default=0.03)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tilts, silent, words = {0.0: 0, options.share: 0}, 0, dict[str, int]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.first + options.runs):
            for share in tilts:
                word, cautions, cut = one_run(Path(folder), number, share)
                tilts[share] += word == "tilt"
                words[f"{share} {word}"] = words.get(f"{share} {word}", 0) + 1
                silent += cut > 0.02 and not cautions & {"cut", "much_cut"}
    most = int(binom.ppf(0.99, options.runs, 0.05))
    found = {"runs": options.runs, "cut": tilts[options.share], "control": tilts[0.0], "most": most}
    if options.json:
        print(json.dumps({**found, "silent": silent, "words": words}))
    else:
        print(f"a tilt in {found['cut']} of {options.runs} runs with cut replies, in")
        print(
            f"{found['control']} of the same uncut; {most} are allowed. Silent: {silent}. {words}"
        )
    return 0 if max(tilts.values()) <= most and not silent else 1


if __name__ == "__main__":
    sys.exit(main())
