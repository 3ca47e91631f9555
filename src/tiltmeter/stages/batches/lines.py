"""Writes requests held back into a batch's file line by line, never all in memory at once."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ...errors import StoreError
from ...models import Price
from ...models.batch.format import PREFIX_CHARACTERS, BatchFormat, Bounds, custom_id
from ...models.http import HttpModel
from ...models.http.pictures import off_the_loop
from ...records import Request, content_id
from ...records.json_text import json_writer
from ...store import Store, now
from ...store.queries import batches
from ...store.queries.batches import RESERVED, BatchGroup, BatchRow
from ..planning.request_sizes import size

FOLDER = "batches"  # in the run's folder: files that are not handed in yet
SPARE_BYTES = 64 * 2**20  # that stay free on the disk
LINES_A_TURN = 200  # between two turns of the event loop
_write_json = json_writer(",", ":", sort_keys=False)
Shape = tuple[bool, ...]  # what decides which parameters a request has
Numbered = AsyncIterator[tuple[int, Request]]
Check = Callable[[HttpModel, Request], Awaitable[None]]


@dataclass(slots=True)
class BatchRoom:
    """The room left in a batch, within its provider's limits and a budget in US dollars."""

    bounds: Bounds
    tokens: float
    dollars: float
    price: Price | None
    requests: int = 0
    size_bytes: int = 0
    used_tokens: float = 0.0
    reserved: float = 0.0

    def takes(self, request: Request, line: bytes) -> bool:
        """Counts the request in and returns True, or returns False if it does not fit."""
        tokens = size(request).tokens
        cost = self.price.worst(request) if self.price else 0.0
        if (
            self.requests + 1 > self.bounds.requests
            or self.size_bytes + len(line) > self.bounds.size_bytes
            or (self.requests and self.used_tokens + tokens > self.tokens)
            or self.reserved + cost > self.dollars
        ):
            return False
        self.requests, self.size_bytes = self.requests + 1, self.size_bytes + len(line)
        self.used_tokens, self.reserved = self.used_tokens + tokens, self.reserved + cost
        return True


@dataclass(slots=True)
class Shapes:
    """The shapes (which options are used) of requests that were tried in a single call."""

    checked: set[Shape] = field(default_factory=set)

    def is_new(self, request: Request) -> bool:
        """Returns True for the first request of its shape."""
        shape = (
            bool(request.logprobs),
            bool(request.schema),
            bool(request.begin),
            any(message.pictures for message in request.messages),
        )
        is_new_shape = shape not in self.checked
        self.checked.add(shape)
        return is_new_shape


def file_of(store: Store, key: str) -> Path:
    """Returns the file that holds the lines of a batch until it is submitted."""
    return store.folder / FOLDER / f"{key}.jsonl"


def remove_file(store: Store, key: str) -> None:
    """Removes the file with the lines of a submitted batch."""
    file_of(store, key).unlink(missing_ok=True)
    folder = store.folder / FOLDER
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


async def build(
    store: Store,
    group: BatchGroup,
    model: HttpModel,
    form: BatchFormat,
    room: BatchRoom,
    check: Check | None,
) -> BatchRow | None:
    """Writes as many requests of a group as fit into a file, then records the batch in the run.
    Returns None if nothing is left to submit. check: sends the first request of each shape in a
    single call; None to check nothing.
    """
    date = now()
    key = batches.new_key(content_id(*group, date, secrets.token_hex(8)))
    shapes, full_room = Shapes(), room
    while True:
        sample = Request(model.name, (), size="1x1" if group.makes == "pictures" else "")
        exchange = model.exchange(sample)
        omitted = exchange.omitted
        room = BatchRoom(full_room.bounds, full_room.tokens, room.dollars, full_room.price)
        chosen = _choose(store, group, model, room, shapes, check)
        path, last = await _write(store, key, model, form, chosen, room.takes)
        if exchange.omitted == omitted:
            break
    if not room.requests:
        remove_file(store, key)
        return None
    row = BatchRow(
        key,
        model.name,
        path,
        RESERVED,
        remote_id="",
        file_id="",
        omitted=tuple(sorted(omitted)),
        requests=room.requests,
        tokens=round(room.used_tokens),
        reserved=room.reserved,
        told="",
        since=date,
        changed=date,
    )
    batches.intend(store, row, group, last)
    return row


async def rebuild(store: Store, row: BatchRow, model: HttpModel, form: BatchFormat) -> None:
    """Writes the file of a recorded batch again, with the same requests and settings."""
    requests = _recorded(store, row)
    await _write(store, row.key, model, form, requests, lambda request, line: True, row.omitted)


async def _choose(
    store: Store,
    group: BatchGroup,
    model: HttpModel,
    room: BatchRoom,
    shapes: Shapes,
    check: Check | None,
) -> Numbered:
    """Yields a group's requests for a batch; sends the first of each shape in a single call."""
    for number, request in batches.iter_pool(store, group):
        if check is not None and shapes.is_new(request):
            spent_before = store.spent()
            await check(model, request)
            room.dollars -= store.spent() - spent_before
        else:
            yield number, request


async def _recorded(store: Store, row: BatchRow) -> Numbered:
    for numbered in enumerate(batches.requests_of(store, row.key)):
        yield numbered


async def _write(
    store: Store,
    key: str,
    model: HttpModel,
    form: BatchFormat,
    requests: Numbered,
    takes: Callable[[Request, bytes], bool],
    omitted: tuple[str, ...] | None = None,
) -> tuple[str, int]:
    """Writes the file, which appears only once it is complete; returns the URL path of the single
    call and the number of the last request in the file.
    """
    file, path = file_of(store, key), ""
    file.parent.mkdir(exist_ok=True)
    part = file.with_suffix(".part")
    head, separator, tail = (part.encode() for part in form.frame)
    written = last = 0
    try:
        with part.open("wb") as lines:
            lines.write(head)
            async for number, request in requests:
                build = partial(model.exchange(request).build, request, omitted)
                has_pictures = any(message.pictures for message in request.messages)
                sent = await off_the_loop(build) if has_pictures else build()
                name = custom_id(key[:PREFIX_CHARACTERS], request.key)
                line = _write_json(form.line(name, sent)).encode()
                if not takes(request, line + separator):
                    break
                lines.write(separator + line if written else line)
                path, last, written = sent.path, number, written + 1
                if written % LINES_A_TURN == 0:
                    _refuse_full_disk(store)
                    await asyncio.sleep(0)
            lines.write(tail)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return path, last


def _refuse_full_disk(store: Store) -> None:
    free = shutil.disk_usage(store.folder).free
    if free < SPARE_BYTES:
        raise StoreError(
            f"The disk that holds {store.folder} has {free / 2**20:.0f} MB left, too little for a "
            "batch. Free space and run the same command again."
        )


def names(rows: Iterable[BatchRow]) -> set[str]:
    """Returns the ids that the provider gave to these batches."""
    return {row.remote_id for row in rows if row.remote_id}
