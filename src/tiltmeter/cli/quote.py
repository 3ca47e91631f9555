"""tiltmeter quote RUN ATTRIBUTE"""

from __future__ import annotations

from pathlib import Path

import click

from ..report.tables.cross_table_formats import FORMATS
from .options import label


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("attribute", default="")
@click.option("--by", default="", help="Factors, with commas: sample from each of their levels.")
@click.option(
    "--number",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Answers per label.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FORMATS]),
    default="md",
    show_default=True,
    help="The format of the table.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file to write to.")
@label
def command(
    run: str,
    attribute: str,
    by: str,
    number: int,
    format_: str,
    out: Path | None,
    labels: tuple[tuple[str, str], ...],
) -> None:
    """Sample answers of each label, not hand-picked. ATTRIBUTE, such as pronoun, may be left out
    if the labels have only one.
    """
    from .. import api

    names = [name.strip() for name in by.split(",") if name.strip()]
    quotes = api.open_run(run).quotes(attribute, number=number, by=names, labels=dict(labels))
    text = FORMATS[format_](quotes)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8", newline="\n")
        click.echo(out)
