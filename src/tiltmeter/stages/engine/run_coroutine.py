"""Runs a coroutine from ordinary code, even if an event loop runs already, as in a notebook.

In that case the coroutine gets its own loop in another thread, so objects that belong to one thread
(the store) must be opened inside the coroutine.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, TypeVar

from .interruption import REMOTE, RemoteStop

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine; returns its result, or raises its error.

    SIGINT meanwhile, such as a notebook's stop button, stops the work in order (`interruption`); a
    second SIGINT cancels it.
    """
    if not _is_in_loop():
        try:
            return asyncio.run(work)
        finally:
            work.close()  # where no loop could be made
    stop, context = RemoteStop(), copy_context()
    context.run(REMOTE.set, stop)
    with _interrupts(stop), ThreadPoolExecutor(1, "tiltmeter") as pool:
        try:
            return pool.submit(context.run, asyncio.run, _run_attached(work, stop)).result()
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


def _is_in_loop() -> bool:
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False


async def _run_attached(work: Coroutine[Any, Any, T], stop: RemoteStop) -> T:
    stop.attach(asyncio.get_running_loop(), asyncio.current_task())
    return await work


@contextmanager
def _interrupts(stop: RemoteStop) -> Iterator[None]:
    """Directs SIGINT to `stop`. The running loop's own handler would only cancel the task that
    waits, and this task would not notice before the work ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old_handler = signal.signal(signal.SIGINT, lambda *_: stop.interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old_handler)
