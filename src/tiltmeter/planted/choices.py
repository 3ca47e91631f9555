"""The answers of a planted model that chooses between words (`protocol=roles`): the shares of its
choices, and the words or the next token of each answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..errors import Incapable, ModelError, UsageError
from ..instruments.choice.forms import SLOT
from ..protocol import Protocol
from ..records import BOTH, INVALID, Reply, Request
from .answers import PlantedAnswers, asked_of, kinds, tails, texts_of
from .settings import OUTCOMES, Settings
from .speech import Known, blank_of, finish_answer, next_token, pick, say, ways
from .tilt import logistic, normal, number_at_level, outcome_shares


class PlantedChoices(PlantedAnswers):
    """The choices of one planted model. Raises UsageError if its protocol offers no choice."""

    answers = "choice"
    what = "choices"
    planted: ClassVar[Mapping[str, str]] = OUTCOMES
    alone = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        values = offered(self.protocol)
        if not values:
            raise UsageError(
                f"planted: {self.protocol.name} offers no choice between words, so nothing can "
                "be planted in it."
            )
        self.value = settings.value or list(values)[-1]
        self._met: dict[str, Known] = {}

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """Lists the words that a protocol offers."""
        return list(offered(protocol))

    def forms(self, cell: Mapping[str, str]) -> dict[str, str]:
        """Returns {value: its word in the cell's language, with slots filled}."""
        forms = offered(self.protocol, cell.get("language", ""))
        return {value: SLOT.sub(lambda slot: cell[slot[1]], form) for value, form in forms.items()}

    def share(self, cell: Mapping[str, str]) -> float:
        """Returns the true share of the tilted value among answers that make a choice."""
        settings = self.settings
        share = number_at_level(settings.levels, self.protocol, cell)
        if share is None:
            share = 1 / len(self.forms(cell)) if settings.share is None else settings.share
        if settings.spread and 0 < share < 1:
            item = cell.get(self.protocol.item, "")
            share = logistic(
                math.log(share / (1 - share)) + settings.spread * normal(settings.seed, item)
            )
        if settings.order:
            share = min(1.0, max(0.0, share + self._first(cell) * settings.order / 2))
        return share

    def _first(self, cell: Mapping[str, str]) -> int:
        """Returns 1 if the tilted value is offered first, −1 if another value is, 0 if unknown."""
        for factor in self.protocol.factors:
            if cell.get(factor, "").endswith("_first"):
                return 1 if cell[factor] == f"{self.value}_first" else -1
        return 0

    def outcomes(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns {value or non-answer: true share} of a sampled answer."""
        settings, forms = self.settings, self.forms(cell)
        none = outcome_shares(settings, self.protocol, cell)
        none[INVALID] += settings.rest
        answered = max(0.0, 1 - sum(none.values()))
        share = self.share(cell)
        others = len(forms) - 1
        shares = {
            value: answered * (share if value == self.value else (1 - share) / others)
            for value in forms
        }
        return {**shares, **none}

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns {tilted value: its true share}."""
        return {self.value: self.share(cell)}

    def reply(self, request: Request, draws: Sequence[float]) -> Reply:
        """Samples an answer; for a request of log-probabilities, a next token with alternatives."""
        if request.size:
            return super().reply(request, draws)
        asked = self._asked(request)
        if not request.logprobs:
            outcome = pick(asked.outcomes, draws[0], INVALID)
            if request.begin and outcome in asked.forms:
                return Reply(finish_answer(request.begin, asked.forms[outcome]))
            return Reply(say(self.settings, asked, outcome, draws[1]))
        text, alternatives = next_token(
            self.settings, asked, request.begin, request.logprobs, draws[0]
        )
        return Reply(text, alternatives=(alternatives,) if alternatives else ())

    def _asked(self, request: Request) -> Known:
        """Interprets the prompt of a request. A prompt outside the protocol counts as a new item;
        raises ModelError if the planted shares depend on the cell.
        """
        prompt = asked_of(request)
        key = next(iter(texts_of(request)))
        if key not in self._met:
            try:
                cell = self.cell(request)
            except ModelError:
                if self.settings.levels or self.settings.planted or self.settings.order:
                    raise
                return self._know({self.protocol.item: prompt}, prompt)
            self._met[key] = self._know(cell, prompt)
        return self._met[key]

    def _know(self, cell: Mapping[str, str], prompt: str) -> Known:
        language = cell.get("language") or _language_offered(self.protocol)
        return Known(language, self.forms(cell), self.outcomes(cell), blank_of(prompt))

    def meaning(self, task: str, answer: str) -> str:
        """Returns the right label of an answer: the outcome of a planted sentence; else the only
        form in the text, `both` if it has several forms, `invalid` if it has none.
        """
        prompt = next((words for words in tails(task) if words in self.cells), task)
        asked = self._know(self.cells.get(prompt, {self.protocol.item: task}), task)
        for outcome in (*asked.forms, *OUTCOMES.values()):
            if answer in ways(asked, outcome):
                return outcome
        words = {value: rf"(?<!\w){re.escape(form)}(?!\w)" for value, form in asked.forms.items()}
        values = [name for name, word in words.items() if re.search(word, answer, re.IGNORECASE)]
        return values[0] if len(values) == 1 else BOTH if values else INVALID

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raises Incapable if none of a judge's labels is a word that the protocol offers."""
        if not {*offered(self.protocol)} & {*labels}:
            raise Incapable(
                f"The judge 'planted' is set up for the protocol {self.protocol.name}, which does "
                f"not offer the labels {', '.join(labels[:2])}. Name the protocol of this run: "
                "--judge planted:protocol=FILE.toml"
            )


def offered(protocol: Protocol, language: str = "") -> dict[str, str]:
    """Returns {value that a model may choose: its word in a language}."""
    first_forms: dict[str, str] = {}
    for spec, kind in kinds(protocol):
        if kind.answers == PlantedChoices.answers:
            for value in kind.attributes(spec).get(spec.attribute, ()):
                forms = kind.examples(spec, value, language)
                if forms and value not in first_forms:
                    first_forms[value] = forms[0]
    return first_forms


def _language_offered(protocol: Protocol) -> str:
    """Returns the first language in which a choice has forms; "" if there is none."""
    declared = (spec.settings["forms"] for spec in protocol.instruments if "forms" in spec.settings)
    return next((str(next(iter(forms))) for forms in declared if forms), "")
