"""The pilot of a run: its first trials are asked and labelled before the rest, and the run stops if
their replies cannot be measured.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from ...errors import PilotStopped
from ...instruments import Instrument, Learner
from ...instruments.judges.cascade import Cascade
from ...models import Model
from ...models.kinds import kind_of
from ...models.reasoning import OFF, RESERVE_TOKENS
from ...protocol import Protocol
from ...records import Trial
from ...store import Store
from ...store.queries import endpoints
from ...store.queries import pilot as stored
from ..engine.engine import Engine
from ..engine.limits import Limits, Tally
from ..engine.open_models import Models
from ..planning import cost, plan
from ..planning.pilot import FIRST, FIRST_PICTURES, UNREAD, First, choose, needs_more, stops
from ..planning.plan import Choices, Wanted
from ..planning.shards import Shard
from . import pilot_words
from .generate import job

THOUGHTS_RESERVED = 4  # times the longest thought of the pilot is what is reserved for the rest


def reserve_of(store: Store, subject: str) -> int:
    """Returns the tokens to reserve for thinking, as the subject's pilot found; 0 without one."""
    return int(stored.kept(store, subject).get("reserve", 0))


async def keep_endpoints(store: Store, models: Models, subjects: Sequence[str]) -> None:
    """Stores what the endpoints of asked subjects report about themselves."""
    for subject in subjects:
        model = models.opened(subject)
        description = await model.describe() if model is not None else {}
        if description:
            endpoints.keep_endpoint(store, subject, description)


@dataclass(frozen=True)
class Pilot:
    """The pilots of all subjects. label: labels the answers so far; annotators: the labellers."""

    store: Store
    protocol: Protocol
    choices: Choices
    models: Models
    limits: Limits
    watch: Callable[[Tally], None]
    annotators: Sequence[Instrument]
    label: Callable[[], Awaitable[Tally]]
    shard: Shard | None = None

    async def run(self, wanted: Wanted | None = None) -> None:
        """Asks the first trials of every subject that has not been asked before. Raises
        PilotStopped if their replies cannot be measured. A trial whose call fails is tried again
        with the rest.
        """
        aside, self.models.aside = self.models.aside, None  # asked singly, also before a batch
        try:
            for subject in self.choices.subjects:
                self._refuse_again(subject)
                if kind_of(subject).on_workers and not stored.is_begun(self.store, subject):
                    await self._run_one(subject, wanted)
        finally:
            self.models.aside = aside

    def _refuse_again(self, subject: str) -> None:
        """Raises PilotStopped if the pilot stopped this run and its cause remains."""
        result = stored.kept(self.store, subject)
        is_mended = any(isinstance(annotator, Cascade) for annotator in self.annotators)
        if result.get("cause") and not (result["cause"] == UNREAD and is_mended):
            raise PilotStopped(result["said"], result.get("type", ""))

    async def _run_one(self, subject: str, wanted: Wanted | None) -> None:
        of_one = replace(self.choices, subjects=(subject,))
        planned = sum(plan.count(self.protocol, of_one)[subject].values())
        trials = plan.trials(self.protocol, of_one, wanted)
        is_picture = any(mode.size for mode in self.protocol.modes.values())
        number = FIRST_PICTURES if is_picture else FIRST
        if planned <= number:  # nothing beyond it could be saved
            return
        chosen = choose(
            self.shard.part(trials) if self.shard else trials, self.protocol, 2 * number
        )
        model = await self.models.get(subject)
        tally, seconds = await self._ask(chosen[:number])
        first = self._first(subject, chosen[:number], seconds)
        if needs_more(first, planned):
            more_replies, more_seconds = await self._ask(chosen[number:])
            first = self._first(subject, chosen, seconds + more_seconds)
            tally = more_replies
        model.reserve_thought(self._reserve(first, model))
        await keep_endpoints(self.store, self.models, (subject,))
        self._show(first, tally)
        self._stop_or_go(first, stops(first, number, planned), model)

    async def _ask(self, trials: Sequence[Trial]) -> tuple[Tally, float]:
        """Asks the trials and labels their answers; returns the tally and the seconds of asking."""
        engine = Engine(self.store, self.models, self.limits, self.watch)
        began = time.monotonic()
        tally = await engine.drive(
            job(trial, self.protocol) for trial in self.store.iter_unanswered(trials)
        )
        seconds = time.monotonic() - began
        if not any(isinstance(annotator, Learner) for annotator in self.annotators):
            await self.label()
        return tally, seconds

    def _first(self, subject: str, trials: Sequence[Trial], seconds: float) -> First:
        rules = [
            annotator.annotator
            for annotator in self.annotators
            if not annotator.judge or isinstance(annotator, Cascade)
        ]
        replies = stored.replies(self.store, [trial.id for trial in trials], rules)
        return First(subject, self.protocol, tuple(trials), replies, seconds)

    def _reserve(self, first: First, model: Model) -> int:
        """Returns the tokens to reserve for thinking, from the longest thought so far."""
        reserve = THOUGHTS_RESERVED * first.largest_thought
        return max(model.reserve, RESERVE_TOKENS, reserve) if reserve else model.reserve

    def _show(self, first: First, tally: Tally) -> None:
        of_one = replace(self.choices, subjects=(first.subject,))
        counts = plan.count(self.protocol, of_one)[first.subject]
        tally.lines = tuple(
            pilot_words.lines(first, first.forecast(counts, cost.estimates(self.protocol, of_one)))
        )
        tally.failed = 0
        self.watch(tally)

    def _stop_or_go(self, first: First, stopping: bool, model: Model) -> None:
        is_off = self.choices.reasoning == OFF or model.switched_off
        facts: dict[str, str] = {"reserve": str(model.reserve)}
        if stopping:
            cause = pilot_words.sentence(first, is_off)
            facts |= {
                "cause": first.cause,
                "said": f"{cause} {pilot_words.remedy(first, is_off)}",
                "type": next(iter(pilot_words.options(first, is_off)), ""),
            }
        stored.keep(self.store, first.subject, facts)
        if stopping:
            raise PilotStopped(facts["said"], facts["type"])
