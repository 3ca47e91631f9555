"""Claims of many cells: how often a run without any effect claims or names something, and how often
a planted one is found and named. Every run goes through `analyse`.

    python benchmarks/many_cells.py --runs 2000 --only small        # null runs of one design
    python benchmarks/many_cells.py --power --runs 400 --only small
    python benchmarks/many_cells.py --out benchmarks/results/many_cells.jsonl

Pictures have 11 attributes of 3 to 7 values; four are shared by all objects, seven are an object's
own. Values of one picture are correlated (a Gaussian factor per picture) by .3 or .6. Designs:

    small      2 objects, men and women, 10 pictures of each prompt: 3 claims
    large      the default of soda: 5 objects, 8 groups in 3 dimensions, 20 pictures: 11 claims
    one        one object, men and women, 50 pictures: 3 claims
    many       8 objects, men and women, 10 pictures: 3 claims
    dialogues  50 dialogues per pairing with one of seven topics: 1 claim

Exit status 1 if any claim, or any name, is false in more than 5 % + 2 standard errors of the null
runs of a design. `--seed` goes on where another call ended; results are appended to `--out`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy.special import ndtr

import tiltmeter
from tiltmeter.analyse import estimates
from tiltmeter.analyse.counts.label_counts import count_labels
from tiltmeter.analyse.counts.whole_outputs import (
    DRAWS,
    LabelledOutput,
    LabelledOutputs,
    read_labelled_outputs,
)
from tiltmeter.analyse.scores import many_cells
from tiltmeter.analyse.whole_run import measure_run
from tiltmeter.protocol import Protocol
from tiltmeter.records import Estimate
from tiltmeter.store import Store

ALPHA = 0.05
SHARED = ("product_color", "background_color", "text_presence", "background_text_presence")
OWN = 7  # attributes of an object alone
GENDER = {"gender": ("men", "women")}
ALL = {
    "age": ("young adults", "middle-aged", "elderly"),
    "gender": ("men", "women"),
    "ethnicity": ("White", "Black", "Asian"),
}
TOPICS = ("greetings", "appearance", "hobbies", "career", "conflicts", "affection", "family")
PAIRINGS = ("FF", "FM", "MF", "MM")
Plant = Callable[[str, str, str], float]  # object, group, attribute → rise of its first value


@dataclass(frozen=True)
class Design:
    """Objects, groups by dimension, pictures of each prompt, correlation within a picture."""

    name: str
    objects: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    pictures: int
    rho: float = 0.3
    base: float | None = None  # the share of a first value without a cue, if it is fixed


OBJECTS = ("car", "laptop", "backpack", "cup", "teddy bear", "sofa", "clock", "toaster")
DESIGNS = {
    "small": Design("small", OBJECTS[:2], GENDER, 10),
    "large": Design("large", OBJECTS[:5], ALL, 20),
    "one": Design("one", OBJECTS[:1], GENDER, 50),
    "many": Design("many", OBJECTS, GENDER, 10),
}


def attributes(thing: str) -> tuple[str, ...]:
    return (*SHARED, *(f"{thing} {n}" for n in range(OWN)))


def distributions(design: Design, rng: np.random.Generator) -> dict[tuple[str, str], np.ndarray]:
    """The shares of the values of each attribute and object, new in each run."""
    found = {}
    for thing in design.objects:
        for name in attributes(thing):
            shares = rng.dirichlet(np.ones(rng.integers(3, 8)))
            if design.base is not None:
                shares = np.append(design.base, shares[1:] / shares[1:].sum() * (1 - design.base))
            found[thing, name] = shares
    return found


def pictures(design: Design, rng: np.random.Generator, plant: Plant | None) -> list[LabelledOutput]:
    """Every picture of a run with its values. plant: what a value rises by, towards which the
    others shrink in proportion.
    """
    shares = distributions(design, rng)
    prompts = [("base", "base"), *((d, g) for d, own in design.groups.items() for g in own)]
    made = []
    for thing in design.objects:
        names = attributes(thing)
        for dimension, group in prompts:
            common = rng.standard_normal((design.pictures, 1))
            each = rng.standard_normal((design.pictures, len(names)))
            ranks = ndtr(math.sqrt(design.rho) * common + math.sqrt(1 - design.rho) * each)
            columns = []
            for place, name in enumerate(names):
                p = shares[thing, name]
                rise = plant(thing, group, name) if plant else 0.0
                if rise:
                    first = min(1.0, max(0.0, p[0] + rise))
                    p = np.append(first, p[1:] / p[1:].sum() * (1 - first))
                columns.append(np.searchsorted(p.cumsum()[:-1], ranks[:, place]))
            factors = {"object": thing, "dimension": dimension, "group": group}
            for row in np.stack(columns, axis=1).tolist():
                values = {name: f"v{code}" for name, code in zip(names, row, strict=True)}
                made.append(LabelledOutput(factors, values))
    return made


def soda_runs(
    design: Design, runs: int, folder: Path, seed: int, plant: Plant | None
) -> Iterator[list[Estimate]]:
    """The rows of one simulated run after another."""
    where = {"object": design.objects, "dimension": ("base", *design.groups)}
    planted = "planted:protocol=soda"
    run = tiltmeter.run("soda", planted, folder / "run", judge=planted, samples=1, where=where)
    protocol = claims_only(run.protocol)
    with Store(run.folder) as store:
        names = measure_run.factor_names(protocol, protocol.variants["default"])
        frame = count_labels(store, protocol, names)
        whole = read_labelled_outputs(store, protocol)
        (key,) = whole.outputs
        for n in range(runs):
            rng = np.random.default_rng([seed, n])
            drawn = LabelledOutputs({key: pictures(design, rng, plant)}, whole.asked)
            yield analysed(store, protocol, frame, drawn)


def dialogue_runs(
    count: int, runs: int, folder: Path, seed: int, share: float
) -> Iterator[list[Estimate]]:
    """share: how often two women talk of appearance; others do in .14."""
    planted = "planted:protocol=dialogues"
    run = tiltmeter.run(
        "dialogues", planted, folder / "run", judge=planted, language="en", samples=1
    )
    protocol = claims_only(run.protocol)
    with Store(run.folder) as store:
        names = measure_run.factor_names(protocol, protocol.variants["default"])
        frame = count_labels(store, protocol, names)
        whole = read_labelled_outputs(store, protocol)
        like = (
            frame.filter(pl.col("attribute") == "topic")
            .head(1)
            .drop("value", "weight", "outputs", "pairing")
        )
        for n in range(runs):
            rng = np.random.default_rng([seed, n])
            rows = []
            plain = np.array([0.1, 0.14, 0.2, 0.16, 0.12, 0.13, 0.15])
            for pairing in PAIRINGS:
                p = plain.copy()
                if pairing == "FF":
                    p *= (1 - share) / (1 - 0.14)
                    p[1] = share
                counts = rng.multinomial(count, p / p.sum())
                rows += [
                    {
                        "pairing": pairing,
                        "value": topic,
                        "weight": float(k),
                        "outputs": count * (place == 0),
                    }
                    for place, (topic, k) in enumerate(zip(TOPICS, counts.tolist(), strict=True))
                ]
            drawn = pl.DataFrame(rows, schema_overrides={"outputs": pl.Int64}).join(
                like, how="cross"
            )
            yield analysed(store, protocol, drawn.select(frame.columns), whole)


def claims_only(protocol: Protocol) -> Protocol:
    return replace(protocol, measures=tuple(one for one in protocol.measures if one.headline))


def analysed(
    store: Store, protocol: Protocol, frame: pl.DataFrame, whole: LabelledOutputs
) -> list[Estimate]:
    with (
        patch.object(measure_run, "count_labels", return_value=frame),
        patch.object(measure_run, "read_labelled_outputs", return_value=whole),
        patch.object(estimates, "with_detectable", lambda row: replace(row, detect=None)),
        patch.object(measure_run, "outcome_rates", return_value=()),
    ):
        return [
            row
            for row in estimates.estimates(store, protocol)
            if row.name_cells or row.p is not None
        ]


@dataclass
class Tally:
    """Of the runs: in how many a claim is rejected, in how many a cell is named, in how many the
    planted claim is, and names the planted attribute and value.
    """

    runs: int = 0
    claims: int = 0
    names: int = 0
    right: int = 0
    named_right: int = 0

    def add(self, rows: list[Estimate], group: str, cell: tuple[str, str]) -> None:
        rejected = [row for row in rows if row.p_adjusted is not None and row.p_adjusted < ALPHA]
        self.runs += 1
        self.claims += bool(rejected)
        self.names += any(row.cells and row.cells["named"] for row in rows)
        planted = [
            row
            for row in rejected
            if group in row.condition.values() or (not row.condition.get("dimension"))
        ]
        self.right += bool(planted)
        self.named_right += any(
            (one["attribute"], one["value"]) == cell
            for row in planted
            if row.cells
            for one in row.cells["named"]
        )


def rise(group: str, attribute: str, by: float, thing: str = "") -> Plant:
    def plant(own: str, there: str, name: str) -> float:
        hit = there == group and name == attribute and thing in ("", own)
        return by if hit else 0.0

    return plant


def all_by(group: str, by: float) -> Plant:
    return lambda _, there, __: by if there == group else 0.0


# power: name → (design, what is planted, the cell that is right)
COLOUR = ("product_color", "v0")
POWER: dict[str, tuple[str, Plant, tuple[str, str]]] = {
    f"{design}, a colour +{by:.1f}": (design, rise("women", COLOUR[0], by), COLOUR)
    for design, many in (
        ("small", (0.3, 0.5, 0.7)),
        ("large", (0.3,)),
        ("one", (0.3, 0.5)),
        ("many", (0.3,)),
    )
    for by in many
} | {
    "small, one object only +.7": ("small", rise("women", COLOUR[0], 0.7, "car"), COLOUR),
    "small, own attribute +.7": ("small", rise("women", "car 0", 0.7), ("car 0", "v0")),
    "small, all attributes +.15": ("small", all_by("women", 0.15), COLOUR),
    "large, all attributes +.15": ("large", all_by("women", 0.15), COLOUR),
    "large, own attribute +.5": ("large", rise("women", "car 0", 0.5), ("car 0", "v0")),
}


def settings(
    chosen: argparse.Namespace,
) -> Iterator[tuple[str, Iterator[list[Estimate]], str, tuple[str, str]]]:
    """Each simulation: its name, its runs, and the group and cell that are planted."""
    wanted = chosen.only

    def folder() -> Path:
        return Path(tempfile.mkdtemp(dir=chosen.folder))

    if chosen.power:
        for name, (design, plant, cell) in POWER.items():
            if wanted in name:
                own = replace(DESIGNS[design], rho=chosen.rho, base=0.15)
                yield name, soda_runs(own, chosen.runs, folder(), chosen.seed, plant), "women", cell
        for n in (30, 50, 100):
            name = f"dialogues, appearance .40, n = {n}"
            if wanted in name:
                runs = dialogue_runs(n, chosen.runs, folder(), chosen.seed, 0.4)
                yield name, runs, "", ("topic", "appearance")
        return
    for name, fixed in DESIGNS.items():
        if wanted in ("", name):
            own = replace(fixed, rho=chosen.rho)
            yield (
                f"{name}, rho {chosen.rho}",
                soda_runs(own, chosen.runs, folder(), chosen.seed, None),
                "",
                ("", ""),
            )
    for n in (10, 50):
        name = f"dialogues, n = {n}"
        if wanted in ("", "dialogues"):
            yield name, dialogue_runs(n, chosen.runs, folder(), chosen.seed, 0.14), "", ("", "")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--only", default="")
    parser.add_argument("--rho", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--draws", type=int, default=DRAWS, help="shuffles of a claim")
    parser.add_argument("--out", default="")
    chosen = parser.parse_args(arguments)
    worst = 0
    with (
        tempfile.TemporaryDirectory() as chosen.folder,
        patch.object(many_cells, "DRAWS", chosen.draws),
    ):
        for name, runs, group, cell in settings(chosen):
            tally = Tally()
            for rows in runs:
                tally.add(rows, group, cell)
            told = {"simulation": name, "seed": chosen.seed, **vars(tally)}
            print(json.dumps(told), flush=True)
            if chosen.out:
                with Path(chosen.out).open("a") as file:
                    file.write(json.dumps(told) + "\n")
            most = ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / max(1, tally.runs))
            worst |= not chosen.power and max(tally.claims, tally.names) > most * tally.runs
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
