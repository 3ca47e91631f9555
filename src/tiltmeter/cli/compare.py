"""tiltmeter compare RUN RUN …"""

from __future__ import annotations

import json

import click

from .fitting import echo_fitted
from .options import as_json, label


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="The largest difference in shares that still counts as none.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every measure and group, not only the headline numbers.",
)
@as_json
@label
def command(
    run: tuple[str, ...],
    margin: float,
    everything: bool,
    as_json: bool,
    labels: tuple[tuple[str, str], ...],
) -> int:
    """Runs of one protocol against the first of them: subjects, dates or prompts, paired by
    item.
    """
    from rich.console import Console

    from .. import api
    from ..report import changes, judges, terminal

    found = api.compare(*run, margin=margin)
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        rows = [row.as_dict() for row in found.rows]
        click.echo(
            json.dumps(
                {
                    "schema": 1,
                    "margin": margin,
                    "verdicts": [verdict.as_dict() for verdict in found.verdicts],
                    "comparisons": rows,
                    "not_compared": list(found.left_out),
                },
                ensure_ascii=False,
                allow_nan=False,
            )
        )
        return 0
    found, names = changes.with_names(found, dict(labels))
    for line in changes.changes(found):
        echo_fitted(f"{line}\n")
    shown = found if everything else changes.headline_differences(found)
    table = judges.comparison(shown, everything)
    if table.rows:
        terminal.print_one(table, Console())
    if len(shown.rows) < len(found.rows):
        click.echo(f"{len(found.rows) - len(shown.rows)} more differences: --all")
    for model, name in names.items():
        click.echo(f"{name} = {model}")
    notes = (row.estimate.note for row in found.rows if row.estimate.value is None)
    for line in (
        *(f"not compared: {line}" for line in found.left_out),
        *dict.fromkeys(filter(None, notes)),
    ):
        click.echo(line, err=True)
    return 0
