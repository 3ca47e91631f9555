"""Ctrl-C, and SIGTERM as job schedulers and containers send it: the run ends in order."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_interruption(stop: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` at the first signal; a second one ends the process at once.

    Elsewhere than in the main thread, and on Windows, a signal ends at once: what was received is
    stored all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def remove() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    def first() -> None:
        remove()
        stop()

    try:
        for number in SIGNALS:
            loop.add_signal_handler(number, first)
    except NotImplementedError:
        yield
        return
    try:
        yield
    finally:
        remove()
