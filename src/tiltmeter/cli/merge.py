"""tiltmeter merge RUN RUN … --out RUN"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..stats.results import count_of
from .json_output import echo_json
from .options import as_json

if TYPE_CHECKING:
    from ..stages.steps.merge import Merged

MOST_NAMED = 12  # missing shards


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    help="The run that they are joined into; again to add new shards.",
)
@as_json
def command(runs: tuple[str, ...], out: str, as_json: bool) -> None:
    """Join runs of one plan, such as shards, into one run."""
    from .. import api

    merged = api.merge(runs, out)
    if as_json:
        values = {**asdict(merged), "rows": merged.rows._asdict(), "added": merged.added._asdict()}
        echo_json({"run": out, **values}, indent=1)
        return
    _print(merged, out)


def _print(merged: Merged, out: str) -> None:
    rows, added = merged.rows, merged.added
    click.echo(
        f"{out}: {rows.outputs:,} answers ({added.outputs:,} new), {rows.labels:,} labels "
        f"({added.labels:,} new), {added.pictures:,} pictures linked or copied"
    )
    if merged.missing:
        named = ", ".join(merged.missing[:MOST_NAMED])
        more = ", …" if len(merged.missing) > MOST_NAMED else ""
        click.echo(
            f"not merged yet: {count_of(len(merged.missing), 'shard')} ({named}{more})", err=True
        )
    if merged.open:
        click.echo(
            f"{count_of(merged.open, 'trial')} of the plan without an answer here. "
            "Merge what is missing, or type the command of the run without --shard and with --out "
            f"{out}",
            err=True,
        )
