"""People without a judge: a careful, a careless and a biased person; 200 runs of each kind.

First 400 pictures that all three saw: how often the interval of the majority's share holds the
truth, the biased person is named, and somebody else is. Then 400 texts of which a fifth was shown
to all and half of one person's labels is chance, with a gap of 55 points and with none: how often
the headline's interval holds the truth, and that of the line without the careless person.

Exits with 1 if the first interval holds the truth in less than 93 % by more than two standard
errors, or the biased person is named in less than 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from tests.gold.test_majority import simulated

from tiltmeter.gold.majority import dissenting, majority
from tiltmeter.gold.people import part_of
from tiltmeter.records import UNRESOLVED
from tiltmeter.stats.independent import difference

PEOPLE = ("ann", "bea", "cy")
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
    """Prints how often both intervals hold a gap, and their means. The values are those that
    `tiltmeter analyse` and the line below its headline give for such labels; its intervals, over
    files as items, are 1 % wider than those of outputs that are used for speed.
    """
    rng, found = np.random.default_rng(7), []
    outputs = [f"{group}{number:03}" for group in ("cars", "vans") for number in range(200)]
    parts = {name: part_of(outputs, name, PEOPLE) for name in PEOPLE}
    for _ in range(RUNS):
        said: dict[str, dict[str, str]] = {output: {} for output in outputs}
        for output in outputs:
            true = "woman" if rng.random() < 0.5 + gap / (-2 if output[0] == "v" else 2) else "man"
            other = str(rng.choice(["woman", "man"])) if rng.random() < 0.5 else true
            for name in PEOPLE:
                if output in parts[name]:
                    said[output][name] = other if name == "bea" else true
        if any(name == "bea" for name, *_ in dissenting(said, PEOPLE)):
            without = {o: {w: v for w, v in each.items() if w != "bea"} for o, each in said.items()}
            found.append([_gap(said), _gap(without)])
    for place, name in enumerate(("headline", "without the careless one")):
        held = np.mean([row[place][1] <= gap <= row[place][2] for row in found])
        mean = 100 * np.mean([row[place][0] for row in found])
        print(
            f"gap {100 * gap:+.0f}, careless one named in {len(found)} of {RUNS} runs: {name} "
            f"{mean:+.1f} on average, interval holds the truth {held:.3f}"
        )


def _gap(said: Mapping[str, Mapping[str, str]]) -> tuple[float, ...]:
    counts = {"c": [0, 0], "v": [0, 0]}
    for output, each in said.items():
        value = majority(each) if each else UNRESOLVED
        if value != UNRESOLVED:
            counts[output[0]][0] += value == "woman"
            counts[output[0]][1] += 1
    (a, n), (b, m) = counts["c"], counts["v"]
    found = difference(successes_a=a, n_a=n, successes_b=b, n_b=m)
    return tuple(end or 0.0 for end in (found.value, found.low, found.high))


if __name__ == "__main__":
    sys.exit(main())
