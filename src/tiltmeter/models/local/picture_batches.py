"""Batches requests for pictures, as a single picture does not use a whole GPU."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ...records import Reply, Request

GATHER_S = 0.02  # that a batch which is not full waits for more, a small part of a picture's time
Waiting = tuple[Request, "asyncio.Future[Reply]"]


class PictureBatches:
    """A batcher of single requests for pictures of the same size. most: pictures per batch; draw:
    makes the pictures of a batch, in a thread.
    """

    def __init__(self, most: int, draw: Callable[[Sequence[Request]], Sequence[Reply]]) -> None:
        self._most, self._draw = most, draw
        self._waiting: list[Waiting] = []
        self._working: asyncio.Task[None] | None = None

    async def ask(self, request: Request) -> Reply:
        """Returns the reply to a request, made in a batch. Raises as the batch did."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._most:
                await asyncio.sleep(GATHER_S)
            await self._draw_batch(self._next_batch())

    def _next_batch(self) -> list[Waiting]:
        """Takes the request that waited longest, and later ones for pictures of the same size."""
        size = self._waiting[0][0].size
        batch = [one for one in self._waiting if one[0].size == size][: self._most]
        self._waiting = [one for one in self._waiting if one not in batch]
        return batch

    async def _draw_batch(self, batch: Sequence[Waiting]) -> None:
        try:
            replies = await asyncio.to_thread(self._draw, [request for request, _ in batch])
        except Exception as error:  # noqa: BLE001  whatever it is, each who waits is told
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), reply in zip(batch, replies, strict=True):
            if not future.done():
                future.set_result(reply)
