"""Attributes that were chosen for telling groups apart: what testing them on the same images does,
and on others.

    python benchmarks/discovery.py            # 2,000 analyses a row, about a minute
    python benchmarks/discovery.py --small    # 500

Nothing differs between the groups. Of CANDIDATES attributes that a picture might be described by,
those CHOSEN are tested that tell the groups apart best in the pictures that the chooser is shown:
two a prompt, as SODA has it. `held out`: these pictures are drawn beside those that are tested.
`the same`: they are two of each twenty that are tested. `all the same`: the chooser has seen all
that is tested, which is what choosing by hand after a look at the results comes to.

Exit status 1 where held-out discovery finds more than it may, or discovery on the same images does
not inflate.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.multiplicity import benjamini_hochberg
from tiltmeter.stats.shuffles.permutation import base_against_group, pairs_within
from tiltmeter.stats.shuffles.shuffling import Shuffles

# groups beside the base; pictures of a prompt that are tested, and that are shown
GROUPS, IMAGES, SHOWN = (8, 20, 2)
# what one might name of a picture is open, so the choice is from many
CANDIDATES, CHOSEN, VALUES = (200, 4, 5)
DRAWS = 199
DIMENSIONS = ((1, 2, 3), (4, 5), (6, 7, 8))
ALPHA = 0.05
WAYS = ("held out", "the same", "all the same")

Codes = NDArray[np.int64]


def pictures(generator: np.random.Generator, each: int) -> Codes:
    """Pictures of the base prompt and of each group: shape (1 + GROUPS, each, CANDIDATES), nothing
    differs.
    """
    shares = generator.dirichlet(np.ones(VALUES))
    return generator.choice(VALUES, size=(1 + GROUPS, each, CANDIDATES), p=shares)


def choose(shown: Codes) -> NDArray[np.intp]:
    """The attributes in which the prompts differ most: the largest information about the prompt
    (plug-in, in nats).
    """
    counts = np.stack([(shown == value).sum(axis=1) for value in range(VALUES)], axis=1).astype(
        float
    )

    def entropy(c: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        p = c / c.sum(axis=axis, keepdims=True)
        found: NDArray[np.float64] = -np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0).sum(
            axis=axis
        )
        return found

    between = entropy(counts.sum(axis=0), 0) - entropy(counts, 1).mean(axis=0)
    return np.argsort(-between, kind="stable")[:CHOSEN]


def analysis(way: str, generator: np.random.Generator) -> tuple[list[float], list[float]]:
    """p of BDS for each group, and of CDS for each dimension, over the chosen attributes."""
    tested = pictures(generator, IMAGES)
    shown = {
        "held out": lambda: pictures(generator, SHOWN),
        "the same": lambda: tested[:, :SHOWN],
        "all the same": lambda: tested,
    }
    kept = tested[:, :, choose(shown[way]())]
    shuffles = Shuffles(draws=DRAWS, generator=generator)
    bds = [base_against_group(base=kept[0], group=group, shuffles=shuffles).p for group in kept[1:]]
    cds = [
        pairs_within(groups=[kept[g] for g in groups], shuffles=shuffles).p for groups in DIMENSIONS
    ]
    return [p or 1.0 for p in bds], [p or 1.0 for p in cds]


def rates(way: str, analyses: int, seed: int = 20) -> dict[str, float]:
    """P(p ≤ .05) of both scores, and the share of analyses in which BH finds anything among the
    eight groups.
    """
    generator = np.random.default_rng([seed, WAYS.index(way)])
    found = [analysis(way, generator) for _ in range(analyses)]
    bds, cds = (np.array([one[place] for one in found]) for place in (0, 1))
    any_of = [min(p for p in benjamini_hochberg(p=row) if p is not None) <= ALPHA for row in bds]
    return {
        "bds": float((bds <= ALPHA).mean()),
        "cds": float((cds <= ALPHA).mean()),
        "any": float(np.mean(any_of)),
    }


def allowed(analyses: int) -> float:
    """α and two standard errors of the share of analyses."""
    return ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / analyses)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="500 analyses a row")
    parser.add_argument("--json", help="write the numbers to this file")
    options = parser.parse_args()
    analyses = 500 if options.small else 2000
    found = {way: rates(way, analyses) for way in WAYS}
    print(
        f"| attributes chosen on ({analyses} analyses) | BDS: P(p ≤ .05) | CDS: P(p ≤ .05) | "
        "anything after BH at .05 |"
    )
    print("|---|---|---|---|")
    for way, row in found.items():
        print(f"| {way} | {row['bds']:.4f} | {row['cds']:.4f} | {row['any']:.4f} |")
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    right = max(found["held out"].values()) <= allowed(analyses)
    inflated = found["the same"]["bds"] > found["held out"]["bds"] and found["all the same"][
        "any"
    ] > allowed(analyses)
    print(
        f"held out: at most {allowed(analyses):.4f}: {'kept' if right else 'BROKEN'}; the same "
        f"inflates: {inflated}"
    )
    return 0 if right and inflated else 1


if __name__ == "__main__":
    sys.exit(main())
