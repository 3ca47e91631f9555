"""A folder described as an RO-Crate 1.2: what each file is, its size and its SHA-256, and what made
them. `seals` says whether a folder that came from elsewhere is still what it was.

Source: RO-Crate Metadata Specification 1.2 (w3id.org/ro/crate/1.2), its root data entity and
provenance of actions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..models.http.body import list_at, text_at
from ..records import Json, __version__
from ..system import intake
from ..system.writing import write_whole

MANIFEST = "ro-crate-metadata.json"
SIGNATURE = f"{MANIFEST}.sig"  # of signing.py
_PROFILE = "https://w3id.org/ro/crate/1.2"
_TOOL = (
    f"pkg:generic/tiltmeter@{__version__}"  # a package URL: the tool by name and version, no page
)
_TOOL_ID, _PLAN, _LICENCE = "#tiltmeter", "#protocol", "#license"
_DIGESTS = {
    "rows": "SHA-256 of the rows of the run, sorted by key",
    "beside": "SHA-256 of the design, costs, looks and sheets of the run",
}
_SIGNATURE = "signature of numbers of this run"
TO_COMPLETE = ("evidence.md", "CITATION.cff")  # documents that people fill in
_TYPES = {
    ".html": "text/html",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".json": "application/json",
    ".cff": "application/yaml",
    ".sqlite": "application/vnd.sqlite3",
    ".parquet": "application/vnd.apache.parquet",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
OPEN = "to be filled in"


@dataclass(frozen=True, slots=True)
class About:
    """The facts that describe a folder. made: when the run ended, ISO 8601; signatures: those of
    its numbers; models: what was audited; files: {path: what it is}; digests: the SHA-256 of
    the run's rows, and of what stands beside them.
    """

    name: str
    description: str
    made: str
    protocol: str
    digest: str
    models: Sequence[str]
    signatures: Sequence[str]
    files: Mapping[str, str]
    digests: Mapping[str, str]


def write_manifest(folder: Path, about: About) -> Path:
    """Describes every file that lies in a folder, and returns the manifest's path."""
    entities = [*_head(about), *(_file(folder, path, about.files) for path in files_of(folder))]
    entities[1]["hasPart"] = refer([str(one["@id"]) for one in entities if one["@type"] == "File"])
    target = folder / MANIFEST
    save_manifest(target, {"@context": f"{_PROFILE}/context", "@graph": entities})
    return target


def save_manifest(target: Path, manifest: Mapping[str, Json]) -> None:
    """Writes a manifest whole or not at all."""
    write_whole(target, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")


def _head(about: About) -> list[dict[str, Json]]:
    """The manifest itself, the folder, and what made it from what."""
    marks = {f"#signature-{n}": text for n, text in enumerate(about.signatures, 1)}
    return [
        *_roots(about, [*marks, *(f"#{name}" for name in _DIGESTS)]),
        *_origins(about),
        *(_property(f"#{kind}", kind, _DIGESTS[kind], about.digests[kind]) for kind in _DIGESTS),
        *(_property(mark, "signature", _SIGNATURE, text) for mark, text in marks.items()),
    ]


def _roots(about: About, marks: Sequence[str]) -> list[dict[str, Json]]:
    """The manifest and the folder that it is of."""
    return [
        {
            "@id": MANIFEST,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _PROFILE},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": about.name,
            "description": about.description,
            "datePublished": about.made[:10],
            "license": {"@id": _LICENCE},
            **({"identifier": refer(marks)} if marks else {}),
            "mentions": {"@id": "#audit"},
        },
    ]


def _origins(about: About) -> list[dict[str, Json]]:
    """The audit, the tool and the protocol that it was made with, and the licence."""
    return [
        {
            "@id": "#audit",
            "@type": "CreateAction",
            "name": about.name,
            "endTime": about.made,
            "instrument": {"@id": _TOOL_ID},
            "object": {"@id": _PLAN},
            "result": {"@id": "./"},
            "description": f"Models audited: {', '.join(about.models)}",
        },
        {
            "@id": _TOOL_ID,
            "@type": "SoftwareApplication",
            "name": "tiltmeter",
            "version": __version__,
            "url": _TOOL,
        },
        {
            "@id": _LICENCE,
            "@type": "CreativeWork",
            "name": OPEN,
            "description": "Under which licence this folder may be used",
        },
        {
            "@id": _PLAN,
            "@type": "CreativeWork",
            "name": about.protocol,
            "identifier": f"data:{about.digest}",
        },
    ]


def _property(mark: str, kind: str, name: str, value: str) -> dict[str, Json]:
    return {
        "@id": mark,
        "@type": "PropertyValue",
        "name": name,
        "propertyID": f"tiltmeter-{kind}",
        "value": value,
    }


def refer(ids: Sequence[str]) -> Json:
    """A reference to entities: one by itself, several as a list."""
    found = [{"@id": one} for one in ids]
    return found[0] if len(found) == 1 else found


def foreign_of(folder: Path) -> list[Path]:
    """The links, pipes and devices of a folder."""
    return sorted(p for p in folder.rglob("*") if p.is_symlink() or not (p.is_file() or p.is_dir()))


def files_of(folder: Path) -> list[Path]:
    """Every file of a folder but its own manifest and its signature."""
    own = (folder / MANIFEST, folder / SIGNATURE)
    return sorted(p for p in folder.rglob("*") if p.is_file() and p not in own)


def read_manifest(folder: Path) -> bytes:
    """The manifest of a folder. OSError if it is a link, no file, or too large."""
    path = folder / MANIFEST
    if path.is_symlink():
        raise intake.NotTaken(path, "is a link")
    return intake.read_bytes(path, intake.MOST_DECLARED_BYTES)


def graph_of(manifest: Json) -> list[dict[str, Json]]:
    """The entities of a manifest; what names itself by no text is none."""
    graph = list_at(manifest, "@graph")
    return [one for one in graph if isinstance(one, dict) and text_at(one, "@id")]


def ids(reference: Json) -> list[str]:
    """Lists the entities that are referred to: one, several or none."""
    several = reference if isinstance(reference, list) else [reference]
    return [text_at(one, "@id") for one in several if text_at(one, "@id")]


def _file(folder: Path, path: Path, told: Mapping[str, str]) -> dict[str, Json]:
    name = path.relative_to(folder).as_posix()
    entity: dict[str, Json] = {
        "@id": name,
        "@type": "File",
        "name": path.name,
        "description": told.get(name, f"The file {name} of the run"),
        **fingerprint(path),
    }
    if name in TO_COMPLETE:  # as it was, so that only what is to be filled in can be sealed
        entity["text"] = path.read_text("utf-8")
    media = _TYPES.get(path.suffix)
    return {**entity, "encodingFormat": media} if media else entity


def fingerprint(path: Path) -> dict[str, str]:
    """A file's size in bytes and its SHA-256, under the names of the manifest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"contentSize": str(path.stat().st_size), "sha256": digest}
