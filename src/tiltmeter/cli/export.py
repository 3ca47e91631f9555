"""tiltmeter export RUN --format parquet|csv|jsonl"""

from __future__ import annotations

import errno

import click

from .options import variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--format", "format_", default="parquet", show_default=True, help="parquet, csv or jsonl."
)
@click.option(
    "--out", required=True, type=click.Path(file_okay=False), help="The folder to write to."
)
@variant
def command(run: str, format_: str, out: str, variant: str) -> None:
    """Write the tables of a run as Parquet, CSV or JSON lines."""
    from polars.exceptions import PolarsError

    from .. import api

    try:
        for path in api.export(run, out, format_, variant):
            click.echo(path)
    except PolarsError as error:  # how polars tells of a full disk
        if "os error" not in str(error):
            raise
        raise OSError(errno.EIO, str(error), out) from None
