"""Imports existing outputs, labels, people's labels and other runs into a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ... import registry
from ...errors import UsageError
from ...gold import intake, sheet
from ...protocol import Protocol
from ...protocol.source import copies
from ...stages.steps import import_ as importing
from ...stages.steps import merge as merging
from ...stages.steps import protocol_snapshot
from ...stages.steps.merge import Merged
from ...stats.results import count_of
from ...store import Store
from .run_folder import Run

LISTED = 5  # items that a note names


def import_outputs(protocol: str | Path | Protocol, path: Path | str, out: Path | str) -> Run:
    """Imports existing outputs, labels or counts into a new run, or into an existing one."""
    declared = importing.protocol_to_import(protocol, Path(path))
    rows = importing.read_given(protocol, declared, Path(path))
    with Store(out, create=True, writing=True) as store:
        used = partial(importing.cells_of, declared, rows)
        record = protocol_snapshot.record(protocol, declared, used)
        added = importing.write_rows(store, declared, record.source, rows)
        record.keep(store)
        if declared.pictures:
            protocol_snapshot.keep_pictures(store, declared, used())
    run = Run(out)
    if rows.note:
        run.notes.append(f"{path}: {rows.note}")
    if added.unlisted:
        unlisted = ", ".join(added.unlisted[:LISTED]) + (", …" if added.unlisted[LISTED:] else "")
        run.notes.append(
            f"{declared.name} does not list {count_of(len(added.unlisted), 'item')}, whose "
            f"marks are unknown: {unlisted}"
        )
    return run


def use_copy(protocol: str, path: Path | str) -> str:
    """Checks the user's copy of the texts of a protocol that do not ship, and stores its path.
    Returns a note about files that are missing or could not be compared. Raises UsageError with the
    files that differ or are required.
    """
    release = registry.source(protocol)
    if release is None:
        registry.protocol(protocol)  # says so if there is no such protocol
        raise UsageError(f"{protocol} ships with its texts. Leave --data out.")
    copy = release.check_texts(Path(path))
    copies.remember(protocol, Path(path))
    return copy.note


def import_gold(folder: Path | str, path: Path | str) -> intake.AddedGold:
    """Adds people's labels to a run, from a CSV or JSON-lines file with the columns output and
    value, and optionally attribute, annotator and weight.
    """
    opened = Run(folder)
    with Store(folder, writing=True) as store:
        return intake.take_in(store, opened.protocol, path)


def draw_gold_sample(
    folder: Path | str, number: int, path: Path | str, *, attribute: str = "", seed: int = 0
) -> sheet.Sheet:
    """Samples outputs into a sheet for people to label; stores the sampling design in the run.

    number: the number of outputs; path: the sheet, CSV or JSON lines (.jsonl); attribute: the
    attribute to label, by default the headline measure's.
    """
    opened = Run(folder)
    with Store(folder, writing=True) as store:
        gold_sheet = sheet.draw(store, opened.protocol, number, attribute, seed)
    sheet.write_sheet(gold_sheet, path)
    return gold_sheet


def merge(runs: Sequence[Path | str], out: Path | str) -> Merged:
    """Joins runs of one plan into one run, which can be resumed, labelled and reported.

    runs: folders in any order, unfinished shards included; out: a new folder, or the result of an
    earlier merge. Merging a run again changes nothing. Raises RunMismatch if two runs differ in
    plan or contradict each other.
    """
    if not runs:
        raise UsageError("Name the runs to merge: tiltmeter merge RUN RUN … --out RUN")
    return merging.merge([Path(run) for run in runs], Path(out))
