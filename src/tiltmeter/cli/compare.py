"""tiltmeter compare RUN RUN …"""

from __future__ import annotations

import sys

import click

from .json_output import echo_json
from .options import as_json, label, margin


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@margin
@click.option(
    "--full",
    is_flag=True,
    help="Every measure and group, not the headline numbers as far as a screen goes.",
)
@as_json
@label
def command(
    run: tuple[str, ...],
    margin: float,
    full: bool,
    as_json: bool,
    labels: tuple[tuple[str, str], ...],
) -> int:
    """What differs between runs of one protocol, with intervals. Each is held against the first:
    subjects, dates or prompts, paired by item.
    """
    from rich.console import Console

    from .. import api
    from ..report.render import comparison_screen
    from ..report.render.fit_terminal import height
    from ..report.several_runs import changes

    comparison = api.compare(*run, margin=margin)
    if as_json:
        for warning in comparison.warnings:
            click.echo(f"warning: {warning}", err=True)
        rows = [row.as_dict() for row in comparison.rows]
        echo_json(
            {
                "margin": margin,
                "verdicts": [verdict.as_dict() for verdict in comparison.verdicts],
                "comparisons": rows,
                "not_compared": list(comparison.left_out),
            }
        )
        return 0
    comparison, names = changes.with_names(comparison, dict(labels))
    notes = (row.estimate.note for row in comparison.rows if row.estimate.value is None)
    lines = (
        *(f"warning: {warning}" for warning in comparison.warnings),
        *(f"not compared: {line}" for line in comparison.left_out),
        *dict.fromkeys(filter(None, notes)),
    )
    for line in lines:
        click.echo(line, err=True)
    console = Console()
    taken = height("\n".join(lines), console.width) if sys.stderr.isatty() else 0
    comparison_screen.print_comparison(comparison, names, console, full, taken)
    return 0
