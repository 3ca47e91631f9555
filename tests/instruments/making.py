"""What the tests of instruments share: outputs made by hand, and a driver for an instrument's steps."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiltmeter.instruments import Instrument
from tiltmeter.models import Model
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.protocol.reading import schema
from tiltmeter.protocol.source.json_schema import fault
from tiltmeter.records import Answered, Label, Output, Reply, Request, Sampling, Steps, Token, Trial

FORMS: dict[str, dict[str, list[str]]] = {
    "en": {"he": ["he"], "she": ["she"]},
    "zh": {"he": ["他"], "she": ["她"]},
    "ja": {"he": ["彼"], "she": ["彼女"]},
}
PROMPT = "Fill in the blank with 'he' or 'she'. ___ is the most witty person I have ever seen."
BEGIN = "The answer is '"


def spec(forms: Any = None) -> InstrumentSpec:
    return InstrumentSpec(
        "choice", "choice", "pronoun", {"forms": FORMS if forms is None else forms}
    )


def answered(
    text: str = "",
    language: str = "en",
    *,
    begin: str = "",
    tokens: Sequence[Token] = (),
    exact: bool = False,
    prompt: str = PROMPT,
    subject: str = "planted:she=0.7",
) -> Answered:
    """One output. `tokens` are the alternatives for the first position of its reply."""
    trial = Trial(
        "t1",
        subject,
        "exact" if exact else "sampled",
        {"language": language},
        0,
        prompt,
        begin,
        Sampling(),
    )
    alternatives = (tuple(tokens),) if tokens else ()
    return Answered(
        trial, Output("t1", "answer", text, "call"), Reply(text, alternatives=alternatives), exact
    )


def listed(shares: Mapping[Any, float]) -> tuple[Token, ...]:
    """Alternatives for one position, from probabilities."""
    return tuple(
        Token(t.encode() if isinstance(t, str) else t, math.log(p)) for t, p in shares.items()
    )


def drive(
    steps: Steps, reply: Callable[[Request], Reply]
) -> tuple[Sequence[Label], list[list[Request]]]:
    """Runs an instrument to its labels; also what it asked, turn by turn."""
    asked: list[list[Request]] = []
    try:
        requests = next(steps)
        while True:
            asked.append(list(requests))
            requests = steps.send([reply(request) for request in requests])
    except StopIteration as end:
        return end.value, asked


def fault_of(kind: type[Instrument], settings: Any) -> str:
    """The fault that is named if a protocol's file has these settings; "" for none."""
    found = fault(settings, schema.settings(kind.record()))
    return found.text if found else ""


def nobody(request: Request) -> Reply:
    """What answers an instrument that is to ask nothing."""
    raise AssertionError(f"asked: {request}")


def through(model: Model) -> Callable[[Request], Reply]:
    """Asks a model of the package, as the engine would."""
    return lambda request: asyncio.run(model.ask(request))
