"""A judge's preference between two answers to one prompt, each to another version of it.

The judge is blind: cues are masked in the task and in both answers. It is asked twice, with each
answer first once; only the same choice in both orders is a preference, anything else is a `tie`.
For one prompt in ten it is also shown two answers to the same version (attribute `…_again`): the
rate of preferences there is the rate expected by chance.

Labels: `preferred`, `other` (the answer to the other version is preferred) or `tie`; `unresolved`
if the replies are not a word of the list; `invalid` if there is no other answer. Use the measure
`difference` of `preferred`: it is 0 if neither version's answers are preferred.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import ClassVar

from ...cues import mask
from ...protocol import InstrumentSpec
from ...records import (
    INVALID,
    UNRESOLVED,
    Answered,
    Message,
    Reply,
    Request,
    Steps,
    Trial,
    content_id,
)
from .. import Judge
from ..judges.prompt import mark, plain
from ..judges.text import ROUNDS, word_of
from ..text.prose import prose, texts_of
from ..wording import Json, texts
from . import TextComparer

PREFERRED, OTHER, TIE = "preferred", "other", "tie"
WORDS = FIRST, SECOND, _ = "first", "second", TIE
REPEATED = 10  # of so many prompts one is compared with itself too


class Preference(TextComparer, Judge):
    """settings: versions = the factor whose levels are the versions of a prompt."""

    kind = "preference"
    version = "1"
    summary = "a judge's blind choice between the answers to two versions of a prompt"
    typical_answer: ClassVar[str] = "An answer.\n\nAnother answer."

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        super().__init__(spec, judge)
        self.again = f"{spec.attribute}_again"
        self.attributes = (spec.attribute, self.again)

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: preferred, other, tie}, for both the label and its repeat."""
        values = (PREFERRED, OTHER, TIE)
        return {spec.attribute: values, f"{spec.attribute}_again": values}

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {judge: (1, ROUNDS × two orders × pair and repeat)} calls; {} if exact."""
        return {} if exact else {self.judge: (1, 4 * ROUNDS)}

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, the number of rounds, and how cues are masked."""
        return {**super().wording(), **texts("preference").table, "rounds": ROUNDS}

    def steps(self, item: Answered) -> Steps:
        """Asks about a pair in both orders; returns a label, and a second if a repeat is due."""
        text, outcome = prose(item, self.settings)
        if outcome:
            return [self.label(item, outcome, attribute=name) for name in self.attributes]
        version = self.place(item.trial)[1]
        versions = self.same_prompt(item.trial)
        sides = [answers for name, answers in versions.items() if name != version]
        value = yield from self._compared(item, text, _partner(sides, item.trial.sample))
        labels = [self.label(item, value)]
        if self._is_repeated(item.trial):
            sample = item.trial.sample
            rest = {key: one for key, one in versions.get(version, {}).items() if key != sample}
            value = yield from self._compared(item, text, _partner([rest], sample ^ 1))
            labels.append(self.label(item, value, attribute=self.again))
        return labels

    def _is_repeated(self, trial: Trial) -> bool:
        return int(content_id(*self.place(trial)[0])[:8], 16) % REPEATED == 0

    def _compared(
        self, item: Answered, text: str, other: str | None
    ) -> Generator[Sequence[Request], Sequence[Reply], str]:
        if other is None:
            return INVALID
        answers = []
        for first, second in ((text, other), (other, text)):
            asked = Message("user", self._question(item, first, second))
            answers.append((yield from word_of(self, item, asked, WORDS)))
        if UNRESOLVED in answers:
            return UNRESOLVED
        return {(FIRST, SECOND): PREFERRED, (SECOND, FIRST): OTHER}.get(
            (answers[0], answers[1]), TIE
        )

    def _question(self, item: Answered, first: str, second: str) -> str:
        hidden = tuple(map(str, texts_of(self.settings.get("mask", ()))))
        language = str(item.trial.factors.get("language", "")) or "en"
        task = mask(item.trial.prompt, hidden, language) if hidden else item.trial.prompt
        task, first, second = plain(task), plain(first), plain(second)
        code = mark(task, first, second)
        return texts("preference").fill("ask", mark=code, task=task, first=first, second=second)


def _partner(sides: Sequence[Mapping[int, str]], sample: int) -> str | None:
    """Returns the other version's answer of this sample, else its first answer, or None."""
    for answers in sides:
        if answers:
            return answers.get(sample, answers[min(answers)])
    return None
