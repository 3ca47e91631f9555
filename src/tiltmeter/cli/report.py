"""tiltmeter report RUN"""

from __future__ import annotations

import click

from .options import fail_if, variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--out", type=click.Path(dir_okay=False), help="Where to; RUN/report.html otherwise. An end of .md writes Markdown."
)
@variant
@fail_if
def command(run: str, out: str | None, variant: str, fail_if: tuple[str, ...]) -> int:
    """Write the report of a run."""
    from .. import api
    from .ending import bounds, held

    found = api.load(run)
    named = bounds(fail_if, found.protocol)
    click.echo(f"report: {found.report(out, variant)}")
    return held(named, found.analyse(variant)) if named else 0
