"""A planted model as a judge: it reads the answer that it is shown, and errs as often as it was told to. Pure.

It knows a judge's question by its shape (instruments/judge.py): the task and the answer stand between marks, and the last
message ends in the list of labels. Its settings: `judge=never` answers nonsense always, so that a bound on rounds is
reached; `agree=p` is how often a reply is a label at all; `accuracy=p` how often a label is the right one, each other
label being equally likely. What is right it knows by heart for a planted model's own sentences; in other texts it looks
for the forms: one of them is that value, several are both, none is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..records import BOTH, INVALID, Request
from .speech import Known, know, one_of, sentences, ways
from .tilt import OUTCOMES, Settings, Tilt

_SHOWN = re.compile(r"<(task|answer) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)


class Judge:
    """Answers the questions of a judge about answers to the prompts of one protocol."""

    def __init__(self, tilt: Tilt) -> None:
        self._tilt = tilt
        self._read = lru_cache(maxsize=4096)(self._meaning)

    def reply(self, request: Request, draws: Sequence[float]) -> str | None:
        """What a judge says; None where the request asks no judge. Uses the draws from the second on."""
        settings = self._tilt.settings
        shown = shown_to(request)
        if not shown:
            return None
        labels = request.messages[-1].content.rstrip().rpartition(": ")[2].split(", ")
        right = self._read(shown.get("task", ""), shown["answer"])
        if settings.judge == "never" or draws[1] >= settings.agree:
            return one_of(sentences("judge", "nonsense"), draws[3], settings).format(form=labels[0])
        return one_of(sentences("judge", "label"), draws[3], settings).format(
            form=_erring(settings, right, labels, draws[2])
        )

    def _meaning(self, task: str, answer: str) -> str:
        cell = self._tilt.cells.get(task, {self._tilt.protocol.item: task})
        known = know(self._tilt, cell, task)
        for outcome in (*known.forms, *OUTCOMES.values()):
            if answer in ways(known, outcome):
                return outcome
        return _named(known, answer)


def shown_to(request: Request) -> Mapping[str, str]:
    """The texts that a judge is shown, by their marks; empty where nothing is."""
    for message in request.messages:
        if "<answer " in message.content:
            return {found[1]: found[3] for found in _SHOWN.finditer(message.content)}
    return {}


def _named(known: Known, answer: str) -> str:
    words = {value: rf"(?<!\w){re.escape(form)}(?!\w)" for value, form in known.forms.items()}
    values = [value for value, pattern in words.items() if re.search(pattern, answer, re.IGNORECASE)]
    return values[0] if len(values) == 1 else BOTH if values else INVALID


def _erring(settings: Settings, right: str, labels: Sequence[str], uniform: float) -> str:
    """The right label, or on the last stretch of [0, 1), 1 − accuracy long, one of the others."""
    others = [label for label in labels if label != right]
    error = 1 - settings.accuracy
    if uniform >= error or not others:
        return right
    return others[min(int(uniform / error * len(others)), len(others) - 1)]
