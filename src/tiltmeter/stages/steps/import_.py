"""Turns existing outputs, labels or counts into a run, on which every later stage works.

The protocol defines the format of a file: its *importer* (`outputs` in its sources.toml,
`IMPORTERS` in registry.py, or an entry point in the group `tiltmeter.importers`) is a function of
the protocol and the path, or the checked copy of a release, that yields (trial, output, labels).
Everything is read and checked before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ... import registry
from ...errors import RunMismatch, UsageError
from ...protocol import Protocol
from ...protocol.design.tables import Row
from ...protocol.source.copies import Copy, CopySources
from ...records import Label, Output, Trial
from ...store import Store
from ...store.queries import labels, outputs, settings
from ...system import intake
from ..planning.plan import Choices
from .import_rows import RowLayout, read_rows

BATCH_ROWS = 5_000  # of one transaction

Imported = tuple[Trial, Output, Sequence[Label]]


@dataclass(frozen=True, slots=True)
class AddedOutputs:
    """The counts of an import. before: rows the run had; unlisted: items the design lacks."""

    outputs: int
    before: int
    subjects: tuple[str, ...]
    unlisted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenContent:
    """The content of a file, or of a copy of a release. name, sha256: of the file or copy; note:
    the files that a copy lacks, "" if it is complete.
    """

    rows: Sequence[Imported]
    name: str
    sha256: str
    note: str = ""


def protocol_to_import(source: str | Path | Protocol, path: Path) -> Protocol:
    """Returns the protocol of the outputs, with texts from the copy at `path` if it ships none."""
    release = None if isinstance(source, Protocol) else registry.source(str(source))
    if release is not None and release.outputs and registry.is_sourced(str(source)):
        return registry.protocol_of_copy(release, path)
    return registry.protocol(source)


def read_given(source: str | Path | Protocol, protocol: Protocol, path: Path) -> GivenContent:
    """Reads all rows of a file of outputs, or of a copy of published outputs. Raises UsageError if
    the protocol has no importer, or if the format is wrong.

    source: the protocol, its name, or the path of its file.
    """
    name = protocol.name if isinstance(source, Protocol) else str(source)
    release = registry.source(name)
    if release is not None and release.outputs:
        copy = release.check(path)
        rows = list(_published(protocol, release, copy))
        content = GivenContent(rows, path.name, copy.digest, copy.note)
    else:
        rows = list(registry.importer(protocol.name)(protocol, path))
        content = GivenContent(rows, path.name, sha256(intake.read_bytes(path)).hexdigest())
    if not rows:
        raise UsageError(f"{path} holds no rows to import. Name another file.")
    return content


def _published(protocol: Protocol, release: CopySources, copy: Copy) -> Iterator[Imported]:
    """Yields the outputs of a checked copy, according to sources.toml."""
    if isinstance(release.outputs, str):
        yield from release.function(release.outputs)(protocol, copy)
        return
    for layout in map(RowLayout.of, release.outputs):
        yield from read_rows(protocol, layout, copy)


def cells_of(protocol: Protocol, given: GivenContent) -> list[Row]:
    """Returns the rows of the design that have an answer in the file or copy."""
    names = (protocol.item, *protocol.factors)
    answered = {tuple(trial.factors[name] for name in names) for trial, _, _ in given.rows}
    return [cell for cell in protocol.cells if tuple(cell[name] for name in names) in answered]


def write_rows(store: Store, protocol: Protocol, source: str, given: GivenContent) -> AddedOutputs:
    """Adds the rows to a run, except those that it holds. Raises RunMismatch if the run has other
    labels for one of them.

    source: the protocol's name or path.
    """
    rows = given.rows
    subjects = tuple(dict.fromkeys(trial.subject for trial, _, _ in rows))
    store.freeze(Choices(subjects).frozen(protocol))
    settings.keep_source(store, source)
    added = _new_rows(store, rows)
    for piece in (added[start : start + BATCH_ROWS] for start in range(0, len(added), BATCH_ROWS)):
        opened = {trial.id for trial in store.iter_unanswered([trial for trial, _, _ in piece])}
        unopened = [row for row in piece if row[0].id in opened]
        store.write(
            [],
            [output for _, output, _ in unopened],
            [label for _, _, labelled in unopened for label in labelled],
        )
    settings.add_import(store, settings.Imported(given.name, given.sha256, list(subjects)))
    listed = protocol.levels[protocol.item]
    items = dict.fromkeys(trial.factors[protocol.item] for trial, _, _ in rows)
    unlisted = tuple(item for item in items if item not in listed)
    if len(unlisted) == len(items) > 1:  # a source with items of its own, and no slip in one
        unlisted = ()
    return AddedOutputs(len(added), len(rows) - len(added), subjects, unlisted)


def _new_rows(store: Store, rows: Sequence[Imported]) -> list[Imported]:
    """Returns the rows that the run lacks. Raises RunMismatch if it has other labels for a row."""
    stored_ids = outputs.ids(store)
    if not stored_ids:
        return list(rows)
    stored = labels.ranked_values(store)
    for trial, _, labels_given in rows:
        if trial.id in stored_ids and not all(
            (*label[:3], label.position, label.value) in stored for label in labels_given
        ):
            noun = f"{trial.subject}, {', '.join(filter(None, trial.factors.values()))}"
            raise RunMismatch(f"{store.folder} holds other labels for {noun}. Take another --out.")
    return [row for row in rows if row[0].id not in stored_ids]
