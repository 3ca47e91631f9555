"""The progress line of a run: how many of how many, rate, cost so far, time left. On standard
error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from ..api import Watch
from ..stages.limits import Tally

STAGES = {"run": "asking the model", "label": "labelling"}
UPDATE_SECONDS = 0.1  # between two updates: a fast run has thousands of replies a second


@contextmanager
def progress_line(quiet: bool = False) -> Iterator[tuple[Watch, dict[str, Tally]]]:
    """Yields a watch to give to the API, and the last tally of each stage."""
    console = Console(stderr=True)
    tallies: dict[str, Tally] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[more]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}
        updated: dict[str, float] = {}
        started: dict[str, float] = {}

        def watch(stage: str, total: int | None, tally: Tally) -> None:
            tallies[stage] = tally
            now = time.monotonic()
            if now - updated.get(stage, 0.0) < UPDATE_SECONDS and tally.done != total:
                return
            updated[stage] = now
            if stage not in tasks:
                started[stage] = now
                tasks[stage] = progress.add_task(STAGES.get(stage, stage), total=total, more="")
            elapsed = now - started[stage]
            more = f"{tally.calls / elapsed:.1f} calls/s" if elapsed > 1 else ""
            more += f" ${tally.spent:.2f}" if tally.spent else ""
            more += f" {tally.failed} failed" if tally.failed else ""
            progress.update(tasks[stage], completed=tally.done, more=more)

        yield watch, tallies
