"""Recomputes everything from a run's replies and lists contradictions (`export --verify`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import TiltmeterError, UsageError
from ...stages.steps import protocol_snapshot
from ...store import Store
from ...store.database import FILE
from ...store.queries import state
from .findings import Findings
from .folders import RUN, check_manifest, check_signature, compare_with_export
from .looks import check_looks
from .people import check_people
from .replies import check_calls
from .reread import Reread, replace_labels, reread
from .rows import check_labels, check_lost, check_outputs

if TYPE_CHECKING:
    from ...formats.seals import FolderCheck


def verify(
    folder: Path | str,
    *,
    against: Path | str | None = None,
    signers: Path | str | None = None,
) -> tuple[Findings, FolderCheck | None]:
    """Recomputes a run, or an exported folder, and finds contradictions: labels that do not follow
    from the replies, tables and pages that do not follow from the labels, files that differ from
    the manifest.

    against: the run from which a folder without a run (`--format audit`) was exported; signers: a
    list of keys, one of which must have signed the manifest. Returns the findings, and the folder's
    state by its manifest (None for a run, or if files differ from the manifest).
    """
    folder, findings = Path(folder), Findings()
    if (folder / FILE).is_file():
        if signers is not None:
            raise UsageError(f"{folder} is a run; only exports are signed. Leave --signers out.")
        verify_rows(folder, findings)
        return findings, None
    inside = folder / RUN
    has_run = inside.is_dir() and not inside.is_symlink()
    run = Path(against) if against is not None else inside if has_run else None
    check = check_manifest(folder, findings)
    check_signature(folder, signers, findings)
    if run is None:
        findings.note(
            "no reply is in this folder, so its numbers were not computed anew; with the run: "
            f"tiltmeter export {folder} --verify --against RUN"
        )
        return findings, check
    try:
        verify_rows(run, findings)
        compare_with_export(folder, run, findings)
    except UsageError:
        raise
    except TiltmeterError as error:
        findings.add("the run cannot be read", str(error))
    return findings, check


def verify_rows(run: Path, findings: Findings) -> None:
    """Checks each row of a run against the rows that it was derived from."""
    with Store(run) as store:
        protocol, note = protocol_snapshot.protocol_of(store)
        if note:
            findings.note(f"{run} {note}")
        check_calls(store, findings)
        check_outputs(store, protocol, findings)
        check_lost(store, findings)
        check_labels(store, protocol, findings)
        check_people(store, protocol, findings)
        check_looks(store, protocol, findings)
        findings.digest, findings.beside = state.digest(store), state.digest_beside(store)


def label_anew(folder: Path | str) -> list[Reread]:
    """Reads every answer of a run again, with the instruments of its protocol and the stored
    replies of its judges. Labels that differ replace earlier labels, which stay in the history.
    Returns the differences.
    """
    with Store(folder, writing=True) as store:
        protocol, _ = protocol_snapshot.protocol_of(store)
        changes = [
            one
            for one in reread(store, protocol)
            if one.now is not None and one.differs and not one.reader
        ]
        with store.transaction():
            replace_labels(store, changes)
    return changes
