"""Runs that stop early, simulated: errors, power, calls and coverage beside those of full runs.

Words are drawn anew for each run from cells whose words have true shares that are known: of GRAMVIS
drawn once from a beta-binomial posterior of its authors' counts for de, fr and it (where they lie
beside the checkout), of the other protocols made up. The whole algorithm runs: exact flips of an
item's path, the family's rule at every look, futility.

    contrasts   36 contrasts of two conditions, 16 to 24 words each
    claims      the claims of a report: both genders together, three conditions, and one overall
    67, 133     12 contrasts of so many words
    roles       98 words, a share against one half; one claim
    classes     the same in nine classes of eleven words
    words       nine classes of words of one list, which the same calls answer
    soda        30 groups of pictures held against a base, outputs permuted inside blocks

    python benchmarks/stopping.py                          # 2,000 runs each (soda 500): hours
    python benchmarks/stopping.py --only contrasts --runs 200
    python benchmarks/stopping.py --small                  # seconds; what tests/stats runs

Truths: "null" (the conditions of each word change places), "half" (in half of the cells), "truth"
(as published, or strong), "weak" (effects × .35). "votes": the null with labels by a judge that
errs; "unequal": the null where up to 30 % of the pictures of the tested condition and 10 % of its
controls have no answer, so that numbers differ. The seeds are fixed. Exit status 1 where the
familywise error under Holm is above 5 % + 3 standard errors in one, or + 2 on average.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from stopping_shapes import (
    COUNTS,
    SEED,
    SHAPES,
    TRUTHS,
    Data,
    Drawn,
    Floats,
    Shape,
)

from tiltmeter.stats.multiplicity import Method
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.rates import clustered_share
from tiltmeter.stats.stopping import rules
from tiltmeter.stats.stopping.after import widening
from tiltmeter.stats.stopping.blocks import OutputBlocks
from tiltmeter.stats.stopping.decision import information
from tiltmeter.stats.stopping.design import StoppingDesign
from tiltmeter.stats.stopping.follow import follow_runs, rounds_asked
from tiltmeter.stats.stopping.paths import ItemPaths
from tiltmeter.stats.stopping.sequential import scores_of, sequential_p

SMALL_RUNS = 4
LARGEST = 0.1  # levels above are not tried: the rules reject none above .05
METHODS: tuple[Method, ...] = ("holm", "benjamini-hochberg")


@dataclass
class Looked:
    """What the claims of all runs would say at each look, shape (runs, m, looks), with how far an
    interval reaches below and above the estimate; and the truth of each, shape (runs, m).
    """

    p: list[Floats] = field(default_factory=list)
    q: list[Floats] = field(default_factory=list)
    t: list[Floats] = field(default_factory=list)
    estimate: list[Floats] = field(default_factory=list)
    below: list[Floats] = field(default_factory=list)
    above: list[Floats] = field(default_factory=list)
    truth: list[list[float]] = field(default_factory=list)

    def add(self, design: StoppingDesign, drawn: Drawn) -> None:
        rows = [look_at(design, data) for data in drawn.claims]
        kept = (self.p, self.q, self.t, self.estimate, self.below, self.above)
        for place, values in enumerate(kept):
            values.append(np.array([row[place] for row in rows]))
        self.truth.append(drawn.truths)


def look_at(design: StoppingDesign, data: Data) -> Floats:
    """p, q, information, estimate and the reach of its interval below and above, of one claim at
    every look, shape (6, looks).
    """
    found = np.full((6, len(design.looks)), math.nan)
    found[:2] = _p_and_q(design, data)
    for k in range(len(design.looks)):
        if isinstance(data, OutputBlocks):
            found[2, k] = design.looks[k] / design.looks[-1]
            continue
        so_far = data.up_to(k + 1)
        found[2, k] = information(design, so_far, k + 1)
        found[3:, k] = _interval(so_far, design.looks[k])
    return found


def _interval(data: ItemPaths, outputs: int) -> tuple[float, float, float]:
    """The estimate, and how far its interval reaches below and above: of a share the one of
    reports, of a difference t over items.
    """
    if data.rates.shape[1] > 1:
        d = data.differences
        half = t_quantile(0.975, d.size - 1.0) * float(d.std(ddof=1)) / math.sqrt(d.size)
        return float(d.mean()), half, half
    hits = np.rint(data.rates[:, 0, -1] * outputs)
    share = clustered_share(successes=hits, n=np.full(hits.size, outputs))
    if share.value is None or share.low is None or share.high is None:
        return math.nan, math.nan, math.nan
    return share.value - data.null, share.value - share.low, share.high - share.value


def _p_and_q(design: StoppingDesign, data: Data) -> Floats:
    """Of a claim far from any rejection q is known well enough from a part of the flips, which are
    the first of all; its p is above ``LARGEST`` then.
    """
    few = replace(design, claims=1)
    scores = scores_of(data, few)
    q = np.count_nonzero(scores >= scores[:, :1], axis=1) / scores.shape[1]
    if (q / np.array(design.spending)).min() > 1.25 * LARGEST:
        return np.stack([np.ones(q.size), q])
    scores = scores_of(data, design)
    q = np.count_nonzero(scores >= scores[:, :1], axis=1) / scores.shape[1]
    return np.stack([sequential_p(scores, design, LARGEST), q])


@dataclass(frozen=True)
class Result:
    """The row of one shape, truth and rule. error: how often anything false is claimed, under
    Benjamini–Hochberg the mean share of false claims.
    """

    error: float
    full_error: float
    calls: float
    power: float
    full_power: float
    covered: float
    least_covered: float
    full_covered: float
    full_least: float


def result(shape: Shape, looked: Looked, method: Method) -> Result:
    """What runs do under a rule, beside the full run with the same rule."""
    design = replace(shape.design, method=method)
    p, q, t = (np.array(values) for values in (looked.p, looked.q, looked.t))
    same = np.full((design.claims,) * 2, shape.together) | np.eye(design.claims, dtype=bool)
    followed = follow_runs(design, p, q, t, same)
    full = rules.are_rejected(design, q[..., -1])
    truth = np.array(looked.truth)
    is_null = truth == 0
    calls = rounds_asked(design, followed, shape.uses, sizes=shape.sizes)
    covered, full_covered = (
        _coverage(looked, truth, last, g)
        for last, g in (
            (followed.last, widening(design)),
            (np.full_like(followed.last, len(design.looks) - 1), 1.0),
        )
    )
    return Result(
        _error(followed.rejected, is_null, method),
        _error(full, is_null, method),
        float(calls.mean()),
        float(followed.rejected[~is_null].mean()) if (~is_null).any() else math.nan,
        float(full[~is_null].mean()) if (~is_null).any() else math.nan,
        *covered,
        *full_covered,
    )


def _error(rejected: NDArray[np.bool_], is_null: NDArray[np.bool_], method: Method) -> float:
    """The familywise error of Holm, the false discovery rate of Benjamini–Hochberg."""
    false = (rejected & is_null).sum(axis=1)
    if method == "holm":
        return float((false > 0).mean())
    return float((false / np.maximum(rejected.sum(axis=1), 1)).mean())


def _coverage(
    looked: Looked, truth: Floats, last: NDArray[np.intp], g: float
) -> tuple[float, float]:
    """The mean over claims of how often an interval has the truth, and that of the worst."""
    take = last[..., None]
    estimate, below, above = (
        np.take_along_axis(np.array(values), take, axis=2)[..., 0]
        for values in (looked.estimate, looked.below, looked.above)
    )
    known = ~np.isnan(estimate).all(axis=0)
    if not known.any():
        return math.nan, math.nan
    holds = (estimate - g * below <= truth) & (truth <= estimate + g * above)
    each = holds[:, known].mean(axis=0)
    return float(each.mean()), float(each.min())


def simulate(shape: Shape, truth: str, runs: int) -> Looked:
    """The runs of a shape under a truth."""
    looked, place = Looked(), list(SHAPES).index(shape.name)
    rng = np.random.default_rng([SEED, 4, place, (*TRUTHS, "votes", "unequal").index(truth)])
    for _ in range(runs):
        looked.add(shape.design, shape.draw(truth, rng))
    return looked


def sentence(shape: Shape, truth: str, method: Method, runs: int, one: Result) -> str:
    """The row as printed; standard errors of shares in brackets."""

    def share(value: float) -> str:
        error = math.sqrt(max(value * (1 - value), 0) / runs)
        return "–" if math.isnan(value) else f"{value:.4f} ({error:.4f})"

    rule = "Holm" if method == "holm" else "BH"
    power = "–" if math.isnan(one.power) else f"{one.power:.3f} of {one.full_power:.3f}"
    relative = "" if math.isnan(one.power) else f" = {one.power / max(one.full_power, 1e-9):.3f}"
    return (
        f"| {shape.name} | {truth} | {rule} | {runs} | {share(one.error)} | "
        f"{share(one.full_error)} | {one.calls:.3f} | {power}{relative} | "
        f"{one.covered:.3f}, {one.least_covered:.3f} | "
        f"{one.full_covered:.3f}, {one.full_least:.3f} |"
    )


HEADER = (
    "| shape | truth | rule | runs | FWER or FDR | full run | calls | power of the full run's | "
    "covered: mean, worst | full run |\n|---|---|---|---|---|---|---|---|---|---|"
)


def chosen_shapes(only: str) -> Iterator[Shape]:
    """The shapes asked for; those of GRAMVIS where its counts are beside the checkout."""
    for name, make in SHAPES.items():
        needs_counts = name in ("contrasts", "claims", "67", "133")
        if only not in ("", name) or (needs_counts and not COUNTS.exists()):
            continue
        yield make()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", choices=["", *SHAPES])
    parser.add_argument("--truth", default="")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="four runs of the quick shapes")
    asked = parser.parse_args(arguments)
    print(HEADER)
    errors: list[tuple[float, int]] = []
    for shape in chosen_shapes(asked.only):
        if asked.small and shape.name in ("contrasts", "67", "133", "soda"):
            continue
        for truth in shape.truths:
            if asked.truth not in ("", truth):
                continue
            runs = asked.runs or (SMALL_RUNS if asked.small else shape.runs)
            began, looked = time.process_time(), simulate(shape, truth, runs)
            for method in METHODS:
                one = result(shape, looked, method)
                print(sentence(shape, truth, method, runs, one), flush=True)
                if method == "holm" and np.any(np.array(looked.truth) == 0):
                    errors.append((one.error, runs))
            print(f"{time.process_time() - began:.0f} CPU s", file=sys.stderr, flush=True)
    return int(too_many(errors))


def too_many(errors: list[tuple[float, int]]) -> bool:
    """True if a familywise error is above 5 % + 3 standard errors, or the mean above + 2."""
    if not errors:
        return False
    spread = [0.05 * 0.95 / runs for _, runs in errors]
    mean = sum(error for error, _ in errors) / len(errors)
    bound = 0.05 + 2 * math.sqrt(sum(spread)) / len(errors)
    print(f"Holm, any false: {mean:.4f} on average (bound {bound:.4f})")
    each = any(e > 0.05 + 3 * math.sqrt(s) for (e, _), s in zip(errors, spread, strict=True))
    return each or mean > bound


if __name__ == "__main__":
    sys.exit(main())
