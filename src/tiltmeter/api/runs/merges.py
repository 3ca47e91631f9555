"""`merge`: the verb that joins runs of one plan, such as shards, into one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ...stages.steps import merge as stage
from ...stages.steps.merge import Merged


def merge(runs: Sequence[Path | str], out: Path | str) -> Merged:
    """Joins runs of one plan into one run, which can be resumed, labelled and reported.

    runs: folders in any order, unfinished shards included; out: a new folder, or one that others
    were merged into before. Merging the same run again changes nothing. RunMismatch names the
    differences or contradictions between two runs.
    """
    if not runs:
        raise UsageError("Name the runs to merge: tiltmeter merge RUN RUN … --out RUN")
    return stage.merge([Path(run) for run in runs], Path(out))
