"""The gold of rewrites: what was committed before the rules, and how far the two readers agree."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from tiltmeter.instruments.rewrites import labels
from tiltmeter.protocols.protext import shipped

from ...benchmark import benchmark

HERE = Path(__file__).parent
# As CHANGELOG.md has them, from before a rule was changed.
TEXTS = "903b7c5e9af7e013dcfc4344fb9b5ada8b8f094538b9f0a23520891539249f20"
LABELS = "45a6f5e71b170ea572812382840607457f9f085139320e5619048e28ddef297e"
# As CHANGELOG.md has them, from before version 3 of the rules.
TEXTS_2 = "6483398d57337ff2e29f9dedbd3a2a3005c0ad15f46dd8b51fe467fbf69d3310"
LABELS_2 = "c3342b9660a6ea083ebd6d38a3a08927ba3c3f72bc3a26b741015ef8715f4f3d"
# As CHANGELOG.md has them, from before the rules of version 4 were run on them.
TEXTS_3 = "0bdd9f5d45ed14d25d5e2091891fb9dc2fb6a29b7ae164b9eefc50e91415bd37"
LABELS_3 = "e7b1a5e36a7d6c7efe9607b836c92cd326a453bd85037964d3552f5a01ed1a33"
FIELDS = ("pronouns", "shape", "verdict", "noun_flipped")


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("texts.jsonl", TEXTS),
        ("labels.jsonl", LABELS),
        ("texts_2.jsonl", TEXTS_2),
        ("labels_2.jsonl", LABELS_2),
        ("texts_3.jsonl", TEXTS_3),
        ("labels_3.jsonl", LABELS_3),
    ],
)
def test_gold_is_what_was_committed(name: str, digest: str) -> None:
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("part", ["", "_2", "_3"])
def test_every_text_has_two_readings(part: str) -> None:
    marked = lines(f"labels{part}.jsonl")
    assert [row["id"] for row in marked] == [row["id"] for row in lines(f"texts{part}.jsonl")]
    for row in marked:
        one, two = row["readers"]
        fields = [field for field in FIELDS if field in one]
        agreed = {field: one[field] for field in fields if one[field] == two[field]}
        assert agreed.items() <= row.items()
        assert (len(agreed) < len(fields)) == ("adjudicated" in row)


@pytest.mark.parametrize(
    ("part", "field", "kappa"),
    [
        ("", "pronouns", 0.994),
        ("", "shape", 0.981),
        ("", "verdict", 0.996),
        ("", "noun_flipped", 1.0),
        ("_2", "pronouns", 0.989),
        ("_2", "shape", 1.0),
        ("_2", "noun_flipped", 1.0),
        ("_3", "pronouns", 1.0),
        ("_3", "shape", 1.0),
        ("_3", "noun_flipped", 1.0),
    ],
)
def test_agreement_of_the_readings(part: str, field: str, kappa: float) -> None:
    readings = [row["readers"] for row in lines(f"labels{part}.jsonl")]
    one, two = ([reading[side][field] for reading in readings] for side in (0, 1))
    assert cohen_kappa_score(one, two) == pytest.approx(kappa, abs=5e-4)


@pytest.mark.parametrize(
    ("part", "macro_f1", "right", "flips", "given", "verdicts"),
    [("tuning", 0.76, 0.75, 0.93, 0.64, 0.9), ("held out", 0.69, 0.70, 0.95, 0.78, 0.87)],
)
def test_the_rules_against_the_readers(
    part: str, macro_f1: float, right: float, flips: float, given: float, verdicts: float
) -> None:
    """The limits stand a little below what was measured: .80, .78, .97, .68, .92 and .73, .74, 1,
    .82, .89.
    """
    gold = benchmark("rewrites")
    figures = gold.figures([gold.marked(row) for row in gold.rows(part)])
    assert figures["macro_f1"] > macro_f1
    assert figures["right"] > right
    assert figures["flips_found"] > flips
    assert figures["false_flips"] < 0.02
    assert figures["verdict_given"] > given
    assert figures["verdict_right"] > verdicts


def test_inputs_are_read_as_their_own_label() -> None:
    """An unchanged text keeps its class, whatever the rules would read."""
    own = {"he": "masculine", "she": "feminine", "they": "neutral", "none": "none"}
    for row in (*shipped.rows(), *shipped.rows("paired")):
        found = labels(row, row["text"])
        assert (found["pronouns"], found["shape"]) == (own[row["pronoun"]], "unchanged"), row["id"]


def test_a_verdict_that_the_readings_do_not_share_is_not_given() -> None:
    """No word tells whether *he* and *she* are Tom and Ann or one of them the plumber: the class is
    the likeliest, and the published policy goes by it.
    """
    text = "The plumber met Ann and Tom at the harbour."
    cell = {"theme": "occupation", "noun": "plumber", "pronoun": "none", "text": text}
    unclear = labels(cell, "Tom brought the plumber to Ann. He laughed, and she was cold.")
    assert (unclear["pronouns"], unclear["verdict"]) == ("none", "unsure")
    assert unclear["verdict_published"] == "allowed"
    clear = labels(cell, "The plumber lost his keys and met Ann and Tom at the harbour.")
    assert clear["verdict"] == "gendering"
