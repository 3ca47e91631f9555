"""tiltmeter run PROTOCOL --model M --out DIR"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import as_json, choices, reach, split, variant


@click.command()
@click.argument("protocol")
@choices
@click.option("--judge", "judges", multiple=True, metavar="KIND:NAME", help="A model that labels the same answers.")
@click.option("--out", required=True, type=click.Path(file_okay=False), help="The run's folder; again = resume.")
@reach
@variant
@as_json
def command(protocol: str, models: tuple[str, ...], judges: tuple[str, ...], out: str, variant: str, as_json: bool,
            **options: Any) -> int:  # fmt: skip
    """Run an audit: all stages; again = resume."""
    from .. import api
    from .ending import finish
    from .progress import shown

    with shown() as (watch, tallies):
        found = api.run(protocol, models, out, judge=judges, watch=watch, **split(options))
    return finish(found, tallies, variant, as_json, Path(out) / "report.html")
