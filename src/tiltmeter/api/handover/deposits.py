"""Exports of a finished run: evidence for an auditor, an archive, a citation."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...errors import UsageError
from ...store import Store
from ...store.queries import labels, state
from ..runs.run_folder import Run

if TYPE_CHECKING:
    from ...formats.seals import FolderCheck
    from ...formats.signing import Signer
    from ...report.page_model.page import Content

TABLES_OF_A_CRATE = "csv"


def export_audit(folder: Path | str, target: Path | str, *, texts: bool = False) -> list[Path]:
    """Writes the evidence of a run into a new folder and returns its files: evidence.md,
    report.html, impact.csv if the protocol selects people, and a manifest with their hashes. People
    become P1, P2, …; folders, addresses and (without `texts`) answers and pictures are left out.
    """
    from ...analyse.whole_run.selection_rates import selection_rates
    from ...formats import evidence, impact, private
    from ...report.page_model.page import alone
    from ...report.render import html

    run = Run(folder)
    with new_folder(target) as target:
        with _content(run) as (store, content):
            rates = selection_rates(store, run.protocol)
            content = private.hide(content, labels.annotators(store), texts)
        hidden = private.hider(())
        html.write_html(alone(content), target / "report.html")
        (target / "evidence.md").write_text(
            evidence.evidence(content, rates), "utf-8", newline="\n"
        )
        if rates:
            (target / "impact.csv").write_text(
                hidden(impact.impact_csv(rates)), "utf-8", newline="\n"
            )
        return _describe(run, target, content)


def export_crate(folder: Path | str, target: Path | str) -> list[Path]:
    """Writes a run unchanged into a new folder, ready to deposit, and returns its files: the run
    itself, its tables as CSV, the report, CITATION.cff, README.md, SHA256SUMS and a manifest.
    """
    from ...formats import citation, start_page
    from ...report.page_model.page import alone
    from ...report.render import html
    from ..runs import table_files

    run = Run(folder)
    with new_folder(target) as target:
        with _content(run) as (store, content):
            store.copy_to(target / "run")
            people = sorted(set(labels.annotators(store)) - labels.machines(store))
        html.write_html(alone(content), target / "report.html")
        (target / "CITATION.cff").write_text(citation.cff(content), "utf-8", newline="\n")
        table_files.write(run, target / "tables", TABLES_OF_A_CRATE, "default")
        start_page.write(target, content, people, _FILES)
        return _describe(run, target, content)


def check_folder(folder: Path | str) -> FolderCheck:
    """Checks every file of an exported folder (`export_audit`, `export_crate`) against its hash.
    Raises UsageError, naming the files that were changed, removed or added.
    """
    from ...formats import seals

    return seals.check_folder(Path(folder))


def seal_folder(folder: Path | str) -> FolderCheck:
    """Seals files that people filled in (evidence.md, CITATION.cff), so that the folder verifies
    again; returns its new state. Raises UsageError if another file changed, or neither of these
    did."""
    from ...formats import seals

    return seals.seal_folder(Path(folder))


def sign_folder(folder: Path | str, key: Path | str) -> Signer:
    """Checks an exported folder, then signs its manifest with an SSH key (ssh-keygen); returns the
    signer. Raises UsageError if a file was changed or signing fails.
    """
    from ...formats import seals, signing

    seals.check_folder(Path(folder))
    return signing.sign(Path(folder), Path(key))


def cite(
    folder: Path | str,
    format: Literal["sentence", "bibtex", "cff"] = "sentence",
    authors: Sequence[str] = (),
) -> str:
    """Returns a run as a citation, with the signatures of its numbers."""
    from ...formats import citation, private

    writers = {"sentence": citation.sentence, "bibtex": citation.bibtex, "cff": citation.cff}
    with _content(Run(folder)) as (store, content):
        return writers[format](
            private.hide(content, labels.annotators(store), texts=False), authors
        ).rstrip()


@contextmanager
def _content(run: Run) -> Iterator[tuple[Store, Content]]:
    from ...report.run_page import content

    with Store(run.folder) as store:
        yield store, content.build(store, run.protocol, run.analyse())


@contextmanager
def new_folder(target: Path | str) -> Iterator[Path]:
    """Makes a folder to write to, or uses an empty one; removes the folder if writing fails."""
    path = Path(target)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path} is there already. Name a new folder: --out FOLDER")
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield path
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


_FILES: Mapping[str, str] = {
    "evidence.md": "Evidence of the audit, to be completed and signed",
    "impact.csv": "Selection rates and impact ratios by category",
    "report.html": "The report of the run",
    "CITATION.cff": "How to cite the run",
    "README.md": "Where to begin, and how to check",
    "SHA256SUMS": "The SHA-256 of each file, for sha256sum -c",
    "run/run.sqlite": "The run: trials, calls, outputs, labels",
    **{
        f"tables/{name}.csv": f"The run's {name}"
        for name in ("trials", "outputs", "labels", "calls", "estimates")
    },
}


def _describe(run: Run, target: Path, content: Content) -> list[Path]:
    from ...formats import crate

    with Store(run.folder) as store:
        digests = {"rows": state.digest(store), "beside": state.digest_beside(store)}
    about = crate.About(
        name=f"Audit: {content.title}",
        description=f"{content.question} {content.asked}",
        made=content.date,
        protocol=content.protocol,
        digest=run.protocol.digest,
        models=[subject.name for subject in content.subjects if subject.role == "subject"],
        signatures=[signature.text for signature in content.signatures],
        files=_FILES,
        digests=digests,
    )
    crate.write_manifest(target, about)
    return sorted(path for path in target.rglob("*") if path.is_file())
