"""Every instrument and every kind of measure that a file can name finds what was planted. One without a case here fails.

Truths are the planted shares, or follow from them by the formula written beside. Shares of labels are held to four standard
errors of independent draws (all draws are fixed by the seeds), estimates to what is stated with them.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.protocol.built_in_measures import KINDS
from tiltmeter.records import Estimate

FILES = Path(__file__).parent / "nameable"
TOOLS = (
    "__main__.py",
    "command.py",
    "own.py",
    "inference.py",
    "shipped.py",
    "paired.py",
    "names_of_people.py",
    "neopronoun_texts.py",
)  # of protext: corpora of one's own and how the shipped ones are written out; no part of the audit
ADVICE, LETTERS, CUPS = "advice.toml", "letters.toml", "cups.toml"
SLOPE = 0.5  # of the planted share of agentic words on the reference
REFERENCE = dict(pl.read_csv(FILES / "jobs.csv").iter_rows())
BY_JOB = ",".join(
    f"agency/agentic.{job}={0.3 + SLOPE * (share - 0.5):.6f}" for job, share in REFERENCE.items()
)
BY_GROUP = "agency/agentic.women=0.3,agency/agentic.men=0.6,length.women=80,length.men=60"
RUNS = {
    "advice by group": (ADVICE, "raised.women=0.3,raised.men=0.6", {}),
    "advice by form": (ADVICE, "raised.own=0.8,raised.en=0.5,raised.zh=0.3", {}),
    "letters": (
        LETTERS,
        f"{BY_GROUP},pronoun/feminine.women=0.8,pronoun/neutral.men=0.7,tone/3.women=0.8,tone/1.men=0.9",
        {"judge": "planted"},
    ),
    "letters by job": (LETTERS, BY_JOB, {}),
    "cups": (
        CUPS,
        "colour/gray.base=1,colour/red.women=1,colour/red.men=0.5,colour/gray.men=0.5,gender/female.women=0.8,"
        "revise=0.3",
        {"judge": f"planted:protocol={CUPS}"},
    ),
    "words": ("words", "off=0.2", {"language": "en", "limit": 80}),
    "dialogues": (
        "dialogues",
        "one=0.3,appearance=0.4",
        {"language": "en", "limit": 150, "judge": "planted:protocol=dialogues"},
    ),
    "decisions": (
        "decisions",
        "yes=0.5,yes.Black=0.3",
        {"modes": ("exact",), "limit": 20, "where": {"age": ("45",)}},
    ),
    "decisions_names": (
        "decisions_names",
        "yes=0.5,yes.Black=0.3",
        {"modes": ("exact",), "limit": 20, "where": {"set": ("01",)}},
    ),
    "scores": ("scores.toml", "3=0.3,3.women=0.6", {}),
    "hiring": ("hiring", "Black men=0.4", {"limit": 20}),
    "soda": (
        "soda",
        "product_color/red.women=0.9,product_color/blue.men=0.9",
        {
            "judge": "planted:protocol=soda",
            "samples": 20,
            "modes": ("images",),
            "taxonomy": FILES / "fixed.toml",
            "where": {"object": ("car",), "dimension": ("gender",)},
        },
    ),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, computed_once: Path):
    """Makes each run once, in the folder of the files: what a planted model draws depends on its name, so on a path in it."""

    @functools.cache
    def made(name: str) -> tiltmeter.Run:
        out = tmp_path_factory.mktemp("run") / "run"
        if name == "protext":
            return tiltmeter.run(
                "protext",
                "planted-rewriter:gender=0.3,misgender=0.1",
                out,
                where={"prompt": ("P1",)},
                limit=200,
            )
        protocol, settings, options = RUNS[name]
        with contextlib.chdir(FILES):
            return tiltmeter.run(
                protocol, f"planted:protocol={protocol},{settings}", out, **options
            )

    return made


def labels(run: tiltmeter.Run, attribute: str, levels: Mapping[str, str]) -> list[str]:
    """The values of an attribute, of the trials with these levels (several with | between)."""
    kept = {
        one["id"]
        for one in run.trials.iter_rows(named=True)
        if all(one["factors"][name] in level.split("|") for name, level in levels.items())
    }
    of = run.labels.filter(pl.col("attribute") == attribute, pl.col("output").is_in(list(kept)))
    return of["value"].to_list()


# kind → (run, attribute, value or range of numbers, levels, share that was planted)
INSTRUMENTS = {
    "choice": ("advice by group", "advice", "raised", {"group": "women"}, 0.3),
    "picks": ("words", "word", "off_list", {}, 0.2),
    "dialogue": ("dialogues", "form", "one_line", {}, 0.3),
    "negotiation": ("dialogues", "topic", "appearance", {}, 0.4),
    "rewrite": ("protext", "verdict", "gendering", {"pronoun": "they|none"}, 0.3),
    "lexicon": ("letters", "agency", "agentic", {"group": "women"}, 0.3),
    "pronouns": ("letters", "pronoun", "feminine", {"group": "women"}, 0.8),
    "rubric": ("letters", "tone", "1", {"group": "men"}, 0.9),
    "length": (
        "letters",
        "words",
        range(80, 200),
        {"group": "women"},
        41 / 81,
    ),  # from 40 to 120 alike
    "reading_level": ("letters", "grade", range(-1, 2), {"group": "women"}, 1.0),
    "number": ("scores", "score", "3", {"group": "women"}, 0.6),
    "panel": ("cups", "gender", "female", {"group": "women"}, 0.8),
    "colour": ("cups", "colour", "red", {"group": "men"}, 0.5),
    "ranking": ("hiring", "first", "Black men", {}, 0.4 / 7.4),
    "revision": ("cups", "rewritten", "rewritten", {}, 0.3),
    "attributes": ("soda", "product_color", "red", {"group": "women"}, 0.9),
}


# people label (tests/gold); a prompt is asked again, or a tool is called, by a bot of its own
# (tests/instruments/test_comparing.py); Russian is read by an extra (tests/protocols)
ELSEWHERE = {"people", "preference", "similarity", "vocabulary", "tool", "first_person"}


def nameable() -> list[str]:
    """All but those that need more than a planted answer (ELSEWHERE)."""
    kinds = (kind.name for kind in registry.instrument_kinds() if kind.nameable)
    return [name for name in kinds if name not in ELSEWHERE]


@pytest.mark.parametrize("kind", nameable())
def test_every_instrument_finds_what_was_planted(kind: str, run) -> None:
    name, attribute, value, levels, share = INSTRUMENTS[kind]
    found = labels(run(name), attribute, levels)
    assert len(found) >= 20
    hits = sum(
        int(float(one)) in value if isinstance(value, range) else one == value for one in found
    )
    assert abs(hits / len(found) - share) <= 4 * math.sqrt(share * (1 - share) / len(found)) + 1e-12


def divergence(p: list[float], q: list[float]) -> float:
    """Jensen–Shannon divergence in bits."""

    def entropy(shares: list[float]) -> float:
        return -sum(share * math.log2(share) for share in shares if share)

    return entropy([(a + b) / 2 for a, b in zip(p, q, strict=True)]) - (entropy(p) + entropy(q)) / 2


# kind → (run, measure, condition, contrast, truth, tolerance)
WOMEN, MEN = {"group": "women"}, {"group": "men"}
OF_WOMEN, OF_MEN = (
    {"thing": "cup", "dimension": "gender", **WOMEN},
    {"thing": "cup", "dimension": "gender", **MEN},
)
MEASURES = {
    "share": [("advice by group", "share", WOMEN, 0.3, 0.1)],
    "odds": [("advice by group", "odds", MEN, 1.5, 0.6)],
    "difference": [
        ("advice by group", "difference", {}, -0.3, 0.1),
        ("letters", "agentic", {}, -0.3, 0.1),
    ],
    "odds_ratio": [("advice by group", "odds_ratio", {}, (0.3 / 0.7) / (0.6 / 0.4), 0.1)],
    "mean_ratio": [("letters", "ratio_of_lengths", {}, 4 / 3, 0.12)],
    "ratio": [("advice by group", "ratio", {}, 0.5, 0.15)],
    "logit_difference": [
        ("decisions", "logit_race", {"race": "Black − White"}, math.log(0.3 / 0.7), 0.5)
    ],
    "impact_ratio": [("hiring", "impact_ratio", {"first": "Black men"}, 0.4, 0.12)],
    "leader": [("advice by group", "leader", {"advice": "raised", **MEN}, 0.6, 0.1)],
    "divergence": [("advice by group", "divergence", {}, divergence([0.3, 0.7], [0.6, 0.4]), 0.04)],
    "effect": [
        ("advice by form", "effect", {"form": "en"}, 0.3, 0.1),
        ("advice by form", "effect", {"form": "zh"}, 0.5, 0.1),
    ],
    "alike": [("advice by group", "alike", {}, 0.3, 0.1)],
    "joint_effect": [("advice by form", "joint_effect", {"form": "en and zh"}, 0.4, 0.1)],
    "effect_mean": [("advice by form", "effect_mean", {"form": "en"}, 0.3, 0.1)],
    "cell_mean": [("advice by form", "cell_mean", {"form": "own"}, 0.8, 0.06)],
    "item_mean": [("advice by form", "item_mean", {"form": "own"}, 0.8, 0.06)],
    "mean": [
        ("letters", "long", WOMEN, 80, 6),
        ("letters", "warmth", WOMEN, 0.8 * 3 + 0.1 * 2 + 0.1, 0.2),
    ],
    "mean_difference": [("letters", "longer", {}, 20, 8)],
    "from_reference": [
        (
            "letters by job",
            "against",
            {},
            sum(0.3 + SLOPE * (r - 0.5) - r for r in REFERENCE.values()) / 12,
            0.06,
        ),
        ("letters", "census", {"agency": "agentic"}, 0.45 - 0.25, 0.06),
    ],
    "reference_slope": [("letters by job", "slope", {}, SLOPE, 0.2)],
    "cells_from_base": [
        ("cups", "group_differs", WOMEN, 1, 1e-6),
        ("cups", "group_differs", MEN, 0.5, 0.2),
    ],
    "cells_between_groups": [("cups", "dimension_differs", {}, 0.5, 0.2)],
    "cells_between_levels": [("dialogues", "topics_differ", {}, 0, 0.5)],
    "from_base": [
        ("cups", "from_base", OF_WOMEN, 1, 1e-6),
        ("cups", "from_base", OF_MEN, divergence([1, 0], [0.5, 0.5]), 0.2),
    ],
    "between_groups": [
        ("cups", "between_groups", {"thing": "cup"}, divergence([1, 0], [0.5, 0.5]), 0.2)
    ],
    "concentration": [
        ("cups", "concentration", OF_WOMEN, 1, 1e-6),
        ("cups", "concentration", OF_MEN, 0, 0.2),
    ],
    "dominant": [
        ("cups", "dominant", {"attribute": "colour", **OF_WOMEN}, 1, 1e-6),
        ("cups", "dominant", {"thing": "cup"}, 2 / 3, 1e-6),
    ],  # of base, women and men
    "shift": [
        ("cups", "shift", {"attribute": "colour", "colour": "gray → red", **OF_WOMEN}, 1, 1e-6)
    ],
    "item_effects": [("advice by form", "effect_of_job", {"form": "en", "job": "nurse"}, 0.3, 0.2)],
    "from_base_pooled": [
        ("cups", "from_base_over_things", WOMEN, 1, 1e-6),
        ("cups", "from_base_over_things", MEN, divergence([1, 0], [0.5, 0.5]), 0.15),
    ],
    "between_groups_pooled": [
        ("cups", "between_groups_over_things", {}, divergence([1, 0], [0.5, 0.5]), 0.15)
    ],
    "concentration_pooled": [
        ("cups", "concentration_over_things", WOMEN, 1, 1e-6),
        ("cups", "concentration_over_things", MEN, 0, 0.1),
    ],
    "dominant_total": [
        ("cups", "dominant_over_things", WOMEN, 1, 1e-6),
        ("cups", "dominant_over_things", MEN, 0, 1e-6),
    ],
    "shift_total": [("cups", "shift_over_things", WOMEN, 1, 1e-6)],
}


# a change is of a run with mitigations: tests/protocol/design/test_mitigations.py
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"change"}))
def test_every_measure_finds_what_was_planted(kind: str, run) -> None:
    """Near the truth; and the truth is in its interval, where it has one."""
    for name, measure, condition, truth, tolerance in MEASURES[kind]:
        estimates = run(name).estimates.select(Estimate.columns())
        rows = estimates.filter(pl.col("measure") == measure).to_dicts()
        told = [
            {
                name: level
                for part in (row["condition"], row["contrast"] or {}, row)
                for name, level in part.items()
                if level is not None or part is row
            }
            for row in rows
        ]
        found = [
            row
            for row in told
            if condition.items() <= row.items() and "attribute" not in row.keys() - condition
        ]
        assert found, (measure, [row["condition"] for row in rows])
        assert abs(found[0]["value"] - truth) <= tolerance, (measure, found[0]["value"])
        if found[0]["low"] is not None and tolerance > 1e-3:
            assert found[0]["low"] <= truth <= found[0]["high"], (
                measure,
                found[0]["low"],
                found[0]["high"],
            )


def test_measures_against_a_reference_are_tested_where_a_null_is_named(run) -> None:
    rows = {row["measure"]: row for row in run("letters by job").estimates.iter_rows(named=True)}
    assert rows["against"]["p"] < 0.01
    assert rows["slope"]["p"] < 0.01
    assert rows["slope"]["contrast"]["reference"] == "women_share"
    assert rows["slope"]["unit"] == "slope"
    assert rows["longer"]["unit"] == "words"


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_a_built_in_protocol_is_data_with_little_python(name: str) -> None:
    """Under 150 lines each; what more it takes is an instrument or a measure that any file can name."""
    folder = Path(registry.__file__).parent / "protocols" / name
    assert (folder / "protocol.toml").is_file()
    assert (
        sum(
            len(path.read_text(encoding="utf-8").splitlines())
            for path in folder.rglob("*.py")
            if path.name not in TOOLS
        )
        < 150
    )
