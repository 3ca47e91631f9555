"""tiltmeter run PROTOCOL --model M --out DIR"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from .options import (
    RunValues,
    as_json,
    ask_options,
    choice_options,
    choices,
    fail_if,
    full,
    junit,
    reach,
    taxonomy,
    variant,
)


@click.command()
@click.argument("protocol")
@choices
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="KIND:NAME",
    help="A model that labels the same answers.",
)
@taxonomy
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    help="The run's folder; again = resume.",
)
@reach
@variant
@fail_if
@junit
@full
@as_json
def command(
    protocol: str,
    models: tuple[str, ...],
    judges: tuple[str, ...],
    out: str,
    taxonomy: str | None,
    variant: str,
    fail_if: tuple[str, ...],
    junit: str | None,
    full: bool,
    as_json: bool,
    **values: Unpack[RunValues],
) -> int:
    """Run an audit: all stages; again = resume."""
    from .. import api, registry
    from .output import Printing, emit_results, refuse_thresholds
    from .progress import progress_line

    if fail_if:
        refuse_thresholds(registry.protocol(protocol), fail_if)
    with progress_line() as (watch, tallies):
        run = api.run(
            protocol,
            models,
            out,
            judge=judges,
            watch=watch,
            taxonomy=taxonomy,
            variant=variant,
            **choice_options(values),
            **ask_options(values),
        )
    printing = Printing(variant, as_json, page=Path(out) / "report.html", full=full, junit=junit)
    return emit_results(run, printing, tallies, fail_if)
