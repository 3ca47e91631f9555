"""People without a judge: 400 pictures, a careful, a careless and a biased person; 200 runs.

Prints how often the interval of the majority's share holds the truth, the biased person is named,
and somebody else is. Exits with 1 if the interval holds the truth in less than 93 % by more than
two standard errors, or the biased person is named in less than 95 %.
"""

from __future__ import annotations

import sys

from tests.gold.test_majority import simulated

RUNS = 200


def main() -> int:
    """Runs the simulation and prints its three shares."""
    held, named, wrong = simulated(2026, RUNS)
    print(f"{RUNS} runs: interval holds the truth {held:.3f}, biased one named {named:.3f}, ")
    print(f"another one named {wrong:.3f}")
    error = (0.93 * 0.07 / RUNS) ** 0.5
    return int(held < 0.93 - 2 * error or named < 0.95)


if __name__ == "__main__":
    sys.exit(main())
