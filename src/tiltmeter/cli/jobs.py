"""tiltmeter jobs RUN [--cancel] [--money]"""

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
    help="Cancel open requests; finished ones are kept, and collected by the next run or label.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Read the files and models that somebody else's run names: its protocol, a batch and its "
    "file, a model of another kind.",
)
@click.option("--money", is_flag=True, help="Requests and US dollars in each state.")
@reach
@as_json
def command(
    run: str,
    cancel: bool,
    trust: bool,
    money: bool,
    as_json: bool,
    **options: Unpack[AskOptions],
) -> int:
    """List the batches of a run at a provider, or cancel them. States are those of the run's last
    look: without --cancel nothing is asked.
    """
    from .. import api
    from ..report.page_model.sanitize import visible

    jobs = api.cancel_jobs(run, trust=trust, **options) if cancel else api.jobs(run, trust=trust)
    if money:
        return _show_money(run, as_json)
    if as_json:
        echo_json({"jobs": [job.as_dict() for job in jobs]}, indent=1)
        return 0
    for job in jobs:
        line = f"{job.key[:8]}  {job.model}  {job.state}  {job.requests:,} requests"
        click.echo(visible(f"{line}  since {job.since[:16]}  {job.told}".rstrip()))
    if not jobs:
        click.echo(f"{run} has no batches. To hand some in: tiltmeter run … --batch", err=True)
        return 0
    open_count = sum(job.is_out for job in jobs)
    click.echo(f"{open_count:,} of {len(jobs):,} batches are out", err=True)
    return 0


def _show_money(run: str, as_json: bool) -> int:
    from .. import api
    from ..report.page_model.sanitize import visible

    lines = api.money(run)
    if as_json:
        echo_json({"money": [line._asdict() for line in lines]}, indent=1)
        return 0
    for line in lines:
        number = "" if line.requests is None else f"  {line.requests:,} requests"
        expected = "unknown" if line.expected is None else f"${line.expected:,.4f}"
        sums = f"  expected {expected}, at most ${line.most:,.4f}"
        click.echo(visible(f"{line.state}  {line.model}{number}{sums}"))
    if not lines:
        click.echo(f"{run} has asked nothing yet", err=True)
    return 0
