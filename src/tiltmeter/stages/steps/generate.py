"""Trials × subjects → outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...protocol import Protocol
from ...records import Output, Trial
from ...store import Store
from ..engine.engine import Engine, Job, Models
from ..engine.limits import Limits, Tally
from ..planning import plan
from ..planning.plan import Choices, Wanted
from ..planning.shards import Shard


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
    shard: Shard | None = None,
) -> Tally:
    """Answers every trial of the plan that has no output yet, or of those that are wanted, or of a
    shard's.
    """

    def jobs() -> Iterator[Job]:
        planned = plan.trials(protocol, choices, wanted)
        for trial in store.iter_unanswered(shard.part(planned) if shard else planned):
            yield _job(trial, protocol)

    return await Engine(store, models, limits, watch).drive(jobs())
