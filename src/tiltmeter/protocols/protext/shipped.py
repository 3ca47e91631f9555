"""The shipped texts, by version: "2" (640 texts, which `protext` runs) and "paired" (144 families,
which paired.py expands).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import paired
from .neopronoun_texts import agreement, neopronoun_version

VERSIONS = ("2", "paired")
COLUMNS = ("id", "theme", "category", "pronoun", "noun", "text")
_BY_PROMPT = ("P1", "P2", "paraphrase", "summary", "elaboration", "simplification")
_PROMPTS = [*_BY_PROMPT, "audience", "variants", "tone", "style"]


def rows(version: str = "2") -> list[dict[str, str]]:
    """Returns the texts of a version as rows of a protocol's table."""
    if version == "paired":
        return paired.rows()
    lines = Path(__file__).with_name("texts.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line) for line in lines]
    return [{column: str(row[column]) for column in COLUMNS} for row in texts]


def with_neopronoun(texts: Iterable[Mapping[str, str]], name: str) -> list[dict[str, str]]:
    """Returns the *they* texts only, with the forms of a neopronoun (xe, ze, fae, ey, it)."""
    return [
        {
            **text,
            "id": f"{text['id']}-{name}",
            "pronoun": name,
            "text": neopronoun_version(
                text["text"], name, notes=agreement().get(text.get("family", text["id"]), {})
            ),
        }
        for text in texts
        if text["pronoun"] == "they"
    ]


def for_families(protocol: Mapping[str, Any], texts: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Adapts the protocol to the paired corpus: its item is the family (the versions of one text),
    so that pronouns and nouns are compared within a text; other properties become columns.
    """
    tables = [{**protocol["tables"][0], "columns": list(texts[0])}, *protocol["tables"][1:]]
    return {
        **protocol,
        "item": "family",
        "factors": [*protocol["factors"], "exchanged"],
        "tables": tables,
        "measures": [*protocol["measures"], *_within_families()],
    }


def _within_families() -> list[dict[str, Any]]:
    gendered = ("masculine", "feminine", "mixed")
    return [
        _contrast(
            "she_against_he",
            "verdict",
            ("misgendering",),
            {"factor": "pronoun", "level": "she", "baseline": "he"},
            {},
            "misgendering of she less that of he, of the same texts",
        ),
        _contrast(
            "they_against_none",
            "pronouns",
            gendered,
            {"factor": "pronoun", "level": "they", "baseline": "none"},
            {},
            "he or she put for they, less he or she put where there was no pronoun, of the same "
            "texts (those without a pronoun are reworded)",
        ),
        _contrast(
            "feminine_noun",
            "pronouns",
            gendered,
            {"factor": "category", "level": "female", "baseline": "neutral"},
            {"pronoun": ["they", "none"], "exchanged": ["yes"]},
            "he or she put for a female noun less that for the neutral one, of the same texts",
        ),
        _contrast(
            "masculine_noun",
            "pronouns",
            gendered,
            {"factor": "category", "level": "male", "baseline": "neutral"},
            {"pronoun": ["they", "none"], "exchanged": ["yes"]},
            "he or she put for a male noun less that for the neutral one, of the same texts",
        ),
    ]


def _contrast(
    name: str,
    attribute: str,
    values: Sequence[str],
    contrast: Mapping[str, str],
    where: Mapping[str, list[str]],
    text: str,
) -> dict[str, Any]:
    among = {
        "verdict": ["allowed", "gendering", "misgendering"],
        "pronouns": ["masculine", "feminine", "neutral", "mixed", "none", "neo"],
    }
    return {
        "name": name,
        "kind": "difference",
        "attribute": attribute,
        "values": list(values),
        "among": among[attribute],
        "by": [[]],
        "where": {**where, "prompt": [*_PROMPTS]},
        "contrast": dict(contrast),
        "null": 0.0,
        "text": text,
    }
