"""tiltmeter figure RUN [MEASURE …] --out FILE"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from .options import LayoutOptions, layout, table_options, variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("measures", metavar="[MEASURE]…", nargs=-1)
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
@layout
@variant
def command(
    run: str,
    measures: tuple[str, ...],
    out: Path,
    format_: str | None,
    variant: str,
    **typed: Unpack[LayoutOptions],
) -> None:
    """Save the figures of a measure, or of all, as SVG, PNG or PDF. With --rows or --columns the
    table of `tiltmeter table` as a figure; one of a paper by its name ("Figure 6").
    """
    from .. import api

    opened, options = api.open_run(run), table_options(typed)
    for path in opened.save_figures(out, *measures, variant=variant, format=format_, **options):
        click.echo(path)
