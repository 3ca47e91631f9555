"""From a sheet of gold to corrected rows: whether what is drawn, weighed and corrected as
`validate` and `analyse` do it holds the truth, where a judge errs, errs otherwise by condition, and
calls some of one class by a word outside of the denominator.

Every run is drawn anew, items included: 30 items whose log-odds of she are standard normal, two
conditions, 8 outputs each. The judge has sensitivity .95 and specificity .85 in one condition and
the reverse in the other, and calls a tenth of the she "both"; a second annotator is right in nine
of ten and makes the disagreements that the sheet oversamples. Truth: a share of .5 and no gap.

    python benchmarks/gold.py             # 2,000 runs a row, about three minutes
    python benchmarks/gold.py --small

Exit status 1 where a corrected number is off by more than 1 point + 2 Monte-Carlo standard errors,
or its interval covers less than 95 − (2 + 2 Monte-Carlo standard errors) per cent.
"""

from __future__ import annotations

import argparse
import math
import sys
from random import Random

from tiltmeter.analyse.correction.correct import Sense, Side, correct
from tiltmeter.gold.sheet import SheetCandidate, pick
from tiltmeter.records import BOTH

ITEMS, OUTPUTS = 30, 8
GOLD = (50, 100, 200)
RATES = {"a": (0.95, 0.85), "b": (0.85, 0.95)}
SENSE = Sense(("she",), ("she", "he"))


def wrong(word: str) -> str:
    return "he" if word == "she" else "she"


def run(random: Random, number: int) -> tuple[list[Side], list[Side]]:
    """The two conditions of one run with the gold of a sheet, and with none of it."""
    outputs: dict[str, tuple[str, str, str, str]] = {}
    pool: dict[str, SheetCandidate] = {}
    for item in range(ITEMS):
        share = 1 / (1 + math.exp(-random.gauss(0, 1)))
        for condition, (se, sp) in RATES.items():
            for _ in range(OUTPUTS):
                truth = "she" if random.random() < share else "he"
                said = truth if random.random() < (se if truth == "she" else sp) else wrong(truth)
                said = BOTH if truth == "she" and random.random() < 0.1 else said
                second = truth if random.random() < 0.9 else wrong(truth)
                name = f"t{len(outputs):04}"
                outputs[name] = (str(item), condition, truth, said)
                pool[name] = SheetCandidate(
                    name, {"condition": condition}, "", "", "", said != second
                )
    picked = pick(pool, ["condition"], number, random)
    found = [Side({}, {}, {}) for _ in RATES]
    for name, (about, condition, truth, said) in outputs.items():
        side = found[list(RATES).index(condition)]
        add(side.said, about, said, 1.0)
        if name in picked:
            add(side.weighted, about, (truth, said), picked[name][0])
            add(side.labels, about, (truth, said), 1.0)
    return found, [Side(side.said) for side in found]


def add(table: object, item: str, key: object, number: float) -> None:
    cells = table.setdefault(item, {})  # type: ignore[attr-defined]
    cells[key] = cells.get(key, 0.0) + number


def naive(sides: list[Side]) -> float:
    """Share of she among she and he as the judge says it, first condition, or first less second."""
    shares = []
    for side in sides:
        she, he = (
            sum(values.get(word, 0.0) for values in side.said.values()) for word in ("she", "he")
        )
        shares.append(she / (she + he))
    return shares[0] if len(shares) == 1 else shares[0] - shares[1]


def measure(number: int, gap: bool, runs: int, seed: int) -> bool:
    """Prints a row; whether the promise is kept."""
    random, truth = Random(f"{seed}/{number}/{gap}"), 0.0 if gap else 0.5
    errors, plain, inside, refused = [], [], 0, 0
    for _ in range(runs):
        sides, bare = run(random, number)
        kept = slice(None) if gap else slice(1)
        made = correct(sides[kept], sides[0], SENSE, random=True)
        if made.found.value is None or made.found.low is None or made.found.high is None:
            refused += 1
            continue
        errors.append(made.found.value - truth)
        plain.append(naive(bare[kept]) - truth)
        inside += made.found.low <= truth <= made.found.high
    n = len(errors)
    bias, coverage = sum(errors) / n, inside / n
    spread = math.sqrt(sum((error - bias) ** 2 for error in errors) / (n - 1) / n)
    ok = abs(bias) <= 0.01 + 2 * spread and coverage >= 0.93 - 2 * math.sqrt(0.95 * 0.05 / n)
    print(
        f"| {'gap' if gap else 'share'}, {number} gold labels | {100 * refused / runs:.1f} | "
        f"{100 * sum(plain) / n:+.1f} | {100 * bias:+.1f} | {100 * coverage:.1f} "
        f"|{'' if ok else ' BROKEN'}",
        flush=True,
    )
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="100 runs a row")
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    runs = 100 if options.small else 2_000
    print(
        "| | not corrected, % of runs | judge: error, points | corrected: error, points | 95 % "
        "interval holds, % |"
    )
    print("|---|---|---|---|---|")
    kept = [measure(number, gap, runs, options.seed) for gap in (False, True) for number in GOLD]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
