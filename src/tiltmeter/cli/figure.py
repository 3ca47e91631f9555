"""tiltmeter figure RUN [MEASURE …] --out FILE"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .options import label, layout, receives, variant
from .values import LayoutValues


@dataclass(frozen=True, kw_only=True)
class FigureValues(LayoutValues):
    """What is typed after `figure`."""

    run: str
    measures: tuple[str, ...]
    out: Path
    format_: str | None
    words: str | None
    variant: str
    labels: tuple[tuple[str, str], ...]


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
@click.option("--words", metavar="COLUMN", help="How many words the texts of a column have.")
@layout
@variant
@label
@receives(FigureValues)
def command(typed: FigureValues) -> None:
    """Save figures as SVG, PNG or PDF. Without a MEASURE: all. With --rows or --columns the table
    of `tiltmeter table` as a figure; one of a paper by its name ("Figure 6").

    \b
    tiltmeter figure run share_she --out figure.pdf
    """
    from .. import api

    saved = api.open_run(typed.run).save_figures(
        typed.out,
        *typed.measures,
        variant=typed.variant,
        labels=dict(typed.labels),
        format=typed.format_,
        words=typed.words,
        **typed.table_options(),
    )
    for path in saved:
        click.echo(path)
