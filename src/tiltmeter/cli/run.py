"""tiltmeter run PROTOCOL --model M --out DIR"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..errors import UsageError
from .options import (
    Printing,
    as_json,
    batch,
    choices,
    data,
    judge,
    pilot,
    prints,
    reach,
    results,
    shard,
    stop,
    taxonomy,
    variant,
)

if TYPE_CHECKING:
    from ..api.options.records import RunOptions


@click.command()
@click.argument("protocol")
@choices
@data
@judge
@taxonomy
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    help="The run's folder; again = resume.",
)
@stop
@pilot
@shard
@reach
@batch
@variant
@results
@as_json
@prints
def command(
    protocol: str,
    models: tuple[str, ...],
    out: str,
    judges: tuple[str, ...],
    data: Path | None,
    taxonomy: str | None,
    printing: Printing,
    **options: Unpack[RunOptions],
) -> int:
    """Run an audit, from prompts to report; again to resume it.

    \b
    tiltmeter run roles --model builtin --language en --mode exact --out run
    tiltmeter run roles --model openai:NAME --base-url http://localhost:8000/v1 --out own
    """
    from .. import api, registry
    from .output import emit_results, emit_shard, refuse_gates
    from .progress import progress_line

    part = options.get("shard")
    if data is not None:
        api.use_copy(protocol, data)
    gated = printing.fail_if or printing.gated
    refuse_gates(registry.protocol(protocol) if gated else None, printing)
    if part:
        _refuse_with_shard(printing)
    typed: RunOptions = {**options, "margin": printing.margin}
    with progress_line() as (watch, tallies):
        run = api.run(
            protocol,
            models,
            out,
            judge=judges,
            watch=watch,
            taxonomy=taxonomy,
            variant=printing.variant,
            **typed,
        )
    if part:
        return emit_shard(run, part, tallies, printing.as_json)
    return emit_results(run, replace(printing, page=Path(out) / "report.html"), tallies)


def _refuse_with_shard(printing: Printing) -> None:
    """Raises UsageError for options that need the numbers of a whole run."""
    whole = {"fail-if": printing.fail_if, "fail-on": printing.fail_on, "junit": printing.junit}
    for name, value in whole.items():
        if value:
            raise UsageError(
                f"--{name} needs a whole run, but a shard is only a part. Merge the shards, "
                f"then: tiltmeter analyse RUN --{name} …"
            )
