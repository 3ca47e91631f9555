"""tiltmeter doctor [--model M] [--call]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

import click

from .json_output import echo_json
from .options import as_json, reach

if TYPE_CHECKING:
    from ..api.options.records import AskOptions
    from ..models.kinds import DoctorFinding

MARKS = {True: "ok     ", False: "WRONG  ", None: "–      "}


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
def command(
    models: tuple[str, ...], call: bool, as_json: bool, **options: Unpack[AskOptions]
) -> int:
    """Check what is installed and reachable; say what to type. Exit code 1 if something that was
    asked for is missing.
    """
    from ..api.check import doctor
    from ..api.options import options as arguments

    connect = arguments.connect(options)
    findings = doctor.look(models, call=call, connect=connect)
    if as_json:
        echo_json({"findings": [finding.as_dict() for finding in findings]}, indent=1)
    else:
        for area in dict.fromkeys(finding.area for finding in findings):
            click.echo(area)
            for line in _lines([finding for finding in findings if finding.area == area]):
                click.echo(f"  {line}")
    return 1 if any(finding.ok is False for finding in findings) else 0


def _lines(findings: Sequence[DoctorFinding]) -> Iterator[str]:
    """Yields a line per finding and the command to type; modules of one command share a line."""
    optional = [finding for finding in findings if finding.ok is None and finding.type]
    for finding in findings:
        mark = MARKS[finding.ok]
        if finding not in optional:
            yield f"{mark}{finding.name}: {finding.said}"
            if finding.type:
                yield f"         {finding.type}"
            continue
        alike = [other for other in optional if other.type == finding.type]
        if finding == alike[0]:
            names = ", ".join(other.name for other in alike)
            yield f"{mark}{names}: {finding.said}. Type: {finding.type}"
