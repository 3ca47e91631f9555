"""tiltmeter run PROTOCOL --model M --out DIR"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from ..errors import UsageError
from .options import (
    as_json,
    batch,
    choices,
    data,
    fail_if,
    full,
    judge,
    junit,
    label,
    reach,
    receives,
    stop,
    taxonomy,
    variant,
)
from .values import AuditValues


@dataclass(frozen=True, kw_only=True)
class RunValues(AuditValues):
    """What is typed after `run`."""

    out: str
    stop: bool | None
    shard: str | None

    def refuse_with_shard(self) -> None:
        """UsageError for options that speak of the numbers of a whole run."""
        named = [
            name for name, value in (("--fail-if", self.fail_if), ("--junit", self.junit)) if value
        ]
        if self.shard and named:
            raise UsageError(
                f"{named[0]} is of a whole run, and a shard is a part of one. Merge the shards, "
                f"then: tiltmeter analyse RUN {named[0]} …"
            )


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
@click.option(
    "--shard",
    "shard",
    metavar="3/16",
    help="Only this part of the plan, into a folder of its own; tiltmeter merge joins all.",
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
    """Run an audit, from prompts to report. Again: it goes on.

    \b
    tiltmeter run roles --model builtin --language en --mode exact --out run
    tiltmeter run roles --model openai:NAME --base-url http://localhost:8000/v1 --out own
    """
    from .. import api, registry
    from .output import emit_results, emit_shard, refuse_thresholds
    from .progress import progress_line

    typed.use_copy()
    if typed.fail_if:
        refuse_thresholds(registry.protocol(typed.protocol), typed.fail_if)
    typed.refuse_with_shard()
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
            shard=typed.shard,
            **typed.choice_options(),
            **typed.judge_options(),
            **typed.ask_options(),
            **typed.batch_options(),
        )
    if typed.shard:
        return emit_shard(run, typed.shard, tallies, typed.as_json)
    printing = typed.printing(Path(typed.out) / "report.html")
    return emit_results(run, printing, tallies, typed.fail_if)
