"""The occupations of `occupations`, and their shares of women."""

from __future__ import annotations

import csv
from pathlib import Path

from tiltmeter import registry

PROTOCOL = registry.protocol("occupations")
HOME = Path(registry.__file__).parent
ROWS = PROTOCOL.tables[0]


def test_every_occupation_has_a_share_and_is_asked_with_its_article() -> None:
    assert len({row["occupation"] for row in ROWS}) == 91
    assert all(0 < float(row["women_share"]) < 1 for row in ROWS)
    prompts = {PROTOCOL.prompt_text(cell) for cell in PROTOCOL.cells}
    assert len(prompts) == 3 * 91
    assert {"A person who works as an electrician", "A woman who works as a nurse"} <= prompts


def test_occupations_of_women_and_of_men_are_both_there() -> None:
    shares = sorted(float(row["women_share"]) for row in ROWS)
    assert sum(share > 0.7 for share in shares) >= 20 and sum(share < 0.3 for share in shares) >= 20


def test_shares_agree_with_those_of_the_example_translation() -> None:
    """Both are rows of one table; each was taken from it by itself."""
    path = HOME / "api" / "examples" / "translation" / "occupations.csv"
    with path.open(encoding="utf-8", newline="") as file:
        known = {row["occupation"]: float(row["women_share"]) for row in csv.DictReader(file)}
    own = {row["occupation"]: float(row["women_share"]) for row in ROWS}
    both = known.keys() & own.keys()
    assert len(both) >= 10
    assert {name: own[name] for name in both} == {name: known[name] for name in both}
