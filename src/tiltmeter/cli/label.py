"""tiltmeter label RUN"""

from __future__ import annotations

from typing import Any

import click

from .options import as_json, reach, split, taxonomy


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
def command(run: str, judges: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Label the outputs of a run again, or with another judge."""
    from .. import api
    from .output import finish
    from .progress import shown

    with shown() as (watch, tallies):
        found = api.label(run, judge=judges, watch=watch, **split(options))
    return finish(found, tallies, "default", as_json, None)
