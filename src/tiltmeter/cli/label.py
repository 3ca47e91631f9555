"""tiltmeter label RUN"""

from __future__ import annotations

from typing import Unpack

import click

from .options import AskValues, as_json, ask_options, reach, taxonomy


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="KIND:NAME",
    help="A model that labels the same answers.",
)
@taxonomy
@reach
@as_json
def command(
    run: str,
    judges: tuple[str, ...],
    taxonomy: str | None,
    as_json: bool,
    **values: Unpack[AskValues],
) -> int:
    """Label the outputs of a run again, or with another judge."""
    from .. import api
    from .output import Printing, emit_results
    from .progress import progress_line

    with progress_line() as (watch, tallies):
        labelled = api.label(
            run, judge=judges, watch=watch, taxonomy=taxonomy, **ask_options(values)
        )
    return emit_results(labelled, Printing("default", as_json), tallies)
