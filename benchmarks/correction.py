"""Whether correction by gold mends what a judge's errors do, and how often its intervals hold the
truth.

Every table is drawn anew, items included: an item's own share comes from a beta distribution (ICC
.1), its outputs from that share, the judge's answers from its sensitivity and specificity in that
condition, and the outputs that get gold at random. Two conditions are over the same items, half of
which keep their rank. The functions measured are the shipped ones, called a table at a time.

    python benchmarks/correction.py                  # 2,000 tables a design, about twelve minutes
    python benchmarks/correction.py --small          # seconds; what tests/stats runs
    python benchmarks/correction.py --json out.json

Exit status 1 where the promise is broken. Corrected: mean within 1 point + 2 Monte-Carlo standard
errors of the truth, coverage within 95 ± (2 + 2 Monte-Carlo standard errors) points; where half of
the tables are marked ("too few …") at least 92, where gold was oversampled at least 91, less that
error. The judge's own rates and its
agreement with gold: at least 93 less that error. The judge alone is shown beside what is corrected.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiltmeter.stats import association
from tiltmeter.stats.judges import agreement, confusion, correction, multiclass, prediction_powered
from tiltmeter.stats.judges.confusion import Confusion
from tiltmeter.stats.results import ALPHA, Interval

Array = NDArray[Any]
ICC = 0.1
SHAPES = ((20, 16), (60, 10))
GOLD = (50, 100, 200)
JUDGES = ((0.85, 0.97), (0.97, 0.85), (0.97, 0.97), (0.85, 0.85))
# judge in one condition, judge in the other: differing, and a judge that is the same in both
PAIRS = (((0.85, 0.97), (0.97, 0.85)), ((0.97, 0.95), (0.85, 0.9)), ((0.9, 0.9), (0.9, 0.9)))
SHARES = (0.1, 0.3, 0.5, 0.9)
OWN_RATES = ("sensitivity", "specificity", "f1", "kappa", "ac1", "alpha")
GAPS = ((0.1, 0.1), (0.3, 0.3), (0.5, 0.5), (0.4, 0.2), (0.9, 0.8))


@dataclass(frozen=True)
class Row:
    """One design: the mean error and the coverage of the corrected and of the judge's own
    numbers.
    """

    measure: str
    design: str
    tables: int
    refused: float  # per cent of the tables, which are in no other number
    bias: float  # mean of the estimates less the truth
    naive_bias: float
    coverage: float  # per cent
    naive_coverage: float
    width: float  # median
    marked: float  # per cent of the tables that say "too few"
    kept: bool


@dataclass(frozen=True)
class Side:
    """One condition of S tables, summed by item: (S, C) and (S, C, 2, 2), rows truth."""

    said: Array
    n: Array
    weighted: Array
    labels: Array

    def gold(self, table: int) -> Confusion:
        return Confusion(self.weighted[table], self.labels[table])

    def sums(self, table: int) -> prediction_powered.Sums:
        return prediction_powered.class_sums(
            said=self.said[table], n=self.n[table], gold=self.gold(table)
        )


def item_shares(share: float, uniform: Array) -> Array:
    size = 1 / ICC - 1
    return np.asarray(special.betaincinv(share * size, (1 - share) * size, uniform))


def ranks(tables: int, items: int, generator: np.random.Generator) -> tuple[Array, Array]:
    first = generator.random((tables, items))
    return first, np.where(
        generator.random((tables, items)) < 0.5, first, generator.random((tables, items))
    )


def side(
    own: Array,
    m: int,
    judge: tuple[float, float],
    labels: int,
    generator: np.random.Generator,
    oversampled: float = 1.0,
) -> Side:
    """Draws outputs, answers and gold; ``oversampled``: how much likelier what the judge calls less
    often gets gold.
    """
    tables, items = own.shape
    truth = generator.random((tables, items, m)) < own[:, :, None]
    right = generator.random((tables, items, m)) < np.where(truth, judge[0], judge[1])
    said = truth == right
    if oversampled == 1.0:
        order = generator.random((tables, items * m))
        picked = np.zeros((tables, items * m), dtype=bool)
        np.put_along_axis(picked, np.argpartition(order, labels, axis=1)[:, :labels], True, axis=1)
        picked, weight = picked.reshape(truth.shape), np.ones(truth.shape)
    else:
        rare = said == (said.mean(axis=(1, 2), keepdims=True) < 0.5)
        lift = np.where(rare, oversampled, 1.0)
        chance = np.minimum(lift * labels / lift.sum(axis=(1, 2), keepdims=True), 1.0)
        picked, weight = generator.random(truth.shape) < chance, 1 / chance
        weight = (
            weight
            / (weight * picked).sum(axis=(1, 2), keepdims=True)
            * picked.sum(axis=(1, 2), keepdims=True)
        )
    cells = [[(truth == t) & (said == s) & picked for s in (False, True)] for t in (False, True)]
    count = np.array([[cell.sum(2) for cell in row] for row in cells], dtype=float)
    heavy = (
        count
        if oversampled == 1.0
        else np.array([[(cell * weight).sum(2) for cell in row] for row in cells])
    )
    order4 = (2, 3, 0, 1)
    return Side(
        said.sum(2).astype(float),
        np.full((tables, items), float(m)),
        heavy.transpose(order4),
        count.transpose(order4),
    )


def judged(measure: str, design: str, found: list[tuple[Interval, Interval]], truth: float) -> Row:
    used = [(row, plain) for row, plain in found if row.value is not None]
    values = np.array([row.value for row, _ in used], dtype=float)
    plain_values = np.array([plain.value for _, plain in used], dtype=float)
    held = np.array([holds(row, truth) for row, _ in used])
    coverage, slack = 100 * float(held.mean()), 2 + 200 * math.sqrt(0.95 * 0.05 / len(used))
    marked = 100 * float(
        np.mean([row.note is not None and "too few" in row.note for row, _ in used])
    )
    bias, error = float(values.mean()) - truth, float(values.std()) / math.sqrt(len(used))
    if measure in OWN_RATES:
        kept = coverage >= 95 - slack
    else:
        least = 91 if "oversampled" in measure else 92 if marked >= 50 else None
        fits = abs(coverage - 95) <= slack if least is None else coverage >= least + 2 - slack
        kept = fits and abs(bias) <= 0.01 + 2 * error
    width = float(
        np.median(
            [row.high - row.low for row, _ in used if row.low is not None and row.high is not None]
        )
    )
    return Row(
        measure,
        design,
        len(found),
        100 * (1 - len(used) / len(found)),
        bias,
        float(plain_values.mean()) - truth,
        coverage,
        100 * float(np.mean([holds(plain, truth) for _, plain in used])),
        width,
        marked,
        kept,
    )


def holds(row: Interval, truth: float) -> bool:
    return (
        row.low is not None
        and row.high is not None
        and row.low - 1e-12 <= truth <= row.high + 1e-12
    )


def one_share(tables: int, generator: np.random.Generator, small: bool) -> Iterator[Row]:
    """Rogan–Gladen and PPI++ for a share, with gold at random and oversampled where the judge's
    rarer answer is.
    """
    for items, m in SHAPES[:1] if small else SHAPES:
        for share in (0.3, 0.9) if small else SHARES:
            for judge in JUDGES[:2] if small else JUDGES:
                for labels in (100,) if small else GOLD:
                    design = name(items, m, labels, f"{share:g}", judge)
                    own = item_shares(share, generator.random((tables, items)))
                    for kind, lift in (("", 1.0), (", gold oversampled", 4.0)):
                        if lift > 1 and labels != 100:
                            continue
                        drawn = side(own, m, judge, labels, generator, lift)
                        yield judged(
                            "rogan-gladen" + kind,
                            design,
                            [share_of(drawn, t) for t in range(tables)],
                            share,
                        )
                        yield judged(
                            "ppi++" + kind,
                            design,
                            [powered_of(drawn, t) for t in range(tables)],
                            share,
                        )


def name(items: int, m: int, labels: int, what: str, *judges: tuple[float, float]) -> str:
    return f"{items} × {m}, {labels} gold, {what}, judge " + " | ".join(
        f"{a:g}/{b:g}" for a, b in judges
    )


def share_of(drawn: Side, t: int) -> tuple[Interval, Interval]:
    found = correction.rogan_gladen(said=drawn.said[t], n=drawn.n[t], gold=drawn.gold(t))
    return found.corrected, found.uncorrected


def powered_of(drawn: Side, t: int) -> tuple[Interval, Interval]:
    found = prediction_powered.prediction_powered(sums=drawn.sums(t))
    return found.corrected, found.uncorrected


def differences(tables: int, generator: np.random.Generator, small: bool) -> Iterator[Row]:
    """Two conditions: errors of their own, and PPI++."""
    for items, m in SHAPES[:1] if small else SHAPES:
        for a, b in ((0.3, 0.3), (0.4, 0.2)) if small else GAPS:
            for one, other in PAIRS[::2] if small else PAIRS:
                for labels in (100,) if small else GOLD[::2]:
                    first, second = ranks(tables, items, generator)
                    left = side(item_shares(a, first), m, one, labels, generator)
                    right = side(item_shares(b, second), m, other, labels, generator)
                    design, both = (
                        name(items, m, labels, f"{a:g} - {b:g}", one, other),
                        (left, right),
                    )
                    for measure, call in DIFFERENCES.items():
                        yield judged(
                            measure, design, [call(*both, t) for t in range(tables)], a - b
                        )


def own_errors(left: Side, right: Side, t: int) -> tuple[Interval, Interval]:
    found = correction.rogan_gladen_difference(
        said_a=left.said[t],
        n_a=left.n[t],
        said_b=right.said[t],
        n_b=right.n[t],
        golds=(left.gold(t), right.gold(t)),
    )
    return found.corrected, found.uncorrected


def powered_difference(left: Side, right: Side, t: int) -> tuple[Interval, Interval]:
    found = prediction_powered.prediction_powered_difference(
        first=left.sums(t), second=right.sums(t)
    )
    return found.corrected, found.uncorrected


DIFFERENCES: dict[str, Callable[[Side, Side, int], tuple[Interval, Interval]]] = {
    "difference, own errors": own_errors,
    "difference, ppi++": powered_difference,
}

MATRIX = np.array([[0.9, 0.06, 0.04], [0.08, 0.87, 0.05], [0.03, 0.12, 0.85]])


def three_classes(tables: int, generator: np.random.Generator, small: bool) -> Iterator[Row]:
    """Three classes and the judge ``MATRIX``; items' shares are Dirichlet with the same ICC."""
    for items, m in SHAPES[:1] if small else SHAPES:
        for shares in ((0.5, 0.3, 0.2), (0.75, 0.15, 0.1))[: 1 if small else 2]:
            for labels in (100,) if small else (100, 200):
                own = generator.dirichlet(np.array(shares) * (1 / ICC - 1), (tables, items))
                truth = (
                    generator.random((tables, items, m, 1)) > own.cumsum(-1)[:, :, None, :-1]
                ).sum(-1)
                said = (
                    generator.random((tables, items, m, 1)) > MATRIX.cumsum(1)[truth][..., :-1]
                ).sum(-1)
                found = [[] for _ in shares]  # type: list[list[tuple[Interval, Interval]]]
                where = np.repeat(np.arange(items), m)
                for t in range(tables):
                    gold = generator.choice(items * m, labels, replace=False)
                    cells = confusion.confusion(
                        truth=truth[t].ravel()[gold],
                        said=said[t].ravel()[gold],
                        classes=3,
                        clusters=where[gold],
                        items=items,
                    )
                    result = multiclass.corrected_shares(
                        said=(said[t][..., None] == np.arange(3)).sum(1), gold=cells
                    )
                    for k in range(3):
                        found[k].append((result.corrected[k], result.uncorrected[k]))
                for k, share in enumerate(shares):
                    yield judged(
                        "three classes",
                        f"{items} × {m}, {labels} gold, class {k} of {shares}",
                        found[k],
                        share,
                    )


def judge_itself(tables: int, generator: np.random.Generator, small: bool) -> Iterator[Row]:
    """Sensitivity, specificity, κ, AC1 and α of judge against gold: no correction, so both columns
    are alike.
    """
    for items, m in SHAPES[:1] if small else SHAPES:
        for share in (0.3,) if small else (0.1, 0.5):
            for se, sp in JUDGES[:1] if small else JUDGES:
                for labels in (100,) if small else GOLD[::2]:
                    drawn = side(
                        item_shares(share, generator.random((tables, items))),
                        m,
                        (se, sp),
                        labels,
                        generator,
                    )
                    found = [annotators(drawn.gold(t)) for t in range(tables)]
                    for measure, truth in population(share, se, sp).items():
                        pairs = [(row[measure], row[measure]) for row in found]
                        yield judged(
                            measure, name(items, m, labels, f"{share:g}", (se, sp)), pairs, truth
                        )


def annotators(gold: Confusion) -> dict[str, Interval]:
    cells = gold.labels.astype(int)
    where, truth, said = (
        np.repeat(index, cells.ravel())
        for index in (axis.ravel() for axis in np.indices(cells.shape))
    )
    rated = agreement.ratings(codes=np.column_stack([truth, said]), classes=2, clusters=where)
    quality = confusion.class_quality(gold=gold, positive=1)
    return {
        "sensitivity": quality.sensitivity,
        "specificity": quality.specificity,
        "f1": quality.f1,
        "kappa": agreement.cohen_kappa(gold=gold),
        "ac1": agreement.gwet_ac1(rated=rated),
        "alpha": agreement.krippendorff_alpha(rated=rated),
    }


def population(share: float, se: float, sp: float) -> dict[str, float]:
    yes = share * se + (1 - share) * (1 - sp)
    apart = share * (1 - se) + (1 - share) * (1 - sp)
    pi = (share + yes) / 2
    return {
        "sensitivity": se,
        "specificity": sp,
        "f1": 2 * share * se / (share + yes),
        "kappa": 1 - apart / (share * (1 - yes) + yes * (1 - share)),
        "ac1": 1 - apart / (1 - 2 * pi * (1 - pi)),
        "alpha": 1 - apart / (2 * pi * (1 - pi)),
    }


def equivalents(tables: int, generator: np.random.Generator) -> dict[str, float]:
    """How often 30 items whose differences have sd .1 are called equivalent: at 0, half the margin,
    the margin, twice.
    """
    shares = {}
    for truth in (0.0, 0.025, 0.05, 0.1):
        drawn = generator.normal(truth, 0.1, (tables, 30))
        tests = [
            association.equivalence(
                value=row.mean(), se=row.std(ddof=1) / math.sqrt(30), df=29, margin=0.05
            )
            for row in drawn
        ]
        shares[f"{truth:g}"] = (
            sum(test.p is not None and test.p <= ALPHA for test in tests) / tables
        )
    return shares


PARTS = {
    "share": one_share,
    "difference": differences,
    "classes": three_classes,
    "judge": judge_itself,
}


def measure(tables: int, seed: int, small: bool, parts: Sequence[str] = tuple(PARTS)) -> list[Row]:
    """Each part has a generator of its own, so that it is the same alone as among others."""
    return [
        row for part in parts for row in PARTS[part](tables, np.random.default_rng(seed), small)
    ]


def equivalence_kept(shares: dict[str, float], tables: int) -> bool:
    limit = ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / tables)
    return max(shares["0.05"], shares["0.1"]) <= limit


def summary(rows: list[Row]) -> str:
    lines = [
        "| measure | designs | bias of the judge | corrected | coverage of the judge | corrected "
        "| corrected, marked |",
        "|---|---|---|---|---|---|---|",
    ]
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        plain, few = [r for r in mine if r.marked < 50], [r for r in mine if r.marked >= 50]
        cell = [
            ranged([r.naive_bias for r in mine], "+.3f"),
            ranged([r.bias for r in mine], "+.3f"),
            ranged([r.naive_coverage for r in mine], ".1f"),
            ranged([r.coverage for r in plain], ".1f"),
            ranged([r.coverage for r in few], ".1f"),
        ]
        lines.append(f"| {measure} | {len(mine)} | " + " | ".join(cell) + " |")
    return "\n".join(lines)


def ranged(values: list[float], form: str) -> str:
    return f"{min(values):{form}} to {max(values):{form}}" if values else "–"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, help="a design; 2,000 by default, 300 with --small")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--json", help="also write the rows there")
    given = parser.parse_args()
    tables = given.tables or (300 if given.small else 2000)
    rows = measure(tables, given.seed, given.small, [given.only] if given.only else tuple(PARTS))
    shares = equivalents(tables, np.random.default_rng(given.seed))
    print(summary(rows), shares, sep="\n\n")
    broken = [row for row in rows if not row.kept]
    for row in broken:
        print("broken:", row)
    if given.json:
        Path(given.json).write_text(
            json.dumps({"rows": [asdict(row) for row in rows], "equivalent": shares})
        )
    return 1 if broken or not equivalence_kept(shares, tables) else 0


if __name__ == "__main__":
    sys.exit(main())
