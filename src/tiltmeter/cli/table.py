"""tiltmeter table RUN [MEASURE …] --rows … --columns …"""

from __future__ import annotations

from pathlib import Path

import click

from .options import WhereType, variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("measures", metavar="[MEASURE]…", nargs=-1)
@click.option("--rows", help="What the rows are, with commas: factors, model, language, measure, …")
@click.option("--columns", help="What the columns are; the last factor otherwise.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "md", "latex", "csv"]),
    default="text",
    show_default=True,
    help="How it is written.",
)
@click.option("--show", help="Parts of a cell, with commas: value, stars, interval, p, n.")
@click.option(
    "--where", multiple=True, type=WhereType(), help="Only these levels; repeat for several."
)
@click.option("--percent", is_flag=True, help="Shares in per cent.")
@click.option("--decimals", type=click.IntRange(0, 8), help="Decimals of values and intervals.")
@click.option("--leader", is_flag=True, help="Mark the highest of each row.")
@click.option("--ranked", is_flag=True, help="Rows from the highest to the lowest.")
@variant
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file to write to.")
def command(
    run: str,
    measures: tuple[str, ...],
    rows: str | None,
    columns: str | None,
    format_: str,
    show: str | None,
    where: tuple[tuple[str, tuple[str, ...]], ...],
    percent: bool,
    decimals: int | None,
    leader: bool,
    ranked: bool,
    variant: str,
    out: Path | None,
) -> None:
    """Estimates as a table of rows and columns, for a paper. Without a MEASURE: the tables that
    the variant declares.
    """
    from rich.console import Console

    from .. import api
    from ..report import cross_table_formats, terminal

    found = api.open_run(run).tables(
        *measures,
        variant=variant,
        rows=_names(rows),
        columns=_names(columns),
        show=_names(show),
        where=dict(where),
        percent=percent,
        decimals=decimals,
        leader=leader,
        ranked=ranked,
    )
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


def _names(text: str | None) -> tuple[str, ...]:
    """The names in a text with commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
