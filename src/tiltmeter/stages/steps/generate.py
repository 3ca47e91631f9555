"""Trials × subjects → outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...instruments.text.thought import without_thought
from ...protocol import Protocol
from ...records import ANSWER, CUT, UNKNOWN, Output, Reply, Request, Trial
from ...store import Store
from ...store.queries import outputs
from ..engine.engine import Engine, Job, Models
from ..engine.limits import Limits, Tally
from ..planning import plan
from ..planning.plan import Choices, Wanted
from ..planning.shards import Shard


def job(trial: Trial, protocol: Protocol) -> Job:
    """Asks a trial of its subject."""
    asked = plan.request(trial, protocol)
    (reply,) = yield [asked]
    outcome = CUT if is_cut_and_empty(asked, reply) else reply.outcome
    ended = UNKNOWN if asked.logprobs else reply.ended  # an exact reading asks for one token
    return [Output(trial.id, outcome, reply.text, asked.key, reply.blob, ended, reply.thought)]


def is_cut_and_empty(asked: Request, reply: Reply) -> bool:
    """True if the limit came before anything was said beside thoughts."""
    cut = reply.ended == CUT and reply.outcome == ANSWER and not asked.logprobs
    return cut and not without_thought(reply.text).strip()


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
            yield job(trial, protocol)

    engine = Engine(store, models, limits, watch)
    if wanted is None and shard is None:
        engine.tally.before = outputs.number_of(store, choices.subjects)
    return await engine.drive(jobs())
