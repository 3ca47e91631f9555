"""`merge`: runs of one plan, as shards answer them, joined into one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ...stages.steps import merge as stage
from ...stages.steps.merge import Merged


def merge(runs: Sequence[Path | str], out: Path | str) -> Merged:
    """Joins runs of one plan into one run, which goes on, is labelled and reported as one.

    runs: folders, in any order, also of shards that were stopped; out: a folder that is made, or
    one that others were merged into before. The same run again changes nothing. RunMismatch names
    what two runs differ in, or what they contradict each other in.
    """
    if not runs:
        raise UsageError("Name the runs to merge: tiltmeter merge RUN RUN … --out RUN")
    return stage.merge([Path(run) for run in runs], Path(out))
