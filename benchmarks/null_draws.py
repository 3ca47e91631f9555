"""The labels of a run drawn anew without any effect, one way per protocol (null_runs.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from tiltmeter.analyse.counts.whole_outputs import LabelledOutputs

STRATUM: tuple[str, ...] = ("subject", "annotator", "mode", "language", "attribute")
COUNTED = ("value", "weight", "outputs")
Redraw = Callable[[np.random.Generator], pl.DataFrame]
Begin = Callable[[pl.DataFrame], Redraw]


def mirror(frame: pl.DataFrame) -> Redraw:
    """*She* and *he* exchanged in half of the words."""
    words, places = np.unique(frame["lexeme"].to_numpy(), return_inverse=True)
    exchanged = pl.col("value").replace({"she": "he", "he": "she"})

    def redraw(rng: np.random.Generator) -> pl.DataFrame:
        turned = pl.Series((rng.random(words.size) < 0.5)[places])
        return frame.with_columns(pl.when(turned).then(exchanged).otherwise(pl.col("value")))

    return redraw


def draw_tested(frame: pl.DataFrame) -> Redraw:
    """Which condition of a word is the tested one, drawn anew."""
    keys = frame.select("word", "language")
    items = keys.unique(maintain_order=True).with_row_index("item")
    places = keys.join(items, on=["word", "language"], maintain_order="left")["item"].to_numpy()
    asked, own = (frame[name].to_numpy() for name in ("prompt_language", "language"))
    condition = np.select([asked == "en", asked == "zh"], [1, 2], 0)

    def redraw(rng: np.random.Generator) -> pl.DataFrame:
        to = rng.permuted(np.tile(np.arange(3), (items.height, 1)), axis=1)[places, condition]
        named = np.select([to == 1, to == 2], ["en", "zh"], own)
        return frame.with_columns(prompt_language=pl.Series(named.tolist()))

    return redraw


def deal(item: str, factor: str) -> Begin:
    """Labels of an item dealt anew to the levels of a factor, each level keeping its number."""

    def begin(frame: pl.DataFrame) -> Redraw:
        keys = [name for name in (*STRATUM, item) if name in frame.columns]
        decks = [_deck(part, factor) for _, part in frame.group_by(keys, maintain_order=True)]
        every = pl.concat([deck.rows for deck in decks])

        def redraw(rng: np.random.Generator) -> pl.DataFrame:
            weights = np.concatenate([deck.shuffle(rng) for deck in decks])
            return every.with_columns(weight=pl.Series(weights))

        return redraw

    return begin


@dataclass(frozen=True)
class Deck:
    """The labels of one item and attribute. rows: every level with every value, level by level;
    pool: labels of each value; sizes: labels of each level.
    """

    rows: pl.DataFrame
    pool: np.ndarray
    sizes: np.ndarray

    def shuffle(self, rng: np.random.Generator) -> np.ndarray:
        left, dealt = self.pool, []
        for size in self.sizes:
            dealt.append(rng.multivariate_hypergeometric(left, int(size)))
            left = left - dealt[-1]
        return np.concatenate(dealt).astype(float)


def _deck(part: pl.DataFrame, factor: str) -> Deck:
    sums = part.group_by(factor, "value", maintain_order=True).agg(pl.col("weight").sum())
    levels, values = (part[name].unique(maintain_order=True) for name in (factor, "value"))
    crossed = pl.DataFrame({factor: levels}).join(pl.DataFrame({"value": values}), how="cross")
    table = crossed.join(sums, on=[factor, "value"], how="left", maintain_order="left")
    counts = table["weight"].fill_null(0.0).to_numpy().round().astype(np.int64)
    counts = counts.reshape(len(levels), len(values))
    outputs = dict(part.group_by(factor).agg(pl.col("outputs").sum()).iter_rows())
    first = [[outputs[level], *[0] * (len(values) - 1)] for level in levels]
    made = table.with_columns(outputs=pl.Series(np.concatenate(first), dtype=pl.Int64))
    fixed = part.head(1).drop(factor, "value", "weight", "outputs")
    rows = made.with_columns(weight=pl.lit(0.0)).join(fixed, how="cross").select(part.columns)
    return Deck(rows, counts.sum(axis=0), counts.sum(axis=1))


def deal_answers(item: str) -> Begin:
    """The labels of an item ("" for those of all) dealt anew to all its prompts: no cue moves any
    item, and of "" no item differs from another.
    """

    def begin(frame: pl.DataFrame) -> Redraw:
        keys = [name for name in (*STRATUM, item) if name in frame.columns]
        cells = [name for name in frame.columns if name not in COUNTED]
        each = frame.select(pl.all().repeat_by(pl.col("weight").cast(pl.Int64)).explode())
        decks = each.select(pl.struct(keys).rank("dense").cast(pl.Int64)).to_series().to_numpy()
        each = each[np.argsort(decks, kind="stable")].select(*cells, "value")
        decks = np.sort(decks)

        def redraw(rng: np.random.Generator) -> pl.DataFrame:
            dealt = each["value"].gather(np.lexsort((rng.random(decks.size), decks)))
            counted = each.with_columns(value=dealt).group_by(*cells, "value", maintain_order=True)
            rows = counted.agg(pl.len().cast(pl.Int64).alias("outputs"))
            return rows.with_columns(weight=pl.col("outputs").cast(pl.Float64)).select(
                frame.columns
            )

        return redraw

    return begin


def draw_named(
    item: str, word: str, factor: str, words_sd: float = 0.4, prompt_sd: float = 0.5
) -> Begin:
    """Every answer drawn anew from logits: an item's own (sd 1), its own on each level (.4), a
    cue word's (of every level alike), a prompt's own (.5). Nothing hangs on the level.
    """

    def begin(frame: pl.DataFrame) -> Redraw:
        values = frame["value"].unique().sort().to_list()[-2:]
        cells = _cells(frame)
        codes = [
            cells.select(pl.struct(names).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
            for names in ([item], [item, factor], [factor, word])
        ]
        spreads = (1.0, 0.4, words_sd)
        n = cells["weight"].to_numpy().round().astype(np.int64)

        def redraw(rng: np.random.Generator) -> pl.DataFrame:
            logit = rng.normal(0, prompt_sd, n.size)
            for of, sd in zip(codes, spreads, strict=True):
                logit += rng.normal(0, sd, of.max() + 1)[of]
            hits = rng.binomial(n, 1 / (1 + np.exp(-logit)))
            return _as_labels(cells, dict(zip(values, (hits, n - hits), strict=True)), frame)

        return redraw

    return begin


def draw_texts(rho: float) -> Begin:
    """Texts drawn anew: a word of one of two lists, a score and a length, from normal numbers that
    are correlated by rho within a text, within a cue word, and within an item on each level.
    """

    def begin(frame: pl.DataFrame) -> Redraw:
        keys = ["group", "job", "name"]
        own = frame.filter(pl.col("attribute") == "words")
        texts = own.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())
        n = texts["weight"].to_numpy().round().astype(np.int64)
        texts = texts.select(keys)[np.repeat(np.arange(n.size), n)]
        codes = [
            texts.select(pl.struct(names).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
            for names in (["job"], ["job", "group"], ["group", "name"])
        ]
        about = frame.drop(*keys, "value", "weight", "outputs").unique("attribute")

        def numbers(rng: np.random.Generator, size: int) -> np.ndarray:
            found: np.ndarray = np.sqrt(1 - rho) * rng.standard_normal((size, 3))
            found += np.sqrt(rho) * rng.standard_normal((size, 1))
            return found

        def redraw(rng: np.random.Generator) -> pl.DataFrame:
            z = numbers(rng, len(texts))
            for of, sd in zip(codes, (0.5, 0.2, 0.2), strict=True):
                z = z + sd * numbers(rng, of.max() + 1)[of]
            told = {
                "tone": np.where(z[:, 0] > 0, "agentic", "communal"),
                "score": np.clip(np.round(3 + z[:, 1]), 1, 5).astype(int).astype(str),
                "words": np.round(60 + 10 * z[:, 2]).astype(int).astype(str),
            }
            parts = [
                texts.with_columns(value=pl.Series(values), attribute=pl.lit(name))
                .group_by([*keys, "attribute", "value"], maintain_order=True)
                .agg(weight=pl.len().cast(pl.Float64), outputs=pl.len().cast(pl.Int64))
                for name, values in told.items()
            ]
            return pl.concat(parts).join(about, on="attribute").select(frame.columns)

        return redraw

    return begin


def draw_lineups(names_sd: float, prompt_sd: float = 0.0) -> Begin:
    """Who is ranked first, drawn anew: each name of a line-up attracts by its own logit (sd), in
    each of its prompts by another, and groups make no difference.
    """

    def begin(frame: pl.DataFrame) -> Redraw:
        asked = frame.filter(pl.col("attribute") == "first")
        cells = _cells(asked)
        groups = asked["value"].unique().sort().to_list()
        lineups = cells.select(pl.col("lineup").rank("dense").cast(pl.Int64) - 1).to_series()
        n, places = cells["weight"].to_numpy().round().astype(np.int64), lineups.to_numpy()

        def redraw(rng: np.random.Generator) -> pl.DataFrame:
            logit = rng.normal(0, names_sd, (places.max() + 1, len(groups)))[places]
            attract = np.exp(logit + rng.normal(0, prompt_sd, logit.shape))
            firsts = rng.multinomial(n, attract / attract.sum(axis=1, keepdims=True))
            return _as_labels(cells, dict(zip(groups, firsts.T, strict=True)), frame)

        return redraw

    return begin


def draw_around(
    item: str,
    values: tuple[str, str],
    centres: Mapping[str, float] | None = None,
    prompt_sd: float = 1.0,
) -> Begin:
    """Every answer drawn anew with the share of its item on either side of no tilt with equal
    chances, and of its prompt (logits). centres: the share of each item that is no tilt (one half);
    an item then lies as far below as above it.
    """

    def begin(frame: pl.DataFrame) -> Redraw:
        cells = _cells(frame.filter(pl.col("value").is_in(values)))
        names = cells[item].unique().sort().to_list()
        places = cells[item].replace_strict(names, range(len(names))).to_numpy()
        middle = np.array([0.5 if centres is None else centres[name] for name in names])
        reach = np.minimum(middle, 1 - middle)
        n = cells["weight"].to_numpy().round().astype(np.int64)

        def redraw(rng: np.random.Generator) -> pl.DataFrame:
            of_item = rng.normal(0, 1, len(names))[places]
            away = 2 / (1 + np.exp(-of_item - rng.normal(0, prompt_sd, n.size))) - 1
            hits = rng.binomial(n, middle[places] + reach[places] * away)
            return _as_labels(cells, dict(zip(values, (hits, n - hits), strict=True)), frame)

        return redraw

    return begin


def _cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Prompts with their number of labels in `weight`."""
    keys = [name for name in frame.columns if name not in COUNTED]
    return frame.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())


def _as_labels(
    cells: pl.DataFrame, counts: Mapping[str, np.ndarray], frame: pl.DataFrame
) -> pl.DataFrame:
    """Each value's count in each cell, in the columns of the frame."""
    parts = [
        cells.with_columns(
            value=pl.lit(value), weight=pl.Series(count.astype(float)), outputs=pl.Series(count)
        )
        for value, count in counts.items()
    ]
    return pl.concat(parts).filter(pl.col("weight") > 0).select(frame.columns)


def deal_outputs(found: LabelledOutputs, rng: np.random.Generator) -> LabelledOutputs:
    """Whole pictures dealt anew to the conditions of their object."""
    dealt = {}
    for key, outputs in found.outputs.items():
        places: dict[str, list[int]] = {}
        for n, one in enumerate(outputs):
            places.setdefault(one.factors["object"], []).append(n)
        made = list(outputs)
        for own in places.values():
            for to, source in zip(own, rng.permutation(own), strict=True):
                made[to] = outputs[to]._replace(values=outputs[int(source)].values)
        dealt[key] = made
    # nothing of what was worked out of the outputs as they were
    return LabelledOutputs(dealt, found.asked, found.lists, found.chosen_on)


def refuse(frame: pl.DataFrame, share: float) -> pl.DataFrame:
    """Counts with a share of all answers turned into refusals, at random."""
    counts = frame["weight"].to_numpy().round().astype(np.int64)
    taken = np.random.default_rng(5).binomial(counts, share)
    left = frame.with_columns(weight=pl.Series((counts - taken).astype(float)))
    refused = frame.with_columns(
        weight=pl.Series(taken.astype(float)), value=pl.lit("refusal"), outputs=pl.lit(0, pl.Int64)
    )
    return pl.concat([left, refused])
