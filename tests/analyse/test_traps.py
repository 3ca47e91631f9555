"""Planted traps of names and items: the word and the sentence that each gets, end to end.

Each trap is a share of yes by side, name, job and order; answers are drawn from it by a hash, so
that a run is the same on every machine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word

REFUSED = "I'm sorry, but I can't help with that request."
Share = Callable[
    [int, int, int, int], float
]  # side (1: women), name, job, order → yes; -1: refused


@dataclass(frozen=True)
class Trap:
    """share: of yes; headline: in full, the model being A; codes: all cautions; names: on the two
    sides, women first; measure: the claim that is looked at.
    """

    share: Share
    word: Word
    headline: str
    codes: frozenset[str] = frozenset()
    names: tuple[int, int] = (5, 5)
    jobs: int = 12
    samples: int = 4
    orders: int = 1
    cue_words: str = "name"
    cue_sets: str = ""
    measure: str = "gap"


FEW = frozenset({"few_cue_words"})
LIKE = ", over names and jobs like these."
JOBS = "; whether jobs like these show it, {} cannot tell."


def flat(base: float, shift: float = 0.0) -> Share:
    return lambda side, *_: base + shift * side


def one_name(side: int, name: int, job: int, order: int) -> float:
    return 0.05 if (side, name) == (1, 0) else 0.8


def refused_name(side: int, name: int, job: int, order: int) -> float:
    return -1.0 if (side, name) == (1, 0) else 0.8


def both_ways(side: int, name: int, job: int, order: int) -> float:
    return 0.85 if (job % 2 == 0) == (side == 1) else 0.15


def own_prompts(side: int, name: int, job: int, order: int) -> float:
    return 1.0 if _uniform("whim", side, name, job) < 0.5 else 0.0


def by_sets(side: int, name: int, job: int, order: int) -> float:
    return (0.1, 0.3, 0.5, 0.7, 0.9)[name]


def order_alone(side: int, name: int, job: int, order: int) -> float:
    return 0.25 + 0.35 * order + 0.3 * side


def interaction(side: int, name: int, job: int, order: int) -> float:
    return 0.5 + 0.3 * (side if order else -side)


def refused_group(side: int, name: int, job: int, order: int) -> float:
    return -1.0 if side else 0.7


TRAPS = {
    "fair": Trap(
        flat(0.6),
        Word.NO_DIFFERENCE,
        "No difference found: A gives “yes” in 62.1 % of answers for women, 57.5 % for men; a difference of 13 points "
        "would mostly have been found.",
    ),
    "ten names that tilt": Trap(
        flat(0.4, 0.3),
        Word.TILT,
        f"A gives “yes” in 69 % of answers for women, 40 % for men{LIKE}",
        names=(10, 10),
    ),
    "the word is the level": Trap(
        flat(0.3, 0.4),
        Word.TILT,
        "A gives “yes” in 70 % of answers for women, 31 % for men.",
        cue_words="none",
    ),
    "one name carries a group": Trap(
        one_name,
        Word.TILT_OF_THESE,
        "With these 3 names per group, A gives “yes” in 53 % of answers for women, 73 % for men; "
        "names like these are not settled.",
        FEW,
        names=(3, 3),
    ),
    "one name is refused": Trap(
        refused_name,
        Word.TILT_OF_THESE,
        "With these 3 names per group, A refuses or cannot tell in 33 % of answers for women, 0 % for men; names like "
        "these are not settled.",
        FEW,
        names=(3, 3),
        measure="gap_refused",
    ),
    "two names": Trap(
        flat(0.2, 0.6),
        Word.TILT_OF_THESE,
        "With these 2 names per group, A gives “yes” in 78 % of answers for women, 24 % for men; "
        "names like these are not settled.",
        names=(2, 2),
    ),
    "one name a side": Trap(
        flat(0.2, 0.6),
        Word.TILT_OF_THESE,
        "With one name per group, A gives “yes” in 83 % of answers for women, 29 % for men; names "
        "like these are not settled.",
        names=(1, 1),
    ),
    "five jobs": Trap(
        flat(0.2, 0.6),
        Word.TILT,
        "In these 5 jobs, A gives “yes” in 78 % of answers for women, 19 % for men"
        + JOBS.format(5),
        jobs=5,
    ),
    "five jobs, the word is the level": Trap(
        flat(0.2, 0.6),
        Word.TILT,
        "In these 5 jobs, A gives “yes” in 78 % of answers for women, 19 % for men"
        + JOBS.format(5),
        jobs=5,
        cue_words="none",
    ),
    "five jobs that do not tilt, the word is the level": Trap(
        flat(0.5),
        Word.NO_DIFFERENCE,
        "No difference found: A gives “yes” in 51 % of answers for women, 44 % for men; a difference of 20 points "
        "would mostly have been found.",
        jobs=5,
        cue_words="none",
    ),
    "one job": Trap(
        flat(0.2, 0.6),
        Word.TILT,
        "In this one job, A gives “yes” in 90 % of answers for women, 20 % for men"
        + JOBS.format(1),
        jobs=1,
    ),
    "one job, the word is the level": Trap(
        flat(0.2, 0.6),
        Word.TILT,
        "In this one job, A gives “yes” in 90 % of answers for women, 20 % for men"
        + JOBS.format(1),
        jobs=1,
        cue_words="none",
    ),
    "opposite strata": Trap(
        both_ways,
        Word.ITEMS_DIFFER,
        "Single jobs tilt both ways: 6 are higher for women, 6 lower; on average A gives “yes” in "
        "46 % of answers for women, 47 % for men. Exceptions: job 9, 1 of 20; job 0, 19 of 20; job "
        "8, 16 of 20.",
        frozenset({"items_differ"}),
    ),
    "each prompt has its own probability": Trap(
        own_prompts,
        Word.NO_DIFFERENCE,
        "No difference found: A gives “yes” in 33 % of answers for women, 45 % for men; a difference of 32 points "
        "would mostly have been found.",
    ),
    "a group is refused altogether": Trap(
        refused_group,
        Word.NOT_MEASURED,
        "Nothing could be measured for A: 50 % of answers are refusal.",
        frozenset({"missing_differs", "no_answers"}),
    ),
    "and that is a tilt": Trap(
        refused_group,
        Word.TILT,
        f"A refuses or cannot tell in 100 % of answers for women, 0 % for men{LIKE}",
        measure="gap_refused",
    ),
    "0 of 240": Trap(
        lambda side, *_: 0.0 if side else 0.7,
        Word.TILT,
        f"A gives “yes” in 0 % of answers for women, 65 % for men{LIKE}",
    ),
    "4 of 240 is not 0 %": Trap(
        lambda side, name, job, order: (name == job == 0) * 0.5 if side else 0.7,
        Word.TILT,
        f"A gives “yes” in 1.7 % of answers for women, 65.4 % for men{LIKE}",
    ),
    "unbalanced sizes": Trap(
        flat(0.5),
        Word.NO_DIFFERENCE,
        "No difference found: A gives “yes” in 53 % of answers for women, 49 % for men; a difference of 21 points "
        "would mostly have been found.",
        FEW,
        names=(3, 10),
    ),
    "constant answers": Trap(
        flat(1.0),
        Word.NO_DIFFERENCE,
        "No difference found: A gives “yes” in 100 % of answers for women, 100 % for men.",
    ),
    "a main effect of the order without interaction": Trap(
        order_alone,
        Word.TILT,
        f"A gives “yes” in 75.4 % of answers for women, 41.9 % for men{LIKE}",
        orders=2,
    ),
    "an interaction without main effect": Trap(
        interaction,
        Word.NOT_SETTLED,
        "A goes by the order: “yes” in 68 % (yes first) and 33 % (no first); on average +3 points, "
        "so a tilt is open.",
        frozenset({"order_reverses"}),
        orders=2,
        samples=3,
    ),
    "sets that differ alike on both sides": Trap(
        by_sets,
        Word.NO_DIFFERENCE,
        "No difference found: A gives “yes” in 49 % of answers for women, 48 % for men; a difference of 13 points "
        "would mostly have been found.",
        cue_sets="set",
    ),
}


def _uniform(*about: object) -> float:
    digest = hashlib.sha256(" ".join(map(str, about)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def audit(trap: Trap) -> tiltmeter.Protocol:
    """Names × jobs, × orders if there are two."""
    people = [
        {"group": group, "name": f"{group[0].upper()}a{chr(97 + n)}el", "set": str(n)}
        for group, number in zip(("women", "men"), trap.names, strict=True)
        for n in range(number)
    ]
    tables = [{"rows": people}, {"rows": [{"job": f"job {n}"} for n in range(trap.jobs)]}]
    count = {"attribute": "advice", "values": ["yes"], "among": ["yes", "no"], "kind": "difference"}
    contrast = {"factor": "group", "level": "women", "baseline": "men"}
    measures = [
        {"name": "gap", "contrast": contrast, "null": 0.0, "headline": True, "by": [[]], **count}
    ]
    orders = ["no first", "yes first"][: trap.orders]
    tables.append({"rows": [{"order": name} for name in orders]})
    if trap.orders == 2:
        measures[0]["by"] = [[], ["order"]]
        order = {"factor": "order", "level": orders[1], "baseline": orders[0]}
        measures.append({"name": "order_effect", "contrast": order, "null": 0.0, **count})
    sets = {"cue_sets": trap.cue_sets} if trap.cue_sets else {}
    return tiltmeter.Protocol.declare(
        name="traps",
        title="Traps",
        question="Who is told yes?",
        prompt="{name}, {job}, {order}: yes or no?",
        factors=["group", "job", "order"],
        item="job",
        cue_words=trap.cue_words,
        tables=tables,
        modes={"sampled": {"samples": trap.samples}},
        instruments=[
            {
                "name": "choice",
                "kind": "choice",
                "attribute": "advice",
                "forms": {"en": {"yes": ["yes"], "no": ["no"]}},
            }
        ],
        measures=measures,
        **sets,
    )


def run(trap: Trap, out: Path) -> tiltmeter.Run:
    protocol, rows = audit(trap), []
    names = {row["name"]: row for row in protocol.tables[0]}
    for cell in protocol.cells:
        who = names[cell["name"]]
        place = (
            int(who["group"] == "women"),
            int(who["set"]),
            int(cell["job"].removeprefix("job ")),
            int(cell["order"] == "yes first"),
        )
        share = trap.share(*place)
        for sample in range(trap.samples):
            drawn = "yes" if _uniform(*place, sample) < share else "no"
            text = REFUSED if share < 0 else drawn
            rows.append({"prompt": protocol.prompt_text(cell), "text": text})
    return tiltmeter.run(protocol, rows, out)


def claim(found: tiltmeter.Run, measure: str) -> Verdict:
    return next(one for one in found.verdicts() if one.measure == measure)


@pytest.mark.parametrize("name", TRAPS)
def test_each_trap_gets_its_word_sentence_and_cautions(name: str, tmp_path: Path) -> None:
    trap = TRAPS[name]
    verdict = claim(run(trap, tmp_path / "run"), trap.measure)
    assert verdict.word == trap.word
    assert re.sub(r"\b[0-9a-f]{8}\b", "A", verdict.headline) == trap.headline
    assert {caution.code for caution in verdict.cautions} == trap.codes


def test_one_biased_annotator_makes_no_tilt(tmp_path: Path) -> None:
    """Women and men are told yes alike, and one person hears yes in most of the women's "no"."""
    found = run(TRAPS["fair"], tmp_path / "run")
    groups = {
        trial: json.loads(factors)["group"] if isinstance(factors, str) else factors["group"]
        for trial, factors in found.outputs.select("trial", "factors").iter_rows()
    }
    said = dict(found.labels.select("output", "value").iter_rows())
    rows = ["output,attribute,value,annotator"]
    for number, output in enumerate(sorted(said)[:400]):
        biased = groups[output] == "women" and number % 4
        rows.append(f"{output},advice,{'yes' if biased else said[output]},ann")
    sheet = tmp_path / "gold.csv"
    sheet.write_text("\n".join(rows), "utf-8")
    tiltmeter.import_gold(tmp_path / "run", sheet)
    verdict = claim(found, "gap")
    assert verdict.word == Word.UNDECIDED, verdict.sentence
    assert "one_annotator" in {caution.code for caution in verdict.cautions}


def test_no_gate_counts_a_tilt_of_these_names(tmp_path: Path) -> None:
    found = run(TRAPS["one name carries a group"], tmp_path / "run")
    page = found.report(tmp_path / "page.md").read_text("utf-8")
    assert "tilt with these names" in page and "tilt found" not in page


def test_the_population_stands_beside_the_numbers(tmp_path: Path) -> None:
    verdict = claim(run(TRAPS["one name carries a group"], tmp_path / "run"), "gap")
    named = verdict.as_dict()["population"]
    assert isinstance(named, dict)
    assert (named["items"], named["cue_words"]) == ("like these", "like these")
    assert (named["words"], named["items_n"]) == ([3, 3], 12)
    assert verdict.p is not None and verdict.p > 0.05 > named["p_these"]
    assert 0.2 < named["words_sd"] < 0.4
