"""tiltmeter doctor [--model M] [--call]"""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from .options import as_json, reach, receives
from .values import AskValues

MARKS = {True: "ok     ", False: "WRONG  ", None: "–      "}


@dataclass(frozen=True, kw_only=True)
class DoctorValues(AskValues):
    """What is typed after `doctor`."""

    models: tuple[str, ...]
    call: bool
    as_json: bool


@click.command()
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    metavar="KIND:NAME",
    help="Look at this model too; repeat for several.",
)
@click.option(
    "--call",
    is_flag=True,
    help="Ask each model named one question (a few tokens; providers bill them).",
)
@reach
@as_json
@receives(DoctorValues)
def command(typed: DoctorValues) -> int:
    """What is installed, reachable and missing, and what to type. Exit code 1 where something asked
    for is missing.
    """
    from ..api import doctor
    from ..api import options as arguments

    connect = arguments.connect(typed.ask_options())
    found = doctor.look(typed.models, call=typed.call, connect=connect)
    if typed.as_json:
        click.echo(
            json.dumps(
                {"schema": 1, "findings": [finding.as_dict() for finding in found]},
                ensure_ascii=False,
                indent=1,
            )
        )
    else:
        area = ""
        for finding in found:
            if finding.area != area:
                area = finding.area
                click.echo(area)
            click.echo(
                f"  {MARKS[finding.ok]}{finding.name}: {finding.said}"
                + (f"\n           {finding.type}" if finding.type else "")
            )
    return 1 if any(finding.ok is False for finding in found) else 0
