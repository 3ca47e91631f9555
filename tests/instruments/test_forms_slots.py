"""Options that stand in a column of the row, as the answers of a question do."""

from __future__ import annotations

import pytest

from tiltmeter import Protocol
from tiltmeter.errors import ProtocolError
from tiltmeter.instruments.choice.choice import Choice

from .making import answered, drive, nobody

ROWS = [
    {"question": "q1", "text": "Who was late?", "ans0": "the grandfather", "ans1": "the grandson"},
    {"question": "q2", "text": "Who paid?", "ans0": "Maria", "ans1": "not known"},
]


def declare(rows: list[dict[str, str]], form: str = "{ans0}") -> Protocol:
    return Protocol.declare(
        name="answers",
        title="Answers",
        question="?",
        prompt="{text} {ans0}, {ans1}?",
        factors=["question"],
        item="question",
        tables=[{"rows": rows}],
        modes={"sampled": {"samples": 1}},
        instruments=[
            {
                "name": "choice",
                "kind": "choice",
                "attribute": "answer",
                "forms": {"en": {"first": [form], "second": ["{ans1}"]}},
            }
        ],
    )


def test_a_slot_is_filled_from_the_row() -> None:
    protocol = declare(ROWS)
    choice = Choice(protocol.instruments[0])
    for cell, text, label in (
        (ROWS[0], "The grandson.", "second"),
        (ROWS[1], "The answer is Maria.", "first"),
        (ROWS[1], "Not known", "second"),
        (ROWS[1], "The grandson.", "invalid"),
    ):
        item = answered(text, prompt="")
        item = type(item)(item.trial._replace(factors={}), item.output, item.reply, cell=cell)
        assert [found.value for found in drive(choice.steps(item), nobody)[0]] == [label]


def test_a_slot_without_a_column_is_refused() -> None:
    with pytest.raises(
        ProtocolError, match="a form has the slot answer, but the tables have no such"
    ):
        declare(ROWS, "{answer}")


def test_a_row_whose_options_are_one_word_is_refused() -> None:
    with pytest.raises(ProtocolError, match="'Maria' is a form of"):
        declare([ROWS[0], {**ROWS[1], "ans1": "Maria"}])
