"""The stages of a run over one open store: asking the subjects, and labelling their outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ...models import Model
from ...protocol import Protocol
from ...stages.batches.desk import BatchDesk
from ...stages.engine.limits import Tally
from ...stages.engine.open_models import Models
from ...stages.planning import shards
from ...stages.planning.plan import Choices, Wanted
from ...stages.steps import injection_count
from ...stages.steps.generate import generate
from ...stages.steps.label import annotate, annotators, open_pipeline
from ...stages.steps.pilot import Pilot, keep_endpoints, reserve_of
from ...stages.steps.pipeline import Pipeline
from ...store import Store
from ...store.queries import settings
from ..options import options as arguments
from ..stopping import stopped_run
from .progress import Watch, notebook_watch

_LABELLED_LATER = (
    "A shard is not labelled here: its {what} is found from the outputs of all. Merge the "
    "shards, then type the same command without --shard; or give --{what} FILE."
)


@dataclass
class Stages:
    """The stages of a run.

    choices:  the questions to ask, None to ask nothing.
    total:    the number of trials, None if it is not known.
    piloting: True to check the first replies of each model before the rest is asked.
    """

    store: Store
    protocol: Protocol
    choices: Choices | None
    asking: arguments.Asking
    watch: Watch | None
    total: int | None = None
    piloting: bool = False
    _models: Models = field(init=False)
    _desk: BatchDesk = field(init=False)
    _pipeline: Pipeline | None = field(init=False, default=None)  # labels while subjects are asked

    async def run(self, stopped: stopped_run.StoppedRun | None = None) -> list[Tally]:
        """Asks the subjects, if there are choices, then labels; look by look if the run stops
        early. Returns the tally of each stage.
        """
        self.watch = self.watch or notebook_watch()
        asking, store = self.asking, self.store
        settings.keep_version(store)
        async with Models(self._model) as self._models:
            price = asking.connect.batch_price
            self._desk = BatchDesk(
                store, self._models, asking.limits, asking.batching, price, self.watch
            )
            self._models.aside = self._desk
            await self._desk.take_in()
            if asking.given:  # valid until another one is given
                store.put("given", asking.given)
            tallies = await self._in_order(stopped)
        injection_count.write_counts(store)
        return tallies

    async def _in_order(self, stopped: stopped_run.StoppedRun | None) -> list[Tally]:
        judges, tallies = self.asking.judges, list[Tally]()
        found_out = shards.waits_for_all(self.protocol, judges, self._materials() or {})
        later = bool(settings.shard(self.store) and found_out)
        if stopped is not None:
            ask = partial(self._ask, stopped.plan.judges)
            tallies += await stopped.ask(ask, self._label)
        elif self.choices is not None:
            tallies.append(await self._ask(() if later else judges, number=self.total))
        if later:
            tallies.append(Tally(warnings={_LABELLED_LATER.format(what=found_out)}))
            self._watcher("label")(tallies[-1])
        elif stopped is None or stopped.plan.judges != judges:
            tallies.append(await self._label(judges))
        return tallies

    async def _ask(
        self, judges: tuple[str, ...], wanted: Wanted | None = None, number: int | None = None
    ) -> Tally:
        """Asks the subjects; judges label meanwhile, unless requests go into batches."""
        choices, asking, store = self.choices, self.asking, self.store
        assert choices is not None
        if self.piloting:
            await self._pilot(choices).run(wanted)
        self._pipeline = None
        if judges and not asking.batching.hands_in:
            labelled = self._watcher("label")
            self._pipeline = open_pipeline(store, self.protocol, judges, labelled)
        ask = partial(
            generate,
            store,
            self.protocol,
            choices,
            self._models,
            asking.limits,
            self._watcher("run", number),
            wanted,
            asking.shard,
            self._pipeline,
        )
        tally = await self._desk.repeat(ask)
        await keep_endpoints(store, self._models, choices.subjects)
        store.put("last_run", {"failed": tally.failed, "last_failure": tally.last_failure})
        return tally

    def _pilot(self, choices: Choices) -> Pilot:
        return Pilot(
            self.store,
            self.protocol,
            choices,
            self._models,
            self.asking.limits,
            self._watcher("pilot"),
            annotators(self.protocol, self.asking.judges, self._materials() or {}),
            partial(self._annotate, self.asking.judges),
            self.asking.shard,
        )

    async def _label(self, judges: tuple[str, ...]) -> Tally:
        progress = self._watcher("label")
        return await self._desk.repeat(
            partial(self._annotate, judges, progress, pipeline=self._pipeline)
        )

    async def _annotate(
        self,
        judges: tuple[str, ...],
        watch: Callable[[Tally], None] = lambda tally: None,
        pipeline: Pipeline | None = None,
    ) -> Tally:
        models, limits = self._models, self.asking.limits
        return await annotate(
            self.store, self.protocol, judges, models, limits, watch, self._materials(), pipeline
        )

    def _materials(self) -> dict[str, str] | None:
        return settings.given_materials(self.store)

    def _watcher(self, stage: str, number: int | None = None) -> Callable[[Tally], None]:
        return partial(self.watch, stage, number) if self.watch else lambda tally: None

    def _model(self, name: str) -> Model:
        model = self.asking.connect.model(name, self.asking.limits.most_in_flight, self.store)
        model.reserve_thought(max(model.reserve, reserve_of(self.store, name)))
        return model
