"""tiltmeter label RUN"""

from __future__ import annotations

from dataclasses import dataclass

import click

from .options import as_json, batch, judge, reach, receives, taxonomy
from .values import AskValues, BatchValues, JudgeValues


@dataclass(frozen=True, kw_only=True)
class LabelValues(AskValues, BatchValues, JudgeValues):
    """What is typed after `label`."""

    run: str
    as_json: bool


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@judge
@taxonomy
@reach
@batch
@as_json
@receives(LabelValues)
def command(typed: LabelValues) -> int:
    """Label the outputs of a run again, or with another judge."""
    from .. import api
    from .ending import Printing
    from .output import emit_results
    from .progress import progress_line

    with progress_line() as (watch, tallies):
        labelled = api.label(
            typed.run,
            judge=typed.judges,
            watch=watch,
            taxonomy=typed.taxonomy,
            **typed.judge_options(),
            **typed.ask_options(),
            **typed.batch_options(),
        )
    return emit_results(labelled, Printing("default", typed.as_json), tallies)
