"""The prompts of `occupations` are DALL-Eval's, and its references those of a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tiltmeter import registry

PROTOCOL = registry.protocol("occupations")
SOURCE = Path(__file__).parents[3] / "shared" / "data" / "occupation_prompts_dalleval.json"
SHARES = Path(registry.__file__).parent / "api" / "examples" / "translation" / "occupations.csv"


@pytest.mark.skipif(not SOURCE.is_file(), reason="the published file is not in the repository")
def test_the_prompts_are_dall_evals_but_for_a_bare_person() -> None:
    published = {prompt.strip() for prompt in json.loads(SOURCE.read_text("utf-8"))}
    asked = {PROTOCOL.prompt_text(cell) for cell in PROTOCOL.cells}
    assert len(asked) == 3 * 83
    assert published - asked == {"A man", "A woman", "A person"}
    assert asked <= published


def test_references_are_those_of_the_table_and_no_others() -> None:
    with SHARES.open(encoding="utf-8", newline="") as file:
        known = {row["occupation"]: row["women_share"] for row in csv.DictReader(file)}
    given = {cell["occupation"]: cell["women_share"] for cell in PROTOCOL.cells}
    assert {name: share for name, share in given.items() if share} == {
        name: share for name, share in known.items() if name in given
    }
    assert sum(bool(share) for share in given.values()) == 13
