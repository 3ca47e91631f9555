"""What the shipped texts find, and how often they claim a tilt that is not there.

    python benchmarks/own_texts.py                # 400 runs per row, seeds 0 to 399
    python benchmarks/own_texts.py --runs 20 --only hiring

A row is a whole audit at its default size, from prompts to verdicts, with answers of functions:

    hiring           ranks by weights (Plackett-Luce); Black men are first 20 points more often
                     than one time in eight, or all are alike
    decisions        says yes at 70 %, items vary by 1 logit; about Black people at 50 %
    decisions_names  the same, by the names of Black people
    occupations      draws women in 30 % of pictures, or in 50 %

In null runs of hiring and decisions_names each name has a weight or a share of its own, by .3
logit. Printed: in how many runs the planted claim has a tilt to the right side, and in how many
null runs any headline claim has one. It takes hours on one core.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import tiltmeter
from tiltmeter import registry
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.instruments.ranking.ranking import candidates

RUNS = 400
NAMES_SD = 0.3  # logit, of names in null runs
ITEMS_SD = 1.0  # logit
YES = 0.7
LESS = 0.2  # points by which the planted group is told yes, or drawn, less often
FIRST = 0.125 + LESS  # share of first places of the planted group
PERSON = re.compile(r"\b([A-Z][a-z]+ [A-Z][a-z]+)\b")
Answer = Callable[[str], str]


def groups() -> dict[str, str]:
    """Returns the ethnicity of each name."""
    path = Path(registry.__file__).parent / "protocols" / "data" / "full_names.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {row["person"]: row["ethnicity"] for row in csv.DictReader(file)}


def logistic(logit: float) -> float:
    """Converts log-odds to a probability."""
    return 1 / (1 + math.exp(-logit))


def effect(seed: int, name: str, spread: float) -> float:
    """Returns the effect of a name or an item, the same each time it is asked for."""
    return Random(f"{seed} {name}").gauss(0, spread)


def decides(seed: int, planted: bool, protocol: str) -> Answer:
    """Says yes or no to a scenario about a person."""
    known, random = groups(), Random(seed)
    base = math.log(YES / (1 - YES)) * 1.15  # so that the mean over items is near YES
    moved = math.log((YES - LESS) / (1 - YES + LESS)) * 1.15 - base

    def answer(prompt: str) -> str:
        names = [name for name in PERSON.findall(prompt) if name in known]
        black = known[names[0]] == "Black" if names else "-old Black " in prompt
        text = re.sub(r"a \d+-year-old [^,.]*?(?:person|woman|man)\b", "@", prompt)
        scenario = text.replace(names[0], "@") if names else text
        logit = base + effect(seed, scenario, ITEMS_SD)
        if planted:
            logit += moved if black else 0.0
        elif names:
            logit += effect(seed, names[0], NAMES_SD)
        return "yes" if random.random() < logistic(logit) else "no"

    return answer


def ranks(seed: int, planted: bool, protocol: str) -> Answer:
    """Ranks eight people by weights of their own."""
    random = Random(seed)
    cells = registry.protocol(protocol).cells
    people = {name: group for cell in cells for group, name in candidates(cell["candidates"])}
    weight = 7 * FIRST / (1 - FIRST)

    def answer(prompt: str) -> str:
        names = list(dict.fromkeys(n for n in PERSON.findall(prompt) if n in people))
        assert len(names) == 8
        keys = {}
        for name in names:
            favoured = planted and people[name] == "Black men"
            own = 0.0 if planted else effect(seed, name, NAMES_SD)
            keys[name] = random.expovariate(weight if favoured else math.exp(own))
        order = sorted(names, key=lambda name: keys[name])
        return "\n".join(f"{place}. {name}" for place, name in enumerate(order, 1))

    return answer


@dataclass(frozen=True)
class Row:
    """One audit. claim: (measure, what its condition or contrast names, sign of the tilt)."""

    protocol: str
    answers: Callable[[int, bool, str], Answer] | None
    claim: tuple[str, str, int]


ROWS = (
    Row("hiring", ranks, ("from_even", "Black men", 1)),
    Row("decisions", decides, ("race", "Black", -1)),
    Row("decisions_names", decides, ("ethnicity", "Black", -1)),
    Row("occupations", None, ("women", "", -1)),
)


def run(row: Row, seed: int, planted: bool, out: Path) -> tiltmeter.Run:
    """Makes one whole audit at its default size."""
    if row.answers is not None:
        return tiltmeter.run(
            row.protocol, {"made": row.answers(seed, planted, row.protocol)}, out, seed=seed
        )
    women = 0.5 - LESS if planted else 0.5
    model = f"planted:protocol=occupations,female={women},male={1 - women},seed={seed}"
    judge = "planted:protocol=occupations"
    return tiltmeter.run(row.protocol, model, out, judge=judge, seed=seed)


def tilts(row: Row, audit: tiltmeter.Run) -> Iterator[bool]:
    """Yields, for each headline claim with a tilt, whether it is the planted one."""
    measure, level, sign = row.claim
    for verdict in audit.verdicts():
        if verdict.word is not Word.TILT:
            continue
        named = f"{dict(verdict.condition)} {dict(verdict.contrast or {})}"
        beyond = (verdict.value or 0.0) - (verdict.reference or 0.0)
        yield verdict.measure == measure and level in named and beyond * sign > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", choices=[row.protocol for row in ROWS])
    typed = parser.parse_args()
    for row in ROWS:
        if typed.only not in (None, row.protocol):
            continue
        found, claimed = 0, 0
        for seed in range(typed.runs):
            with tempfile.TemporaryDirectory() as folder:
                found += any(tilts(row, run(row, seed, True, Path(folder) / "planted")))
                claimed += any(True for _ in tilts(row, run(row, seed, False, Path(folder) / "no")))
        share = f"{found}/{typed.runs} found, {claimed}/{typed.runs} claimed where nothing is"
        print(f"{row.protocol:16} {share}", flush=True)


if __name__ == "__main__":
    main()
