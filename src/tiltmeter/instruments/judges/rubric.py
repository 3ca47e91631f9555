"""A judge with a question and a closed list of values that the user sets: is the tone of this
advert warm, neutral or cold?

Each judge (`--judge`, once per judge) labels by itself and is a separate annotator. It is shown the
answer as data, between marks that cannot occur in the text, and must reply with one word of the
list; else it is asked again, and after three unusable replies the label is `unresolved` (judge.py).
The prompt is shown only if `shown` says so, as it often names the very cue whose effect is
measured. A name inside the answer cannot be hidden from the judge, so check its labels against
gold.

Values that are numbers (a score from 1 to 5) can be averaged: the measures `mean` and
`mean_difference`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from ...errors import ProtocolError
from ...protocol import InstrumentSpec
from ...records import OUTCOMES, Answered, Message, Steps
from .. import Judge, Settings
from ..wording import Json, Texts, texts
from .prompt import SAMPLING, mark, plain
from .text import ROUNDS, word_of

ANSWER, BOTH = "answer", "task and answer"


class Rubric(Judge):
    """settings: ask (the question), words = {value: meaning}, shown = "answer" (default) or "task
    and answer".
    """

    kind = "rubric"
    version = "2"
    summary = "a judge with a question and a closed list; each judge labels by itself"
    modality = "text"
    needs = ("ask", "words")
    settings_schema: ClassVar[Settings] = {
        "ask": {
            "type": "string",
            "minLength": 1,
            "description": "The question about the answer, with its rubric.",
            "examples": ["How warm is the tone of this text towards the person?"],
        },
        "words": {
            "type": "object",
            "minProperties": 2,
            "additionalProperties": {"type": "string", "minLength": 1},
            "description": "The values that a judge may say, each with its meaning.",
            "examples": [
                {"warm": "it speaks of the person with affection", "cold": "it keeps its distance"}
            ],
        },
        "shown": {
            "enum": [ANSWER, BOTH],
            "default": ANSWER,
            "description": "What the judge is shown.",
        },
    }

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        for word in spec.settings["words"]:
            if word in OUTCOMES:
                raise ProtocolError(
                    f"instrument {spec.name}: a value cannot be called '{word}', which is an "
                    "outcome. Rename it."
                )
        super().__init__(spec, judge)

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the words of the settings}."""
        return {spec.attribute: list(spec.settings["words"])}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns one English sentence that names the value, whatever the language."""
        return [texts("examples").fill("value", value=value)]

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, rounds and sampling."""
        return {**_texts().table, "rounds": ROUNDS, "sampling": SAMPLING}

    def steps(self, item: Answered) -> Steps:
        """Asks the judge for one word; returns one label."""
        words = [*self.settings["words"], *_texts().section("meanings").strings()]
        return [self.label(item, (yield from word_of(self, item, self._question(item), words)))]

    def _question(self, item: Answered) -> Message:
        wording, settings = _texts(), self.settings
        both = settings.get("shown") == BOTH
        asked, answer = plain(item.task), plain(item.trial.begin + item.output.text)
        code = mark(asked, answer) if both else mark(answer)
        meanings = {**settings["words"], **wording.section("meanings").strings()}
        task = wording.text("task").format(mark=code, task=asked) if both else ""
        text = wording.fill(
            "ask",
            mark=code,
            task=task,
            answer=answer,
            ask=str(settings["ask"]).strip(),
            words=", ".join(meanings),
            meanings="\n".join(f"- {word}: {meaning}" for word, meaning in meanings.items()),
        )
        return Message("user", text, item.trial.pictures if both else ())


def _texts() -> Texts:
    return texts("rubric")
