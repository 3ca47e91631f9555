"""Asks the subjects all trials of a plan and stores their outputs."""

from __future__ import annotations

from collections.abc import Callable

from ...instruments.text.thought import without_thought
from ...protocol import Protocol
from ...records import ANSWER, CUT, INVALID, UNKNOWN, Label, Output, Reply, Request, Trial
from ...store import Store
from ..engine.engine import Engine
from ..engine.limits import Limits, Tally
from ..engine.open_models import Models
from ..engine.sources import Job, JobSource
from ..planning import plan
from ..planning.plan import Choices, Wanted
from ..planning.shards import Shard
from .pipeline import Pipeline


def job(trial: Trial, protocol: Protocol) -> Job:
    """Sends a trial's request to its subject and returns the output."""
    request = plan.request(trial, protocol)
    (reply,) = yield [request]
    outcome = CUT if is_cut_and_empty(request, reply) else reply.outcome
    ended = UNKNOWN if request.logprobs else reply.ended  # an exact reading asks for one token
    return [Output(trial.id, outcome, reply.text, request.key, reply.blob, ended, reply.thought)]


def counting(job: Job, tally: Tally) -> Job:
    """Wraps a job to count cut replies and unread outputs in a tally."""
    rows = yield from job
    for row in rows:
        if isinstance(row, Output):
            tally.cut += row.ended == CUT
        elif isinstance(row, Label):
            tally.unread += row.value == INVALID
    return rows


def is_cut_and_empty(asked: Request, reply: Reply) -> bool:
    """True if the token limit was reached before the model wrote any text besides its thinking."""
    is_cut = reply.ended == CUT and reply.outcome == ANSWER and not asked.logprobs
    return is_cut and not without_thought(reply.text).strip()


async def generate(
    store: Store,
    protocol: Protocol,
    choices: Choices,
    models: Models,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda tally: None,
    wanted: Wanted | None = None,
    shard: Shard | None = None,
    pipeline: Pipeline | None = None,
) -> Tally:
    """Answers each planned trial that has no output, all subjects at once. wanted, shard: restrict
    the trials; pipeline: labels the outputs meanwhile.
    """
    engine = Engine(store, models, limits, watch)

    def source(subject: str) -> JobSource:
        if shard is None:
            trials = plan.trials(protocol, plan.of_subject(choices, subject), wanted)
        else:  # whose part a trial is depends on those of all subjects
            part = shard.part(plan.trials(protocol, choices, wanted))
            trials = (trial for trial in part if trial.subject == subject)
        tally = engine.tally
        jobs = (
            (trial, counting(job(trial, protocol), tally))
            for trial in store.iter_unanswered(trials, tally.skip)
        )
        if pipeline is None:
            return JobSource((one for _, one in jobs), engine.tally, watch)
        expected = (pipeline.expect(trial, one) for trial, one in jobs)
        return JobSource(expected, engine.tally, watch, pipeline.take, pipeline.is_behind)

    subjects = [source(subject) for subject in choices.subjects]
    annotators = pipeline.open(subjects, engine.start) if pipeline is not None else ()
    await engine.drive_all([*subjects, *annotators])
    return engine.tally
