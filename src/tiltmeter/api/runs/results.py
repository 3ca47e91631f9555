"""Results of finished runs: comparisons, histories, agreement of judges with people."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...store import Store
from .run_folder import Run

if TYPE_CHECKING:  # import scipy, which a run that only asks must not pay for
    from ...analyse.between_runs.compare import Comparison
    from ...analyse.between_runs.histories import History
    from ...gold.validation import Validation


def validate(folder: Path | str) -> Validation:
    """Compares every annotator of a run with people's gold, and annotators with each other."""
    from ...gold import validation

    opened = Run(folder)
    with Store(folder) as store:
        return validation.validate(store, opened.protocol)


def compare(*folders: Path | str, margin: float | None = None) -> Comparison:
    """Compares runs of one protocol with the first run, paired by item.

    margin: the largest difference in shares that still counts as none, to be fixed before looking;
    .05 by default. Claims that a run's own verdicts leave open are listed among the warnings.
    """
    from ...analyse.between_runs import compare as comparison
    from ...analyse.claims import verdicts

    runs = [Run(folder) for folder in folders]
    if not runs:
        raise UsageError("Name the runs to compare. Type: tiltmeter compare RUN RUN")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(run.folder)) for run in runs]
        comparison_of_runs = comparison.compare(
            stores, [run.protocol for run in runs], comparison.MARGIN if margin is None else margin
        )
    verdicts_of_runs = [(run, run.verdicts()) for run in runs]
    left_open = [
        f"in {run.folder.name} alone: {verdict.sentence}"
        for run, run_verdicts in verdicts_of_runs
        for verdict in run_verdicts
        if verdicts.is_open(verdict)
    ]
    changed = [
        f"in {run.folder.name}: {line}"
        for run, run_verdicts in verdicts_of_runs
        for line in run.changes(run_verdicts)
    ]
    return replace(
        comparison_of_runs, warnings=(*comparison_of_runs.warnings, *left_open, *changed)
    )


def history(*folders: Path | str, margin: float | None = None) -> History:
    """Compares runs of one protocol in the order of their dates: changes from each run to the next,
    and headline numbers that moved by more than noise. margin: as in `compare`.
    """
    from ...analyse.between_runs import histories
    from ...analyse.between_runs.compare import MARGIN

    named = [(run, run.verdicts()) for run in map(Run, folders)]
    with ExitStack() as stack:
        runs = [
            histories.OpenRun(stack.enter_context(Store(run.folder)), run.protocol, verdicts)
            for run, verdicts in named
        ]
        changes_over_time = histories.history(runs, MARGIN if margin is None else margin)
    changed = [
        f"In {run.folder.name}: {line}" for run, verdicts in named for line in run.changes(verdicts)
    ]
    return replace(changes_over_time, changed_words=tuple(changed))
