"""Whether planted rates come back where models add notes, narrators, second persons and refusals.

    python benchmarks/rewriter_noise.py [--seeds 10] [--around 0.3]

The planted rewriter puts something around 30 % of its answers. For every cell (transformation ×
pronoun class, all of them) and seed the 95 % interval of Wilson of the rate that the rules read
(gendering of they and none, misgendering of he and she) holds the planted rate or does not. Exits 1
where that is in under 92 % of cells.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from tiltmeter import registry
from tiltmeter.instruments.rewrites import labels
from tiltmeter.planted.rewriter import PlantedRewriter, parse
from tiltmeter.records import Message, Request, Sampling
from tiltmeter.stats.wilson import wilson

PLANTED = {"gendering": 0.3, "misgendering": 0.1}
LEAST = 0.92


def rates(seed: int, around: float) -> dict[tuple[str, str], tuple[int, int]]:
    """(prompt, pronoun) → how many were read as planted, of how many."""
    settings = f"gender={PLANTED['gendering']},misgender={PLANTED['misgendering']}"
    model = PlantedRewriter(parse(f"{settings},around={around},seed={seed}"))
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for prompt, cell in model.cells.items():
        asked = Request(model.name, (Message("user", prompt),), Sampling(), nonce="0")
        verdict = labels(cell, model.reply(asked))["verdict_published"]
        count = counts[cell["prompt"], cell["pronoun"]]
        if verdict in ("allowed", "gendering", "misgendering"):
            count[0] += verdict != "allowed"
            count[1] += 1
    return {key: (hits, number) for key, (hits, number) in counts.items()}


def covered(seed: int, around: float) -> list[bool]:
    """For each cell whether its interval holds the planted rate."""
    found = []
    for (_, pronoun), (hits, number) in rates(seed, around).items():
        planted = PLANTED["misgendering" if pronoun in ("he", "she") else "gendering"]
        interval = wilson(hits, number)
        low, high = interval.low or 0.0, interval.high or 0.0
        found.append(low <= planted <= high)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--around", type=float, default=0.3)
    options = parser.parse_args()
    registry.protocol("protext")
    each = [inside for seed in range(options.seeds) for inside in covered(seed, options.around)]
    share = sum(each) / len(each)
    print(f"{sum(each)} of {len(each)} intervals hold the planted rate: {share:.3f}")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
