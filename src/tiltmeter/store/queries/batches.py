"""Batches that were submitted to a provider, and the requests that wait for a batch or are in one.

A row of `batches` is written before anything is sent, and is never removed. A request leaves
`batch_requests` in the transaction that writes its reply to `calls`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...errors import StoreError
from ...records import Reply, Request
from .. import Store, now, origin
from ..packing import split_request
from ..rows import call_row, request_of

# States of the money of a batch and of its requests without a reply. RESERVED: nothing of it is at
# the provider; SENT: its file is, and the batch may be; ACCEPTED: its id is known; ANSWERED: the
# provider has ended it, and results are still to be read; COLLECTED: all is read; UNCLEAR: what was
# done and charged cannot be read, so its requests are asked again only with --pay-again;
# WRITTEN_OFF: refused by the provider, or given up by the user.
RESERVED, SENT, ACCEPTED, ANSWERED = "reserved", "sent", "accepted", "answered"
COLLECTED, UNCLEAR, WRITTEN_OFF = "collected", "possibly paid", "written off"
UNCONFIRMED, UNFINISHED = (RESERVED, SENT), (RESERVED, SENT, ACCEPTED, ANSWERED)
_BATCH = "batch"  # of marks
_KEY = re.compile("[0-9a-f]{32}")
PIECE_ROWS = 200  # that are read at a time


class BatchGroup(NamedTuple):
    """Requests that may share a batch. makes: "text" or "pictures"."""

    model: str
    makes: str


class BatchRow(NamedTuple):
    """A batch. path: of the equivalent single call; omitted: settings left out of its requests;
    tokens: estimated; reserved: maximum cost in US dollars; told: the provider's last status;
    since, changed: UTC; sent: the provider's time when it was last asked to create the batch;
    billed: stored results that are charged for; lost: maximum US dollars that were written off.
    """

    key: str
    model: str
    path: str
    state: str
    remote_id: str
    file_id: str
    omitted: tuple[str, ...]
    requests: int
    tokens: int
    reserved: float
    told: str
    since: str
    changed: str
    sent: str = ""
    billed: int = 0
    lost: float = 0.0


BATCH_COLUMNS = ", ".join(BatchRow._fields)


def new_key(random: str) -> str:
    """Returns a new batch's key from 32 random characters; its second half proves who made it."""
    nonce = random[:16]
    return nonce + (origin.mark(_BATCH, nonce) or random[16:])


def is_own(row: BatchRow) -> bool:
    """True if this user submitted a batch."""
    return origin.is_own(_BATCH, row.key[:16], row.key[16:])


def put_aside(store: Store, requests: Iterable[Request]) -> None:
    """Queues requests for a batch; those that are queued already keep their position."""
    rows = (
        (request.key, request.model, "pictures" if request.size else "text", request.text)
        for request in requests
    )
    store.write_many(
        "INSERT OR IGNORE INTO batch_requests (key, model, makes, batch, request)"
        " VALUES (?,?,?,'',?)",
        rows,
    )


def clear_pool(store: Store) -> None:
    """Removes requests that are in no batch; the stages queue them again."""
    store.write_one("DELETE FROM batch_requests WHERE batch=''", ())


def groups(store: Store) -> list[tuple[BatchGroup, int]]:
    """Lists (group, number of requests that are in no batch), by model."""
    query = (
        "SELECT model, makes, count(*) FROM batch_requests WHERE batch='' GROUP BY 1, 2"
        " ORDER BY 1, 2 DESC"
    )
    return [(BatchGroup(model, makes), number) for model, makes, number in store.rows(query)]


def iter_pool(store: Store, group: BatchGroup) -> Iterator[tuple[int, Request]]:
    """Yields (row id, request) for a group's requests that are in no batch, oldest first."""
    return _read(store, "", group)


def requests_of(store: Store, batch: str) -> Iterator[Request]:
    """Yields a batch's requests without a reply yet, in the order of the batch file."""
    query = "SELECT model, makes FROM batch_requests WHERE batch=? LIMIT 1"  # they are of one group
    group = store.first(query, (batch,))
    if group is not None:
        for _, request in _read(store, batch, BatchGroup(*group)):
            yield request


def _read(store: Store, batch: str, group: BatchGroup) -> Iterator[tuple[int, Request]]:
    """Yields (row id, request) of a batch and group, read in pieces."""
    last = 0
    query = (
        "SELECT id, request FROM batch_requests WHERE batch=? AND model=? AND makes=? AND id>?"
        " ORDER BY id LIMIT ?"
    )
    while True:
        piece = list(store.rows(query, (batch, *group, last, PIECE_ROWS)))
        for last, text in piece:
            yield last, request_of(text)
        if len(piece) < PIECE_ROWS:
            return


def request_in(store: Store, batch: str, key: str) -> Request | None:
    """Returns a batch's request by its key; None if it has a reply or is unknown."""
    row = store.first("SELECT request FROM batch_requests WHERE batch=? AND key=?", (batch, key))
    return None if row is None else request_of(row[0])


def forget(store: Store, keys: Iterable[str]) -> None:
    """Removes requests that were answered by single calls, or will never be answered."""
    store.write_many("DELETE FROM batch_requests WHERE key=?", ((key,) for key in keys))


def keys_of(store: Store, batch: str) -> list[str]:
    """Lists the keys of a batch's requests without a reply yet."""
    return [row[0] for row in store.rows("SELECT key FROM batch_requests WHERE batch=?", (batch,))]


def keys_in(store: Store, states: Sequence[str]) -> set[str]:
    """Returns the keys of all requests in batches that have one of these states."""
    marks = ",".join("?" * len(states))
    query = (
        "SELECT r.key FROM batch_requests r JOIN batches b ON b.key = r.batch"
        f" WHERE b.state IN ({marks})"
    )
    return {row[0] for row in store.rows(query, tuple(states))}


def intend(store: Store, batch: BatchRow, group: BatchGroup, last: int) -> None:
    """Writes a batch before it is submitted; it takes its group's requests up to row id `last`."""
    marks = ",".join("?" * len(BatchRow._fields))
    with store.transaction():
        store.write_one(f"INSERT INTO batches ({BATCH_COLUMNS}) VALUES ({marks})", _row(batch))
        store.write_one(
            "UPDATE batch_requests SET batch=? WHERE batch='' AND model=? AND makes=? AND id<=?",
            (batch.key, *group, last),
        )
    store.sync()


def keep(store: Store, batch: BatchRow) -> BatchRow:
    """Writes a changed batch and syncs the disk; returns the batch with its new date."""
    dated = _replace(store, batch)
    store.sync()
    return dated


def close(store: Store, batch: BatchRow, give_back: bool) -> None:
    """Marks a batch as finished. give_back: True if its requests without a reply may be submitted
    again; otherwise they are removed, and the stages queue them again.
    """
    statement = (
        "UPDATE batch_requests SET batch='' WHERE batch=?"
        if give_back
        else "DELETE FROM batch_requests WHERE batch=?"
    )
    with store.transaction():
        _replace(store, batch._replace(reserved=0.0))
        store.write_one(statement, (batch.key,))
    store.sync()


def give_back(store: Store, keys: Iterable[str]) -> None:
    """Puts requests that were neither processed nor charged back into the queue."""
    store.write_many("UPDATE batch_requests SET batch='' WHERE key=?", ((key,) for key in keys))


def write_off(store: Store) -> tuple[int, float]:
    """Gives up all batches that may have been paid for; returns (requests that may be sent again,
    their maximum cost in US dollars).
    """
    requests, dollars = 0, 0.0
    with store.transaction():
        for batch in rows(store, (UNCLEAR,)):
            requests += len(keys_of(store, batch.key))
            dollars += batch.reserved
            close(store, batch._replace(state=WRITTEN_OFF, lost=batch.reserved), give_back=False)
    return requests, dollars


def _replace(store: Store, batch: BatchRow) -> BatchRow:
    dated = batch._replace(changed=now(), told=store.clean(batch.told))
    marks = ",".join("?" * len(BatchRow._fields))
    store.write_one(f"REPLACE INTO batches ({BATCH_COLUMNS}) VALUES ({marks})", _row(dated))
    return dated


def store_replies(
    store: Store, batch: str, replies: Sequence[tuple[Request, Reply]], billed: int
) -> None:
    """Writes a batch's replies in one transaction; a request answered meanwhile keeps its earlier
    reply. billed: how many of the replies are charged for.
    """
    date = now()
    with store.transaction():
        called = (
            (call_row(request, store.cleaned(reply), date), split_request(request))
            for request, reply in replies
        )
        store.packer.add_calls(called, keep=True)
        store.write_many(
            "DELETE FROM batch_requests WHERE key=?", ((request.key,) for request, _ in replies)
        )
        store.write_one("UPDATE batches SET billed = billed + ? WHERE key=?", (billed, batch))


def rows(store: Store, states: Sequence[str] = ()) -> list[BatchRow]:
    """Lists the batches in these states (all by default), oldest first."""
    marks = ",".join("?" * len(states))
    condition = f" WHERE state IN ({marks})" if states else ""
    query = f"SELECT {BATCH_COLUMNS} FROM batches{condition} ORDER BY since, key"
    return [_batch(store, row) for row in store.rows(query, tuple(states))]


def row(store: Store, key: str) -> BatchRow:
    """Reads a batch anew by its key."""
    return _batch(store, store.first(f"SELECT {BATCH_COLUMNS} FROM batches WHERE key=?", (key,)))


def reserved_dollars(store: Store) -> float:
    """Returns the maximum cost of all unfinished batches in US dollars."""
    return float(store.first("SELECT coalesce(sum(reserved), 0) FROM batches")[0])


def _row(batch: BatchRow) -> tuple[str | int | float, ...]:
    return (*batch[:6], json.dumps(batch.omitted), *batch[7:])


def _batch(store: Store, row: Sequence[str]) -> BatchRow:
    if not _KEY.fullmatch(str(row[0])):  # a file bears it as its name, and is removed by it
        raise StoreError(
            f"{store.folder} is damaged at batches.key: {str(row[0])[:60]!r} cannot be a batch. "
            "Restore it from a copy."
        )
    return BatchRow._make((*row[:6], tuple(json.loads(row[6])), *row[7:]))
