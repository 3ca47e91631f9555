"""tiltmeter report RUN [RUN …]"""

from __future__ import annotations

import click

from .options import fail_if, label, variant


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="Where to; RUN/report.html otherwise, of several report.html here. An end of .md writes "
    "Markdown.",
)
@label
@click.option("--brief", is_flag=True, help="One page that fits a sheet of paper: brief.html.")
@variant
@fail_if
def command(
    run: tuple[str, ...],
    out: str | None,
    labels: tuple[tuple[str, str], ...],
    brief: bool,
    variant: str,
    fail_if: tuple[str, ...],
) -> int:
    """Write the report of a run. Of several runs: one page.

    \b
    tiltmeter report run --brief
    tiltmeter report run --out run.md
    """
    from .. import api
    from .output import emit_checks, refuse_thresholds

    runs = [api.open_run(folder) for folder in run]
    for one in runs:
        refuse_thresholds(one.protocol, fail_if)
    name = "brief.html" if brief else "report.html"
    target = out or (runs[0].folder / name if len(runs) == 1 else name)
    path = api.report(*run, path=target, variant=variant, labels=dict(labels), brief=brief)
    click.echo(f"report: {path}")
    checks = [
        check
        for one in runs
        if fail_if or one.protocol.thresholds
        for check in one.check(*fail_if, variant=variant).checks
    ]
    return emit_checks(api.CheckResult(tuple(checks)))
