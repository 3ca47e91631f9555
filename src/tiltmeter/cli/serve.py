"""tiltmeter serve planted:SETTINGS"""

from __future__ import annotations

import click

from ..errors import UnknownName


@click.command()
@click.argument("model")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="0 takes a free one.",
)
def command(model: str, port: int) -> None:
    """Serve a planted model over loopback, to test with. It speaks OpenAI's format and has a tilt
    of known size.

    \b
    tiltmeter serve planted:she=0.7
    tiltmeter run roles --model openai:planted --base-url http://127.0.0.1:8765/v1 --out run
    """
    kind, _, settings = model.partition(":")
    if kind != "planted":
        raise UnknownName("model that can be served", kind, ["planted"])
    from ..planted.server import serve

    serve(settings, "127.0.0.1", port)
