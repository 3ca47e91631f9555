"""Other intervals for a share corrected by gold, on the same tables as the shipped one of
``correction.py``.

    python benchmarks/correction_alternatives.py     # 2,000 tables a design, half a minute

Prints coverage in per cent; 95 is right. docs/explanation/statistics.md says what follows from it.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from correction import Array, Side, holds, item_shares, name, share_of, side
from scipy import special

OTHERWISE = (
    ((20, 16), 0.03, (0.97, 0.97), 200),
    ((20, 16), 0.1, (0.85, 0.97), 50),
    ((20, 16), 0.1, (0.97, 0.85), 200),
    ((20, 16), 0.5, (0.85, 0.85), 100),
    ((60, 10), 0.1, (0.97, 0.97), 50),
    ((60, 10), 0.3, (0.97, 0.97), 50),
    ((60, 10), 0.03, (0.97, 0.97), 50),
)


def otherwise(tables: int, seed: int) -> dict[str, dict[str, float]]:
    """Coverage of other intervals for one corrected share, on the same tables as the shipped
    one.
    """
    found = {}
    for (items, m), share, judge, labels in OTHERWISE:
        generator = np.random.default_rng(seed)
        drawn = side(
            item_shares(share, generator.random((tables, items))), m, judge, labels, generator
        )
        usable = [t for t in range(tables) if share_of(drawn, t)[0].value is not None]
        limits = alternatives(drawn, np.array(usable), generator)
        held = {
            kind: 100 * float(np.mean((low <= share) & (share <= high)))
            for kind, (low, high) in limits.items()
        }
        held["shipped"] = 100 * float(
            np.mean([holds(share_of(drawn, t)[0], share) for t in usable])
        )
        found[name(items, m, labels, f"{share:g}", judge)] = held
    return found


def alternatives(
    drawn: Side, tables: Array, generator: np.random.Generator
) -> dict[str, tuple[Array, Array]]:
    """Delta method; on log odds; Wilson on its effective n; Lang and Reiczigel's (2014) and a
    parametric bootstrap, both with the effective n of the share; Fieller's without Jeffreys'
    variance."""
    x, n, cells = drawn.said[tables], drawn.n[tables], drawn.labels[tables]
    c = x.shape[1]
    (p, e_p), (se, e_se), (sp, e_sp) = (
        linear(*pair)
        for pair in (
            (x, n),
            (cells[:, :, 1, 1], cells[:, :, 1].sum(2)),
            (cells[:, :, 0, 0], cells[:, :, 0].sum(2)),
        )
    )
    n_se, n_sp, j = cells[:, :, 1].sum((1, 2)), cells[:, :, 0].sum((1, 2)), se + sp - 1
    value, t, scale = (p + sp - 1) / j, special.stdtrit(c - 1, 0.975), c / (c - 1)
    error = np.sqrt(
        scale
        * (((e_p - value[:, None] * e_se + (1 - value)[:, None] * e_sp) / j[:, None]) ** 2).sum(1)
    )
    inside = np.clip(value, 1e-6, 1 - 1e-6)
    centre, spread = special.logit(inside), t * error / (inside * (1 - inside))
    q = t * t * error**2 / (inside * (1 - inside))
    half = t * error * np.sqrt(1 + q / (4 * inside * (1 - inside)))
    n_p = np.maximum(p * (1 - p), 1e-9) / (scale * (e_p**2).sum(1) + 1e-12)
    draws = [
        generator.beta(
            r[:, None] * k[:, None] + 0.5, (1 - r)[:, None] * k[:, None] + 0.5, (len(r), 1000)
        )
        for r, k in ((p, n_p), (se, n_se), (sp, n_sp))
    ]
    booted = np.quantile(
        (draws[0] + draws[2] - 1) / (draws[1] + draws[2] - 1), (0.025, 0.975), axis=1
    )
    top, bottom = e_p + e_sp, e_se + e_sp
    a, b = (
        j**2 - t * t * scale * (bottom**2).sum(1),
        (p + sp - 1) * j - t * t * scale * (top * bottom).sum(1),
    )
    root = np.sqrt(np.maximum(b * b - a * ((p + sp - 1) ** 2 - t * t * scale * (top**2).sum(1)), 0))
    return {
        "judge alone": (
            p - t * np.sqrt(scale * (e_p**2).sum(1)),
            p + t * np.sqrt(scale * (e_p**2).sum(1)),
        ),
        "delta, t(C-1)": (value - t * error, value + t * error),
        "delta on log odds": (special.expit(centre - spread), special.expit(centre + spread)),
        "Wilson on effective n": (
            (inside + q / 2 - half) / (1 + q),
            (inside + q / 2 + half) / (1 + q),
        ),
        "Lang-Reiczigel": lang_reiczigel(p, n_p, se, n_se, sp, n_sp, t),
        "parametric bootstrap": (booted[0], booted[1]),
        "Fieller, no floor": (
            np.where(a > 0, (b - root) / a, 0.0),
            np.where(a > 0, (b + root) / a, 1.0),
        ),
    }


def linear(x: Array, n: Array) -> tuple[Array, Array]:
    total = n.sum(1, keepdims=True)
    value = x.sum(1, keepdims=True) / total
    return value[:, 0], (x - value * n) / total


def lang_reiczigel(
    p: Array, n: Array, se: Array, n_se: Array, sp: Array, n_sp: Array, t: float
) -> tuple[Array, Array]:
    p, n = (n * p + t * t / 2) / (n + t * t), n + t * t
    se, sp, n_se, n_sp = (
        (n_se * se + 1) / (n_se + 2),
        (n_sp * sp + 1) / (n_sp + 2),
        n_se + 2,
        n_sp + 2,
    )
    j = se + sp - 1
    value, v_se, v_sp = (p + sp - 1) / j, se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    centre = value + 2 * t * t * (value * v_se - (1 - value) * v_sp)
    half = t / j * np.sqrt(p * (1 - p) / n + value**2 * v_se + (1 - value) ** 2 * v_sp)
    return centre - half, centre + half


def table(found: dict[str, dict[str, float]]) -> str:
    kinds = list(next(iter(found.values())))
    lines = ["| coverage | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    return "\n".join(
        lines
        + [
            f"| {key} | " + " | ".join(f"{row[kind]:.1f}" for kind in kinds) + " |"
            for key, row in found.items()
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000, help="a design")
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    print(table(otherwise(given.tables, given.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
