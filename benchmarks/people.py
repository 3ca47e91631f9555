"""People without a judge: a careful, a careless and a biased person; 200 runs of each kind.

First 400 pictures that all three saw: how often the interval of the majority's share holds the
truth, the biased person is named, and somebody else is. Then 400 texts of which a fifth was shown
to all and half of one person's labels is chance, with a gap of 55 points and with none: how often
the headline's interval holds the truth, and that of the line without the careless person.

Exits with 1 if the first interval holds the truth in less than 93 % by more than two standard
errors, or the biased person is named in less than 95 %.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.gold.test_left_out import LINE, label, texts
from tests.gold.test_majority import simulated

import tiltmeter
from tiltmeter.report.run_page import content
from tiltmeter.store import Store

RUNS = 200


def main() -> int:
    """Runs the simulations and prints their shares."""
    held, named, wrong = simulated(2026, RUNS)
    print(f"{RUNS} runs: interval holds the truth {held:.3f}, biased one named {named:.3f}, ")
    print(f"another one named {wrong:.3f}")
    for gap in (-0.55, 0.0):
        careless(gap)
    error = (0.93 * 0.07 / RUNS) ** 0.5
    return int(held < 0.93 - 2 * error or named < 0.95)


def careless(gap: float) -> None:
    """Prints how often both intervals hold a gap, and their means."""
    rng, told = np.random.default_rng(7), []
    with tempfile.TemporaryDirectory() as home:
        out = texts(Path(home), 200)
        for _ in range(RUNS):
            label(out, rng, gap, 0.5)
            run = tiltmeter.open_run(out)
            with Store(out) as store:
                page = content.build(store, run.protocol, run.analyse(), for_page=False)
            if line := LINE.search(" ".join(page.screen.lede)):
                told.append([float(re.sub("−", "-", end)) for end in line.groups()])
    for name, place in (("headline", 3), ("without the careless one", 0)):
        ends = np.array(told)[:, place : place + 3]
        holds = np.mean((ends[:, 1] <= 100 * gap) & (100 * gap <= ends[:, 2]))
        print(
            f"gap {100 * gap:+.0f}, careless one named in {len(told)} of {RUNS} runs: {name} "
            f"{ends[:, 0].mean():+.1f} on average, interval holds the truth {holds:.3f}"
        )


if __name__ == "__main__":
    sys.exit(main())
