"""tiltmeter report RUN [RUN …]"""

from __future__ import annotations

import click

from ..errors import UsageError
from .options import fail_if, variant


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="Where to; RUN/report.html otherwise, of several report.html here. An end of .md writes "
    "Markdown.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=MODEL",
    help="A short name for a model, as A=openai:gpt-4o; once for each.",
)
@click.option("--brief", is_flag=True, help="One page that fits a sheet of paper.")
@variant
@fail_if
def command(
    run: tuple[str, ...],
    out: str | None,
    labels: tuple[str, ...],
    brief: bool,
    variant: str,
    fail_if: tuple[str, ...],
) -> int:
    """Write the report of a run, or one page of several."""
    from .. import api
    from .output import emit_checks, refuse_thresholds

    runs = [api.open_run(folder) for folder in run]
    for one in runs:
        refuse_thresholds(one.protocol, fail_if)
    target = out or (runs[0].folder / "report.html" if len(runs) == 1 else "report.html")
    named = _names(labels)
    path = api.report(*run, path=target, variant=variant, labels=named, brief=brief)
    click.echo(f"report: {path}")
    checks = [
        check
        for one in runs
        if fail_if or one.protocol.thresholds
        for check in one.check(*fail_if, variant=variant).checks
    ]
    return emit_checks(api.CheckResult(tuple(checks)))


def _names(labels: tuple[str, ...]) -> dict[str, str]:
    """{short name: model}. UsageError for one that is not NAME=MODEL."""
    for label in labels:
        if not all(label.partition("=")[::2]):
            raise UsageError(f"--label {label} is not NAME=MODEL. Type: --label A=openai:gpt-4o")
    return dict(label.split("=", 1) for label in labels)
