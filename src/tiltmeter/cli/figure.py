"""tiltmeter figure RUN [MEASURE …] --out FILE"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from .options import label, layout, variant

if TYPE_CHECKING:
    from ..api.options.table_options import TableOptions


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
    help="The format of the files in a folder; svg by default.",
)
@click.option(
    "--words", metavar="COLUMN", help="A histogram of the words in the texts of a column."
)
@layout
@variant
@label
def command(
    run: str,
    measures: tuple[str, ...],
    out: Path,
    format_: str | None,
    words: str | None,
    variant: str,
    labels: tuple[tuple[str, str], ...],
    **layout: Unpack[TableOptions],
) -> None:
    """Save figures as SVG, PNG or PDF. Without a MEASURE: all. With --rows or --columns the table
    of `tiltmeter table` as a figure; one of a paper by its name ("Figure 6").

    \b
    tiltmeter figure run share_she --out figure.pdf
    """
    from .. import api

    saved = api.open_run(run).save_figures(
        out,
        *measures,
        variant=variant,
        labels=dict(labels),
        format=format_,
        words=words,
        **layout,
    )
    for path in saved:
        click.echo(path)
