"""tiltmeter report RUN"""

from __future__ import annotations

import click

from .options import variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--out", type=click.Path(dir_okay=False), help="Where to; RUN/report.html otherwise. An end of .md writes Markdown."
)
@variant
def command(run: str, out: str | None, variant: str) -> None:
    """Write the report of a run."""
    from .. import api

    click.echo(f"report: {api.load(run).report(out, variant)}")
