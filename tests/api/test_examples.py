"""Every example that `tiltmeter init --example` copies: it loads, says what its prompts differ in, and finds a planted tilt."""

from __future__ import annotations

import csv
import json
import shutil
from html import escape
from pathlib import Path
from statistics import fmean, linear_regression
from typing import NamedTuple

import pytest

from tests.test_docs import section
from tiltmeter import registry
from tiltmeter.cli import main
from tiltmeter.protocol.design import prompt_pairs

ROOT = Path(__file__).parents[2]
HOME = ROOT / "src" / "tiltmeter" / "api" / "examples"
DATA = ROOT / "src" / "tiltmeter" / "protocols" / "data"
EXAMPLES = sorted(
    path.name for path in HOME.iterdir() if path.is_dir() and not path.name.startswith("__")
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Planted(NamedTuple):
    """What is planted, and what is to be found.

    judge: whether a planted judge labels too; rows: (measure, its condition, the planted truth); columns: those in which the
    prompts of each contrast differ.
    """

    settings: str
    judge: bool = False
    options: tuple[str, ...] = ()
    rows: tuple[tuple[str, dict[str, str], float], ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()


SHARE = {
    row["occupation"]: float(row["women_share"])
    for row in rows(HOME / "translation" / "occupations.csv")
}
STEEP = {name: min(0.98, max(0.02, 0.5 + 1.5 * (share - 0.5))) for name, share in SHARE.items()}
CASES = {
    "letters": Planted(
        "agentic.women=0.4,agentic.men=0.6,length.women=100,length.men=140",
        rows=(
            ("agentic_gap", {}, -0.2),
            ("agentic_share", {"group": "women"}, 0.4),
            ("length_gap", {}, -40.0),
        ),
        columns=(("name",),),
    ),
    "adverts": Planted(
        "offer/time.women=0.5,offer/time.men=0.2,wording/masculine.women=0.4,wording/masculine.men=0.6,length=60",
        judge=True,
        rows=(
            ("offer_by_gender", {"offer": "time"}, 0.3),
            ("wording_gap", {}, -0.2),
            ("length_gap", {}, 0.0),
        ),
        columns=(("readers",), ("readers",)),
    ),
    "translation": Planted(
        ",".join(
            f"feminine.{name}={share:.3f},masculine.{name}={1 - share:.3f}"
            for name, share in STEEP.items()
        ),
        rows=(
            ("from_shares", {}, fmean(STEEP.values()) - fmean(SHARE.values())),
            (
                "exaggeration",
                {},
                linear_regression(list(SHARE.values()), list(STEEP.values())).slope,
            ),
        ),
    ),
    "products": Planted(
        "look/decorated.women=0.8,look/decorated.men=0.2,colour/pink.women=0.7,colour/pink.men=0.1",
        judge=True,
        options=("--samples", "2"),
        rows=(
            ("look_by_gender", {"look": "decorated"}, 0.6),
            ("look_share", {"group": "men", "look": "decorated"}, 0.2),
            ("pink_by_gender", {}, 0.6),
        ),
        columns=(("cue",), ("cue",), ("cue",)),
    ),
    "names_age": Planted(
        "fast.25=0.7,fast.70=0.4",
        rows=(
            ("age_gap", {}, -0.3),
            ("gender_gap", {}, 0.0),
            ("fast_share", {"gender": "women", "age": "70"}, 0.4),
        ),
        columns=(("who",), ("age", "who"), ("options",)),
    ),
}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in with the examples: draws hang on the subject's name, so a path in it may not be another each time."""
    shutil.copytree(HOME, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """The estimates of a planted run of an example, through the command line."""
    case, file = CASES[name], f"{name}/audit.toml"
    judges = ["--judge", f"planted:protocol={file}"] if case.judge else []
    subject = f"planted:protocol={file},{case.settings},seed=3"
    assert (
        main(["run", file, "--model", subject, *judges, *case.options, "--out", "run", "--json"])
        == 0
    )
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["estimates"]
    return found


def test_every_example_has_a_case() -> None:
    assert set(CASES) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_finds_what_is_planted(
    name: str, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Within the 95 % interval; the seed is one at which that holds for all of them."""
    found = run(name, capsys)
    for measure, condition, truth in CASES[name].rows:
        fitting = [row for row in found if row["measure"] == measure and _has(row, condition)]
        assert len(fitting) == 1, (measure, condition, [row["condition"] for row in fitting])
        low, high = fitting[0]["low"], fitting[0]["high"]
        assert isinstance(low, float) and isinstance(high, float)
        assert low <= truth <= high, (measure, condition, fitting[0]["value"], low, high)
        assert abs(truth) < 0.1 or low * high > 0  # a tilt is told from none


def _has(row: dict[str, object], condition: dict[str, str]) -> bool:
    """Whether a row is of these levels and no others, whatever the mode."""
    levels = row["condition"]
    assert isinstance(levels, dict)
    return {key: level for key, level in levels.items() if key != "mode"} == condition


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_prompts_differ_in_the_cue_alone(name: str) -> None:
    matched = prompt_pairs.prompt_differences(registry.protocol(str(HOME / name / "audit.toml")))
    assert tuple(row.columns for row in matched) == CASES[name].columns
    for row in matched:
        assert (row.elsewhere, row.alone, row.own_items, row.punctuation) == ((), 0, False, 0)
        assert (
            row.words.largest <= 2 and abs(row.characters.mean) <= 10
        )  # "no cue" has no words for whom


def test_what_prompts_differ_in_is_said_by_show_and_the_report(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = "letters/audit.toml"
    (row,) = prompt_pairs.prompt_differences(registry.protocol(file))
    assert main(["show", file]) == 0 and prompt_pairs.sentence(row) in capsys.readouterr().out
    run("letters", capsys)
    assert escape(prompt_pairs.sentence(row), quote=False) in (
        copied / "run" / "report.html"
    ).read_text("utf-8")


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_has_enough_items_limits_and_a_page(name: str) -> None:
    protocol = registry.protocol(str(HOME / name / "audit.toml"))
    assert protocol.name == name
    assert len(protocol.items()) >= 9  # fewer are marked in every interval
    assert len(protocol.limits) >= 3
    text = section("docs/reference/examples.md", f"## {name}")
    assert protocol.question in text and "What not to conclude" in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_planned_example_says_what_it_can_detect(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = HOME / name / "audit.toml"
    assert main(["plan", str(file), "--model", f"planted:protocol={file}", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["trials"] > 0 and plan["design"]
    assert len(plan["matched"]) == len(CASES[name].columns)


@pytest.mark.parametrize(
    ("name", "columns"),
    [("letters", ("set", "group", "name")), ("names_age", ("set", "gender", "who"))],
)
def test_the_names_of_the_examples_are_of_the_matched_list(
    name: str, columns: tuple[str, str, str]
) -> None:
    listed = {(row["set"], row["gender"], row["name"]) for row in rows(DATA / "cue_names_age.csv")}
    used = {
        tuple(row[column] for column in columns)
        for row in rows(HOME / name / "names.csv")
        if row["set"]
    }
    assert used and used <= listed


def test_the_shares_of_women_are_those_of_the_source() -> None:
    """male-flight-attendants.tsv: 9.4 % of registered nurses, 45.1 % of bakers and 98.7 % of plumbers are men."""
    assert len(SHARE) == 24
    assert (SHARE["nurse"], SHARE["baker"], SHARE["plumber"]) == (0.906, 0.549, 0.013)
