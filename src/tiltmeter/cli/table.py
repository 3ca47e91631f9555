"""tiltmeter table RUN [MEASURE …] --rows … --columns …"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from .options import LayoutOptions, layout, table_options, variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("measures", metavar="[MEASURE]…", nargs=-1)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "md", "latex", "csv"]),
    default="text",
    show_default=True,
    help="How it is written.",
)
@layout
@variant
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file to write to.")
def command(
    run: str,
    measures: tuple[str, ...],
    format_: str,
    variant: str,
    out: Path | None,
    **typed: Unpack[LayoutOptions],
) -> None:
    """Estimates as a table of rows and columns, for a paper. Without a MEASURE: the tables that
    the variant declares; one of them by its name ("Figure 6").
    """
    from rich.console import Console

    from .. import api
    from ..report import cross_table_formats, terminal

    found = api.open_run(run).tables(*measures, variant=variant, **table_options(typed))
    if out is None and format_ == "text":
        for table in found:
            terminal.print_one(cross_table_formats.terminal_table(table), Console())
        return
    chosen = cross_table_formats.FORMATS["md" if format_ == "text" else format_]
    text = "\n".join(map(chosen, found))
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
        click.echo(out)
