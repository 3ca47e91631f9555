"""A folder described as an RO-Crate 1.2: every file's role, size and SHA-256, and the audit that
made it. `seals` checks if a folder that came from elsewhere is unchanged.

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
    """The facts that describe a folder. made: the end of the run, ISO 8601; signatures: of the
    run's numbers; models: audited models; files: {path: description}; digests: the SHA-256 of the
    run's rows, and of its design, costs, looks and sheets.
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
    """Writes a manifest atomically."""
    write_whole(target, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")


def _head(about: About) -> list[dict[str, Json]]:
    """Returns the entities of manifest, folder, audit, tool, digests and signatures."""
    marks = {f"#signature-{n}": text for n, text in enumerate(about.signatures, 1)}
    return [
        *_roots(about, [*marks, *(f"#{name}" for name in _DIGESTS)]),
        *_origins(about),
        *(_property(f"#{kind}", kind, _DIGESTS[kind], about.digests[kind]) for kind in _DIGESTS),
        *(_property(mark, "signature", _SIGNATURE, text) for mark, text in marks.items()),
    ]


def _roots(about: About, marks: Sequence[str]) -> list[dict[str, Json]]:
    """Returns the entities of the manifest and of the folder that it describes."""
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
    """Returns the entities of the audit, the tool, the licence and the protocol."""
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
    """Returns a JSON reference to entities: an object for one id, a list for several."""
    links = [{"@id": one} for one in ids]
    return links[0] if len(links) == 1 else links


def foreign_of(folder: Path) -> list[Path]:
    """Lists the links, pipes and devices in a folder."""
    return sorted(p for p in folder.rglob("*") if p.is_symlink() or not (p.is_file() or p.is_dir()))


def files_of(folder: Path) -> list[Path]:
    """Lists the files of a folder except its own manifest and signature."""
    unlisted = (folder / MANIFEST, folder / SIGNATURE)
    return sorted(p for p in folder.rglob("*") if p.is_file() and p not in unlisted)


def read_manifest(folder: Path) -> bytes:
    """Reads the manifest of a folder. Raises OSError if it is a link, not a file, or too large."""
    path = folder / MANIFEST
    if path.is_symlink():
        raise intake.NotTaken(path, "is a link")
    return intake.read_bytes(path, intake.MOST_DECLARED_BYTES)


def graph_of(manifest: Json) -> list[dict[str, Json]]:
    """Lists the entities of a manifest; skips those whose `@id` is not a text."""
    graph = list_at(manifest, "@graph")
    return [one for one in graph if isinstance(one, dict) and text_at(one, "@id")]


def ids(reference: Json) -> list[str]:
    """Lists the ids that a reference names: one, several or none."""
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
    """Returns the size in bytes and the SHA-256 of a file, by the manifest's keys."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"contentSize": str(path.stat().st_size), "sha256": digest}
