"""Ordinary code → the end of a coroutine, also where an event loop runs already, as in a notebook.

There the coroutine gets a loop of its own in another thread, so whatever belongs to one thread (the
store) is opened inside the coroutine.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeVar

from .interruption import REMOTE, RemoteStop

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, or raises.

    A KeyboardInterrupt here, such as a notebook's stop button, stops the work in order as a signal
    does (`interruption`); a second one cancels it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        try:
            return asyncio.run(work)
        finally:
            work.close()  # where no loop could be made
    stop, context = RemoteStop(), copy_context()
    context.run(REMOTE.set, stop)
    with _plain_interrupts(), ThreadPoolExecutor(1, "tiltmeter") as pool:
        return _result(pool.submit(context.run, asyncio.run, _registered(work, stop)), stop)


async def _registered(work: Coroutine[Any, Any, T], stop: RemoteStop) -> T:
    stop.attach(asyncio.get_running_loop(), asyncio.current_task())
    return await work


def _result(running: Future[T], stop: RemoteStop) -> T:
    while True:
        try:
            return running.result()
        except KeyboardInterrupt:
            if running.done():
                raise
            stop.interrupt()
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


@contextmanager
def _plain_interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt: the handler of a running loop cancels a task that waits
    here, which would be noticed at the end only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
