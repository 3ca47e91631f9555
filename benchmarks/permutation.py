"""The permutation kernel: speed against a plain scipy loop, memory, level under the null, and bias.

    python benchmarks/permutation.py                # everything, about two minutes
    python benchmarks/permutation.py --small        # seconds; the loop on two cells, fewer tables
    python benchmarks/permutation.py --json out.json --picture docs/pictures/divergence.svg

Exit status 1 where the promise is broken: 3 × 5 × 8 cells with 8 attributes and 1,000 shuffles of
40 images in under 0.3 CPU s and at least 150 times a loop over scipy's ``jensenshannon``; 10,000
shuffles over ten times the images within 1 GB; P(p ≤ α) ≤ α + 2 standard errors (what fails by
chance is drawn once more with ten times the tables, and that decides); the chance-adjusted value
within .01 of 0 where nothing differs (K = 6, n = 20) and 1 at full separation.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import jensenshannon

from tiltmeter.stats.shuffles.permutation import (
    Permuted,
    base_against_group,
    concentration_difference,
    pairs_within,
)
from tiltmeter.stats.shuffles.shuffling import Shuffles

ALPHAS = (0.01, 0.05, 0.1)
# values an attribute: SODA's taxonomies have three to seven, colours more
VALUES = (6, 5, 4, 7, 8, 5, 6, 3)
SHARES = {
    "even": [0.25] * 4,
    "skewed": [0.9, 0.05, 0.03, 0.02],
    "sparse (20 values)": [0.05] * 20,
    "single-valued": [1.0],
}
MEASURES = ("base against group", "pairs of three groups", "concentration")


def cells(
    count: int, images: int, generator: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Base and group of each cell, ``images`` between them."""
    half = images // 2

    def rows() -> np.ndarray:
        return np.column_stack([generator.integers(0, k, half) for k in VALUES])

    return [(rows(), rows()) for _ in range(count)]


def plain_loop(
    base: np.ndarray, group: np.ndarray, draws: int, generator: np.random.Generator
) -> float:
    """What one would write first: shuffle, count, scipy, average, compare."""
    pooled, size = np.concatenate([base, group]), len(base)

    def statistic(rows: np.ndarray) -> float:
        found = []
        for a, k in enumerate(VALUES):
            first, second = (
                np.bincount(rows[:size, a], minlength=k),
                np.bincount(rows[size:, a], minlength=k),
            )
            found.append(jensenshannon(first, second, base=2) ** 2)
        return float(np.mean(found))

    observed = statistic(pooled)
    reached = sum(
        statistic(pooled[generator.permutation(len(pooled))]) >= observed - 1e-9
        for _ in range(draws)
    )
    return (1 + reached) / (1 + draws)


def speed(*, seed: int, looped: int) -> dict[str, float]:
    """CPU seconds of the kernel over 120 cells and of the loop over ``looped`` of them, in one
    process.
    """
    generator = np.random.default_rng(seed)
    found = cells(120, 40, generator)
    base_against_group(
        base=found[0][0], group=found[0][1], shuffles=Shuffles(draws=10, generator=generator)
    )
    start = time.process_time()
    shuffles = Shuffles(draws=1000, generator=generator)
    ours = [base_against_group(base=b, group=g, shuffles=shuffles) for b, g in found]
    kernel = time.process_time() - start
    start = time.process_time()
    theirs = [plain_loop(b, g, 1000, generator) for b, g in found[:looped]]
    loop = (time.process_time() - start) * len(found) / looped
    apart = max(abs((one.p or 0) - other) for one, other in zip(ours, theirs, strict=False))
    return {
        "kernel_s": kernel,
        "loop_s": loop,
        "looped_cells": looped,
        "ratio": loop / kernel,
        "p_apart": apart,
    }


def memory(*, seed: int) -> dict[str, float]:
    """10,000 shuffles over ten times the images: CPU seconds, and the peak of the whole process."""
    generator = np.random.default_rng(seed)
    found = cells(120, 400, generator)
    start, shuffles = time.process_time(), Shuffles(draws=10_000, generator=generator)
    for base, group in found:
        base_against_group(base=base, group=group, shuffles=shuffles)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "cpu_s": time.process_time() - start,
        "peak_mb": peak / (1024 if sys.platform != "darwin" else 1024**2),
    }


def null_cell(shares: list[float], measure: str, generator: np.random.Generator) -> Permuted:
    """Two attributes that hang together, 20 and 15 (and 20) images, no difference between the
    groups.
    """
    groups = []
    for size in (20, 15, 20)[: 3 if measure == "pairs of three groups" else 2]:
        first = generator.choice(len(shares), size, p=shares)
        other = generator.choice(len(shares), size, p=shares)
        groups.append(
            np.column_stack([first, np.where(generator.random(size) < 0.7, first, other)])
        )
    shuffles = Shuffles(draws=199, generator=generator)
    if measure == "pairs of three groups":
        return pairs_within(groups=groups, shuffles=shuffles)
    if measure == "base against group":
        return base_against_group(base=groups[0], group=groups[1], shuffles=shuffles)
    return concentration_difference(
        base=groups[0], group=groups[1], shuffles=shuffles, values=[20, 20]
    )


def level(name: str, measure: str, tables: int, seed: int) -> list[float]:
    generator = np.random.default_rng([seed, *name.encode(), *measure.encode()])
    found = (null_cell(SHARES[name], measure, generator).p for _ in range(tables))
    p = np.array([1.0 if one is None else one for one in found])
    return [float((p <= alpha + 1e-12).mean()) for alpha in ALPHAS]


def levels(*, tables: int, seed: int) -> dict[str, tuple[int, list[float]]]:
    """Tables drawn, and P(p ≤ α) at .01, .05, .1 where nothing differs."""
    found = {}
    for measure in MEASURES:
        for name in SHARES:
            drawn, one = tables, level(name, measure, tables, seed)
            if not kept(one, tables):
                drawn, one = 10 * tables, level(name, measure, 10 * tables, seed + 1)
            found[f"{measure}, {name}"] = drawn, one
    return found


def kept(found: list[float], tables: int) -> bool:
    pairs = zip(found, ALPHAS, strict=True)
    return all(
        share <= alpha + 2 * math.sqrt(alpha * (1 - alpha) / tables) for share, alpha in pairs
    )


def bias(*, tables: int, seed: int) -> list[dict[str, float]]:
    """Plug-in, its distance (natural logarithm) and the adjusted value by n: no difference, and
    full separation.
    """
    found = []
    for n in (5, 10, 20, 50, 100, 200):
        generator = np.random.default_rng([seed, n])
        shuffles = Shuffles(draws=199, generator=generator)
        null, full = [], []
        for _ in range(tables):
            base, group = generator.integers(0, 6, (2, n))
            null.append(base_against_group(base=base, group=group, shuffles=shuffles))
        for _ in range(20):
            base, group = generator.integers(0, 6, (2, n))
            full.append(base_against_group(base=base, group=group + 6, shuffles=shuffles))
        values = np.array([row.value for row in null], dtype=float)
        parts = np.array([[row.adjusted, row.expected] for row in full], dtype=float)
        found.append(
            {
                "n": n,
                "plugin": float(values.mean()),
                "distance": float(np.sqrt(values * math.log(2)).mean()),
                "adjusted": float(np.mean([row.adjusted for row in null])),
                "separated": float(parts[:, 0].mean()),
                "separated_centred": float((1 - parts[:, 1]).mean()),
            }
        )
    return found


def bootstrap(*, tables: int, seed: int, n: int = 20, resamples: int = 400) -> float:
    """Share of tables whose percentile bootstrap interval of the divergence holds 0, where it is
    0.
    """
    generator, held = np.random.default_rng([seed, 55]), 0
    for _ in range(tables):
        first, second = generator.multinomial(n, [1 / 6] * 6, size=2)
        again = [generator.multinomial(n, side / n, size=resamples) / n for side in (first, second)]
        low = np.quantile(jensenshannon(again[0], again[1], base=2, axis=1) ** 2, 0.025)
        held += bool(low <= 1e-9)
    return held / tables


def picture(rows: list[dict[str, float]]) -> str:
    """Plug-in divergence, its distance and the adjusted value by n where nothing differs."""
    curves = {
        "distance": ("#b2182b", "plug-in distance, natural logarithm"),
        "plugin": ("#ef8a62", "plug-in divergence, bits"),
        "adjusted": ("#01665e", "chance-adjusted divergence"),
    }
    left, bottom, width, height = 60, 300, 560, 220

    def x(n: float) -> float:
        return left + width * math.log(n / 5) / math.log(200 / 5)

    def y(value: float) -> float:
        return bottom - height * value / 0.6

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 360" font-family="sans-serif" '
        'font-size="12" '
        'role="img"><title>Divergence of two groups that do not differ, by outputs a side</title>',
        '<rect width="800" height="360" fill="#fff"/>',
        '<text x="20" y="24" font-size="15">Two groups with no difference (six values): what is '
        "reported, by n</text>",
        f'<text x="{left + width / 2:.0f}" y="346" text-anchor="middle">outputs a side</text>',
    ]
    for tick in (0.0, 0.2, 0.4, 0.6):
        parts.append(
            f'<line x1="{left}" x2="{left + width}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
            'stroke="#ddd"/>'
        )
        parts.append(
            f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    parts += [
        f'<text x="{x(r["n"]):.1f}" y="322" text-anchor="middle">{r["n"]:g}</text>' for r in rows
    ]
    for key, (colour, label) in curves.items():
        points = " ".join(f"{x(r['n']):.1f},{y(r[key]):.1f}" for r in rows)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        parts.append(
            f'<text x="{left + width + 8}" '
            f'y="{y(rows[-1][key]) + (0 if key != "adjusted" else 8):.1f}" '
            f'fill="{colour}">{label.split(",")[0]}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def broken_promises(record: dict[str, Any]) -> list[str]:
    fast, null = record["speed"], next(row for row in record["bias"] if row["n"] == 20)
    checks = {
        f"kernel {fast['kernel_s']:.2f} CPU s": fast["kernel_s"] < 0.3,
        f"{fast['ratio']:.0f} times the loop": fast["ratio"] >= 150,
        f"peak {record['memory']['peak_mb']:.0f} MB": record["memory"]["peak_mb"] < 1024,
        f"adjusted {null['adjusted']:.4f} where nothing differs": abs(null["adjusted"]) < 0.01,
        f"adjusted {null['separated']:.4f} at full separation": abs(null["separated"] - 1) < 1e-9,
    }
    return [name for name, fine in checks.items() if not fine] + [
        name for name, (drawn, found) in record["levels"].items() if not kept(found, drawn)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="the loop on two cells, 300 tables")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write all numbers here")
    parser.add_argument("--picture", type=Path, help="write the picture of the bias here")
    chosen = parser.parse_args()
    tables = 300 if chosen.small else 2000
    record: dict[str, Any] = {
        "memory": memory(seed=chosen.seed),
        "speed": speed(seed=chosen.seed, looped=2 if chosen.small else 120),
        "levels": levels(tables=tables, seed=chosen.seed),
        "bias": bias(tables=tables, seed=chosen.seed),
        "bootstrap": bootstrap(tables=tables, seed=chosen.seed),
    }
    fast, much = record["speed"], record["memory"]
    print("| 120 cells, 8 attributes | CPU s | |\n|---|---|---|")
    print(f"| kernel, 1,000 shuffles of 40 images | {fast['kernel_s']:.2f} | |")
    print(
        f"| plain scipy loop ({fast['looped_cells']} cells timed) | {fast['loop_s']:.1f} | "
        f"{fast['ratio']:.0f} × |"
    )
    print(
        f"| kernel, 10,000 shuffles of 400 images | {much['cpu_s']:.2f} | peak "
        f"{much['peak_mb']:.0f} MB |"
    )
    print(
        f"\n| no difference, {tables:,} tables | P(p ≤ .01) | P(p ≤ .05) | P(p ≤ .1) "
        "|\n|---|---|---|---|"
    )
    for name, (drawn, found) in record["levels"].items():
        print(
            f"| {name}{'' if drawn == tables else f' ({drawn:,} tables)'} | "
            + " | ".join(f"{value:.4f}" for value in found)
            + " |"
        )
    print(
        "\n| n a side | plug-in, bits | distance | adjusted | separated: adjusted | separated: "
        "JS - E₀ |"
    )
    print("|---|---|---|---|---|---|")
    for row in record["bias"]:
        print(
            "| " + " | ".join(f"{v:g}" if k == "n" else f"{v:.4f}" for k, v in row.items()) + " |"
        )
    held = 100 * record["bootstrap"]
    print(
        f"\nPercentile bootstrap of the divergence holds 0 in {held:.1f} % of tables where it is "
        "0 (n = 20)"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=1), encoding="utf-8")
    if chosen.picture:
        chosen.picture.write_text(picture(record["bias"]), encoding="utf-8")
    broken = broken_promises(record)
    print(f"\n{len(broken)} promises broken", *broken, sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
