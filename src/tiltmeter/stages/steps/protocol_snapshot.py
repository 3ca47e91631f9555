"""What a run keeps of its protocol, so that it is read where the protocol's file, or the process
that declared it, is not.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ... import registry
from ...errors import StoreError, UsageError
from ...protocol import Protocol
from ...protocol.design.tables import Beside
from ...protocol.reading import load
from ...protocol.source.source_lines import SourceLocation
from ...records import Json
from ...store import Store
from ...store.queries import settings, trials


class Snapshot(NamedTuple):
    """source: a name, the path of a file, or "" where the protocol was declared in Python;
    definition: all of it, None where it ships with tiltmeter.
    """

    source: str
    definition: Json

    def keep(self, store: Store) -> None:
        """Stores it in a run."""
        store.put("source", self.source)
        store.put("definition", self.definition)


def record(given: str | Path | Protocol, declared: Protocol) -> Snapshot:
    """What a run is to keep of a protocol, by how it was named."""
    given = declared.name if isinstance(given, Protocol) else str(given)
    if registry.is_protocol(given):
        return Snapshot(given, None)
    source = str(Path(given).resolve()) if given.endswith(".toml") else ""
    return Snapshot(source, declared.definition)


def protocol_of(store: Store) -> tuple[Protocol, str]:
    """The protocol of a run, and what is to be said of it, "" for nothing.

    That of its file as it is now, whose measures may be newer, as long as the design is the same;
    else as the run kept it.
    """
    found, note = _protocol_of(store)
    for mode in trials.modes(store):
        if mode not in found.modes:
            raise StoreError(
                f"{store.folder} is damaged at trials.mode: {str(mode)[:60]!r} is no mode of "
                f"{found.name}. Restore it from a copy."
            )
    return found, note


def _protocol_of(store: Store) -> tuple[Protocol, str]:
    source, definition = settings.source(store), settings.definition(store)
    digest = settings.frozen(store).get("digest")
    if not definition:
        if not source:
            raise StoreError(
                f"{store.folder} holds nothing yet: what was to fill it was broken off. Type that "
                "command again."
            )
        if not registry.is_protocol(source):
            raise StoreError(
                f"{store.folder} is damaged at meta.source: {source[:60]!r} is no protocol that "
                "is installed, and the run keeps none. Restore it from a copy."
            )
        found = registry.protocol(source)
        told = (
            f"was made with another design of {found.name} (data {digest}, now "
            f"{found.digest}): its answers stand, its "
        )
        return (
            found,
            ""
            if found.digest == digest
            else f"{told}measures are those of this version of tiltmeter.",
        )
    now, why = _from_file(source, str(definition["declared"]["name"]))
    if now is not None and now.digest == digest:
        return now, ""
    return _from_run(definition), why and f"is read with the protocol that it kept: {why}"


def _from_file(source: str, name: str) -> tuple[Protocol | None, str]:
    """The protocol as it is now, or None; why another one may have to do."""
    if source and not Path(source).exists():
        return None, f"{Path(source).name} is not where it was."
    try:
        return registry.protocol(
            source or name
        ), f"{Path(source or name).name} has another design by now."
    except UsageError:
        if not source:
            return None, ""
        return None, f"{Path(source).name} cannot be read as a protocol now."


def _from_run(definition: settings.Definition) -> Protocol:
    data = definition["declared"]
    place = SourceLocation("the protocol kept in the run", "", data)
    files = Beside(None, dict(definition["files"]))
    return load.declare(data, files, place, registry.instrument_kind, stored=True)
