"""tiltmeter plan PROTOCOL --model M"""

from __future__ import annotations

import json
from typing import Any

import click

from .options import as_json, choices, split


@click.command()
@click.argument("protocol")
@choices
@as_json
def command(protocol: str, as_json: bool, models: tuple[str, ...], **options: Any) -> None:
    """What a run would ask, before it does."""
    from .. import api

    found = api.plan(protocol, models, **split(options))
    if as_json:
        click.echo(json.dumps({"schema": 1, **found}, ensure_ascii=False, indent=1))
        return
    click.echo(f"{found['protocol']} {found['version']}: {found['trials']} trials")
    for subject, modes in found["subjects"].items():
        for mode, number in modes.items():
            click.echo(f"  {subject}  {mode}: {number} trials, a call each" + (" at least" if mode == "exact" else ""))
