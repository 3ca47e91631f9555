"""Trials × subjects → outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..protocol import Protocol
from ..records import Output, Trial
from ..store import Store
from . import plan
from .engine import Engine, Models
from .limits import Limits, Tally
from .pipeline import Pipeline
from .plan import Choices, Wanted
from .shards import Shard
from .sources import Job, Source


@dataclass(frozen=True)
class Asked:
    """Which trials are answered: of the whole plan, those that are wanted and are a shard's."""

    protocol: Protocol
    choices: Choices
    wanted: Wanted | None = None
    shard: Shard | None = None

    def trials(self, subject: str) -> Iterator[Trial]:
        """Those of one subject, in the order of the plan."""
        if self.shard is None:
            return plan.trials(self.protocol, plan.of_subject(self.choices, subject), self.wanted)
        # whose part a trial is depends on those of all subjects
        part = self.shard.part(plan.trials(self.protocol, self.choices, self.wanted))
        return (trial for trial in part if trial.subject == subject)


def _job(trial: Trial, protocol: Protocol) -> Job:
    asked = plan.request(trial, protocol)
    (reply,) = yield [asked]
    return [Output(trial.id, reply.outcome, reply.text, asked.key, reply.blob)]


async def generate(
    store: Store,
    asked: Asked,
    models: Models,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda tally: None,
    pipeline: Pipeline | None = None,
) -> Tally:
    """Answers every trial that is asked and has no output yet, all subjects at once. pipeline: what
    labels the outputs meanwhile.
    """
    engine = Engine(store, models, limits, watch)

    def source(subject: str) -> Source:
        trials = store.iter_unanswered(asked.trials(subject))
        jobs = ((trial, _job(trial, asked.protocol)) for trial in trials)
        if pipeline is None:
            return Source((job for _, job in jobs), engine.tally, watch)
        expected = (pipeline.expect(trial, job) for trial, job in jobs)
        return Source(expected, engine.tally, watch, pipeline.take, pipeline.is_behind)

    subjects = [source(subject) for subject in asked.choices.subjects]
    annotators = pipeline.open(subjects, engine.start) if pipeline is not None else ()
    await engine.drive_all([*subjects, *annotators])
    return engine.tally
