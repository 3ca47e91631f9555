"""tiltmeter table RUN [MEASURE …] --rows … --columns …"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..report.tables.cross_table_formats import FORMATS
from .options import label, layout, variant

if TYPE_CHECKING:
    from ..api.options.table_options import TableOptions


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("measures", metavar="[MEASURE]…", nargs=-1)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", *FORMATS]),
    default="text",
    show_default=True,
    help="The format of the table.",
)
@layout
@variant
@label
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file to write to.")
def command(
    run: str,
    measures: tuple[str, ...],
    format_: str,
    variant: str,
    labels: tuple[tuple[str, str], ...],
    out: Path | None,
    **layout: Unpack[TableOptions],
) -> None:
    """Print estimates as a table: Markdown, LaTeX or CSV. Without a MEASURE: the tables that the
    variant declares, otherwise the headlines; one of them by its name ("Figure 6").

    \b
    tiltmeter table run share_she --format latex
    """
    from rich.console import Console

    from .. import api
    from ..report.render import terminal
    from ..report.tables import cross_table_formats

    tables = api.open_run(run).tables(*measures, variant=variant, labels=dict(labels), **layout)
    for hint in dict.fromkeys(hint for table in tables for hint in table.hints):
        click.echo(hint, err=True)
    if out is None and format_ == "text":
        for table in tables:
            terminal.print_one(cross_table_formats.terminal_table(table), Console())
        return
    written = FORMATS["md" if format_ == "text" else format_]
    text = "\n".join(map(written, tables))
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8", newline="\n")
        click.echo(out)
