"""Requests that go to a provider in batches: held back while a stage runs, submitted when it has
nothing else to do, and collected when the provider has finished. Then the stage runs again and
finds the replies stored.

Nothing is submitted twice: a batch is a row of the run before anything is sent, and each step is on
the disk before the next begins. If a batch has no receipt, the provider is searched for it first;
the run waits while the search is inconclusive. A request in a batch is not sent in any other way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...errors import BatchesOut, ModelError, TransientError, Unanswered
from ...models import Model, Price
from ...models.batch.file import FILE
from ...models.batch.format import BatchFormat
from ...models.http import HttpModel
from ...records import Request
from ...store import Store
from ...store.queries import batches, settings
from ...store.queries.batches import UNCLEAR, UNCONFIRMED, UNFINISHED, BatchGroup, BatchRow
from ..engine.caller import Caller
from ..engine.interruption import on_interruption
from ..engine.limits import Limits, Tally, refuse_unknown_price
from ..engine.open_models import Models
from ..engine.sources import JobSource
from .lines import BatchRoom, build
from .reach import Batching
from .steps import TRIES, Steps

MOST_DOUBLED = 20  # how many times the first pause between two looks the longest one is
BUFFERED_REQUESTS = 500
Show = Callable[[str, int | None, Tally], None]


class BatchDesk:
    """The batches of a run. price: of a model's call in a batch; show: as `Watch`; deferred: the
    number of this stage's requests that wait for a batch.
    """

    def __init__(
        self,
        store: Store,
        models: Models,
        limits: Limits,
        how: Batching,
        price: Callable[[str], Price | None],
        show: Show | None,
    ) -> None:
        self._store, self._models, self._limits = store, models, limits
        self._how, self._price, self._show = how, price, show
        self._steps = Steps(store, models, limits, how, price)
        self._put: list[Request] = []
        self.deferred = 0
        batches.clear_pool(store)
        if how.pay_again:
            self._pay_again()
        self._read_keys()

    # what the engine asks

    def is_out(self, request: Request) -> bool:
        """True if a request is in an open batch. Raises Unanswered if it failed or may be paid."""
        if self._steps.tries.get(request.key, 0) >= TRIES:
            raise Unanswered(
                "the batches of the request gave no answer, or were lost. Run the same command to "
                "send the request again"
            )
        if request.key in self._held:
            raise Unanswered(
                "the request may already have been paid for in a batch that cannot be read. Run "
                "the same command to check the batch again, or add --pay-again to send the "
                "request again"
            )
        self.deferred += request.key in self._out
        return request.key in self._out

    def _read_keys(self) -> None:
        self._out = batches.keys_in(self._store, UNFINISHED)
        self._held = batches.keys_in(self._store, (UNCLEAR,))

    def _pay_again(self) -> None:
        requests, dollars = batches.write_off(self._store)
        if requests:
            lost_dollars = settings.possibly_paid(self._store) + dollars
            settings.keep_possibly_paid(self._store, lost_dollars, 0.0)
            self._steps.warnings.add(
                f"{requests:,} requests that may be paid for are asked anew, as --pay-again says."
            )

    def puts_aside(self, model: Model, request: Request) -> bool:
        """True if a request goes into a batch; it is then held back for the next batch."""
        if not self._how.hands_in:
            return False
        if self._steps.way.form(model) is None:
            self._steps.warnings.add(f"{model.name} takes no batches: it is asked as usual.")
            return False
        self.deferred += 1
        self._put.append(request)
        if len(self._put) >= BUFFERED_REQUESTS:
            self._flush()
        return True

    def _flush(self) -> None:
        batches.put_aside(self._store, self._put)
        self._put = []

    # what a command does

    async def take_in(self) -> None:
        """Collects batches that have ended; looks for batches that were sent without a receipt."""
        rows = self._steps.rows_held()
        if rows or self._steps.rows_out():
            with on_interruption(self._interrupt):
                await self._look_at_all(rows)

    async def repeat(self, stage: Callable[[], Awaitable[Tally]]) -> Tally:
        """Runs a stage repeatedly, until none of its requests waits for a batch."""
        tally = await stage()
        while await self.settle():
            tally = await stage()
        tally.warnings |= self._steps.warnings
        return tally

    async def settle(self) -> bool:
        """Submits requests held back and waits. Returns False if there were none (the stage is
        done), True if all are answered (run it again). Raises BatchesOut if it may not wait.
        """
        self._flush()
        if not self.deferred:
            return False
        self.deferred = 0
        with on_interruption(self._interrupt):
            await self._hand_in_all()
            wait = self._how.poll
            while self._steps.rows_out():
                self._show_all()
                if not self._how.wait or all(map(self._steps.is_overdue, self._steps.rows_out())):
                    raise self._out_error()
                await self._steps.way.pause(wait)
                ended = await self._look_at_all()
                wait = self._how.poll if ended else min(2 * wait, MOST_DOUBLED * self._how.poll)
                await self._hand_in_all()
        return True

    def _interrupt(self) -> None:
        self._steps.way.stop.set()

    def _out_error(self) -> BatchesOut:
        rows = self._steps.rows_out()
        requests, models = sum(row.requests for row in rows), sorted({row.model for row in rows})
        files = [row.told for row in rows if row.remote_id.startswith(FILE)]
        if any(map(self._steps.is_overdue, rows)):
            files.append(
                "Some should have ended long ago. What is not done is stopped, then asked anew, "
                f"with: tiltmeter jobs {self._store.folder} --cancel"
            )
        is_one, is_single = len(rows) == 1, requests == 1
        return BatchesOut(
            f"{len(rows):,} {'batch' if is_one else 'batches'} with {requests:,} "
            f"{'request' if is_single else 'requests'} {'is' if is_one else 'are'} out "
            f"({', '.join(models)}). Come back: the same command collects and goes on. "
            f"All batches: tiltmeter jobs {self._store.folder}"
            + "".join(f"\n{warning}" for warning in (*files, *sorted(self._steps.warnings)))
        )

    def _show_all(self) -> None:
        for row in self._steps.rows_out():
            self._show_batch(row, 0, row.told)

    # handing in

    async def _hand_in_all(self) -> None:
        if not self._how.hands_in:
            return
        for group, _ in batches.groups(self._store):
            model = await self._models.get(group.model)
            form = self._steps.way.form(model)
            if form is None or not isinstance(model, HttpModel):
                continue
            while await self._hand_in_next(group, model, form):
                await self._steps.way.pause(0)
        self._read_keys()

    async def _hand_in_next(self, group: BatchGroup, model: HttpModel, form: BatchFormat) -> bool:
        """Submits a group's next batch. False if no request is left or the limits leave no room."""
        first = next(batches.iter_pool(self._store, group), None)
        if first is None:
            return False
        room, is_out = self._room(model, form), bool(self._steps.rows_out())
        is_dear = model.price is not None and model.price.worst(first[1]) > room.dollars
        if room.tokens <= 0 or (is_out and is_dear):  # what is out gives room when it has ended
            return False
        check = None if self._how.file else self._answer_singly
        row = await build(self._store, group, model, form, room, check)
        if row is not None:
            return await self._steps.hand_in(row)
        pool = next(batches.iter_pool(self._store, group), None)
        if is_out or pool is None:
            return False
        await self._answer_singly(model, pool[1])  # too large, or too dear: BudgetError
        return True

    def _room(self, model: HttpModel, form: BatchFormat) -> BatchRoom:
        price, dollars = self._price(model.name), float("inf")
        if self._limits.max_cost is not None:
            if price is None:
                raise refuse_unknown_price(model.name)
            spent = self._store.spent() + settings.possibly_paid(self._store)
            dollars = self._limits.max_cost - spent - batches.reserved_dollars(self._store)
        queued_tokens = sum(row.tokens for row in self._steps.rows_out() if row.model == model.name)
        token_limit = self._steps.token_limits.get(model.name, form.bounds.tokens or float("inf"))
        return BatchRoom(form.bounds, token_limit - queued_tokens, dollars, price)

    async def _answer_singly(self, model: HttpModel, request: Request) -> None:
        """Sends one request in an ordinary call and stores the reply; an error ends the run."""
        faults, spent, windows = list[Exception](), self._store.spent(), self._models.windows
        caller = Caller(self._store, self._limits, windows, spent, faults.append)
        try:
            reply = await caller.ask(model, request, JobSource((), Tally()))
        except TransientError as error:
            raise ModelError(
                f"{error}. Run the same command again when the server is well."
            ) from None
        finally:
            caller.close()
        self._store.write([(request, reply)], (), ())
        caller.leave(request)
        batches.forget(self._store, [request.key])

    async def _look_at_all(self, held: Sequence[BatchRow] = ()) -> int:
        """Looks at all open batches, and at those in `held`; returns how many ended."""
        number_ended = 0
        for row in (*held, *self._steps.rows_out()):
            await self._steps.way.pause(0)
            confirmed = await self._steps.confirm(row) if row.state in UNCONFIRMED else row
            if confirmed is None:
                continue
            status = await self._steps.look(confirmed)
            if status is None or status.ended:
                number_ended += 1
            self._show_batch(
                row, (status.done if status else 0) or 0, status.said if status else ""
            )
        self._read_keys()
        return number_ended

    def _show_batch(self, row: BatchRow, done: int, said: str) -> None:
        if self._show is not None:
            waiting = f"{row.model}: {said}" if said else row.model
            self._show(f"batch {row.key[:8]}", row.requests, Tally(done=done, waiting=waiting))
