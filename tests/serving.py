"""Servers in a thread of their own; in a process of its own each would load all packages anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

from tiltmeter.planted.server import Server, start


@contextmanager
def serving(server: Any) -> Iterator[str]:
    """Opens a server (an asynchronous context manager with a `url`) and yields its base URL."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def done(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(300)

    try:
        opened = done(server.__aenter__())
        try:
            yield opened.url
        finally:
            done(server.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(300)
        loop.close()


@asynccontextmanager
async def _planted(settings: str) -> AsyncIterator[Server]:
    async with await start(settings) as server:
        yield server


def planted_server(settings: str) -> AbstractContextManager[str]:
    """A planted model behind HTTP; yields its base URL."""
    return serving(_planted(settings))
