"""The progress of a run, as text and as a bar below a notebook cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from html import escape
from typing import Protocol

from ...display import visible
from ...stages.engine.limits import Tally

Watch = Callable[[str, int | None, Tally], None]  # (stage, number of trials or None, tally)
STAGES = {"pilot": "asking the first", "run": "asking the model", "label": "labelling"}
WAITING_CHARACTERS = 160  # of the reason for waiting
UPDATE_SECONDS = 0.25  # between two updates of a notebook's bar


def stage_title(stage: str) -> str:
    """Returns the displayed title of a stage."""
    return STAGES.get(stage, stage)


def progress_text(tally: Tally, elapsed: float, total: int | None = None) -> str:
    """Writes rates, calls in flight and their limits, cost, failures and the reason for waiting.
    elapsed: seconds since the stage began; total: number of trials, to compute the remaining time.
    """
    rate = tally.done / elapsed if elapsed > 1 else 0.0
    remaining = max(0, (total or 0) - tally.done - tally.before)
    parts = [
        f"{tally.calls / elapsed:.1f} calls/s" if elapsed > 1 else "",
        f"{tally.tokens / elapsed:,.0f} tokens/s" if elapsed > 1 and tally.tokens else "",
        _windows(tally) if elapsed > 1 else "",
        f"{timedelta(seconds=round(remaining / rate))} left" if rate and remaining else "",
        _share(tally.cut, tally.done, "cut"),
        _share(tally.unread, tally.done, "unread"),
        f"${tally.spent:.2f}" if tally.spent else "",
        f"{tally.failed} failed" if tally.failed else "",
        tally.by[:WAITING_CHARACTERS],
        tally.waiting[:WAITING_CHARACTERS],
    ]
    return " ".join(filter(None, parts))


def _windows(tally: Tally) -> str:
    """Writes the number of calls in flight, and what limits them."""
    if not tally.windows:
        return ""
    now, windows = time.monotonic(), list(tally.windows.values())
    number = sum(window.in_flight for window in windows)
    size = sum(int(window.size) for window in windows)
    limits = sorted({window.limit(now) for window in windows} - {""})
    return f"{number} of {size} in flight" + (f" ({', '.join(limits)})" if limits else "")


def _share(number: int, done: int, what: str) -> str:
    return f"{min(1.0, number / max(1, done)):.0%} {what}" if number else ""


class _Handle(Protocol):
    """The handle that IPython returns for a display."""

    def update(self, shown: ProgressBar) -> None: ...


class ProgressBar:
    """A bar in a notebook cell."""

    def __init__(self, stage: str, done: int, total: int | None, more: str) -> None:
        self._title, self._done, self._total, self._more = stage_title(stage), done, total, more

    def __repr__(self) -> str:
        of = "" if self._total is None else f" of {self._total:,}"
        return f"{self._title}: {self._done:,}{of} {visible(self._more)}".rstrip()

    def _repr_html_(self) -> str:
        ends = f' value="{self._done}" max="{self._total}"' if self._total else ""
        return f"<progress{ends}></progress> {escape(repr(self))}"


class Lines:
    """Lines of text in a notebook cell."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __repr__(self) -> str:
        return visible("\n".join(self._lines))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def notebook_watch() -> Watch | None:
    """Returns a watch that shows a bar per stage below the running cell; None outside a notebook.
    The watch uses the notebook's display from the thread that reports.
    """
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    from importlib import import_module

    return NotebookBars(import_module("IPython.display").display)


class NotebookBars:
    """The bars of a notebook cell, one per stage. show: IPython's `display`."""

    def __init__(self, show: Callable[..., _Handle]) -> None:
        self._show = show
        self._handles: dict[str, _Handle] = {}
        self._started: dict[str, float] = {}
        self._updated: dict[str, float] = {}

    def __call__(self, stage: str, total: int | None, tally: Tally) -> None:
        now = time.monotonic()
        if tally.lines:
            self._show(Lines(tally.lines), display_id=True)
            return
        is_recent = now - self._updated.get(stage, 0.0) < UPDATE_SECONDS
        if is_recent and tally.done + tally.before != total and not tally.waiting:
            return
        self._updated[stage] = now
        elapsed = now - self._started.setdefault(stage, now)
        bar = ProgressBar(
            stage, tally.done + tally.before, total, progress_text(tally, elapsed, total)
        )
        if stage in self._handles:
            self._handles[stage].update(bar)
        else:
            self._handles[stage] = self._show(bar, display_id=True)
