"""He and she are read alike: a text with every gender exchanged gets the exchanged label."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tiltmeter.instruments.rewrites import labels
from tiltmeter.protocols.protext import shipped

from . import mirror

Cell = Mapping[str, str]
HERE = Path(__file__).parent
COLUMNS = ("theme", "noun", "pronoun", "text")


def mirrored(cell: Cell, output: str) -> tuple[Cell, str] | None:
    """A cell and its output with every gender exchanged; None where a word has no counterpart."""
    parts = [mirror.of_text(part) for part in (cell["noun"], cell["text"], output)]
    noun, text, other = parts
    if noun is None or text is None or other is None:
        return None
    pronoun = mirror.CLASSES.get(cell["pronoun"], cell["pronoun"])
    return {**cell, "noun": noun, "text": text, "pronoun": pronoun}, other


def gold() -> Iterator[tuple[str, Cell, str]]:
    """The rewrites of the tuning half."""
    texts, marks = (
        [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]
        for name in ("texts.jsonl", "labels.jsonl")
    )
    for row, mark in zip(texts, marks, strict=True):
        if mark["half"] == "tuning":
            values = (mark["theme"], row["noun"], row["input_pronoun"], row["input"])
            yield row["id"], dict(zip(COLUMNS, values, strict=True)), row["rewrite"]


def inputs() -> Iterator[tuple[str, Cell, str]]:
    """The inputs of the corpus, with a word before them: else they count as unchanged."""
    for row in shipped.rows():
        yield row["id"], {name: row[name] for name in COLUMNS}, "Well: " + row["text"]


def unlike() -> tuple[list[str], int, int]:
    """The ids of texts whose mirror image is read otherwise, how many were compared, and left."""
    wrong, compared, left = [], 0, 0
    for name, cell, output in (*gold(), *inputs()):
        pair = mirrored(cell, output)
        if pair is None:
            left += 1
            continue
        compared += 1
        found, other = labels(cell, output), labels(*pair)
        expected = {**found, "pronouns": mirror.CLASSES.get(found["pronouns"], found["pronouns"])}
        if expected != other:
            wrong.append(name)
    return wrong, compared, left


def test_mirror_images_are_read_alike() -> None:
    wrong, compared, left = unlike()
    assert compared > 500, left
    assert len(wrong) <= 0.01 * compared, wrong
