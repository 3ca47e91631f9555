"""tiltmeter export RUN --format FORMAT"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from ..stats.results import count_of
from .json_output import echo_json
from .options import as_json, gathers, variant

if TYPE_CHECKING:
    from ..api.recompute.findings import Findings
    from ..formats.seals import FolderCheck

EXIT_CODES = {"confirmed": 0, "contradicted": 3, "not fully checked": 4}  # by verdict
NAMED = 10  # cases of a contradiction


@dataclass(frozen=True, slots=True)
class Sealing:
    """The options that check, seal or sign an existing folder instead of writing one."""

    verify: bool
    against: str | None
    seal: bool
    sign: str | None
    signers: str | None


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--format",
    "format_",
    default="parquet",
    show_default=True,
    help="parquet, csv or jsonl: tables; audit: evidence for an auditor; crate: the whole run, to "
    "deposit; every-eval-ever, inspect, huggingface: formats of those tools; replies: answers with "
    "people's labels, to test how replies are read.",
)
@click.option("--out", type=click.Path(file_okay=False), help="The folder to write to.")
@click.option(
    "--with-texts",
    is_flag=True,
    help="audit, every-eval-ever, huggingface: with the answers.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="RUN is a run, or a folder of audit or crate: check that it is unchanged, and that all of "
    "it follows from the replies. Exit code 3 if not, 4 if an earlier version must check it.",
)
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False),
    help="--verify: the run that the folder was made from, for a folder without one (audit).",
)
@click.option(
    "--seal",
    is_flag=True,
    help="RUN is such a folder: accept what people filled in (evidence.md, CITATION.cff), so that "
    "it verifies again.",
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
    help="--verify: the allowed signers, one line NAME KEY each.",
)
@variant
@as_json
@gathers("sealing", Sealing)
def command(
    run: str,
    format_: str,
    out: str | None,
    with_texts: bool,
    sealing: Sealing,
    variant: str,
    as_json: bool,
) -> int:
    """Export tables, evidence for an auditor, or a whole run.

    \b
    tiltmeter export run --format csv --out tables
    tiltmeter export run --format crate --out archive
    tiltmeter export archive --verify
    """
    from .. import api

    if sealing.seal:
        check = api.seal_folder(run)
        click.echo(f"{run} is sealed: {_files(check)}")
        for line in _facts(check):
            click.echo(line)
        if check.unsigned:
            click.echo(f"  its signature is gone. Sign again: tiltmeter export {run} --sign KEY")
        return 0
    if sealing.sign is not None:
        click.echo(f"{run}: signed with {api.sign_folder(run, sealing.sign).key}")
        return 0
    if sealing.verify:
        return _verify(run, sealing, as_json)
    if out is None:
        raise UsageError("Name the folder to write to: --out FOLDER")
    written = _with_tables(
        lambda: api.export_as(format_, run, out, texts=with_texts, variant=variant), out
    )
    for path in written:
        click.echo(path)
    return 0


def _verify(run: str, sealing: Sealing, as_json: bool) -> int:
    """Prints the verdict and what was checked; returns the exit code."""
    from .. import api
    from ..report.page_model.sanitize import visible

    findings, check = api.verify(run, against=sealing.against, signers=sealing.signers)
    if as_json:
        echo_json(findings.as_dict(), indent=1)
    else:
        for line in _lines(run, findings, check):
            click.echo(visible(line))
    return EXIT_CODES[findings.verdict]


def _lines(run: str, findings: Findings, check: FolderCheck | None) -> Iterator[str]:
    """Yields the verdict, the contradictions and notes, then what was checked."""
    rows = {what: number for what, number in findings.checked.items() if what != "files"}
    anew = ", ".join(count_of(number, what.removesuffix("s")) for what, number in rows.items())
    if findings.holds:
        files = f"{_files(check)}; " if check else ""
        yield f"{run} holds: {files}computed anew: {anew or 'nothing'}"
    elif findings.contradictions:
        number = count_of(len(findings.contradictions), "contradiction")
        yield f"{run} does not hold: {number}"
        yield from (f"not checked: {part}" for part in findings.unchecked)
    else:
        yield f"{run}: NOT FULLY CHECKED: {'; '.join(findings.unchecked)}"
    for one in findings.contradictions:
        yield f"contradiction: {one.what}: {count_of(one.number, 'case')}"
        yield from (f"    {example}" for example in one.examples[:NAMED])
        if len(one.examples) > NAMED:
            yield f"    and {len(one.examples) - NAMED:,} more; all: add --json"
    yield from (f"note: {note}" for note in findings.notes)
    if not findings.holds:
        yield f"  computed anew: {anew or 'nothing'}"
        if check:
            yield f"  listed in the manifest: {_files(check)}"
    if "files" in findings.checked:
        number = count_of(findings.checked["files"], "file")
        yield f"  compared with a new export of the run: its {number}"
    yield from (f"  drawn anew: {plan}" for plan in findings.plans)
    yield from _facts(check) if check else ()
    if findings.signer:
        yield f"  signed by: {findings.signer}"
    if findings.digest:
        yield f"  the rows: sha256 {findings.digest}"
        yield f"  design, costs, looks and sheets: sha256 {findings.beside}"


def _files(check: FolderCheck) -> str:
    return f"{count_of(check.files, 'file')} as written{' or sealed' * bool(check.seals)}"


def _facts(check: FolderCheck) -> Iterator[str]:
    """Yields the files that were sealed, the blanks that are left, and the manifest's hash."""
    for seal in check.seals:
        yield f"  sealed {seal.at}: {', '.join(seal.files)}, as people filled it in"
    for name, places in check.left.items():
        yield f"  still to be filled in: {name}, {count_of(places, 'place')}"
    yield f"  the manifest: sha256 {check.manifest}"


def _with_tables(write: Callable[[], list[Path]], out: str) -> list[Path]:
    """Calls `write` and returns its files; turns polars' error for a full disk into OSError."""
    from polars.exceptions import PolarsError

    try:
        return write()
    except PolarsError as error:
        if "os error" not in str(error):
            raise
        raise OSError(errno.EIO, str(error), out) from None
