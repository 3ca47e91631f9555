"""How often the intervals of ``stats.means``, and of a share against a reference, hold the truth.

    python benchmarks/means.py            # 2,000 tables a design, about a minute
    python benchmarks/means.py --small    # 300

Numbers are log-normal (median 150, sd of the logarithm .3, as lengths of letters are), items and
outputs drawn anew for each table. Shares follow a reference with a slope, items differ beside it
(beta, a + b = 6), ten outputs each. Exit status 1 where an interval holds in fewer than 93 % or
more than 98 %, less and more two Monte-Carlo standard errors.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator

import numpy as np

from tiltmeter.stats import means, rates
from tiltmeter.stats.results import Interval

Counted = tuple[str, float]  # a design, and how often the interval holds


def _held(found: Interval, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def of_numbers(*, tables: int, seed: int) -> Iterator[Counted]:
    """Means, and the difference of two means over the same items."""
    random = np.random.default_rng(seed)
    true = math.exp(5 + 0.3**2 / 2)
    for items, outputs in ((9, 10), (20, 10), (40, 16)):
        n = np.full(items, float(outputs))
        for icc in (0.0, 0.2, 0.5, 0.8):
            one = two = 0
            for _ in range(tables):
                own = math.sqrt(icc) * random.normal(size=(items, 1))
                a, b = (
                    np.exp(
                        5 + 0.3 * (own + math.sqrt(1 - icc) * random.normal(size=(items, outputs)))
                    ).sum(axis=1)
                    for _ in range(2)
                )
                one += _held(means.pooled_mean(sums=a, n=n), true)
                two += _held(
                    means.pooled_difference(sums_a=1.2 * a, n_a=n, sums_b=b, n_b=n), 0.2 * true
                )
            design = f"{items} × {outputs}, ICC {icc:g}"
            yield f"mean, {design}", one / tables
            yield f"mean_difference, {design}", two / tables


def of_references(*, tables: int, seed: int) -> Iterator[Counted]:
    """The slope of a share on a reference, and the share less the reference."""
    random = np.random.default_rng(seed)
    for items in (9, 20, 60):
        n = np.full(items, 10.0)
        for slope in (0.0, 0.5, 0.9):
            steep = level = 0
            for _ in range(tables):
                r = random.beta(1.2, 1.2, items)
                centre = np.clip(0.5 + slope * (r - 0.5), 0.02, 0.98)
                x = random.binomial(10, random.beta(6 * centre, 6 * (1 - centre))).astype(float)
                steep += _held(means.slope(successes=x, n=n, reference=r), slope)
                level += _held(
                    rates.clustered_difference(successes_a=x, n_a=n, successes_b=r * n, n_b=n), 0.0
                )
            yield f"reference_slope, {items} items, slope {slope:g}", steep / tables
            yield f"from_reference, {items} items, slope {slope:g}", level / tables


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--small", action="store_true", help="300 tables a design")
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    tables = 300 if options.small else 2000
    error = 2 * math.sqrt(0.95 * 0.05 / tables)
    rows = [
        *of_numbers(tables=tables, seed=options.seed),
        *of_references(tables=tables, seed=options.seed + 1),
    ]
    for design, held in rows:
        print(f"{100 * held:5.1f}  {design}")
    for kind in ("mean,", "mean_difference", "from_reference", "reference_slope"):
        found = [100 * held for design, held in rows if design.startswith(kind)]
        print(f"{kind.strip(',')}: {min(found):.1f} to {max(found):.1f} ({len(found)} designs)")
    return int(any(not 0.93 - error <= held <= 0.98 + error for _, held in rows))


if __name__ == "__main__":
    sys.exit(main())
