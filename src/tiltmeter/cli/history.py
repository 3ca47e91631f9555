"""tiltmeter history RUN RUN …"""

from __future__ import annotations

from pathlib import Path

import click

from .json_output import echo_json
from .options import as_json, label, margin, page_file


@click.command()
@click.argument("run", nargs=-1, required=True, type=click.Path(file_okay=False))
@margin
@page_file
@click.option(
    "--full",
    is_flag=True,
    help="Print all steps, differences and cautions, not only those that fit.",
)
@as_json
@label
def command(
    run: tuple[str, ...],
    margin: float,
    out: Path | None,
    full: bool,
    as_json: bool,
    labels: tuple[tuple[str, str], ...],
) -> None:
    """Follow runs over time: what changed, and what moved. Noise is told apart; runs are ordered by
    their dates.
    """
    from rich.console import Console

    from .. import api
    from ..analyse.whole_run.signature import RULES
    from ..report.render import pages, terminal_lines
    from ..report.several_runs import history

    history_of_runs = api.history(*run, margin=margin)
    page = history.build(history_of_runs, dict(labels))
    if out is not None:
        pages.write_page(page, out)
        click.echo(f"page: {out}", err=True)
    if as_json:
        first = {"headline": page.headline, "lede": list(page.lede), "rules": RULES}
        echo_json(first | history_of_runs.as_dict())
        return
    terminal_lines.print_document(page, Console(), full)
