"""The steps of one batch, from its record in the run to its results."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count

from ...errors import ModelError, TransientError
from ...models import Price
from ...models.batch import wire_of
from ...models.batch.file import FILE
from ...models.batch.format import Seen
from ...models.batch.wire import Gone
from ...models.retention import kept_days
from ...store import Store
from ...store.queries import batches
from ...store.queries.batches import (
    ACCEPTED,
    ANSWERED,
    COLLECTED,
    RESERVED,
    SENT,
    UNCLEAR,
    UNFINISHED,
    WRITTEN_OFF,
    BatchRow,
)
from ..engine.limits import Limits
from ..engine.open_models import Models
from .lines import file_of, names, rebuild, remove_file
from .reach import Batching, Way
from .results import FEW_FAULTS, Collector, keep_faulty
from .settling import BatchFinding, gone, read, refusal, refused

LATE_LIST_S = 60.0  # for which a provider's list may lack a batch that was just made
LISTS = 3  # that must lack a batch before it is made again
LONGEST_PAUSE_S = 2.0  # between two looks that are to agree
TRIES = 3  # of a request in batches of one command


def age_s(date: str) -> float:
    """Returns the seconds since a stored date."""
    return (datetime.now(UTC) - datetime.fromisoformat(date)).total_seconds()


def is_kept(row: BatchRow) -> bool:
    """True if the provider may still keep the results of a batch."""
    days = kept_days(row.model.partition(":")[0])
    return days is None or age_s(max(row.sent, row.since)) < 86_400 * days


class Unsure(Exception):
    """Raised while it is not known if a batch was created at the provider."""


class Steps:
    """The steps of single batches. price: of a call in a batch; way: access to providers."""

    def __init__(
        self,
        store: Store,
        models: Models,
        limits: Limits,
        how: Batching,
        price: Callable[[str], Price | None],
    ) -> None:
        self._store, self._how, self._price = store, how, price
        self.way = Way(store, models, limits, how)
        self.tries: dict[str, int] = {}  # request → batches that gave no answer to it
        self.token_limits: dict[str, float] = {}  # model → tokens that it was found to queue
        self.warnings: set[str] = set()

    def rows_out(self) -> list[BatchRow]:
        """Lists the batches that were recorded or sent and are not finished."""
        return batches.rows(self._store, UNFINISHED)

    def rows_held(self) -> list[BatchRow]:
        """Lists the possibly charged batches that the provider may still know."""
        return [
            row
            for row in batches.rows(self._store, (UNCLEAR,))
            if row.remote_id and is_kept(row) and (self._how.trust or batches.is_own(row))
        ]

    def is_overdue(self, row: BatchRow) -> bool:
        """True if a batch is older than twice the time that its provider may take; always False
        for a file that somebody else runs.
        """
        form = None if row.remote_id.startswith(FILE) else self.way.opened_form(row.model)
        return form is not None and age_s(row.since) > 2 * 3600 * form.bounds.hours

    async def hand_in(self, row: BatchRow) -> bool:
        """Submits a recorded batch. Returns False if it is refused or its receipt is uncertain."""
        model, form = await self.way.reach(row)
        wire = wire_of(model)
        if not row.file_id and not file_of(self._store, row.key).is_file():
            await rebuild(self._store, row, model, form)
        if row.state == RESERVED:
            file_id = await self.way.patiently(lambda: form.upload(wire, self.way.handover(row)))
            row = row._replace(state=SENT, file_id=file_id)
        patience = self.way.patience()
        while True:
            row = batches.keep(self._store, row._replace(sent=wire.now().isoformat()))
            refused_as = ""
            try:
                self._receive(row, await form.create(wire, self.way.handover(row)))
                return True
            except TransientError as error:
                await self.way.wait_for_next_try(patience, error)
            except ModelError as error:
                if error.possibly_paid:
                    raise
                refused_as = str(error)
            try:
                candidate = await self._search(row, patient=not refused_as)
            except (Unsure, TransientError):
                return False
            if candidate is not None:
                self._receive(row, candidate)
                return True
            if refused_as:
                self._take_refusal(row, refusal(refused_as))
                return False

    def _receive(self, row: BatchRow, seen: Seen) -> BatchRow:
        row = row._replace(state=ACCEPTED, remote_id=seen.remote, told=seen.said)
        row = batches.keep(self._store, row)
        remove_file(self._store, row.key)
        return row

    async def _search(self, row: BatchRow, patient: bool = True) -> Seen | None:
        """Looks for a batch without a receipt; None if the provider does not have it. Raises Unsure
        if a listed batch may or may not be this one. patient: True to return None only some time
        after the batch was sent, and after several listings.
        """
        model, form = await self.way.reach(row)
        names_used, wire = names(batches.rows(self._store)), wire_of(model)
        for lists in count(1):
            is_unsure = False
            async for candidate in form.candidates(wire, self.way.handover(row)):
                if candidate.seen.remote in names_used:
                    continue
                if candidate.ours:
                    return candidate.seen
                is_unsure = is_unsure or candidate.ours is None
            if is_unsure:
                raise Unsure
            sent = datetime.fromisoformat(row.sent or row.changed)
            elapsed = (wire.now() - sent).total_seconds()
            if elapsed < 0:  # the provider's clock was ahead when it was sent
                elapsed = age_s(row.changed)
            rest = max(self._how.poll, LATE_LIST_S) - elapsed
            if not patient or (rest <= 0 and lists >= LISTS):
                return None
            await self.way.pause(min(max(rest / 2, 0.0), LATE_LIST_S))
        raise AssertionError("unreachable")

    async def confirm(self, row: BatchRow) -> BatchRow | None:
        """Finds a batch of an earlier command without a receipt, or submits it now. Returns None if
        it is given up or still uncertain.
        """
        try:
            candidate = await self._search(row) if row.state == SENT else None
        except Unsure:
            batches.keep(self._store, row._replace(told="waits: an open batch may be this one"))
            return None
        if candidate is not None:
            return self._receive(row, candidate)
        if not self._how.hands_in:
            self._refuse(row, "was not handed in")
        elif await self.hand_in(row):
            return next(one for one in self.rows_out() if one.key == row.key)
        return None

    async def look(self, row: BatchRow) -> Seen | None:
        """Stores a batch's readable results and returns its state; None if the provider does not
        know it. Any report except "in progress" and "all read" is believed only after several looks
        agree on it (settling.py).
        """
        last_sign, agreeing_looks = None, 0
        while True:
            status, finding = await self._look_once(row)
            if finding is None:
                return status
            agreeing_looks = agreeing_looks + 1 if finding.sign == last_sign else 1
            last_sign = finding.sign
            if agreeing_looks >= finding.looks:
                self._settle(row, status, finding)
                return status
            await self.way.pause(min(self._how.poll, LONGEST_PAUSE_S))

    async def _look_once(self, row: BatchRow) -> tuple[Seen | None, BatchFinding | None]:
        model, form = await self.way.reach(row)
        unfinished = Seen(row.remote_id, ended=False, said=row.told)
        try:
            status = await form.look(wire_of(model), row.remote_id)
        except TransientError as error:
            return unfinished._replace(said=str(error)), None
        except Gone as error:
            listed = await self._listed(row, str(error))
            if listed is None:
                return None, gone(str(error))
            status = listed
        except ModelError as error:
            if not error.possibly_paid:
                raise
            return unfinished._replace(said=str(error)), None  # a reply that cannot be read
        if status.remote != row.remote_id:
            return unfinished._replace(said="another batch was sent"), None
        if status.fault and not row.billed:
            return status, refused(status)
        if not status.ended:
            if status.said != row.told or row.state != ACCEPTED:
                batches.keep(self._store, row._replace(state=ACCEPTED, told=status.said))
            return status, None
        collector = Collector(self._store, row, model, self._price(row.model), self.warnings.add)
        collected = await collector.collect(form, status)
        finding = read(row, status, collected, in_file=row.remote_id.startswith(FILE))
        if finding.looks > 1 and row.state != ANSWERED:
            batches.keep(self._store, self._latest(row)._replace(state=ANSWERED, told=status.said))
        return status, finding

    async def _listed(self, row: BatchRow, answer: str) -> Seen | None:
        """Finds a batch in the provider's list after the provider denied knowing it; None if it is
        not listed either. If the list cannot be read, the batch counts as unfinished.
        """
        model, form = await self.way.reach(row)
        try:
            async for candidate in form.candidates(wire_of(model), self.way.handover(row)):
                if candidate.seen.remote == row.remote_id:
                    return candidate.seen
        except Gone:
            return None
        except (TransientError, ModelError) as error:
            if isinstance(error, ModelError) and not error.possibly_paid:
                raise
            return Seen(row.remote_id, ended=False, said=answer)
        return None

    def _latest(self, row: BatchRow) -> BatchRow:
        return batches.row(self._store, row.key)

    def _settle(self, row: BatchRow, seen: Seen | None, finding: BatchFinding) -> None:
        """Records the outcome of a batch once enough looks agree on it."""
        row, results = self._latest(row), finding.got
        if seen is not None and results is None:
            return self._take_refusal(row, seen)
        if results is None or finding.is_short:
            return self._hold(row, finding.reason)
        if len(results.faulty) >= FEW_FAULTS and not results.billed:
            self._refuse(row, results.faulty[0].reply.text)
            raise ModelError(f"All requests of a batch failed: {results.faulty[0].reply.text}")
        keep_faulty(self._store, row, results.faulty)
        row = self._latest(row)
        for key in finding.free:
            self.tries[key] = self.tries.get(key, 0) + 1
        batches.give_back(self._store, finding.free)
        batches.forget(self._store, [key for key in finding.free if self.tries[key] >= TRIES])
        unanswered = len(finding.free)
        if finding.unread:
            return self._hold(row, finding.reason)
        answer = seen.said if seen is not None else ""
        reason = (
            f"{answer}; {unanswered:,} of {row.requests:,} not answered" if unanswered else answer
        )
        reason = f"{reason}: {results.fault}" if unanswered and results.fault else reason
        batches.close(self._store, row._replace(state=COLLECTED, told=reason), give_back=True)
        return None

    def _hold(self, row: BatchRow, reason: str) -> None:
        """Keeps the requests of a batch from being sent again, as they may have been charged."""
        keys = batches.keys_of(self._store, row.key)
        dollars = row.reserved * len(keys) / max(1, row.requests)
        self.warnings.add(
            f"{row.model}: {len(keys):,} of {row.requests:,} requests of a batch may be paid for "
            f"and have no answer that can be read ({reason}). The same command looks for them "
            "again; "
            "with --pay-again they are asked anew."
        )
        row = row._replace(state=UNCLEAR, told=reason, reserved=dollars)
        batches.keep(self._store, row)

    async def end(self, row: BatchRow) -> None:
        """Cancels a batch that has not ended, and collects its finished requests."""
        status = await self.look(row)
        if status is None or status.ended:
            return
        model, form = await self.way.reach(row)
        await self.way.patiently(lambda: form.cancel(wire_of(model), row.remote_id))
        await self.look(self._latest(row))

    def _take_refusal(self, row: BatchRow, seen: Seen) -> None:
        """Closes a batch that the provider refused whole without a charge. If too many tokens were
        queued, lowers the limit of later batches; raises ModelError for any other reason.
        """
        if not seen.crowded or row.requests == 1:
            self._refuse(row, seen.fault)
            raise ModelError(f"The provider refused a whole batch of {row.model}: {seen.fault}")
        others = sum(
            one.tokens for one in self.rows_out() if one.model == row.model and one.key != row.key
        )
        self.token_limits[row.model] = others + row.tokens / 2
        row = row._replace(state=WRITTEN_OFF, told=seen.fault)
        batches.close(self._store, row, give_back=True)
        remove_file(self._store, row.key)

    def _refuse(self, row: BatchRow, said: str) -> None:
        row = row._replace(state=WRITTEN_OFF, told=said)
        batches.close(self._store, row, give_back=False)
        remove_file(self._store, row.key)
