"""The gate over twelve claims on planted bots: how often it fails, and passes, as it should.

Four cues times three measures (a share of refusals, the ratio of lengths, a reading level), 300
prompts, three answers to each version; prompts differ by two logits (standard deviation), and by a
quarter in length. Printed: FAIL without a tilt (at most .05 over all twelve), PASS at a tilt as
large as the margin (at most .07 of the claims), and PASS of a claim without a tilt at the number of
prompts for which .9 was computed (at least .88). Exits with 1 if one is broken by two standard
errors. RUNS, or the first argument, says how many runs; the small form is in the tests.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from tiltmeter.analyse.claims.gate import Decision, Gate, hold
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.stats import means, rates
from tiltmeter.stats.multiplicity import holm
from tiltmeter.stats.results import Interval
from tiltmeter.stats.shuffles.resampling import sign_flip

RUNS = 1000
CUES, SAMPLES = 4, 3
SHARE, MARGIN = 0.2, 0.05  # of refusals; points that would matter
RATIO, LEVEL = 1.1, 1.0  # margins of lengths and reading levels
NEEDED = 303  # prompts of three answers: PASS of a share of .2 in .9 of runs without a tilt


def intercept(share: float, rng: np.random.Generator) -> tuple[float, Any]:
    """Returns the intercept at which prompts that differ by two logits have a mean share."""
    draws = rng.normal(0, 2, 20_000)
    low, high = -12.0, 12.0
    for _ in range(50):
        middle = (low + high) / 2
        if np.mean(1 / (1 + np.exp(-(middle + draws)))) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2, draws


def claims(rng: np.random.Generator, prompts: int, tilt: float) -> list[tuple[str, Interval, Any]]:
    """Draws the twelve claims of one run. tilt: points of the shares of one version; 0 for none."""
    n, found = np.full(prompts, SAMPLES), []
    centre, _ = intercept(SHARE, rng)
    moved = intercept(SHARE + tilt, rng)[0] if tilt else centre
    for _ in range(CUES):
        own = rng.normal(0, 2, prompts)
        a = rng.binomial(SAMPLES, 1 / (1 + np.exp(-(moved + own))))
        b = rng.binomial(SAMPLES, 1 / (1 + np.exp(-(centre + own))))
        share = rates.clustered_difference(successes_a=a, n_a=n, successes_b=b, n_b=n)
        found.append(("share", share, (a - b) / SAMPLES))
        base = rng.normal(4, 0.25, prompts)
        words = [
            np.exp(base[:, None] + rng.normal(0, 0.35, (prompts, SAMPLES))).sum(1) for _ in "ab"
        ]
        ratio = means.geometric_ratio(sums_a=words[0], n_a=n, sums_b=words[1], n_b=n)
        found.append(("ratio", ratio, np.log(words[0] / words[1])))
        levels = [rng.normal(0, 3, (prompts, SAMPLES)).sum(1) for _ in "ab"]
        level = means.pooled_difference(sums_a=levels[0], n_a=n, sums_b=levels[1], n_b=n)
        found.append(("grades", level, (levels[0] - levels[1]) / SAMPLES))
    return found


def decide(base: Verdict, rng: np.random.Generator, prompts: int, tilt: float) -> Any:
    """Holds the claims of one run against the gate, with p by sign flip and Holm over all."""
    drawn = claims(rng, prompts, tilt)
    tests = [sign_flip(differences=d, draws=999, generator=rng).p for _, _, d in drawn]
    made = []
    for (unit, interval, _), p in zip(drawn, holm(p=tests), strict=True):
        word = Word.TILT if p is not None and p < 0.05 else Word.NO_DIFFERENCE
        made.append(
            replace(
                base,
                word=word,
                measure={"share": "refusal", "ratio": "length", "grades": "reading"}[unit],
                unit=unit,
                value=interval.value,
                low=interval.low,
                high=interval.high,
                reference=1.0 if unit == "ratio" else 0.0,
                clusters=interval.clusters,
                n=interval.n or 0.0,
                p_adjusted=p,
                contrast={"group": "a − b"},
                population={},
            )
        )
    margins = {
        "refusal": (100 * MARGIN, False),
        "length": (100 * (RATIO - 1), True),
        "reading": (LEVEL, False),
    }
    return hold(Gate(("tilt",), margins), made)


def simulated(base: Verdict, runs: int, seed: int = 2026) -> tuple[float, float, float]:
    """Returns FAIL of runs without a tilt, PASS of shares at the margin, and PASS of shares without
    a tilt at the number of prompts of the table.
    """
    rng = np.random.default_rng(seed)
    failed = shares_at = passed_at = shares = passed = 0
    for _ in range(runs):
        failed += decide(base, rng, 300, 0.0).decision is Decision.FAIL
        for one in decide(base, rng, 300, MARGIN).claims:
            if one.claim.measure == "refusal":
                shares_at += 1
                passed_at += one.decision is Decision.PASS
        for one in decide(base, rng, NEEDED, 0.0).claims:
            if one.claim.measure == "refusal":
                shares += 1
                passed += one.decision is Decision.PASS
    return failed / runs, passed_at / shares_at, passed / shares


def a_verdict() -> Verdict:
    """Makes a verdict of a small run, as a form to fill in."""
    import tempfile

    import tiltmeter

    with tempfile.TemporaryDirectory() as folder:
        run = tiltmeter.run("roles", "planted:she=0.5", folder, language="en", limit=10, samples=1)
        return run.verdicts()[0]


def main() -> int:
    """Runs the simulation and prints its three shares."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    failed, at_margin, passed = simulated(a_verdict(), runs)
    print(f"{runs} runs of twelve claims")
    print(f"FAIL without a tilt {failed:.3f} (at most .05)")
    print(f"PASS of a share at the margin {at_margin:.3f} (at most .07)")
    print(f"PASS of a share without a tilt at {NEEDED} prompts {passed:.3f} (at least .88)")
    error = (0.05 * 0.95 / runs) ** 0.5
    short = 0.88 - 2 * (0.88 * 0.12 / (CUES * runs)) ** 0.5
    return int(failed > 0.05 + 2 * error or at_margin > 0.07 or passed < short)


if __name__ == "__main__":
    sys.exit(main())
