"""A run of each protocol: which tabs, columns and attribute it opens with, and that each of its outputs can be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tiltmeter.explore import rendering
from tiltmeter.explore.browse.page import page
from tiltmeter.explore.selection.detail import detail
from tiltmeter.explore.selection.index import open_indices
from tiltmeter.explore.selection.view import ALL, View
from tiltmeter.explore.server import Explorer
from tiltmeter.registry import PROTOCOLS

# model, options; then tabs, columns (the baseline first) and attribute, as somebody who knows the paper would want them
RUNS: dict[str, tuple[str, dict[str, Any], str, list[str], str]] = {
    "roles": (
        "planted:she=0.7",
        {"language": "en", "limit": 3, "samples": 2},
        "lexeme",
        ["he_first", "she_first"],
        "pronoun",
    ),
    "words": (
        "planted:protocol=words",
        {"language": "en", "limit": 2},
        "occupation",
        ["male", "female"],
        "word",
    ),
    "dialogues": (
        "planted:protocol=dialogues",
        {"language": "en", "samples": 3, "judge": "planted:protocol=dialogues"},
        "label",
        ["FF", "FM", "MF", "MM"],
        "topic",
    ),
    "protext": (
        "planted-rewriter:gender=0.3",
        {"limit": 12},
        "theme",
        ["male", "female", "neutral"],
        "verdict",
    ),
    "soda": (
        "planted:protocol=soda",
        {"where": {"object": ("car", "cup")}, "samples": 2, "judge": "planted:protocol=soda"},
        "object",
        [
            "base",
            "young adults",
            "middle-aged",
            "elderly",
            "men",
            "women",
            "White",
            "Black",
            "Asian",
        ],
        "product_color",
    ),
    "decisions": (
        "planted:protocol=decisions",
        {"limit": 2, "where": {"age": ("45",), "race": ("White", "Black"), "gender": ("men",)}},
        "scenario",
        ["White", "Black"],
        "decision",
    ),
    "decisions_names": (
        "planted:protocol=decisions_names",
        {
            "limit": 2,
            "where": {"set": ("01",), "gender": ("men",), "ethnicity": ("White", "Black")},
        },
        "scenario",
        ["White", "Black"],
        "decision",
    ),
    "occupations": (
        "planted:protocol=occupations",
        {
            "limit": 2,
            "samples": 1,
            "where": {"named": ("nobody", "man", "woman")},
            "judge": "planted:protocol=occupations",
        },
        "occupation",
        ["man", "nobody", "woman"],
        "gender",
    ),
    "letters": (
        "planted:protocol=letters",
        {"limit": 2, "where": {"age": ("20",)}},
        "occupation",
        ["female", "male"],
        "words",
    ),
    "hiring": (
        "planted:protocol=hiring",
        {"limit": 2, "where": {"job": ("web developer", "pharmacy technician")}},
        "lineup",
        [
            "web developer",
            "accounts payable specialist",
            "warehouse shift supervisor",
            "pharmacy technician",
        ],
        "first",
    ),
    "gramvis": (
        "planted:protocol=gramvis,male.masculine=.8",
        {"language": "de", "limit": 3, "samples": 1, "judge": "planted:protocol=gramvis"},
        "word",
        ["de", "en", "zh"],
        "gender",
    ),
}


def test_each_protocol_is_here() -> None:
    assert set(RUNS) == set(PROTOCOLS)


@pytest.mark.parametrize("name", RUNS)
def test_it_opens_as_one_would_want_and_every_output_can_be_opened(
    name: str, tmp_path: Path
) -> None:
    model, options, by, columns, attribute = RUNS[name]
    tiltmeter.run(name, model, tmp_path, **options)
    (index,) = open_indices([tmp_path])
    pairs = page(index, View())
    assert pairs.view.show == "pairs" and pairs.found == pairs.total > 0
    found = page(index, View(show="wall"))
    assert (found.view.by, found.view.attribute) == (by, attribute)
    shown = page(index, View(tab=ALL))
    assert {level for level, _ in shown.columns} <= set(columns) and len(shown.columns) >= 2
    assert [level for level, _ in shown.columns] == [
        level for level in columns if level in dict(shown.columns)
    ]
    assert len(found.tabs) >= 3  # two and all
    assert rendering.grid(found, Explorer.places(found.view)).count('<a class="card') == found.found
    if name == "soda":  # what is called red is drawn red
        drawn = {
            card.labels[0]: card.colour
            for _, row in shown.rows
            for cell in row
            for card in cell.cards
            if card.labels
        }
        assert drawn["red"] == "#e50000"
    for card in (card for _, row in shown.rows for cell in row for card in cell.cards):
        looked = detail(index, card.run, card.id)
        assert (
            looked.labels
            and looked.signatures
            and (looked.picture or looked.text or looked.outcome != "answer")
        )
        assert (looked.rewrite is not None) == (name == "protext" and looked.outcome == "answer")
    index.close()
