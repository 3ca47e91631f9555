"""tiltmeter completion bash|zsh|fish"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

PROGRAM, VARIABLE = "tiltmeter", "_TILTMETER_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print your shell's completion script. Put it into its start-up file.

    \b
    tiltmeter completion bash >> ~/.bashrc
    tiltmeter completion zsh >> ~/.zshrc
    tiltmeter completion fish > ~/.config/fish/completions/tiltmeter.fish
    """
    from . import group

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(group, {}, PROGRAM, VARIABLE).source())
