"""tiltmeter export RUN --format FORMAT"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from ..stats.results import count_of
from .options import variant

if TYPE_CHECKING:
    from ..formats.seals import FolderCheck


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--format",
    "format_",
    default="parquet",
    show_default=True,
    help="parquet, csv or jsonl: tables; audit: evidence for an auditor; crate: the whole run, to "
    "deposit; every-eval-ever, inspect, huggingface: formats of those tools; replies: what people "
    "labelled, to test how replies are read.",
)
@click.option("--out", type=click.Path(file_okay=False), help="The folder to write to.")
@click.option(
    "--with-texts",
    is_flag=True,
    help="audit, every-eval-ever, huggingface: with what was answered.",
)
@click.option(
    "--verify", is_flag=True, help="RUN is a folder of audit or crate: is it as it was written?"
)
@click.option(
    "--seal",
    is_flag=True,
    help="RUN is such a folder: take what people filled in (evidence.md, CITATION.cff) as it is "
    "now, so that it verifies again.",
)
@variant
def command(
    run: str,
    format_: str,
    out: str | None,
    with_texts: bool,
    verify: bool,
    seal: bool,
    variant: str,
) -> None:
    """Tables, evidence for an auditor, or a whole run to deposit.

    \b
    tiltmeter export run --format csv --out tables
    tiltmeter export run --format crate --out archive
    tiltmeter export archive --verify
    """
    from .. import api

    if verify or seal:
        _print_check(run, api.seal_folder(run) if seal else api.check_folder(run))
        return
    if out is None:
        raise UsageError("Name the folder to write to: --out FOLDER")
    written = _with_tables(
        lambda: api.export_as(format_, run, out, texts=with_texts, variant=variant), out
    )
    for path in written:
        click.echo(path)


def _print_check(folder: str, check: FolderCheck) -> None:
    """That a folder is as it should be, what was sealed, and what is still to be filled in."""
    or_sealed = " or sealed" if check.seals else ""
    click.echo(f"{folder}: all {check.files} files are as they were written{or_sealed}.")
    for seal in check.seals:
        click.echo(f"  sealed {seal.at}: {', '.join(seal.files)}, as people filled it in")
    for name, places in check.left.items():
        click.echo(f"  still to be filled in: {name}, {count_of(places, 'place')}")
    click.echo(f"  the manifest: sha256 {check.manifest}")


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
