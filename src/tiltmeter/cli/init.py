"""tiltmeter init FILE"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageError

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
    metavar="CSV",
    help="A table of prompts of yours: a row a prompt, with columns for the cue and for what two "
    "prompts have in common.",
)
@click.option("--prompt", default="", metavar="COLUMN", help="With --from: the prompts.")
@click.option("--cue", default="", metavar="COLUMN", help="With --from: whom a prompt names.")
@click.option(
    "--item",
    default="",
    metavar="COLUMN",
    help="With --from: what the prompts of a pair have in common.",
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
    columns = {"prompt": prompt, "cue": cue, "item": item}
    if table is None and any(columns.values()):
        raise UsageError("--prompt, --cue and --item are columns of a table. Add --from FILE.csv")
    if table is None:
        written = init.write(file, images, example)
    else:
        reading = own_prompts.read(table, columns)
        written = init.write_over_table(file, table, reading)
        click.echo(f"Read {table}: {reading}.")
    click.echo(
        f"Wrote {', '.join(map(str, written[:-1]))}, and {written[-1]}, by which your editor "
        "knows the keys."
    )
    click.echo("Next, with a planted model, which costs nothing:")
    for line in init.next_steps(file):
        click.echo(f"  {line}")
