"""Rules combined with a judge for the answers they cannot parse (`--judge MODEL --judge-for
unread`).

The judge is blind to the cue: it is shown the answer and the question that annotators are asked
about it (with names hidden if they are the cue), but not the prompt. It labels only whole answers;
those cut off stay unlabelled. If an answer has one label of a closed list (a choice, a form, the
pronouns of a rewrite), the judge gives that label. From a list or a ranking it copies the entries,
line by line, and the rules parse the copy: it cannot add a word that the answer lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...languages.letters import fold
from ...protocol import InstrumentSpec
from ...protocol.source.keys import AnnotationKeys
from ...records import (
    CUT,
    INVALID,
    OTHER_LANGUAGE,
    OUTCOMES,
    REFUSAL,
    UNRESOLVED,
    UNSURE,
    Answered,
    Label,
    Message,
    Reply,
    Steps,
)
from .. import Instrument, SecondJudge
from ..choice.forms import forms_of
from ..outcomes import meanings
from ..rewrites.outcomes import TOO_LONG
from ..wording import Json, Texts, texts
from .cascade import NO_ANSWER, Cascade
from .prompt import SAMPLING, asking, converse, mark, one_of, plain
from .text import ROUNDS, ClosedList, closed_list, list_of, question, word_of, wording

NOT_SHOWN = "(What was asked is not shown. Label the answer by itself.)"
CHECK = "_check"  # ends the attribute of these
COPIED = ("picks", "ranking")  # answers of which a judge copies what they list
_LABELLED = ("choice", "prose", "dialogue", "rewrite")  # of which it says a label
_NO_LIST = (REFUSAL, OTHER_LANGUAGE, INVALID)
_BULLET = re.compile(r"^\s*(?:[-*•·]|\(?\d{1,3}[.):、．]|#\d{1,3})\s*")


class AskedOfPeople(NamedTuple):
    """The annotators' question about an attribute, and the meaning of each value."""

    question: str
    values: Mapping[str, str]


class BlindJudge(SecondJudge):
    """A judge that labels an answer by a closed list without being shown the prompt."""

    kind = "blind_judge"
    version = "2"
    summary = "a model that labels an answer without being shown what was asked"

    def __init__(
        self, spec: InstrumentSpec, judge: str, asked: AskedOfPeople, first: Instrument, check: bool
    ) -> None:
        self._asked, self._first, self._check = asked, first, check
        super().__init__(
            replace(spec, attribute=f"{spec.attribute}{CHECK}") if check else spec, judge
        )

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, values with meanings, rounds and sampling."""
        told: Mapping[str, Json] = {
            "not_shown": NOT_SHOWN,
            "question": self._asked.question,
            "values": dict(self._asked.values),
            "meanings": meanings(self._first.answers, self.settings),
        }
        return {**wording(), **told, "rounds": ROUNDS, "sampling": SAMPLING}

    def _listed(self, item: Answered) -> ClosedList:
        """Returns the words to reply with: the options, if there are forms; else the values."""
        if "forms" in self.settings:
            forms = forms_of(self.settings["forms"], item.trial, self.name, item.cell)[1]
            return closed_list(forms, self.settings)
        outcomes = meanings(self._first.answers, self.settings)
        return list_of({**self._asked.values, **{name: outcomes[name] for name in _NO_LIST}})

    def steps(self, item: Answered) -> Steps:
        """Asks the judge for the value of the answer; returns one label."""
        listed, about = self._listed(item), self._first.about(item)
        task = " ".join(filter(None, (NOT_SHOWN, self._asked.question, about)))
        blind = replace(item, trial=item.trial._replace(prompt=task, pictures=()), told="")
        asked = question(blind, listed)
        return [self.label(item, (yield from word_of(self, item, asked, listed.words)))]


class CopyingJudge(BlindJudge):
    """A judge that copies the entries of a list in an answer, for the rules to parse."""

    kind = "copying_judge"
    version = "1"
    summary = "a model that copies what an answer lists, which rules then read"

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, rounds and sampling."""
        return {**_texts().table, "rounds": ROUNDS, "sampling": SAMPLING}

    def steps(self, item: Answered) -> Steps:
        """Asks the judge to copy the entries; returns the rules' labels of the copy, or the outcome
        that the judge names. With `check` (a comparison with the rules), only the main attribute's.
        """
        answer, names = self._first.hide(item, plain(item.trial.begin + item.output.text))

        def read(text: str) -> tuple[str, str]:
            return _copied(text, answer)

        asked = Message("user", _question(self._first.answers, answer))
        copy, usable = yield from converse([asked], asking(self, item), read, ROUNDS)
        if not usable or copy in _NO_LIST:
            value = copy if usable else UNRESOLVED
            attributes = (self.attribute,) if self._check else self._first.attributes
            return [self.label(item, value, attribute=name) for name in attributes]
        for code, name in names.items():
            copy = copy.replace(code, name)
        copied = replace(
            item,
            trial=item.trial._replace(prompt="", begin=""),
            output=item.output._replace(text=copy),
            reply=Reply(copy),
        )
        labels: Sequence[Label] = yield from self._first.steps(copied)
        labels = [label._replace(annotator=self.annotator) for label in labels]
        if not self._check:
            return labels
        main = self._first.attribute
        return [
            label._replace(attribute=self.attribute) for label in labels if label.attribute == main
        ]


def _question(answers: str, answer: str) -> str:
    """Writes the question that asks a judge to copy an answer of the kind `answers`."""
    outcomes = meanings(answers)
    return _texts().fill(
        "ask",
        what=_texts().section(answers).text("what"),
        outcomes="\n".join(f"- {name}: {outcomes[name]}" for name in _NO_LIST),
        words=", ".join(_NO_LIST),
        mark=mark(answer),
        answer=answer,
    )


def _copied(text: str, answer: str) -> tuple[str, str]:
    """Returns (a judge's copy as numbered lines, or the outcome that it names; the objection if a
    line is not in the answer). By hand: "- calm", of the answer "She is calm." → "1. calm".
    """
    word = one_of(text, _NO_LIST)
    if word is not None:
        return word, ""
    lines = [line for raw in text.splitlines() if (line := _BULLET.sub("", raw).strip(" *_.,;"))]
    inside = fold(answer)
    strange = [line for line in lines if fold(line) not in inside]
    if strange or not lines:
        listed = "; ".join(strange[:5]) or "(nothing)"
        return "", _texts().fill("again", strange=listed, words=", ".join(_NO_LIST))
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)), ""


def _texts() -> Texts:
    return texts("unread")


class Unread(Cascade):
    """A cascade whose judge is asked about whole answers that the rules left without a value.
    check: the same judge for answers that have a value; no measure counts its labels.
    """

    kind = "unread"
    summary = "rules, and a blind judge for what they left unread"

    def __init__(self, first: Instrument, judge: BlindJudge, check: BlindJudge) -> None:
        super().__init__(first, judge)
        self.check = check

    def steps(self, item: Answered) -> Steps:
        """Labels by the rules, and asks the judge about whole answers that the rules cannot parse.
        If the judge's reply is unusable, the labels of the rules stay.
        """
        labels: Sequence[Label] = yield from self.first.steps(item)
        open_ = {label.attribute for label in labels if label.value in (INVALID, UNSURE)}
        if open_ and item.output.ended != CUT and not item.exact:
            judged: Sequence[Label] = yield from self.asked.steps(item)
            if not any(label.value in NO_ANSWER for label in judged):
                labels = self._settled(item, labels, judged, open_)
        return [label._replace(annotator=self.annotator) for label in labels]

    def _settled(
        self,
        item: Answered,
        labels: Sequence[Label],
        said: Sequence[Label],
        unread: Collection[str],
    ) -> Sequence[Label]:
        """Replaces the rules' labels of the attributes in `unread` by the judge's."""
        if isinstance(self.asked, CopyingJudge):
            return [
                *(label for label in labels if label.attribute not in unread),
                *(label for label in said if label.attribute in unread),
            ]
        if any(label.value in OUTCOMES for label in said):
            return [label._replace(value=said[0].value) for label in labels]
        return self.first.settle(item, labels, said)


def blind_cascade(first: Instrument, spec: InstrumentSpec, judge: str) -> Unread:
    """Combines an instrument with its blind judge."""
    kind = CopyingJudge if first.answers in COPIED else BlindJudge
    asked = AskedOfPeople(**(spec.unread or {"question": "", "values": {}}))
    return Unread(
        first,
        kind(spec, judge, asked, first, check=False),
        kind(spec, judge, asked, first, check=True),
    )


def asked_of_judges(
    instrument: Instrument, values: Mapping[str, Sequence[str]], people: AnnotationKeys
) -> Mapping[str, Json] | None:
    """Returns the question for a judge of the answers that an instrument cannot parse; None unless
    they are lists, or have one label each from a closed list.

    values: the values of closed attributes; people: the annotators' question on the main attribute.
    """
    if instrument.answers in COPIED:
        return {"question": "", "values": {}}
    meaning = people.get("values", {})
    listed = [value for value in values.get(instrument.attribute) or meaning if value != TOO_LONG]
    alone = instrument.attributes == (instrument.attribute,) or instrument.answers == "rewrite"
    if not listed or not alone or instrument.answers not in _LABELLED:
        return None
    meaning_of = {value: meaning.get(value) or f'it says "{value}"' for value in listed}
    return {"question": people.get("question", ""), "values": meaning_of}
