"""Ctrl-C, and SIGTERM as job schedulers and containers send it: the run ends in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..system import add_signal_handlers, remove_signal_handlers

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

    def first() -> None:
        remove_signal_handlers(SIGNALS)
        stop()

    handled = add_signal_handlers(SIGNALS, first)
    try:
        yield
    finally:
        if handled:
            remove_signal_handlers(SIGNALS)
