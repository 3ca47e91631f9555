"""The batches of a run at a provider, past and present."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Unpack

from ...errors import ModelError, UsageError
from ...records import Json
from ...stages.batches.reach import Batching
from ...stages.batches.steps import Steps
from ...stages.engine.open_models import Models
from ...stages.engine.run_coroutine import wait_for
from ...stages.steps import protocol_snapshot
from ...store import Store
from ...store.queries import batches
from ...store.queries import money as ledger
from ...store.queries.batches import ACCEPTED, UNFINISHED, BatchRow
from ...store.queries.money import Money
from ..options import options as arguments
from ..options.records import AskOptions


@dataclass(frozen=True, slots=True)
class Job:
    """A batch. state: reserved, sent, accepted or answered if unfinished; else collected, possibly
    paid or written off.

    requests: number of requests; waiting: number without a reply in this run; reserved: upper bound
    of its cost in US dollars; told: the provider's last status; since, changed: times in UTC.
    """

    key: str
    model: str
    state: str
    remote_id: str
    requests: int
    waiting: int
    reserved: float
    told: str
    since: str
    changed: str

    @property
    def is_out(self) -> bool:
        """True if the batch has not ended."""
        return self.state in UNFINISHED

    def as_dict(self) -> dict[str, Json]:
        """Returns the fields by name, for --json."""
        return asdict(self)


def jobs(folder: Path | str, *, trust: bool = False) -> list[Job]:
    """Lists a run's batches in their stored state, oldest first. trust: as in `run`."""
    if trust:
        protocol_snapshot.trust(folder)
    with Store(folder) as store:
        return [_job(row, len(batches.keys_of(store, row.key))) for row in batches.rows(store)]


def money(folder: Path | str) -> list[Money]:
    """Lists the requests of a run by state, with their cost, without asking a provider."""
    with Store(folder) as store:
        return ledger.money(store)


def cancel_jobs(
    folder: Path | str, *, trust: bool = False, **options: Unpack[AskOptions]
) -> list[Job]:
    """Cancels the unfinished batches, and collects those that end at once; the next `run` or
    `label` collects the others. Replies that came are kept. trust: as in `run`.
    """
    arguments.refuse_unknown(options, AskOptions.__optional_keys__)
    if trust:
        protocol_snapshot.trust(folder)
    connect, limits = arguments.connect(options), arguments.limits(options)

    async def work() -> None:
        with Store(folder, writing=True) as store:
            make = lambda name: connect.model(name, limits.most_in_flight, store)  # noqa: E731
            async with Models(make) as models:
                steps = Steps(store, models, limits, Batching(trust=trust), connect.batch_price)
                for row in steps.rows_out():
                    try:
                        confirmed = row if row.state == ACCEPTED else await steps.confirm(row)
                        if confirmed is not None:
                            await steps.end(confirmed)
                    except (ModelError, UsageError) as error:  # the others are stopped all the same
                        faults.append(error)

    faults: list[ModelError | UsageError] = []
    wait_for(work())
    if faults:
        raise faults[0]
    return jobs(folder)


def _job(row: BatchRow, waiting: int) -> Job:
    return Job(
        row.key,
        row.model,
        row.state,
        row.remote_id,
        row.requests,
        waiting,
        row.reserved,
        row.told,
        row.since,
        row.changed,
    )
