"""How often the intervals of ``tiltmeter.stats`` hold the truth, and how often its tests cry wolf.

Every table is drawn anew, items included: each cluster's own share comes from a beta distribution
with the given mean and intra-cluster correlation, each output from that share. The functions
measured are the shipped ones, called a table at a time; shares of whole counts are worked out all
at once, and some of each design held against the shipped function (few_items.py).

    python benchmarks/coverage.py                  # 2,000 tables a design, about fifteen minutes
    python benchmarks/coverage.py --small          # seconds; what tests/stats runs
    python benchmarks/coverage.py --json out.json --picture docs/pictures/coverage.svg

Exit status 1 where the promise is broken. Shares and odds at .1-.9, C ≥ 9 and ICC ≤ .5: coverage
at least 95 less 2 points and 2 Monte-Carlo standard errors, and from 50 clusters on and for
probabilities at most as much above. Elsewhere, and for differences and ratios:
at least 93 less 2 Monte-Carlo standard errors, or at least half of the tables marked as too few
clusters; shares of counts over fewer than 50 items at ICC .8: at least 86 less 2 such errors.
Tests: P(p ≤ α) ≤ α + 2 standard errors; the many checks make one in forty fail by chance, so what
fails is drawn once more with ten times the tables, and that decides. False discoveries: at most
6 %.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import few_items
import numpy as np
from few_items import Limits
from scipy import special

from tiltmeter.stats import association, multiplicity, rates, wilson
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.results import Interval
from tiltmeter.stats.shuffles import resampling

SHARES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
ICCS = (0.0, 0.05, 0.2, 0.5, 0.8)
ALPHAS = (0.01, 0.05, 0.1)
# name: clusters, outputs a cluster, and whether a cluster's share is known exactly
# (log-probabilities)
SHAPES: dict[str, tuple[int, int, bool]] = {
    "roles, all words": (100, 10, False),
    "roles, a class": (30, 10, False),
    "roles, a small class": (14, 10, False),
    "roles, the smallest class": (9, 10, False),
    "twelve items of 11": (12, 11, False),
    "sixteen items of 49": (16, 49, False),
    "words, occupations": (20, 180, False),
    "GRAMVIS, a language": (40, 16, False),
    "GRAMVIS, feminine words": (111, 16, False),
    "ProText, texts": (370, 1, False),
    "roles by log-probability, all words": (100, 1, True),
    "roles by log-probability, a class": (30, 1, True),
    "roles by log-probability, the smallest class": (9, 1, True),
}
ALIKE = 86  # per cent, of items that nearly always give one answer (ICC .8): no more is claimed
MARKS = {"few_clusters", "few_carriers", "other_kinds"}
SMALL = ("roles, the smallest class", "GRAMVIS, a language")


@dataclass(frozen=True)
class Row:
    """One design: what was promised of it, and what came out."""

    measure: str
    shape: str
    clusters: int
    per_cluster: int
    share: float
    icc: float
    tables: int
    coverage: float  # per cent
    marked: float  # per cent of the tables that say "too few clusters"
    width: float  # median
    promise: str
    kept: bool


def cluster_shares(share: float, icc: float, uniform: np.ndarray) -> np.ndarray:
    """Each cluster's own share, from uniform numbers: beta with this mean and correlation."""
    if icc == 0:
        return np.full_like(uniform, share)
    size = 1 / icc - 1
    return np.asarray(special.betaincinv(share * size, (1 - share) * size, uniform))


def paired_uniforms(
    tables: int, clusters: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Two conditions over the same clusters: half of the clusters keep their rank, half are drawn
    anew.
    """
    first = generator.random((tables, clusters))
    fresh = generator.random((tables, clusters))
    return first, np.where(generator.random((tables, clusters)) < 0.5, first, fresh)


def successes(
    truth: np.ndarray, per_cluster: int, exact: bool, generator: np.random.Generator
) -> np.ndarray:
    return truth * per_cluster if exact else generator.binomial(per_cluster, truth).astype(float)


def judged(measure: str, shape: str, share: float, icc: float, found: Limits, truth: float) -> Row:
    """Coverage of the truth and the verdict. A table without an interval holds nothing (its limits
    are not a number): it is a miss.
    """
    clusters, per_cluster, _ = SHAPES[shape]
    coverage = 100 * float(np.mean((found.low <= truth) & (truth <= found.high)))
    marked = 100 * float(np.mean(found.marked))
    slack = 2 + 2 * 100 * math.sqrt(0.95 * 0.05 / found.low.size)
    few = clusters < rates.MANY_CLUSTERS and not SHAPES[shape][2]
    core = 0.1 <= share <= 0.9 and clusters >= 9 and icc <= 0.5
    if core and measure in ("share", "odds"):
        least, most = 95 - slack, 100.0 if few else 95 + slack
        promise, kept = f"{least:.1f} to {most:.1f}", least <= coverage <= most
    else:
        least = ALIKE - slack + 2 if few and icc > 0.5 and measure == "share" else 95 - slack
        promise, kept = f"≥ {least:.1f} or marked", coverage >= least or marked >= 50
    width = float(np.nanmedian(found.high - found.low))
    return Row(
        measure,
        shape,
        clusters,
        per_cluster,
        share,
        icc,
        found.low.size,
        coverage,
        marked,
        width,
        promise,
        bool(kept),
    )


def limits(rows: Sequence[Interval]) -> Limits:
    """Of tables that were worked out one at a time."""

    def column(values: Iterable[float | None]) -> np.ndarray:
        return np.array([math.nan if value is None else value for value in values])

    return Limits(
        column(row.value for row in rows),
        column(row.low for row in rows),
        column(row.high for row in rows),
        np.array([bool(MARKS & set(row.cautions)) for row in rows]),
    )


def shares(x: np.ndarray, per_cluster: int, exact: bool) -> Limits:
    """`rates.clustered_share` of each table: all at once where counts are whole (few_items.py)."""
    if exact:
        n = np.full(x.shape[1], float(per_cluster))
        return limits([rates.clustered_share(successes=one, n=n) for one in x])
    found = few_items.hybrid(x, per_cluster)
    few_items.check(x, per_cluster, found)
    return found


def odds_of(x: np.ndarray, per_cluster: int, found: Limits) -> Limits:
    """`association.odds` of each table, from its share; by itself where one count is 0."""
    low, high = (end / np.maximum(1 - end, 1e-12) for end in (found.low, found.high))
    for place in np.flatnonzero((found.share <= 0) | (found.share >= 1)):
        row = association.odds(first=x[place], second=per_cluster - x[place])
        low[place], high[place] = row.low or 0.0, row.high or math.inf
    return Limits(found.share, low, high, found.marked)


def compared_rows(
    shape: str, share: float, icc: float, tables: int, generator: np.random.Generator
) -> Iterator[Row]:
    """Difference, ratio and odds of two paired conditions; the other condition lies .05 nearer to
    .5.
    """
    clusters, per_cluster, exact = SHAPES[shape]
    n = np.full(clusters, float(per_cluster))
    other = share + 0.05 if share < 0.5 else share - 0.05
    first, second = paired_uniforms(tables, clusters, generator)
    a = successes(cluster_shares(share, icc, first), per_cluster, exact, generator)
    b = successes(cluster_shares(other, icc, second), per_cluster, exact, generator)
    sides = [
        {"successes_a": x, "n_a": n, "successes_b": y, "n_b": n} for x, y in zip(a, b, strict=True)
    ]
    place = (shape, share, icc)
    differences = limits([rates.clustered_difference(**one) for one in sides])
    yield judged("difference", *place, differences, share - other)
    yield judged(
        "ratio", *place, limits([association.ratio(**one) for one in sides]), share / other
    )
    odds = odds_of(a, per_cluster, shares(a, per_cluster, exact))
    yield judged("odds", *place, odds, share / (1 - share))


def intervals(*, tables: int, seed: int, small: bool) -> list[Row]:
    shapes = SMALL if small else tuple(SHAPES)
    means = (0.1, 0.5) if small else SHARES
    found: list[Row] = []
    for s, shape in enumerate(shapes):
        iccs = (
            (0.05, 0.5)
            if small
            else (0.0,)
            if SHAPES[shape][1] == 1 and not SHAPES[shape][2]
            else ICCS
        )
        for i, icc in enumerate(iccs):
            if SHAPES[shape][2] and icc == 0:
                # exact shares that do not differ between clusters have no sampling to measure
                continue
            for j, share in enumerate(means):
                generator = np.random.default_rng([seed, s, i, j])
                clusters, per_cluster, exact = SHAPES[shape]
                truth = cluster_shares(share, icc, generator.random((tables, clusters)))
                x = successes(truth, per_cluster, exact, generator)
                own = shares(x, per_cluster, exact)
                found.append(judged("share", shape, share, icc, own, share))
                if share in (0.1, 0.3, 0.5, 0.9) and icc <= 0.5:
                    found += compared_rows(shape, share, icc, tables, generator)
    return found


def alternatives(
    x: np.ndarray, n: np.ndarray, generator: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """What else is in use, for the table of what goes wrong otherwise."""
    total, clusters, share = n.sum(), n.size, x.sum() / n.sum()
    variance, _ = rates.cluster_variance((x - share * n) / total)
    t, se = t_quantile(0.975, clusters - 1.0), math.sqrt(variance)
    pooled = wilson.wilson(float(x.sum()), float(total))
    picks = generator.integers(0, clusters, (300, clusters))
    low, high = np.quantile(x[picks].sum(axis=1) / n[picks].sum(axis=1), (0.025, 0.975))
    spread = share * (1 - share)
    logit = (
        (share, share)
        if spread == 0
        else tuple(special.expit(special.logit(share) + s * t * se / spread) for s in (-1, 1))
    )
    effective = spread / variance if variance > 0 else float(clusters)
    found = {
        "pooled Wilson": (pooled.low or 0.0, pooled.high or 0.0),
        "percentile bootstrap of clusters": (float(low), float(high)),
        "t(C-1)": (share - t * se, share + t * se),
        "logit, t(C-1)": (float(logit[0]), float(logit[1])),
        "Wilson, effective n, t(C-1)": wilson.wilson_limits(share, effective, t),
    }
    whole = max(effective, 1.0)
    tails = (t_quantile(0.975, max(total - 1.0, 1.0)) / t) ** 2 * min(whole, total)
    hits = share * tails
    found["Korn-Graubard, design effect ≥ 1"] = (
        float(special.betaincinv(hits, tails - hits + 1, 0.025)) if hits > 0 else 0.0,
        float(special.betaincinv(hits + 1, tails - hits, 0.975)) if hits < tails - 1e-9 else 1.0,
    )
    ours = rates.clustered_share(successes=x, n=n)
    found["shipped"] = (ours.low or 0.0, ours.high if ours.high is not None else 1.0)
    return found


def otherwise(*, tables: int, seed: int) -> dict[str, dict[str, float]]:
    """Coverage of the alternatives at the shapes where they differ: {design: {method: per
    cent}}.
    """
    designs = [
        ("roles, the smallest class", 0.5, 0.0),
        ("roles, the smallest class", 0.5, 0.2),
        ("roles, the smallest class", 0.1, 0.05),
        ("roles, the smallest class", 0.1, 0.5),
        ("roles, the smallest class", 0.98, 0.05),
        ("roles, a class", 0.95, 0.5),
        ("words, occupations", 0.1, 0.5),
        ("GRAMVIS, a language", 0.3, 0.2),
        ("GRAMVIS, a language", 0.05, 0.5),
    ]
    found: dict[str, dict[str, float]] = {}
    for d, (shape, share, icc) in enumerate(designs):
        clusters, per_cluster, exact = SHAPES[shape]
        generator = np.random.default_rng([seed, 77, d])
        truth = cluster_shares(share, icc, generator.random((tables, clusters)))
        n = np.full(clusters, float(per_cluster))
        held: dict[str, int] = {}
        for x in successes(truth, per_cluster, exact, generator):
            for method, (low, high) in alternatives(x, n, generator).items():
                held[method] = held.get(method, 0) + (low <= share <= high)
        found[f"C = {clusters}, m = {per_cluster}, share {share}, ICC {icc}"] = {
            method: 100 * count / tables for method, count in held.items()
        }
    return found


NULLS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "symmetric": lambda g, c: g.normal(size=c),
    "skewed": lambda g, c: g.exponential(size=c) - g.exponential(size=c),
    "sparse": lambda g, c: (g.binomial(10, 0.03, c) - g.binomial(10, 0.03, c)) / 10,
    "single-valued": lambda g, c: g.choice([-0.1, 0.1], c),
    "no difference at all": lambda g, c: np.zeros(c),
}


def sign_flip_levels(*, tables: int, seed: int) -> dict[str, tuple[int, list[float]]]:
    """Tables drawn, and P(p ≤ α) at .01, .05, .1 of the sign-flip test where nothing differs."""
    found = {}
    for k, (name, draw) in enumerate(NULLS.items()):
        for clusters in (9, 14, 40):
            drawn, levels = tables, sign_flip_level(draw, clusters, tables, [seed, 88, k, clusters])
            if not level_kept(levels, tables):
                drawn, levels = (
                    10 * tables,
                    sign_flip_level(draw, clusters, 10 * tables, [seed, 89, k, clusters]),
                )
            found[f"{name}, C = {clusters}"] = drawn, levels
    return found


def sign_flip_level(
    draw: Callable[[np.random.Generator, int], np.ndarray],
    clusters: int,
    tables: int,
    seed: list[int],
) -> list[float]:
    g = np.random.default_rng(seed)
    tests = (
        resampling.sign_flip(differences=draw(g, clusters), draws=999, generator=g)
        for _ in range(tables)
    )
    p = np.array([1.0 if test.p is None else test.p for test in tests])
    return [float((p <= alpha + 1e-12).mean()) for alpha in ALPHAS]


def false_discoveries(*, families: int, seed: int, cells: int = 40) -> dict[str, float]:
    """Mean share of false rejections after Benjamini-Hochberg at .05, C = 20, by how many cells
    differ.
    """
    found = {}
    for true in (0, 10, 30):
        g, shares = np.random.default_rng([seed, 99, true]), []
        for _ in range(families):
            d = g.normal(size=(cells, 20)) + np.where(np.arange(cells) < true, 0.8, 0.0)[:, None]
            adjusted = multiplicity.benjamini_hochberg(
                p=[association.paired_t(differences=row).p for row in d]
            )
            rejected = np.array([q is not None and q <= 0.05 for q in adjusted])
            shares.append(rejected[true:].sum() / max(rejected.sum(), 1))
        found[f"{true} of {cells} cells differ"] = float(np.mean(shares))
    return found


def level_kept(levels: list[float], tables: int) -> bool:
    """P(p ≤ α) ≤ α + 2 standard errors at every α."""
    return all(
        level <= alpha + 2 * math.sqrt(alpha * (1 - alpha) / tables)
        for level, alpha in zip(levels, ALPHAS, strict=True)
    )


def markdown(rows: list[Row]) -> Iterator[str]:
    """One table a measure: a line a shape and ICC, a column a share; ! broken, * half or more
    marked.
    """
    for measure in dict.fromkeys(row.measure for row in rows):
        chosen = [row for row in rows if row.measure == measure]
        shares = sorted({row.share for row in chosen})
        yield f"\n**{measure}**: coverage in per cent, {chosen[0].tables:,} tables a design\n"
        yield "| shape | C × m | ICC | " + " | ".join(f"{s:g}" for s in shares) + " |"
        yield "|---|---|---|" + "---|" * len(shares)
        for key in dict.fromkeys((r.shape, r.icc) for r in chosen):
            line = {r.share: r for r in chosen if (r.shape, r.icc) == key}
            one = next(iter(line.values()))
            cells = [_cell(line[s]) if s in line else "" for s in shares]
            yield (
                f"| {one.shape} | {one.clusters} × {one.per_cluster} | {one.icc:g} | "
                + " | ".join(cells)
                + " |"
            )


def _cell(row: Row) -> str:
    return f"{row.coverage:.1f}" + ("*" if row.marked >= 50 else "") + ("" if row.kept else " !")


def picture(found: dict[str, dict[str, float]]) -> str:
    """Coverage of each method at each design, as dots on a line; SVG without a library."""
    methods = list(next(iter(found.values())))
    colours = ["#b2182b", "#ef8a62", "#a6611a", "#878787", "#67a9cf", "#8073ac", "#01665e"]
    left, right, top, step = 300, 760, 60 + 18 * len(methods), 30
    height = top + step * len(found) + 50

    def x(value: float) -> float:
        return left + (max(value, 40) - 40) / 60 * (right - left)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" '
        'font-family="sans-serif" font-size="12" '
        'role="img"><title>Coverage of 95 % intervals for a clustered share, by method</title>',
        f'<rect width="800" height="{height}" fill="#fff"/>',
        '<text x="20" y="24" font-size="15">How often a "95 %" interval holds the truth (per '
        "cent)</text>",
        f'<rect x="{x(93):.0f}" y="{top - 14}" width="{x(97) - x(93):.0f}" '
        f'height="{step * len(found)}" '
        'fill="#e6f2ef"/>',
    ]
    for k, method in enumerate(methods):
        parts.append(f'<circle cx="30" cy="{44 + 18 * k}" r="5" fill="{colours[k]}"/>')
        parts.append(f'<text x="44" y="{48 + 18 * k}">{method}</text>')
    for d, (design, values) in enumerate(found.items()):
        y = top + step * d
        parts.append(f'<text x="20" y="{y + 4}">{design}</text>')
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        for k, method in enumerate(methods):
            parts.append(
                f'<circle cx="{x(values[method]):.1f}" cy="{y}" r="5" fill="{colours[k]}" '
                'fill-opacity=".85"/>'
            )
    for tick in range(40, 101, 10):
        label = "≤ 40" if tick == 40 else str(tick)
        parts.append(
            f'<text x="{x(tick):.0f}" y="{height - 26}" text-anchor="middle">{label}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def few_items_grid(*, small: bool, seed: int) -> list[str]:
    """The grid of few items beside the interval before (few_items.py): printed; broken promises."""
    tables = 100 if small else 1_000
    rows = [few_items.measured(one, tables, seed) for one in few_items.designs(small)]
    print("\n**share, few items**:", *few_items.markdown(rows), sep="\n")
    return few_items.broken(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="two shapes, 400 tables")
    parser.add_argument("--tables", type=int, help="simulated tables a design")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write all numbers here")
    parser.add_argument("--picture", type=Path, help="write the picture of the alternatives here")
    chosen = parser.parse_args()
    tables = chosen.tables or (400 if chosen.small else 2000)
    rows = intervals(tables=tables, seed=chosen.seed, small=chosen.small)
    levels = sign_flip_levels(tables=tables, seed=chosen.seed)
    discoveries = false_discoveries(families=tables, seed=chosen.seed)
    others = otherwise(tables=tables, seed=chosen.seed)
    print("\n".join(markdown(rows)))
    grid = few_items_grid(small=chosen.small, seed=chosen.seed)
    print("\n| sign flip, no difference | P(p ≤ .01) | P(p ≤ .05) | P(p ≤ .1) |\n|---|---|---|---|")
    for name, (drawn, found) in levels.items():
        print(
            f"| {name}{'' if drawn == tables else f' ({drawn:,} tables)'} | "
            + " | ".join(f"{v:.4f}" for v in found)
            + " |"
        )
    print("\n| Benjamini-Hochberg at .05 | false discoveries |\n|---|---|")
    for name, value in discoveries.items():
        print(f"| {name} | {value:.4f} |")
    print("\n| otherwise | " + " | ".join(next(iter(others.values()))) + " |")
    print("|---|" + "---|" * len(next(iter(others.values()))))
    for name, methods in others.items():
        print(f"| {name} | " + " | ".join(f"{v:.1f}" for v in methods.values()) + " |")
    if chosen.json:
        record = {
            "rows": [asdict(r) for r in rows],
            "sign_flip": levels,
            "fdr": discoveries,
            "otherwise": others,
        }
        chosen.json.write_text(json.dumps(record, indent=1), encoding="utf-8")
    if chosen.picture:
        chosen.picture.write_text(picture(others), encoding="utf-8")
    broken = [
        f"{r.measure}, {r.shape}, {r.share}, ICC {r.icc}: {r.coverage:.1f}"
        for r in rows
        if not r.kept
    ]
    broken += grid
    broken += [
        f"sign flip: {name}"
        for name, (drawn, found) in levels.items()
        if not level_kept(found, drawn)
    ]
    broken += [f"false discoveries: {name}" for name, value in discoveries.items() if value > 0.06]
    print(f"\n{len(rows)} interval designs, {len(broken)} promises broken", *broken, sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
