"""tiltmeter ls"""

from __future__ import annotations

import json

import click

from .. import registry
from .options import as_json


@click.command()
@as_json
def command(as_json: bool) -> None:
    """What there is: protocols, model kinds, instruments."""
    protocols = [registry.protocol(name) for name in registry.protocol_names()]
    if as_json:
        listed = {
            "protocols": [{"name": p.name, "version": p.version, "title": p.title, "languages": p.languages,
                           "modes": list(p.modes)} for p in protocols],
            "models": sorted(registry.MODELS),
            "instruments": sorted(registry.INSTRUMENTS),
        }  # fmt: skip
        click.echo(json.dumps({"schema": 1, **listed}, ensure_ascii=False, indent=1))
        return
    click.echo("Protocols (tiltmeter show NAME)")
    for p in protocols:
        click.echo(f"  {p.name:12} {p.title} [{', '.join(p.languages) or '–'}; {', '.join(p.modes)}]")
    click.echo("Model kinds (--model KIND:NAME)")
    for kind, text in registry.MODEL_TEXT.items():
        click.echo(f"  {kind:12} {text}")
