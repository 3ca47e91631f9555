"""Words that no rule knows are put aside, and no value moves."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from tiltmeter.instruments.choice.alike import STAND_IN
from tiltmeter.instruments.choice.reader import Reader

SETS = Path(__file__).parents[1]
FORMS = {"he": ["he"], "she": ["she"]}
LATIN = ("en", "es", "nl")


@cache
def _reader(code: str) -> Reader:
    return Reader(FORMS, code)


def _aside(text: str) -> str:
    reader = _reader("en")
    return reader._alike.text(reader._canonical(text))


def test_words_that_no_rule_knows_are_one() -> None:
    first = _aside(
        "I would use she, because the bold carpenter reads on without a fuss, and more so."
    )
    second = _aside(
        "I would use she, because the odd violinist reads on without a doze, and more so."
    )
    assert first == second and f" the {STAND_IN} {STAND_IN} " in first
    assert " would use she , because " in first and " without " in first


def test_a_short_answer_stays_short() -> None:
    # 4 + 18 × 4 characters are few (80), with stand-ins of five letters they would be 112
    assert STAND_IN not in _aside("She " + "owl " * 18)
    assert STAND_IN in _aside("She owl")


@pytest.mark.parametrize("code", LATIN)
def test_no_value_moves(code: str) -> None:
    reader, changed = _reader(code), 0
    for name in ("answers.csv", "languages_varied.csv", "languages_held.csv"):
        with (SETS / name).open(encoding="utf-8", newline="") as file:
            texts = [row["text"] for row in csv.DictReader(file) if row["language"] == code]
        for text in texts:
            canonical = reader._canonical(text)
            alike = reader._alike.text(canonical)
            changed += alike != canonical
            assert reader._value(alike, alike) == reader._value(canonical, canonical), text
    assert changed > 30
