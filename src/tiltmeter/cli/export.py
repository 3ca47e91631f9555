"""tiltmeter export RUN --format parquet|csv|jsonl|audit|crate"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import click

from ..errors import UsageError
from .options import variant


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--format",
    "format_",
    default="parquet",
    show_default=True,
    help="parquet, csv or jsonl: tables; audit: evidence for an auditor; crate: the whole run, to "
    "deposit.",
)
@click.option("--out", type=click.Path(file_okay=False), help="The folder to write to.")
@click.option("--with-texts", is_flag=True, help="audit: with answers and pictures.")
@click.option(
    "--verify", is_flag=True, help="RUN is a folder of audit or crate: is it as it was written?"
)
@variant
def command(
    run: str, format_: str, out: str | None, with_texts: bool, verify: bool, variant: str
) -> None:
    """Write the tables of a run, evidence of it for an auditor, or all of it to deposit."""
    from .. import api

    if verify:
        number = api.check_folder(run)
        click.echo(f"{run}: all {number} files are as they were written.")
        return
    if out is None:
        raise UsageError("Name the folder to write to: --out FOLDER")
    if format_ == "audit":
        written = api.export_audit(run, out, texts=with_texts)
    elif format_ == "crate":
        written = _with_tables(lambda: api.export_crate(run, out), out)
    else:
        written = _with_tables(lambda: api.export(run, out, format_, variant), out)
    for path in written:
        click.echo(path)


def _with_tables(write: Callable[[], list[Path]], out: str) -> list[Path]:
    """The files that were written; a full disk, of which polars tells in its own way, is an
    OSError.
    """
    from polars.exceptions import PolarsError

    try:
        return write()
    except PolarsError as error:
        if "os error" not in str(error):
            raise
        raise OSError(errno.EIO, str(error), out) from None
