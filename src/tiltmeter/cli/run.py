"""tiltmeter run PROTOCOL --model M --out DIR"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import as_json, choices, fail_if, reach, split, taxonomy, variant


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
@as_json
def command(
    protocol: str,
    models: tuple[str, ...],
    judges: tuple[str, ...],
    out: str,
    variant: str,
    fail_if: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Run an audit: all stages; again = resume."""
    from .. import api, registry
    from .output import finish, wanted
    from .progress import shown

    named = wanted(fail_if, registry.protocol(protocol)) if fail_if else []
    with shown() as (watch, tallies):
        found = api.run(protocol, models, out, judge=judges, watch=watch, **split(options))
    return finish(found, tallies, variant, as_json, Path(out) / "report.html", fail_if=named)
