"""tiltmeter figure RUN [MEASURE] --out FILE"""

from __future__ import annotations

from pathlib import Path

import click

from .options import variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("measure", required=False)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="A file that ends in .svg, .png or .pdf; or a folder, for all figures.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["svg", "png", "pdf"]),
    help="Of the files in the folder; svg.",
)
@variant
def command(run: str, measure: str | None, out: Path, format_: str | None, variant: str) -> None:
    """Save the figures of a measure, or of all, as SVG, PNG or PDF."""
    from .. import api

    for path in api.open_run(run).save_figures(out, measure, format_, variant):
        click.echo(path)
