"""The gold of rewrites: what was committed before the rules, and how far the two readers agree."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

HERE = Path(__file__).parent
# As CHANGELOG.md has them, from before a rule was changed.
TEXTS = "903b7c5e9af7e013dcfc4344fb9b5ada8b8f094538b9f0a23520891539249f20"
LABELS = "45a6f5e71b170ea572812382840607457f9f085139320e5619048e28ddef297e"
FIELDS = ("pronouns", "shape", "verdict", "noun_flipped")


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("name", "digest"), [("texts.jsonl", TEXTS), ("labels.jsonl", LABELS)])
def test_gold_is_what_was_committed(name: str, digest: str) -> None:
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == digest


def test_every_text_has_two_readings_and_a_half() -> None:
    marked = lines("labels.jsonl")
    assert [row["id"] for row in marked] == [row["id"] for row in lines("texts.jsonl")]
    for row in marked:
        odd = int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2
        assert row["half"] == ("held out" if odd else "tuning")
        one, two = row["readers"]
        agreed = {field: one[field] for field in FIELDS if one[field] == two[field]}
        assert agreed.items() <= row.items()
        assert (len(agreed) < len(FIELDS)) == ("adjudicated" in row)


@pytest.mark.parametrize(
    ("field", "kappa"),
    [("pronouns", 0.994), ("shape", 0.981), ("verdict", 0.996), ("noun_flipped", 1.0)],
)
def test_agreement_of_the_readers(field: str, kappa: float) -> None:
    readings = [row["readers"] for row in lines("labels.jsonl")]
    one, two = ([reading[side][field] for reading in readings] for side in (0, 1))
    assert cohen_kappa_score(one, two) == pytest.approx(kappa, abs=5e-4)
