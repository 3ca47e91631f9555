"""tiltmeter check FILE…"""

from __future__ import annotations

import click

from ..errors import TiltmeterError
from ..stats.results import count_of


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES…")
@click.pass_context
def command(context: click.Context, files: tuple[str, ...]) -> None:
    """Check files of protocols: keys, tables, values. Nothing is asked."""
    from .. import registry

    failed = 0
    for file in files:
        try:
            protocol = registry.protocol(file)
        except TiltmeterError as error:
            failed += 1
            click.echo(str(error), err=True)
        else:
            prompts, items = len(protocol.cells), len(protocol.items())
            click.echo(f"{file}: {count_of(prompts, 'prompt')}, {count_of(items, 'item')}")
    if failed:
        click.echo(f"{failed} of {count_of(len(files), 'file')} cannot be run", err=True)
        context.exit(1)
