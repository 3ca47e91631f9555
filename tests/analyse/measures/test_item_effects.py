"""The effect of each word, ranked: counted by hand, with its rule, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiltmeter
from tests.conftest import Made
from tiltmeter import registry

GRAMVIS = registry.protocol("gramvis")
# word, gender: (male, female) of pictures asked as it is, in English, in Chinese
COUNTS = {
    ("de:wache", "feminine"): ((1, 3), (3, 1), (4, 0)),  # +.50 and +.75: with it
    ("de:liebling", "masculine"): ((1, 3), (2, 2), (3, 1)),  # −.25 and −.50: against it
    ("de:star", "masculine"): ((2, 2), (1, 3), (3, 1)),  # +.25 and −.25: neither
    ("de:schatz", "masculine"): ((2, 2), (0, 0), (1, 1)),  # no picture in English: left out
}


@pytest.fixture
def run(tmp_path: Path) -> tiltmeter.Run:
    made = Made(tmp_path / "run", GRAMVIS)
    for (word, gender), sides in COUNTS.items():
        for language, (male, female) in zip(("de", "en", "zh"), sides, strict=True):
            levels = {
                **dict.fromkeys(GRAMVIS.factors, "no"),
                "word": word,
                "language": "de",
                "prompt_language": language,
                "side": "gendered" if language == "de" else language,
                "grammatical_gender": gender,
                "category": "occupation",
                "declension": "published",
                "controls": "own",
            }
            values = ["male"] * male + ["female"] * female
            made.label([(levels, "sampled", {value: 1.0}) for value in values], "panel/x@1")
    made.store.close()
    return tiltmeter.open_run(tmp_path / "run")


def test_words_are_ranked_by_their_effect_with_the_rule_said(run: tiltmeter.Run) -> None:
    rows = [e for e in run.analyse() if e.measure == "effect_of_word"]
    found = [
        (e.condition["word"], (e.contrast or {})["prompt_language"], e.value, e.n) for e in rows
    ]
    assert found == [
        ("de:wache", "en", 0.5, 8.0),
        ("de:wache", "zh", 0.75, 8.0),
        ("de:star", "en", 0.25, 8.0),
        ("de:star", "zh", -0.25, 8.0),
        ("de:liebling", "en", -0.25, 8.0),
        ("de:liebling", "zh", -0.5, 8.0),
    ]
    said = {e.condition["word"]: e.note for e in rows}
    assert said["de:wache"].startswith("rank 1 of 3; with the expected direction; tested .75 (n 4)")
    assert said["de:star"].startswith("rank 2 of 3; in neither direction")
    assert said["de:liebling"].startswith("rank 3 of 3; against it")
    assert all(e.p is None and e.low is None for e in rows)
