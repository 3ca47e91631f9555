"""tiltmeter run PROTOCOL --model M --out DIR"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .options import (
    as_json,
    batch,
    choices,
    fail_if,
    full,
    judge,
    junit,
    label,
    reach,
    receives,
    taxonomy,
    variant,
)
from .values import AuditValues


@dataclass(frozen=True, kw_only=True)
class RunValues(AuditValues):
    """What is typed after `run`."""

    out: str
    stop: bool | None


@click.command()
@click.argument("protocol")
@choices
@judge
@taxonomy
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    help="The run's folder; again = resume.",
)
@click.option(
    "--stop/--no-stop",
    default=None,
    help="Ask no further for what is decided: looks fixed beforehand, error rates kept "
    "(docs/stopping.md).",
)
@reach
@batch
@variant
@label
@fail_if
@junit
@full
@as_json
@receives(RunValues)
def command(typed: RunValues) -> int:
    """Run an audit: all stages; again = resume."""
    from .. import api, registry
    from .output import emit_results, refuse_thresholds
    from .progress import progress_line

    if typed.fail_if:
        refuse_thresholds(registry.protocol(typed.protocol), typed.fail_if)
    with progress_line() as (watch, tallies):
        run = api.run(
            typed.protocol,
            typed.models,
            typed.out,
            judge=typed.judges,
            watch=watch,
            taxonomy=typed.taxonomy,
            variant=typed.variant,
            stop=typed.stop,
            **typed.choice_options(),
            **typed.ask_options(),
            **typed.batch_options(),
        )
    printing = typed.printing(Path(typed.out) / "report.html")
    return emit_results(run, printing, tallies, typed.fail_if)
