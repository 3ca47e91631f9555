"""The two-way variance of a share, a difference or a ratio, over items and cue words.

All functions take a batch: ``shares`` has shape (tables, prompts), so that simulations of thousands
of tables and one run are the same code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.crossed.design import NEGLIGIBLE, Crossed


@dataclass(frozen=True)
class Components:
    """The components of a variance, for B tables and G sides (one if words are matched sets).

    value: the estimate, shape (B,); items: V_i (B,); words: V_w and cells: V_c by side (B, G);
    items_df: the degrees of freedom of V_i; words_df: those of each V_w, shape (B, G).
    """

    value: Floats
    items: Floats
    words: Floats
    cells: Floats
    items_df: float
    words_df: Floats


@dataclass(frozen=True)
class TwoWay:
    """The estimate with its variance over both items and cue words, and t's degrees of freedom,
    each of shape (B,) for B tables. words_sd: the standard deviation between cue words of one side.
    """

    value: Floats
    variance: Floats
    df: Floats
    words_sd: Floats
    parts: Components


def components(
    design: Crossed,
    shares: Floats,
    *,
    ratio: bool = False,
    pooled_words: bool = True,
    item_shifts: bool = True,
) -> Components:
    """Computes V_i, V_w and V_c of p₁ - p₀ (of p on one side, of log p₁/p₀ if ``ratio``).

    shares: the share of hits (or the mean) in each prompt, shape (B, P). With y a prompt's share, n
    its answers, N_g and p_g its side's answers and share, C items and K words:
    e = ±n(y - p_g)/N_g; V_i = C/(C-1)·Σ_i(Σe)²;
    a_i = mean over the item's sides of (share - p_g); t = n(y - p_g - a_i)/N_g; T_k = Σt of a word,
    less its mean over the side's words; V_w = K/(K-1)·ΣT²; V_c = K/(K-1)·Σ_k c/(c-1)·Σ(t - t̄_k)²,
    c the word's prompts (c = 1: Σt²). Matched sets: one cluster over both sides, t signed as e.
    Unequal numbers of words: V_w is the larger of the side's own and the one pooled over sides,
    unless ``pooled_words`` is False. ``item_shifts`` False leaves a_i out, for items with only one
    word.
    For the ratio y and p_g are divided by p_g. Source: Cameron, Gelbach & Miller (2011), JBES 29;
    Owen (2007), Ann. Appl. Stat. 1. NaN if the base of a ratio is 0.
    """
    sums = design.by_side(design.n)
    mean_share = design.by_side(shares * design.n) / sums
    value = mean_share[:, -1] - (mean_share[:, 0] if design.sides == 2 else 0.0)
    if ratio:
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = shares / mean_share[:, design.side]
            value = np.log(mean_share[:, 1] / mean_share[:, 0])
        mean_share = np.ones_like(mean_share)
    rest = shares - mean_share[:, design.side]
    weighted = design.weight * rest
    by_item = design.by_item(design.sign * weighted)
    items = _ratio(design.items) * (by_item**2).sum(axis=1)
    residuals = design.weight * (rest - _item_shifts(design, rest)) if item_shifts else weighted
    signed = residuals * design.sign if design.matched else residuals
    words, cells, df = _word_sums(design, signed, pooled_words)
    return Components(value, items, words, cells, design.items - 1.0, df)


def two_way(design: Crossed, shares: Floats, *, ratio: bool = False) -> TwoWay:
    """Returns the variance of the estimate if both items and cue words are samples.

    V = max(V_i, V_i + λ(V_w - V_c), min(λ, 1)·V_w), with λ from the design alone (`word_weight`)
    and df = max(1, V²/(V_i²/(C-1) + Σ_g(λV_w,g)²/df_g)). If items and words are crossed, λ = 1; if
    words are nested in items, λ = 0 and V is the variance over items alone.
    By hand: tests/stats/crossed/test_variances.py.
    """
    parts = components(design, shares, ratio=ratio)
    weight = word_weight(design)
    between = parts.words.sum(axis=1) - parts.cells.sum(axis=1)
    minimum = min(weight, 1.0) * parts.words.sum(axis=1)
    variance = np.maximum(np.maximum(parts.items, parts.items + weight * between), minimum)
    of_items = parts.items**2 / max(design.items - 1, 1)
    of_words = ((weight * parts.words) ** 2 / np.maximum(parts.words_df, 1)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.fmax(1.0, variance**2 / (of_items + of_words))
    spread = np.sqrt(np.maximum(0.0, weight * between) / max(design.squared_weights, 1e-300))
    return TwoWay(parts.value, variance, df, spread, parts)


def word_weight(design: Crossed) -> float:
    """Computes λ such that V_i + λ(V_w - V_c) counts the variance between cue words once.

    Per cue word, takes V_i, V_w, V_c of a table with 1 in its prompts, 0 elsewhere. With A = ΣV_i,
    Q = Σ(V_w - V_c) and S = `squared_weights`: λ = (S - A)/Q, or 0 if S - A < .02·S or Q ≤ 0. λ is
    1 for crossed designs, 0 for words nested in items, 4 if each item has one of five words.
    """
    if not len(design.indicators):
        return 0.0
    parts = components(design, design.indicators, pooled_words=False)
    squares = design.squared_weights
    remainder = squares - float(parts.items.sum())
    between = float(parts.words.sum() - parts.cells.sum())
    if remainder < NEGLIGIBLE * squares or between <= 0:
        return 0.0
    return remainder / between


def _item_shifts(design: Crossed, rest: Floats) -> Floats:
    """Computes a_i per prompt: its item's share less the side's share, averaged over sides."""
    _, sums, item = design.item_sides
    shift = sums(design.n * rest) / sums(design.n)
    order = np.argsort(item, kind="stable")
    sides = np.bincount(item)
    starts = np.concatenate([[0], np.cumsum(sides)[:-1]])
    by_prompt: Floats = (np.add.reduceat(shift[:, order], starts, axis=1) / sides)[:, design.item]
    return by_prompt


def _word_sums(design: Crossed, beside: Floats, pool: bool) -> tuple[Floats, Floats, Floats]:
    """Returns V_w and V_c by side, and the degrees of freedom of V_w."""
    side, counts = design.word_side, design.words_by_side
    sums, prompts = design.by_word(beside), np.bincount(design.word)
    by_side = np.eye(counts.size)[side]  # (K, G)
    deviations = sums - (sums @ by_side / counts)[:, side]
    squares = design.by_word(beside**2)
    has_several = prompts > 1
    within = np.where(
        has_several, (squares - sums**2 / prompts) * prompts / np.maximum(prompts - 1, 1), squares
    )
    larger = np.array([_ratio(number) for number in counts])
    words, cells = (deviations**2) @ by_side * larger, within @ by_side * larger
    df = np.broadcast_to(np.maximum(counts - 1.0, 0.0), words.shape)
    if pool and counts.size == 2 and counts[0] != counts[1]:
        pooled = ((deviations**2) @ by_side @ counts**2.0)[:, None] / (counts.sum() - 2) / counts
        df = np.where(pooled > words, counts.sum() - 2.0, df)
        words = np.maximum(words, pooled)
    return words, cells, df


def _ratio(number: int) -> float:
    """Returns C/(C - 1); 0 for a single unit, whose variance is unknown."""
    return number / (number - 1) if number > 1 else 0.0
