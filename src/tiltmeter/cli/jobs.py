"""tiltmeter jobs RUN [--cancel]"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from .json_output import echo_json
from .options import as_json, reach

if TYPE_CHECKING:
    from ..api.options.records import AskOptions


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--cancel",
    is_flag=True,
    help="Stop what is not done; what is done is kept, and collected by the next run or label.",
)
@reach
@as_json
def command(run: str, cancel: bool, as_json: bool, **options: Unpack[AskOptions]) -> int:
    """The batches of a run that are at a provider; cancel them. They are said as they stood when
    the run last looked: nothing is asked without --cancel.
    """
    from .. import api
    from ..report.page_model.sanitize import visible

    jobs = api.cancel_jobs(run, **options) if cancel else api.jobs(run)
    if as_json:
        echo_json({"jobs": [job.as_dict() for job in jobs]}, indent=1)
        return 0
    for job in jobs:
        line = f"{job.key[:8]}  {job.model}  {job.state}  {job.requests:,} requests"
        click.echo(visible(f"{line}  since {job.since[:16]}  {job.told}".rstrip()))
    if not jobs:
        click.echo(f"{run} has handed in no batches: that is run --batch", err=True)
        return 0
    out = sum(job.is_out for job in jobs)
    click.echo(f"{out:,} of {len(jobs):,} batches are out", err=True)
    return 0
