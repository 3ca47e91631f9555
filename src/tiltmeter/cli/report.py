"""tiltmeter report RUN [RUN …]"""

from __future__ import annotations

import click

from ..errors import UsageError
from .options import Printing, as_json, fail_if, label, prints, variant


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="The file to write; RUN/report.html by default, report.html for several runs. A name that "
    "ends in .md gives Markdown.",
)
@label
@click.option("--brief", is_flag=True, help="One page that fits a sheet of paper: brief.html.")
@variant
@fail_if
@as_json
@prints
def command(
    run: tuple[str, ...],
    out: str | None,
    brief: bool,
    printing: Printing,
) -> int:
    """Write the report of a run. Of several runs: one page.

    \b
    tiltmeter report run --brief
    tiltmeter report run --out run.md
    """
    from .. import api
    from .output import check, emit_checks, emit_results, refuse_gates

    if printing.as_json and len(run) > 1:
        raise UsageError("--json prints one run. Type for each: tiltmeter analyse RUN --json")

    runs = [api.open_run(folder) for folder in run]
    for each in runs:
        refuse_gates(each.protocol, printing)
    name = "brief.html" if brief else "report.html"
    target = out or (runs[0].folder / name if len(runs) == 1 else name)
    path = api.report(
        *run, path=target, variant=printing.variant, labels=dict(printing.labels), brief=brief
    )
    click.echo(f"report: {path}", err=printing.as_json)
    if printing.as_json:
        return emit_results(runs[0], printing)
    return emit_checks(check(each, printing) for each in runs)
