"""A language model as a second labeller of rewrites (`--judge KIND:NAME`): it names the class of
pronouns that a rewrite uses for its person.

The judge is shown both texts and the word for the person, but not the condition (unless `told =
"condition"` is set, as in the paper; with `printed` it is sent the paper's prompt with the fields
of a row, and only the line `identified_gender: CLASS` of its reply counts). It replies in a JSON
schema. A reply that does not fit is asked for again; after ROUNDS such replies the label is
`invalid`. The class then goes through the same policy as that found by the rules.

`agreement` is "yes" if the judge named the same class as the rules, else "no". The reply is stored
with its pairs and reason. The wording is our own (judge.toml) and part of the annotator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...protocol import InstrumentSpec
from ...records import (
    INVALID,
    Answered,
    Label,
    Message,
    Sampling,
    Steps,
)
from .. import SecondJudge
from ..judges.prompt import asking, converse, json_object, mark, plain
from ..pronouns.pronouns import CLASSES
from ..wording import Json, Texts, texts_of
from . import AGREEMENT, PRONOUNS, PUBLISHED, VERDICT, labels, row, verdicts
from .outcomes import READ, shape

ROUNDS = 3
SAMPLING = Sampling(temperature=0.0, top_p=1.0, max_tokens=1024)
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "pairs": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
            "identified_gender": {"type": "string", "enum": list(CLASSES)},
            "reason": {"type": "string"},
        },
        "required": ["pairs", "identified_gender", "reason"],
        "additionalProperties": False,
    }
)

_IDENTIFIED = re.compile(r"^\W*identified_gender\W+(\w+)\W*$", re.MULTILINE)

# Stands for the design's row where only the size of a question is wanted (cost.py).
_UNKNOWN = {"theme": "name", "noun": "Emery", "pronoun": "none", "category": "neutral"}


class RewriteJudge(SecondJudge):
    """A judge that labels a rewrite by asking a model for the pronouns' class."""

    kind = "rewrite_judge"
    version = "2"
    answers = "rewrite"
    summary = "a model that names the pronouns of a rewrite, beside rewrite"
    typical_answer = (
        "According to the report, she has been in the news. Her plans stand, and her "
        "friends are glad of it."
    )

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        super().__init__(spec, judge)
        self.attributes = (PRONOUNS, VERDICT, PUBLISHED, AGREEMENT)
        self._told = spec.settings.get("told") == "condition"
        self._printed: Mapping[str, Any] = spec.settings.get("printed", {})

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, the schema of replies, rounds and sampling."""
        return {**_texts().table, "schema": SCHEMA, "rounds": ROUNDS, "sampling": SAMPLING}

    def steps(self, item: Answered) -> Steps:
        """Asks for the pronouns' class of a rewrite, at most ROUNDS times; returns the labels."""
        cell = row(item, self.name) if item.cell else {**_UNKNOWN, "text": item.trial.prompt}
        output = item.trial.begin + item.output.text
        form = shape(cell["text"], output)
        if form.outcome not in READ:
            return self._labels(item, dict.fromkeys(self.attributes, form.outcome))

        def read(text: str) -> tuple[str, str]:
            if self._printed:
                value, again = class_on_its_line(text), self._printed["again"]
            else:
                value = class_named(text)
                again = _texts().fill("again", classes=", ".join(CLASSES))
            return (value, "") if value else (INVALID, again)

        asked = Message("user", self._question(item, cell, form.text))
        request = asking(self, item, SAMPLING, "" if self._printed else SCHEMA)
        value, is_usable = yield from converse([asked], request, read, ROUNDS)
        if not is_usable:
            return self._labels(item, dict.fromkeys(self.attributes, INVALID))
        agrees = "yes" if labels(cell, output)[PRONOUNS] == value else "no"
        return self._labels(item, {**verdicts(cell, value), AGREEMENT: agrees})

    def _question(self, item: Answered, cell: Mapping[str, str], rewrite: str) -> str:
        """Writes our question, or the paper's published prompt with the fields of a row."""
        if not self._printed:
            return question(cell, rewrite, self._told)
        named = {
            name: levels.get(cell.get(name, ""), cell.get(name, ""))
            for name, levels in self._printed["levels"].items()
        }
        texts = {"task": plain(item.trial.prompt), "rewrite": plain(rewrite)}
        shown = self._printed["shown"].strip().format_map({**cell, **named, **texts})
        return f"{self._printed['ask'].strip()}\n\n{shown}"

    def _labels(self, item: Answered, found: Mapping[str, str]) -> list[Label]:
        return [self.label(item, found[name], attribute=name) for name in self.attributes]


def class_named(text: str) -> str | None:
    """Returns the class in a reply that fits the schema, perhaps in a code fence; else None."""
    answer = json_object(text)
    if answer is None or set(answer) != {"pairs", "identified_gender", "reason"}:
        return None
    value, pairs = answer["identified_gender"], answer["pairs"]
    fits = (
        isinstance(answer["reason"], str)
        and isinstance(pairs, list)
        and all(
            isinstance(pair, list) and all(isinstance(part, str) for part in pair) for pair in pairs
        )
    )
    return value if fits and value in CLASSES else None


def class_on_its_line(text: str) -> str | None:
    """Returns the class after `identified_gender` in a reply to the paper's prompt; else None."""
    named = {name.lower() for name in _IDENTIFIED.findall(text)}
    value = named.pop() if len(named) == 1 else ""
    return value if value in CLASSES and value != "neo" else None


def question(cell: Mapping[str, str], rewrite: str, told: bool = False) -> str:
    """Writes the question to the judge about a rewrite. told: True if it includes the condition."""
    wording = _texts()
    given, rewrite = plain(cell["text"]), plain(rewrite)
    condition = wording.text("condition").format_map({"category": "", **cell}) if told else ""
    return wording.fill(
        "ask",
        mark=mark(given, rewrite),
        given=given,
        rewrite=rewrite,
        reference=cell["noun"],
        condition=condition,
        classes=", ".join(CLASSES),
    )


def _texts() -> Texts:
    return texts_of(Path(__file__).with_name("judge.toml"))
