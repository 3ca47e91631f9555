"""Classes of wordings that ordinary answers have, each in many languages (wordings.csv, by hand)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tiltmeter.instruments.choice.choice import parse
from tiltmeter.instruments.text.prose import outcome

with Path(__file__).with_name("wordings.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['language']} {row['shape']}" for row in ROWS])
def test_a_wording_is_read_as_by_hand(row: dict[str, str]) -> None:
    text, code, prompt = row["reply"], row["language"], row["prompt"]
    if row["first"]:
        forms = {"first": [row["first"]], "second": [row["second"]]}
        assert parse(text, forms, code, prompt) == row["expected"]
    else:
        assert (outcome(text, code, prompt) or "answer") == row["expected"]
