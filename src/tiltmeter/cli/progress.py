"""The progress line of a run: trials done, rate, cost so far, time left, and the reason for
waiting. It goes to standard error; if that is not a terminal, as one line per minute.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from ..api import Watch
from ..api.runs.progress import ProgressBar, progress_text, stage_title
from ..report.page_model.sanitize import visible
from ..stages.engine.limits import Tally

UPDATE_SECONDS = 0.1  # between two updates: a fast run has thousands of replies per second
LOG_SECONDS = 60.0  # between two lines if standard error is not a terminal


@contextmanager
def progress_line() -> Iterator[tuple[Watch, dict[str, Tally]]]:
    """Yields (a watch to pass to the API, {stage: its latest tally})."""
    console = Console(stderr=True)
    tallies: dict[str, Tally] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[more]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}
        updated: dict[str, float] = {}
        started: dict[str, float] = {}

        notices = _Notices(console.is_terminal)

        def watch(stage: str, total: int | None, tally: Tally) -> None:
            tallies[stage] = tally
            if tally.lines:
                progress.print(*map(escape, map(visible, tally.lines)), sep="\n", soft_wrap=True)
                return
            if tally.waiting:
                notices.show(tally.waiting)
            now = time.monotonic()
            is_recent = now - updated.get(stage, 0.0) < UPDATE_SECONDS
            if is_recent and tally.done + tally.before != total and not tally.waiting:
                return
            updated[stage] = now
            if stage not in tasks:
                started[stage] = now
                tasks[stage] = progress.add_task(stage_title(stage), total=total, more="")
            more = escape(visible(progress_text(tally, now - started[stage])))
            text = progress_text(tally, now - started[stage], total)
            finished = tally.done + tally.before
            notices.count(repr(ProgressBar(stage, finished, total, text)))
            progress.update(tasks[stage], completed=finished, more=more)

        try:
            yield watch, tallies
        finally:
            progress.stop()
            lost = max((tally.possibly_paid for tally in tallies.values()), default=0.0)
            if lost:
                click.echo(
                    f"Up to ${lost:.4f} more may have been charged for calls of this run that were "
                    "sent and not answered.",
                    err=True,
                )


class _Notices:
    """The log lines of a run: a reason for waiting at once, the progress every minute."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._shown_at, self._stopping = quiet, -LOG_SECONDS, False
        self._counted_at = time.monotonic()

    def count(self, text: str) -> None:
        """Prints the progress if a minute has passed since the last line."""
        now = time.monotonic()
        if not self._quiet and now - self._counted_at >= LOG_SECONDS:
            self._counted_at = now
            click.echo(text, err=True)

    def show(self, waiting: str) -> None:
        """Prints the reason for waiting, unless a reason was printed within the last minute."""
        stopping = waiting.startswith("stopping") and not self._stopping
        now = time.monotonic()
        if self._quiet or (now - self._shown_at < LOG_SECONDS and not stopping):
            return
        self._shown_at, self._stopping = now, self._stopping or stopping
        click.echo(visible(waiting), err=True)
