"""What is made of finished runs: reports, comparisons, judges against people, tables."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..store import Store
from .run_folder import Run

if TYPE_CHECKING:  # they bring scipy, which a run that only asks does without
    import polars as pl

    from ..analyse.compare import Comparison
    from ..gold.validation import Validation

WRITERS = {"parquet": "write_parquet", "csv": "write_csv", "jsonl": "write_ndjson"}
TRIAL_COLUMN = {"trials": "id", "outputs": "trial", "labels": "output"}  # where a trial's id stands
_TRIAL = "trial of a factor"  # a column that no protocol has
TABLES = ("trials", "outputs", "labels", "calls", "estimates")


def validate(folder: Path | str) -> Validation:
    """Every annotator of a run against the gold that people gave, and how far annotators agree."""
    from ..gold import validation

    opened = Run(folder)
    with Store(folder) as store:
        return validation.validate(store, opened.protocol)


def compare(*folders: Path | str, margin: float | None = None) -> Comparison:
    """Runs of one protocol against the first of them, paired by item.

    margin: the largest difference in shares that still counts as none, named before looking; .05
    where none is named. What the verdicts of a run leave open is among the warnings.
    """
    from ..analyse import compare as comparison
    from ..analyse import verdicts

    runs = [Run(folder) for folder in folders]
    if not runs:
        raise UsageError("Name the runs to compare. Type: tiltmeter compare RUN RUN")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(run.folder)) for run in runs]
        found = comparison.compare(
            stores, [run.protocol for run in runs], comparison.MARGIN if margin is None else margin
        )
    left_open = [
        f"in {run.folder.name} alone: {verdict.sentence}"
        for run in runs
        for verdict in run.verdicts()
        if verdicts.is_open(verdict)
    ]
    return replace(found, warnings=(*found.warnings, *left_open))


def export(
    folder: Path | str, target: Path | str, format: str = "parquet", variant: str = "default"
) -> list[Path]:
    """Writes trials, outputs, labels, calls and a variant's estimates as tables into a folder, with
    a column for each factor, and returns their paths. format: parquet, csv or jsonl.
    """
    if format not in WRITERS:
        raise UsageError(f"There is no format '{format}'. There is: {', '.join(WRITERS)}.")
    from .frames import estimates_frame

    opened, target = Run(folder), Path(target)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    factors = _factor_columns(opened.trials)
    for name in TABLES:
        path = target / f"{name}.{format}"
        own = name == "estimates"
        frame = estimates_frame(opened.analyse(variant)) if own else getattr(opened, name)
        if name in TRIAL_COLUMN:
            frame = _with_factors(frame, factors, TRIAL_COLUMN[name])
        getattr(_for_csv(frame) if format == "csv" else frame, WRITERS[format])(path)
        written.append(path)
    return written


def _factor_columns(trials: pl.DataFrame) -> pl.DataFrame:
    """A row a trial: its id and a column for each of its factors, as text."""
    import polars as pl

    named = trials.select(pl.col("id").alias(_TRIAL), "factors")
    return named.unnest("factors") if len(trials) else named.drop("factors")


def _with_factors(frame: pl.DataFrame, factors: pl.DataFrame, key: str) -> pl.DataFrame:
    """The frame with the factors of each row's trial; one that is called as a column of it is
    `factor_NAME`.
    """
    taken = {n: f"factor_{n}" for n in factors.columns if n in frame.columns}
    return frame.join(
        factors.rename(taken), left_on=key, right_on=_TRIAL, how="left", maintain_order="left"
    )


def _for_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame as CSV can hold it: structs and lists as JSON text, and texts that a spreadsheet
    would take for formulas with a quote.
    """
    import polars as pl

    from ..gold.sheet import FORMULA
    from .frames import as_json_text

    plain = as_json_text(frame)
    text = pl.col(pl.String)
    starts = text.str.slice(0, 1).is_in(list(FORMULA))
    return plain.with_columns(pl.when(starts).then(pl.lit("'") + text).otherwise(text).name.keep())
