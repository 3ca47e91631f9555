"""A language model as a second labeller of the same answers (`--judge KIND:NAME`).

The judge is shown the task and the answer as data, between marks that cannot occur in the texts,
and must reply with one word of a closed list: the options and the outcomes of choice.py. If its
reply is anything but that word, perhaps with quotes and a full stop, it is asked again with the
list, in the same conversation; after ROUNDS such replies the label is `unresolved`. A longer reply
is not searched for words: "neither he nor she" contains both options.

The wording is in data/judge.toml and part of the annotator: another prompt, judge or set of forms
makes another annotator. Exact probabilities come without a text, so they are not judged.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from ...protocol import InstrumentSpec
from ...records import UNRESOLVED, Answered, Message, Reply, Request, Steps, Trial
from .. import Instrument, SecondJudge
from ..choice.forms import Forms, forms_of
from ..outcomes import told_to_judges
from ..wording import Form, Json, Texts, texts
from .prompt import SAMPLING, asking, converse, mark, one_of, plain

ROUNDS = 3


class ChoiceJudge(SecondJudge):
    """A judge for a `choice` instrument, made from the instrument's spec and a model's name."""

    kind = "judge"
    version = "3"
    answers = "choice"
    summary = "a model that names the option an answer chooses, beside choice"

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        super().__init__(spec, judge)
        self._lists: dict[str, ClosedList] = {}  # by language

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, meanings of outcomes, rounds and sampling."""
        outcomes = told_to_judges(self.settings)
        return {**_texts().table, "meanings": outcomes, "rounds": ROUNDS, "sampling": SAMPLING}

    def different_answers(self, trial: Trial) -> int:
        """Returns the number of options of the trial's language."""
        return len(forms_of(self.settings["forms"], trial, self.name)[1])

    def steps(self, item: Answered) -> Steps:
        """Asks the judge which option the answer chooses; returns one label."""
        declared = self.settings["forms"]
        code, forms = forms_of(declared, item.trial, self.name, item.cell)
        listed = (
            self._lists.get(code) if forms is declared[code] else closed_list(forms, self.settings)
        )
        if listed is None:
            listed = self._lists[code] = closed_list(forms, self.settings)
        asked = question(item, listed)
        return [self.label(item, (yield from word_of(self, item, asked, listed.words)))]


def word_of(
    by: Instrument, item: Answered, asked: Message, words: Sequence[str]
) -> Generator[Sequence[Request], Sequence[Reply], str]:
    """Asks for a word of a closed list; returns the word; after ROUNDS tries `unresolved`."""

    def read(text: str) -> tuple[str, str]:
        word = one_of(text, words)
        if word is None:
            return UNRESOLVED, _texts().fill("again", words=", ".join(words))
        return word, ""

    word, _ = yield from converse([asked], asking(by, item), read, ROUNDS)
    return word


def question(item: Answered, listed: ClosedList) -> Message:
    """Writes the question about an answer, with the pictures that the subject was shown."""
    task, answer = plain(item.task), plain(item.trial.begin + item.output.text)
    asked = listed.form.fill(mark=mark(task, answer), task=task, answer=answer)
    return Message("user", asked, item.trial.pictures)


class ClosedList(NamedTuple):
    """The words with which a judge may reply. form: the question with these words and their
    meanings filled in, and with slots for the task and the answer.
    """

    words: tuple[str, ...]
    form: Form


def closed_list(forms: Forms, settings: Mapping[str, Json]) -> ClosedList:
    """Makes the closed list of a language's options and of the outcomes."""
    wording = _texts()
    chosen = {
        option: wording.text("option").format(
            option=option, forms=" or ".join(f'"{form}"' for form in written)
        )
        for option, written in forms.items()
    }
    return list_of(told_to_judges(settings), chosen)


def list_of(meanings: Mapping[str, str], first: Mapping[str, str] | None = None) -> ClosedList:
    """Makes a closed list of words with meanings. first: {word: its whole line}, put on top."""
    lines = {**(first or {}), **{word: f"{word}: {text}" for word, text in meanings.items()}}
    lines_text, words = "\n".join(f"- {line}" for line in lines.values()), ", ".join(lines)
    return ClosedList(tuple(lines), _texts().partly_fill("ask", meanings=lines_text, words=words))


def wording() -> Mapping[str, Json]:
    """Returns the prompts of judges with a closed list."""
    return _texts().table


def _texts() -> Texts:
    return texts("judge")
