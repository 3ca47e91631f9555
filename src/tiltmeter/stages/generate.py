"""Trials × subjects → outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..protocol import Protocol
from ..records import Output, Trial
from ..store import Store
from . import plan
from .engine import Engine, Job, Models
from .limits import Limits, Tally
from .plan import Choices, Wanted


def _job(trial: Trial, protocol: Protocol) -> Job:
    asked = plan.request(trial, protocol)
    (reply,) = yield [asked]
    return [Output(trial.id, reply.outcome, reply.text, asked.key, reply.blob)]


async def generate(
    store: Store,
    protocol: Protocol,
    choices: Choices,
    models: Models,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda tally: None,
    wanted: Wanted | None = None,
) -> Tally:
    """Answers every trial of the plan, or of those that are wanted, that has no output yet."""

    def jobs() -> Iterator[Job]:
        for trial in store.iter_unanswered(plan.trials(protocol, choices, wanted)):
            yield _job(trial, protocol)

    return await Engine(store, models, limits, watch).drive(jobs())
