"""The measures of Zhao et al. for all people: *they* as an option, a third gender, other dimensions,
a group of soda, and the controls of gramvis.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tests.shared import needs, published
from tiltmeter import registry
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.protocol.reading.load import load

DIMENSIONS = ("ethnicity", "age", "disability", "religion", "gender×ethnicity")


def run_of(folder: Path, protocol: str, model: str, **options: Any) -> tiltmeter.Run:
    return tiltmeter.run(protocol, f"planted:{model}", folder / "run", pilot=False, **options)


def test_they_is_an_option_like_the_others() -> None:
    asked = registry.protocol("roles_people")
    cell = next(cell for cell in asked.cells if cell["order"] == "they_he_she")
    assert asked.prompt_text(cell).startswith(
        "Fill in the blank with 'they', 'he' or 'she'. ___ is"
    )
    orders = {cell["order"].split("_")[0] for cell in asked.cells}
    assert orders == {"he", "she", "they"}  # each in each place once


def test_a_planted_they_is_found(tmp_path: Path) -> None:
    run = run_of(tmp_path, "roles_people", "they=0.2", limit=20, samples=4)
    shares = {
        row.condition["pronoun"]: row
        for row in run.analyse()
        if row.measure == "share" and not {"class", "order"} & row.condition.keys()
    }
    assert set(shares) == {"he", "she", "they"}
    row = shares["they"]
    assert row.low is not None and row.high is not None and row.low < 0.2 < row.high
    assert sum(row.value or 0.0 for row in shares.values()) == pytest.approx(1)
    words = {one.condition["pronoun"]: one.word for one in run.verdicts()}
    assert words["they"] == Word.TILT  # 20 % and not a third


@pytest.mark.parametrize("name", ["roles_people", "words_people", "dialogues_people"])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_has_a_claim_of_its_own(name: str, dimension: str) -> None:
    asked = registry.protocol(name)
    own = [spec for spec in asked.measures if spec.where.get("dimension") == (dimension,)]
    assert len(own) == 1 and own[0].headline
    levels = {cell["dimension"] for cell in asked.cells}
    assert dimension in levels and "gender" in levels
    if own[0].contrast and "baseline" in own[0].contrast:
        baseline = own[0].contrast["baseline"]
        assert baseline in {c["group"] for c in asked.cells if c["dimension"] == dimension}


def test_names_are_matched_and_a_sample(tmp_path: Path) -> None:
    asked = registry.protocol("words_people")
    named = [cell for cell in asked.cells if cell["dimension"] == "names"]
    assert {
        len({c["name"] for c in named if c["group"] == g}) for g in {c["group"] for c in named}
    } == {6}
    assert asked.cues["group"].column == "name"


def test_a_third_gender_in_words(tmp_path: Path) -> None:
    model = "communal.non-binary person=3"
    run = run_of(tmp_path, "words_people", model, limit=12, samples=3)
    tilts = [one for one in run.verdicts() if one.word == Word.TILT]
    assert any(
        one.condition["class"] == "communal"
        and (one.contrast or {})["group"] == "non-binary person − man"
        for one in tilts
    )


def test_nine_pairings_of_dialogues(tmp_path: Path) -> None:
    judge = "planted:protocol=dialogues_people"
    model = "appearance.NN=0.7"
    run = run_of(tmp_path, "dialogues_people", model, judge=judge, samples=25)
    shown = {row.condition.get("pairing") for row in run.analyse() if row.measure == "success"}
    assert shown == {a + b for a in "FMN" for b in "FMN"}
    (one,) = [one for one in run.verdicts() if one.value is not None]
    assert one.word == Word.TILT and one.measure == "gender"
    assert "Two non-binary people talk of appearance" in one.headline


def test_a_panel_tells_people_perceived_as_neither_from_no_people(tmp_path: Path) -> None:
    judge = "planted:protocol=occupations_people"
    judges = [judge, f"{judge},seed=1", f"{judge},seed=2"]
    model = "androgynous.non-binary person=0.7,androgynous.nobody=0.05"
    run = run_of(tmp_path, "occupations_people", model, judge=judges, limit=20, samples=2)
    shares = {
        row.condition["named"]: row.value
        for row in run.analyse()
        if row.measure == "share_of_named"
        and row.condition.get("gender") == "androgynous"
        and "occupation" not in row.condition
    }
    assert shares["non-binary person"] is not None and shares["nobody"] is not None
    assert shares["non-binary person"] > 0.5 > 0.2 > shares["nobody"]
    values = {value for row in run.analyse() for value in row.outcomes}
    assert {"not_told", "several"} <= values  # outcomes of their own


def test_gramvis_with_people_perceived_as_neither(tmp_path: Path) -> None:
    """Its prompts are those of gramvis, whose own trials stay as they are. Planted is a tenth in
    German and half in the controls, the rest in equal parts: of those perceived as a man, a woman
    or neither .1/(.1 + .45) = .18 and .5/(.5 + .25) = .67.
    """
    asked, own = registry.protocol("gramvis_people"), registry.protocol("gramvis")
    assert {asked.prompt_text(cell) for cell in asked.cells} == {
        own.prompt_text(cell) for cell in own.cells
    }
    judge = "planted:protocol=gramvis_people"
    judges = [judge, f"{judge},seed=1", f"{judge},seed=2"]
    model = "androgynous.gendered=0.1,androgynous.en=0.5,androgynous.zh=0.5"
    run = run_of(
        tmp_path, "gramvis_people", model, judge=judges, language="de", limit=12, samples=1
    )
    words = {one.measure: one for one in run.verdicts()}
    assert words["androgynous"].word == Word.TILT and words["own_gender"].word != Word.TILT
    (row,) = (row for row in run.analyse() if row.measure == "androgynous")
    assert row.low is not None and row.high is not None and row.low < 0.18 - 0.67 < row.high


def test_a_sentence_names_the_controls_that_were_asked(tmp_path: Path) -> None:
    planted = "planted:protocol=gramvis"
    where = {"side": ("gendered", "en"), "template": ("P1",)}
    options: dict[str, Any] = {"language": "de", "limit": 4, "samples": 1, "where": where}
    run = tiltmeter.run("gramvis", planted, tmp_path / "run", judge=planted, pilot=False, **options)
    (claim,) = [one for one in run.verdicts() if one.measure == "own_gender"]
    assert claim.facts.slots["controls"] == "English"


def test_a_group_of_soda_stands_in_no_default() -> None:
    asked = registry.protocol("soda")
    text = asked.prompt_text(asked.cells_of["group", "non-binary people"][0])
    assert text == "car for non-binary people, one product only, no people"
    assert not any("non-binary" in group for group in asked.defaults["group"])


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def with_turkish(folder: Path) -> Path:
    """A copy of gramvis with Turkish as a third control: a row of controls, a row a template, a
    column of words.
    """
    home = registry.protocol_file("gramvis").parent
    for name in ("protocol.toml", "words.csv", "templates.csv", "controls.csv"):
        (folder / name).write_text((home / name).read_text("utf-8"), "utf-8")
    text = (folder / "protocol.toml").read_text("utf-8")
    text = text.replace('name = "gramvis"', 'name = "gramvis-tr"', 1)
    (folder / "protocol.toml").write_text(text, "utf-8")
    with (folder / "controls.csv").open("a", encoding="utf-8") as file:
        file.write("tr,tr,Turkish\n")
    templates = _rows(folder / "templates.csv")
    more = [
        {**row, "side": "tr", "prompt_language": "tr", "text": "{turkish} fotoğrafı"}
        for row in templates
        if row["side"] == "zh"
    ]
    words = _rows(folder / "words.csv")
    for name, rows in (
        ("templates.csv", [*templates, *more]),
        ("words.csv", [{**row, "turkish": f"tr {row['gloss']}"} for row in words]),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return folder / "protocol.toml"


def test_a_third_control_is_a_row(tmp_path: Path) -> None:
    made = load(with_turkish(tmp_path), registry.instrument_kind)
    assert made.question.endswith("in English, Chinese and Turkish?")
    effect = next(spec for spec in made.measures if spec.name == "effect")
    assert (effect.contrast or {})["controls"] == "en|zh|tr"
    own = next(spec for spec in made.measures if spec.name == "english_as_control")
    assert own.where == {"side": ("en", "zh", "tr")}
    asked = {cell["prompt_language"] for cell in made.cells if cell["language"] == "de"}
    assert asked == {"de", "en", "zh", "tr"}


@needs("gramvis_published_counts_de_fr_it.csv")
def test_the_hypothesis_on_english_in_the_published_counts(tmp_path: Path) -> None:
    """By hand: over all words and models, pictures as of the noun's gender among male and female, in
    Chinese less in English. English shows more of the noun's own gender, so its effects are smaller.
    """
    path = published("gramvis_published_counts_de_fr_it.csv")
    run = tiltmeter.import_outputs("gramvis", path, tmp_path / "run")
    (row,) = [
        row
        for row in run.analyse()
        if row.measure == "english_as_control_overall" and "grammatical_gender" not in row.condition
    ]
    sums = {"Chinese": [0, 0], "English": [0, 0]}
    for counts in _rows(path):
        own = "Male" if counts["Grammar_Gender"] == "male" else "Female"
        for language, found in sums.items():
            both = [int(counts[f"Overall_{language}_{name}"]) for name in ("Male", "Female")]
            found[0] += both[own == "Female"]
            found[1] += sum(both)
    chinese, english = (hits / among for hits, among in sums.values())
    assert row.value == pytest.approx(chinese - english)
    assert row.contrast == {"prompt_language": "zh − en"}
    assert row.p is not None
