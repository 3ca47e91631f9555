"""tiltmeter init FILE"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError

if TYPE_CHECKING:
    from ..api.start.own_prompts import Reading

PATH = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=PATH, required=False, metavar="[FILE]")
@click.option("--images", is_flag=True, help="A start for pictures in place of texts.")
@click.option(
    "--example", default="", metavar="NAME", help="One of the examples that ship, with its tables."
)
@click.option(
    "--from",
    "table",
    type=PATH,
    metavar="FILE",
    help="A table of prompts of yours (CSV, xlsx, xls, ods or JSON lines): a row per prompt, with "
    "columns for the cue and for what two prompts have in common.",
)
@click.option("--prompt", default="", metavar="COLUMN", help="With --from: the prompts.")
@click.option("--cue", default="", metavar="COLUMN", help="With --from: whom a prompt names.")
@click.option(
    "--item",
    default="",
    metavar="COLUMN",
    help="With --from: what the prompts of a pair have in common.",
)
@click.option("--sheet", default="", metavar="NAME", help="With --from: of a spreadsheet.")
@click.option(
    "--options",
    default="",
    metavar="A,B",
    help="With --from: the words that an answer chooses between, if the prompts do not have them "
    "in quotation marks.",
)
@click.option(
    "--measure",
    type=click.Choice(["length"]),
    help="With --from: compare how long answers are.",
)
@click.option(
    "--schema",
    type=PATH,
    help="Write only the schema of such files, for an editor, under this name.",
)
def command(
    file: Path | None,
    images: bool,
    example: str,
    table: Path | None,
    prompt: str,
    cue: str,
    item: str,
    sheet: str,
    options: str,
    measure: str | None,
    schema: Path | None,
) -> None:
    """Write a protocol of your own to start from: one file, commented.

    \b
    tiltmeter init audit.toml
    tiltmeter init mine.toml --from prompts.csv
    """
    from ..api.start import init, own_prompts

    if schema is not None:
        click.echo(f"Wrote {init.write_schema(schema)}")
    if file is None:
        if schema is None:
            raise UsageError("Name the file to write. Type: tiltmeter init audit.toml")
        return
    if sum((images, bool(example), table is not None)) > 1:
        raise UsageError("--images, --example and --from are a start each. Name one of them.")
    words = tuple(filter(None, map(str.strip, options.split(","))))
    named = own_prompts.Named(prompt, cue, item, sheet, words, measure or "")
    if table is None and named != own_prompts.Named():
        raise UsageError(
            "--prompt, --cue, --item, --sheet, --options and --measure are said of a table. Add "
            "--from FILE.csv"
        )
    if table is None:
        written = init.write(file, images, example)
    else:
        reading = own_prompts.read(table, named)
        written = init.write_over_table(file, table, reading)
        _show_reading(table, reading)
    click.echo(
        f"Wrote {', '.join(map(str, written[:-1]))}, and {written[-1]}, by which your editor "
        "knows the keys."
    )
    click.echo("Next, with a planted model, which costs nothing:")
    for line in init.next_steps(file):
        click.echo(f"  {line}")


def _show_reading(table: Path, reading: Reading) -> None:
    """Prints what is measured, what the table's columns are, and answers as they would be read."""
    from ..api.start.offered import sample_answers

    if reading.offered:
        click.echo(f"Measures {reading.measured[0].lower()}{reading.measured[1:]}.")
    else:
        click.echo("Measures how many words an answer has, and nothing that it says.")
    click.echo(f"Read {table}: {reading}.")
    if not reading.offered:
        return
    click.echo("Answers are read so:")
    for text, label in sample_answers(reading.offered, reading.language):
        click.echo(f"  {text}  →  {label}")
    click.echo(
        "Is this what you count? If not, begin anew with --options A,B or with --measure length."
    )
