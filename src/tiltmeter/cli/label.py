"""tiltmeter label RUN"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from .options import Printing, as_json, batch, judge, reach, taxonomy

if TYPE_CHECKING:
    from ..api.options.records import LabelOptions


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@judge
@taxonomy
@reach
@batch
@as_json
def command(
    run: str,
    judges: tuple[str, ...],
    taxonomy: str | None,
    as_json: bool,
    **options: Unpack[LabelOptions],
) -> int:
    """Label the outputs of a run again, or with another judge."""
    from .. import api
    from .output import emit_results
    from .progress import progress_line

    with progress_line() as (watch, tallies):
        labelled = api.label(run, judge=judges, watch=watch, taxonomy=taxonomy, **options)
    return emit_results(labelled, Printing(as_json=as_json), tallies)
