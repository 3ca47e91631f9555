"""Checks if a folder of evidence, or an archive, is unchanged; and seals what people filled in.

The files that a manifest lists are compared by SHA-256. Two documents are for people to complete; a
seal puts their new hashes into the manifest, with the day and the old hashes, as an `UpdateAction`
(RO-Crate 1.2, provenance of changes). Nothing else can be sealed, hence no changed number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ..errors import UsageError
from ..models.http.body import list_at, object_at, parse, text_at
from ..records import Json
from .completed import is_completed
from .crate import (
    MANIFEST,
    OPEN,
    SIGNATURE,
    TO_COMPLETE,
    files_of,
    fingerprint,
    foreign_of,
    graph_of,
    ids,
    read_manifest,
    refer,
    save_manifest,
)

SEAL = "#seal-"
_NAME = "Filled in by people and sealed"
_KEYS = ("@id", "@type", "name", "endTime", "object", "result", "description")
_BEFORE = re.compile(r"(?:^Before: |; )(\S+) sha256 [0-9a-f]{64}(?=;|$)")
_NAMED = 5  # files that an error names


@dataclass(frozen=True, slots=True)
class Seal:
    """One sealing. at: its time, ISO 8601 in UTC; files: the documents that were filled in."""

    at: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """A folder that matches its manifest. files: their number; seals: oldest first; manifest: the
    manifest's own SHA-256; left: {document: the number of its gaps still to be filled in};
    unsigned: True if sealing just removed a signature, which was of the manifest before.
    """

    files: int
    seals: tuple[Seal, ...]
    manifest: str
    left: Mapping[str, int]
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class _Manifest:
    """A parsed manifest. hashes: {file: SHA-256}; originals: {document: its exported text}."""

    whole: dict[str, Json]
    graph: list[dict[str, Json]]
    hashes: Mapping[str, str]
    seals: tuple[Seal, ...]
    originals: Mapping[str, str]


def check_folder(folder: Path) -> FolderCheck:
    """Compares each file with the manifest. Raises UsageError if a file is missing, changed or
    added, or if there is no manifest.
    """
    manifest = _read(folder)
    changed, wrong = _differences(folder, manifest)
    faults = [*wrong, *(f"{name} was changed" for name in changed)]
    if faults:
        only = " If you filled in these files, type: tiltmeter export FOLDER --seal"
        can_seal = not wrong and set(changed) <= set(TO_COMPLETE)
        raise UsageError(f"{folder} differs from its manifest: {_list(faults)}.{only * can_seal}")
    return FolderCheck(
        len(manifest.hashes),
        manifest.seals,
        fingerprint(folder / MANIFEST)["sha256"],
        dict(_open_places(folder, manifest.hashes)),
    )


def seal_folder(folder: Path) -> FolderCheck:
    """Updates the manifest with the documents that people filled in, and removes its signature.
    Raises UsageError if another file was changed, removed or added, or if nothing was filled in.
    """
    manifest = _read(folder)
    changed, wrong = _differences(folder, manifest)
    faults = [*wrong, *(f"{name} was changed" for name in changed if name not in TO_COMPLETE)]
    if faults:
        may = " and ".join(TO_COMPLETE)
        raise UsageError(
            f"{folder} cannot be sealed: {_list(faults)}. Only {may} may be filled in; export "
            "the run again."
        )
    if not changed:
        raise UsageError(
            f"{folder} has nothing to seal: no document changed since the run was exported or "
            "sealed."
        )
    _add_seal(folder, manifest, changed)
    signature = folder / SIGNATURE
    was_signed = signature.is_symlink() or signature.is_file()
    signature.unlink(missing_ok=True)
    return replace(check_folder(folder), unsigned=was_signed)


def _add_seal(folder: Path, manifest: _Manifest, changed: Sequence[str]) -> None:
    before = "; ".join(f"{name} sha256 {manifest.hashes[name]}" for name in changed)
    mark = f"{SEAL}{len(manifest.seals) + 1}"
    for entity in manifest.graph:
        if entity["@id"] in changed:
            entity.update(fingerprint(folder / str(entity["@id"])))
        if entity["@id"] == "./":
            entity["mentions"] = refer([*ids(entity.get("mentions")), mark])
    manifest.graph.append(
        {
            "@id": mark,
            "@type": "UpdateAction",
            "name": _NAME,
            "endTime": datetime.now(UTC).isoformat(timespec="seconds"),
            "object": refer(changed),
            "result": refer(changed),
            "description": f"Before: {before}",
        }
    )
    save_manifest(folder / MANIFEST, {**manifest.whole, "@graph": [*manifest.graph]})


def is_seal(entity: Mapping[str, Json]) -> bool:
    """True if an entity has exactly the content of a seal."""
    files = set(ids(entity.get("object")))
    old_hashes = _BEFORE.findall(str(entity.get("description")))
    return (
        entity.keys() == set(_KEYS)
        and (entity["@type"], entity["name"]) == ("UpdateAction", _NAME)
        and set(old_hashes) == files == set(ids(entity["result"])) <= set(TO_COMPLETE)
    )


def _differences(folder: Path, manifest: _Manifest) -> tuple[list[str], list[str]]:
    """Returns (changed files, messages about all other differences from the manifest)."""
    listed = manifest.hashes
    foreign = [path.relative_to(folder).as_posix() for path in foreign_of(folder)]
    present = {path.relative_to(folder).as_posix(): path for path in files_of(folder)}
    present = {name: path for name, path in present.items() if name not in foreign}
    wrong = [
        *(f"{name} is a link, or no ordinary file" for name in foreign),
        *(f"{name} is missing" for name in listed if name not in present),
        *(f"{name} is not in the manifest" for name in present if name not in listed),
    ]
    changed = [
        name
        for name, sha256 in listed.items()
        if name in present and fingerprint(present[name])["sha256"] != sha256
    ]
    outside = [
        f"{name} was changed outside what is to be filled in"
        for name, text in manifest.originals.items()
        if name in present and not is_completed(text, _text(present[name]))
    ]
    return changed, [*wrong, *outside]


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")


def _list(texts: Sequence[str]) -> str:
    more = f", and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return f"{'; '.join(texts[:_NAMED])}{more}"


def _open_places(folder: Path, listed: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yields (document, number of gaps still to be filled in) for documents and the manifest."""
    for name in (*TO_COMPLETE, MANIFEST):
        if name in listed or name == MANIFEST:
            text = (folder / name).read_text("utf-8", errors="replace")
            lines = (line for line in text.splitlines() if f"says **{OPEN}**" not in line)
            gaps = sum(line.count(OPEN) for line in lines)
            if gaps:
                yield name, gaps


def _names_twice(content: bytes) -> bool:
    """True if any object of a JSON text has a duplicate key."""
    twice = False

    def note(pairs: list[tuple[str, Json]]) -> None:
        nonlocal twice
        twice = twice or len(dict(pairs)) < len(pairs)

    json.loads(content, object_pairs_hook=note)
    return twice


def _read(folder: Path) -> _Manifest:
    path = folder / MANIFEST
    try:
        content = read_manifest(folder)
        data = object_at(parse(content).body)
    except FileNotFoundError:
        raise UsageError(
            f"{folder} has no {MANIFEST}. It is written by: "
            "tiltmeter export RUN --format audit (or crate)"
        ) from None
    except OSError:
        data = {}
    graph = graph_of(data)
    if not graph or len(graph) < len(list_at(data, "@graph")):
        raise UsageError(f"{path} cannot be read as an RO-Crate manifest. Export again.")
    by_id = {str(one["@id"]): one for one in graph}
    if len(by_id) < len(graph) or _names_twice(content):
        raise UsageError(
            f"{path} has a key or an entry twice, so that programs may read different values. "
            "Export the run again."
        )
    files = {name: one for name, one in by_id.items() if one.get("@type") == "File"}
    if not files:
        raise UsageError(f"{path} lists no file, so nothing can be checked. Export again.")
    sealed = [one for name, one in by_id.items() if name.startswith(SEAL)]
    return _Manifest(
        data,
        graph,
        {name: text_at(one, "sha256") for name, one in files.items()},
        tuple(Seal(text_at(one, "endTime"), tuple(ids(one.get("object")))) for one in sealed),
        {name: text_at(one, "text") for name, one in by_id.items() if "text" in one},
    )
