"""How often does a run with no effect at all claim something on its first screen?

One run of each protocol is made (of GRAMVIS, its authors' counts for de, fr, it where they lie
beside the checkout). Its labels are then drawn anew under the null, again and again, and each time
the whole of the headline analysis is done: families, tests, intervals, verdicts.

    roles      of each word *she* and *he* change places at random, for all its answers at once
    gramvis    in each word it is drawn which of the three conditions is the tested one
    words      the picks of an occupation are dealt anew to the two genders
    dialogues  all topics are dealt anew to the pairings
    soda       the pictures of an object are dealt anew to base and groups

    python benchmarks/null_runs.py                    # 2,000 analyses each (soda, dialogues 500)
    python benchmarks/null_runs.py --small            # seconds; what tests/analyse runs
    python benchmarks/null_runs.py --only gramvis --runs 500

Exit status 1 where a headline is claimed in more than 5 % + 3 Monte-Carlo standard errors of the
runs of a protocol, or in more than 5 % + 2 of all on average. The seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

import tiltmeter
from tiltmeter import analyse
from tiltmeter.analyse import verdicts
from tiltmeter.analyse.counting import count_labels
from tiltmeter.analyse.outputs import LabelledOutputs, read_labelled_outputs
from tiltmeter.analyse.verdicts import Word
from tiltmeter.api.planted_audits import audits, run_audit
from tiltmeter.protocol import Protocol
from tiltmeter.store import Store

COUNTS = Path(__file__).parents[2] / "shared" / "data" / "gramvis_published_counts_de_fr_it.csv"
ALPHA, RUNS, FEW_RUNS = 0.05, 2_000, 500
STRATUM: tuple[str, ...] = ("subject", "annotator", "mode", "language", "attribute")
Redraw = Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]


@dataclass(frozen=True)
class Null:
    """How the null of one protocol is made. settings: of the planted model to begin with, "" for
    the fair run of selftest; redraw: of its counts, None where whole outputs are dealt anew.
    """

    protocol: str
    settings: str
    redraw: Redraw | None
    runs: int = RUNS


def mirror(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """*She* and *he* exchanged in half of the words."""
    words = frame["lexeme"].unique(maintain_order=True)
    turned = pl.Series("lexeme", words.filter(pl.Series(rng.random(len(words)) < 0.5)))
    exchanged = pl.col("value").replace({"she": "he", "he": "she"})
    return frame.with_columns(
        pl.when(pl.col("lexeme").is_in(turned.implode())).then(exchanged).otherwise(pl.col("value"))
    )


def draw_tested(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Which condition of a word is the tested one, drawn anew."""
    keys = ["word", "language"]
    items = frame.select(keys).unique(maintain_order=True)
    sides = np.array([rng.permutation(3) for _ in range(items.height)])
    items = items.with_columns(*(pl.Series(f"to{k}", sides[:, k]) for k in range(3)))
    controls = pl.when(pl.col("prompt_language") == "zh").then(2).otherwise(0)
    place = pl.when(pl.col("prompt_language") == "en").then(1).otherwise(controls)
    joined = frame.join(items, on=keys, how="left").with_columns(place=place)
    of_control = pl.when(pl.col("place") == 1).then(pl.col("to1")).otherwise(pl.col("to2"))
    to = pl.when(pl.col("place") == 0).then(pl.col("to0")).otherwise(of_control)
    named = pl.when(to == 1).then(pl.lit("en")).when(to == 2).then(pl.lit("zh"))
    joined = joined.with_columns(prompt_language=named.otherwise(pl.col("language")))
    return joined.select(frame.columns)


def deal(item: str, factor: str) -> Redraw:
    """Labels of an item dealt anew to the levels of a factor, each level keeping its number."""

    def redraw(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        keys = [name for name in (*STRATUM, item) if name in frame.columns]
        parts = [_dealt(part, factor, rng) for _, part in frame.group_by(keys, maintain_order=True)]
        return pl.concat(parts).select(frame.columns)

    return redraw


def _dealt(part: pl.DataFrame, factor: str, rng: np.random.Generator) -> pl.DataFrame:
    table = part.pivot(factor, index="value", values="weight", aggregate_function="sum")
    table = table.fill_null(0.0)
    levels = [name for name in table.columns if name != "value"]
    left = table.select(levels).to_numpy().round().astype(np.int64)
    sizes, pool = left.sum(axis=0), left.sum(axis=1)
    rows = []
    outputs = dict(part.group_by(factor).agg(pl.col("outputs").sum()).iter_rows())
    for level, size in zip(levels, sizes, strict=True):
        drawn = rng.multivariate_hypergeometric(pool, int(size))
        pool = pool - drawn
        for n, (value, number) in enumerate(zip(table["value"], drawn, strict=True)):
            rows.append((level, value, float(number), outputs[level] if n == 0 else 0))
    named = (factor, "value", "weight", "outputs")
    schema = [(name, part.schema[name]) for name in named]
    made = pl.DataFrame(rows, schema, orient="row")
    fixed = part.head(1).drop(factor, "value", "weight", "outputs")
    return made.join(fixed, how="cross").select(part.columns)


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
    return replace(found, outputs=dealt)


NULLS = (
    Null("roles", "she=0.5,spread=1", mirror),
    Null("roles", "she=0.5,spread=1,order=0.3,refuse=0.2", mirror),
    Null("gramvis", "", draw_tested),
    Null("words", "", deal("occupation", "gender")),
    Null("dialogues", "", deal("", "pairing"), FEW_RUNS),
    Null("soda", "", None, FEW_RUNS),
)


def headline_only(protocol: Protocol) -> Protocol:
    """The protocol with what its verdicts need: headline measures, their parts and nuisances."""
    names = {part for spec in protocol.measures if spec.headline for part in spec.parts}
    wanted = [
        m for m in protocol.measures if m.headline or m.name in names or m.name == "order_effect"
    ]
    return replace(protocol, measures=tuple(wanted))


def false_claims(null: Null, runs: int, folder: Path) -> Iterator[tuple[bool, bool]]:
    """For each analysis: is a verdict a tilt, is an adjusted p of a headline below .05."""
    run = begin(null, folder)
    protocol = headline_only(run.protocol)
    rng = np.random.default_rng(20261122)
    with Store(run.folder) as store:
        names = analyse.factor_names(protocol, protocol.variants["default"])
        frame, whole = count_labels(store, protocol, names), read_labelled_outputs(store, protocol)
        for _ in range(runs):
            drawn = null.redraw(frame, rng) if null.redraw else frame
            dealt = whole if null.redraw else deal_outputs(whole, rng)
            with (
                patch.object(analyse, "count_labels", return_value=drawn),
                patch.object(analyse, "read_labelled_outputs", return_value=dealt),
            ):
                found = verdicts.verdicts(protocol, analyse.estimates(store, protocol))
            yield (
                any(one.word == Word.TILT for one in found),
                any((one.p_adjusted or 1.0) < ALPHA for one in found),
            )


def begin(null: Null, folder: Path) -> tiltmeter.Run:
    """The run whose labels are drawn anew: the counts, a planted run, or selftest's fair one."""
    if null.protocol == "gramvis":
        return tiltmeter.import_outputs("gramvis", COUNTS, folder / "run")
    if null.settings:
        model = f"planted:{null.settings},seed=1"
        return tiltmeter.run(null.protocol, model, folder / "run", language="en", samples=4)
    fair = (one for one in audits() if one["protocol"] == null.protocol)
    audit = next(one for one in fair if one["name"] == "fair")
    return run_audit(audit, folder, folder / "run")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="40 analyses of the quick ones")
    parser.add_argument("--only", default="", help="one protocol")
    parser.add_argument("--runs", type=int, default=0)
    chosen = parser.parse_args(arguments)
    shares, failed = [], False
    for null in NULLS:
        quick = null.protocol in ("roles", "words")
        if (chosen.only not in ("", null.protocol)) or (chosen.small and not quick):
            continue
        if null.protocol == "gramvis" and not COUNTS.exists():
            print(f"gramvis: skipped, {COUNTS.name} is not beside the checkout")
            continue
        runs = chosen.runs or (40 if chosen.small else null.runs)
        with tempfile.TemporaryDirectory() as folder:
            found = list(false_claims(null, runs, Path(folder)))
        tilts, below = (sum(column) / runs for column in zip(*found, strict=True))
        bound = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)
        failed |= below > bound
        shares.append((below, runs))
        print(
            f"{null.protocol} {null.settings}: {runs} analyses, adjusted p < .05 of a headline "
            f"in {below:.4f} (bound {bound:.4f}), a verdict 'tilt' in {tilts:.4f}",
            flush=True,
        )
    if shares:
        mean = sum(share for share, _ in shares) / len(shares)
        error = math.sqrt(sum(ALPHA * (1 - ALPHA) / runs for _, runs in shares)) / len(shares)
        print(f"all: {mean:.4f} (bound {ALPHA + 2 * error:.4f})")
        failed |= mean > ALPHA + 2 * error
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
