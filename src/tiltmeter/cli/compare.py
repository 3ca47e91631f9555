"""tiltmeter compare RUN RUN …"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .json_output import echo_json
from .options import as_json, label, margin, page_file

if TYPE_CHECKING:
    from ..analyse.between_runs.compare import Comparison
    from ..records import Json


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@margin
@click.option(
    "--full",
    is_flag=True,
    help="Print every measure and group, not just headline numbers that fit one screen.",
)
@page_file
@as_json
@label
def command(
    run: tuple[str, ...],
    margin: float,
    full: bool,
    out: Path | None,
    as_json: bool,
    labels: tuple[tuple[str, str], ...],
) -> int:
    """Compare runs of one protocol, with intervals. Each is compared with the first: subjects,
    dates or prompts, paired by item.
    """
    from rich.console import Console

    from .. import api
    from ..analyse.whole_run.signature import RULES
    from ..display.screen import height
    from ..report.render import terminal_lines
    from ..report.several_runs import changes
    from ..report.several_runs.comparison import build
    from .output import emit_warnings

    comparison = api.compare(*run, margin=margin)
    named, names = changes.with_names(comparison, dict(labels))
    page = build(named, names, full)
    if out is not None:
        from ..report.render import pages

        pages.write_page(page, out)
        click.echo(f"page: {out}", err=True)
    if as_json:
        emit_warnings(comparison.warnings)
        first: dict[str, Json] = {"headline": page.headline, "lede": list(page.lede)}
        echo_json(first | {"rules": RULES, "margin": margin} | _as_dict(comparison))
        return 0
    notes = (row.estimate.note for row in named.rows if row.estimate.value is None)
    lines = (
        *(f"warning: {warning}" for warning in named.warnings),
        *(f"not compared: {line}" for line in named.left_out),
        *dict.fromkeys(filter(None, notes)),
    )
    for line in lines:
        click.echo(line, err=True)
    console = Console()
    used_rows = height(lines, console.width) if sys.stderr.isatty() else 0
    terminal_lines.print_document(page, console, full, used_rows)
    return 0


def _as_dict(comparison: Comparison) -> dict[str, Json]:
    """Returns plain values of a comparison, for --json."""
    return {
        "set_up": [setting._asdict() for setting in comparison.set_up],
        "verdicts": [verdict.as_dict() for verdict in comparison.verdicts],
        "comparisons": [row.as_dict() for row in comparison.rows],
        "not_compared": list(comparison.left_out),
    }
