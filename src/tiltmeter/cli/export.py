"""tiltmeter export RUN --format FORMAT"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from ..stats.results import count_of
from .json_output import echo_json
from .options import as_json, variant

if TYPE_CHECKING:
    from ..formats.seals import FolderCheck

CONTRADICTED = 3  # exit code


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
    "--verify",
    is_flag=True,
    help="RUN is a run, or a folder of audit or crate: is it as it was written, and does all of it "
    "follow from the replies? Exit code 3 if not.",
)
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False),
    help="--verify: the run that the folder was made from, for a folder without one (audit).",
)
@click.option(
    "--seal",
    is_flag=True,
    help="RUN is such a folder: take what people filled in (evidence.md, CITATION.cff) as it is "
    "now, so that it verifies again.",
)
@click.option(
    "--sign",
    type=click.Path(exists=True, dir_okay=False),
    metavar="KEY",
    help="RUN is such a folder: sign its manifest with this SSH key.",
)
@click.option(
    "--signers",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="--verify: whose keys may have signed, a line NAME KEY each; it must be one of them.",
)
@variant
@as_json
def command(
    run: str,
    format_: str,
    out: str | None,
    with_texts: bool,
    verify: bool,
    seal: bool,
    against: str | None,
    sign: str | None,
    signers: str | None,
    variant: str,
    as_json: bool,
) -> int:
    """Tables, evidence for an auditor, or a whole run to deposit.

    \b
    tiltmeter export run --format csv --out tables
    tiltmeter export run --format crate --out archive
    tiltmeter export archive --verify
    """
    from .. import api

    if seal:
        _print_check(run, api.seal_folder(run))
        return 0
    if sign is not None:
        click.echo(f"{run}: signed with {api.sign_folder(run, sign).key}")
        return 0
    if verify:
        return _verify(run, against, signers, as_json)
    if out is None:
        raise UsageError("Name the folder to write to: --out FOLDER")
    written = _with_tables(
        lambda: api.export_as(format_, run, out, texts=with_texts, variant=variant), out
    )
    for path in written:
        click.echo(path)
    return 0


def _verify(run: str, against: str | None, signers: str | None, as_json: bool) -> int:
    """Prints what was computed anew, and one list of contradictions."""
    from .. import api
    from ..report.page_model.sanitize import visible

    findings, check = api.verify(run, against=against, signers=signers)
    if as_json:
        echo_json(findings.as_dict(), indent=1)
        return 0 if findings.holds else CONTRADICTED
    if check is not None:
        _print_check(run, check)
    if findings.signer:
        click.echo(visible(f"  signed by: {findings.signer}"))
    for what, number in findings.checked.items():
        click.echo(f"  computed anew: {number:,} {what}")
    for note in findings.notes:
        click.echo(visible(f"  note: {note}"))
    if findings.digest:
        click.echo(f"  the rows: sha256 {findings.digest}")
        click.echo(f"  design, costs, looks and sheets: sha256 {findings.beside}")
    for line in findings.lines():
        click.echo(visible(f"contradiction: {line}"))
    if findings.holds:
        return 0
    click.echo(f"{count_of(len(findings.contradictions), 'contradiction')} in {run}", err=True)
    return CONTRADICTED


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
