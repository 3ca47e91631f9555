"""Results of finished runs: comparisons, histories, judges against people."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...store import Store
from .run_folder import Run

if TYPE_CHECKING:  # they bring scipy, which a run that only asks does without
    from ...analyse.between_runs.compare import Comparison
    from ...analyse.between_runs.histories import History
    from ...gold.validation import Validation


def validate(folder: Path | str) -> Validation:
    """Every annotator of a run against the gold that people gave, and how far annotators agree."""
    from ...gold import validation

    opened = Run(folder)
    with Store(folder) as store:
        return validation.validate(store, opened.protocol)


def compare(*folders: Path | str, margin: float | None = None) -> Comparison:
    """Runs of one protocol against the first of them, paired by item.

    margin: the largest difference in shares that still counts as none, named before looking; .05
    where none is named. What the verdicts of a run leave open is among the warnings.
    """
    from ...analyse.between_runs import compare as comparison
    from ...analyse.claims import verdicts

    runs = [Run(folder) for folder in folders]
    if not runs:
        raise UsageError("Name the runs to compare. Type: tiltmeter compare RUN RUN")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(run.folder)) for run in runs]
        found = comparison.compare(
            stores, [run.protocol for run in runs], comparison.MARGIN if margin is None else margin
        )
    own = [(run, run.verdicts()) for run in runs]
    left_open = [
        f"in {run.folder.name} alone: {verdict.sentence}"
        for run, said in own
        for verdict in said
        if verdicts.is_open(verdict)
    ]
    changed = [f"in {run.folder.name}: {line}" for run, said in own for line in run.changes(said)]
    return replace(found, warnings=(*found.warnings, *left_open, *changed))


def history(*folders: Path | str, margin: float | None = None) -> History:
    """Runs of one protocol by date: what changed from each to the next, and whether its headline
    numbers moved by more than noise. margin: as in `compare`.
    """
    from ...analyse.between_runs import histories
    from ...analyse.between_runs.compare import MARGIN

    named = [(run, run.verdicts()) for run in map(Run, folders)]
    with ExitStack() as stack:
        runs = [
            histories.OpenRun(stack.enter_context(Store(run.folder)), run.protocol, said)
            for run, said in named
        ]
        found = histories.history(runs, MARGIN if margin is None else margin)
    changed = [f"In {run.folder.name}: {line}" for run, said in named for line in run.changes(said)]
    return replace(found, changed_words=tuple(changed))
