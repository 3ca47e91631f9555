"""tiltmeter report RUN [RUN …]"""

from __future__ import annotations

import click

from .options import fail_if, variant


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="Where to; RUN/report.html otherwise, of several report.html here. An end of .md writes "
    "Markdown.",
)
@variant
@fail_if
def command(run: tuple[str, ...], out: str | None, variant: str, fail_if: tuple[str, ...]) -> int:
    """Write the report of a run, or one page of several."""
    from .. import api
    from ..analyse import thresholds
    from .output import held, wanted

    found = [api.load(folder) for folder in run]
    named = [wanted(fail_if, one.protocol) for one in found]
    target = out or (found[0].folder / "report.html" if len(found) == 1 else "report.html")
    click.echo(f"report: {api.report(*run, path=target, variant=variant)}")
    codes = [
        held(own, one.protocol, one.analyse(variant))
        for one, own in zip(found, named, strict=True)
        if own or one.protocol.thresholds
    ]
    return thresholds.FAILED if thresholds.FAILED in codes else max(codes, default=0)
