"""A task for each text protocol whose instruments ask no judge.

    inspect eval tiltmeter/roles --model openai/gpt-4.1-mini -T language=en -T limit=20

A sample is a prompt, an epoch a draw. Only sampled modes: Inspect hands no begun answer with
probabilities through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.solver import generate

import tiltmeter
from tiltmeter.records import Trial, content_id
from tiltmeter.stages.planning import plan

from .scoring import labels

NAMES = ("decisions", "decisions_names", "dialogues", "hiring", "protext", "roles", "words")
_PACKAGE = "tiltmeter"  # tasks are named after the package that their function is of
_ROLES = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
_MODEL = "inspect"  # stands for the model in a plan; Inspect knows which it is


def protocol_task(
    name: str,
    language: str | list[str] | None = None,
    limit: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    system: str | None = None,
) -> Task:
    """A protocol as a task.

    name: a protocol, or the path of one in TOML; language: one or several, all where none is named;
    limit: how many items of each language; samples: draws of each prompt, in place of the
    protocol's; system: a system prompt in place of the protocol's own.
    """
    protocol = tiltmeter.load_protocol(name)
    mode = next(one for one in protocol.default_modes if not protocol.modes[one].logprobs)
    languages = (language,) if isinstance(language, str) else tuple(language or ())
    choices = plan.Choices(
        subjects=(_MODEL,),
        languages=languages,
        modes=(mode,),
        samples=1,
        limit=limit,
        seed=seed,
        system=system,
    )
    drawn = protocol.modes[mode].sampling
    asked = {"language": languages, "limit": limit, "seed": seed, "system": system, "mode": mode}
    return Task(
        dataset=MemoryDataset(list(_samples(plan.trials(protocol, choices))), name=protocol.name),
        solver=generate(),
        scorer=labels(name, {key: value for key, value in asked.items() if value}),
        epochs=Epochs(samples or protocol.modes[mode].samples),
        config=GenerateConfig(
            temperature=drawn.temperature, top_p=drawn.top_p, max_tokens=drawn.max_tokens
        ),
        version=protocol.version,
        metadata={"title": protocol.title, "data": protocol.digest, "citation": protocol.citation},
    )


def _samples(trials: Iterator[Trial]) -> Iterator[Sample]:
    for trial in trials:
        yield Sample(
            id=content_id(trial.mode, trial.factors)[:12],
            input=list(_messages(trial)),
            metadata={**trial.factors, "mode": trial.mode},
        )


def _messages(trial: Trial) -> Iterator[ChatMessage]:
    for message in trial.messages:
        yield _ROLES[message.role](content=message.content)


def _declare(name: str) -> Callable[..., Task]:
    def of_protocol(
        language: str | list[str] | None = None,
        limit: int | None = None,
        samples: int | None = None,
        seed: int = 0,
        system: str | None = None,
    ) -> Task:
        return protocol_task(name, language, limit, samples, seed, system)

    of_protocol.__name__ = of_protocol.__qualname__ = name
    of_protocol.__module__ = _PACKAGE
    of_protocol.__doc__ = tiltmeter.load_protocol(name).question
    made: Any = task(name=name)(of_protocol)
    return made


TASKS = {name: _declare(name) for name in NAMES}
