"""tiltmeter init FILE"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError

if TYPE_CHECKING:
    from ..api.start.own_prompts import PromptColumns

PATH = click.Path(dir_okay=False, path_type=Path)
FILE_OR_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("file", type=FILE_OR_FOLDER, required=False, metavar="[FILE]")
@click.option("--images", is_flag=True, help="A start for pictures in place of texts.")
@click.option(
    "--example", default="", metavar="NAME", help="One of the examples that ship, with its tables."
)
@click.option(
    "--from-protocol",
    default="",
    metavar="NAME",
    help="A copy of a shipped audit in the folder FILE, with the files that it names, to change "
    "one of them.",
)
@click.option(
    "--from",
    "table",
    type=FILE_OR_FOLDER,
    metavar="FILE",
    help="A table of prompts of yours (CSV, xlsx, xls, ods or JSON lines), a row per prompt, with "
    "columns for the cue and for the part that two prompts share; or a folder of pictures.",
)
@click.option("--prompt", default="", metavar="COLUMN", help="With --from: the prompts.")
@click.option(
    "--cue",
    multiple=True,
    callback=lambda context, option, columns: ",".join(columns),
    metavar="COLUMN",
    help="With --from: the person or group that a prompt names.",
)
@click.option(
    "--item",
    default="",
    metavar="COLUMN",
    help="With --from: the part that the prompts of a pair have in common.",
)
@click.option(
    "--unpaired",
    is_flag=True,
    help="With --from: go on although no two prompts are a pair. No tilt is then told.",
)
@click.option("--sheet", default="", metavar="NAME", help="With --from: of a spreadsheet.")
@click.option(
    "--options",
    multiple=True,
    callback=lambda context, option, lines: "\n".join(lines),
    metavar="A,B",
    help="With --from: the words that an answer chooses between, if the prompts do not have them "
    "in quotation marks; of several languages each, as de:A,B.",
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
    from_protocol: str,
    table: Path | None,
    schema: Path | None,
    unpaired: bool,
    **of_table: str | None,
) -> None:
    """Write a protocol of your own to start from: one file, commented.

    \b
    tiltmeter init audit.toml
    tiltmeter init mine.toml --from prompts.csv
    tiltmeter init mine --from-protocol words
    """
    from ..api.start import init

    if schema is not None:
        click.echo(f"Wrote {init.write_schema(schema)}")
    if file is None:
        if schema is None:
            raise UsageError("Name the file to write. Type: tiltmeter init audit.toml")
        return
    if sum((images, bool(example), bool(from_protocol), table is not None)) > 1:
        raise UsageError(
            "--images, --example, --from-protocol and --from exclude each other. Name one of them."
        )
    if table is None and (unpaired or any(of_table.values())):
        raise UsageError(
            "--prompt, --cue, --item, --unpaired, --sheet, --options and --measure describe a "
            "table. Add --from FILE.csv"
        )
    if table is not None:
        written = _write_over_table(file, table, unpaired, **of_table)
    elif from_protocol:
        written = init.write_shipped(file, from_protocol)
    else:
        written = init.write(file, images, example)
    steps = _next_steps(written)
    click.echo(
        f"Wrote {', '.join(map(str, written[:-1]))}, and {written[-1]}, by which your editor "
        "knows the keys."
    )
    click.echo("Next, with a planted model, which costs nothing:")
    for line in steps:
        click.echo(f"  {line}")


def _next_steps(written: Sequence[Path]) -> list[str]:
    """Lists the commands to type; removes the files, but for the schema, if they cannot be used."""
    from ..api.start import init

    try:
        return init.next_steps(written[0])
    except UsageError:
        for path in written[:-1]:
            path.unlink()
        raise


def _write_over_table(
    file: Path, table: Path, unpaired: bool, options: str | None, **named: str | None
) -> list[Path]:
    """Writes a protocol for a table, and prints how the table was read."""
    from ..api.start import init, own_pictures, own_prompts

    lines = tuple(filter(None, (options or "").split("\n")))
    if table.is_dir():
        words = tuple(filter(None, map(str.strip, ",".join(lines).split(","))))
        written = own_pictures.write(file, table, words)
        return [*written, init.write_schema(file.with_name(init.SCHEMA))]
    texts = {name: text or "" for name, text in named.items()}
    names = own_prompts.TableNames(**texts, options=lines, unpaired=unpaired)
    reading = own_prompts.read(table, names)
    written = init.write_over_table(file, table, reading)
    _show_reading(table, reading)
    return written


def _show_reading(table: Path, reading: PromptColumns) -> None:
    """Prints what is measured, the columns of the table, and sample answers with their labels."""
    from ..api.start.offered import sample_answers

    if reading.options:
        click.echo(f"Measures {reading.measured[0].lower()}{reading.measured[1:]}.")
    else:
        click.echo("Measures how many words an answer has, not its content.")
    click.echo(f"Read {table}: {reading}.")
    if reading.options:
        click.echo("Answers are read so:")
        for text, label in sample_answers(reading.options, reading.language):
            click.echo(f"  {text}  →  {label}")
        click.echo(
            "Is this what you count? If not, begin anew with --options A,B or with --measure "
            "length."
        )
    for note in reading.notes():
        click.echo(note)
