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
    "--schema",
    type=PATH,
    help="Write only the schema of such files, for an editor, under this name.",
)
def command(file: Path | None, images: bool, example: str, schema: Path | None) -> None:
    """Write a protocol of your own to start from: one file, commented."""
    from ..api import init

    if schema is not None:
        click.echo(f"Wrote {init.write_schema(schema)}")
    if file is None:
        if schema is None:
            raise UsageError("Name the file to write. Type: tiltmeter init audit.toml")
        return
    if images and example:
        raise UsageError("--images is a start of its own and --example another. Leave one out.")
    written = init.write(file, images, example)
    click.echo(
        f"Wrote {', '.join(map(str, written[:-1]))}, and {written[-1]}, by which your editor "
        "knows the keys."
    )
    click.echo("Next, with a planted model, which costs nothing:")
    for line in init.next_steps(file):
        click.echo(f"  {line}")
