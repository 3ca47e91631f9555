"""Orderly end of a run on Ctrl-C, on SIGTERM (schedulers, containers), or on a notebook's stop."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...system import add_signal_handlers, remove_signal_handlers

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class RemoteStop:
    """A switch that stops the work of a loop in another thread: in order at the first interrupt; by
    cancelling at the second, or if the work cannot stop in order.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None
        self._pressed = False
        self.in_order: Callable[[], None] | None = None

    def attach(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[object] | None) -> None:
        """Stores the loop and the task to cancel; cancels at once if already interrupted."""
        self._loop, self._task = loop, task
        if self._pressed:
            self._cancel()

    def interrupt(self) -> None:
        """Interrupts the work; called in the thread that waits for it."""
        self._pressed = True
        stop, self.in_order = self.in_order, None
        if self._loop is not None:
            self._loop.call_soon_threadsafe(stop or self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


# who may stop a run from another thread; a context has its own, so that runs do not mix
REMOTE: ContextVar[RemoteStop | None] = ContextVar("REMOTE", default=None)


@contextmanager
def on_interruption(stop: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` at the first signal; a second signal ends the process at once.

    In a thread that tiltmeter made, `stop` is called if the waiting thread is interrupted
    (`RemoteStop`). In a program's own thread, and on Windows, a signal ends the process at once;
    received replies are stored all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        remote = REMOTE.get()
        if remote is not None:
            remote.in_order = stop
        try:
            yield
        finally:
            if remote is not None:
                remote.in_order = None
        return

    def first() -> None:
        remove_signal_handlers(SIGNALS)
        stop()

    has_handlers = add_signal_handlers(SIGNALS, first)
    try:
        yield
    finally:
        if has_handlers:
            remove_signal_handlers(SIGNALS)
