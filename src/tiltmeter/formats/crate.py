"""A folder described as an RO-Crate 1.2: what each file is, its size and its SHA-256, and what made
them. The same description says whether a folder that came from elsewhere is still what it was.

Source: RO-Crate Metadata Specification 1.2 (w3id.org/ro/crate/1.2), its root data entity and
provenance of actions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..records import Json, __version__

MANIFEST = "ro-crate-metadata.json"
_PROFILE = "https://w3id.org/ro/crate/1.2"
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
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class About:
    """What a folder is. made: when the run ended, ISO 8601; signatures: those of its numbers;
    models: what was audited; files: {path: what it is}.
    """

    name: str
    description: str
    made: str
    protocol: str
    digest: str
    models: Sequence[str]
    signatures: Sequence[str]
    files: Mapping[str, str]


def write_manifest(folder: Path, about: About) -> Path:
    """Describes every file that lies in a folder, and returns the manifest's path."""
    entities = [*_head(about), *(_file(folder, path, about.files) for path in _paths(folder))]
    entities[1]["hasPart"] = [{"@id": entity["@id"]} for entity in entities if _is_file(entity)]
    target = folder / MANIFEST
    manifest = {"@context": f"{_PROFILE}/context", "@graph": entities}
    target.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return target


def _head(about: About) -> list[dict[str, Json]]:
    """The manifest itself, the folder, and what made it from what."""
    tool, plan = "#tiltmeter", "#protocol"
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
            "license": "to be filled in: under which licence this folder may be used",
            "identifier": list(about.signatures),
            "mentions": [{"@id": "#audit"}],
        },
        {
            "@id": "#audit",
            "@type": "CreateAction",
            "name": about.name,
            "endTime": about.made,
            "instrument": {"@id": tool},
            "object": [{"@id": plan}],
            "result": [{"@id": "./"}],
            "description": f"Models audited: {', '.join(about.models)}",
        },
        {"@id": tool, "@type": "SoftwareApplication", "name": "tiltmeter", "version": __version__},
        {
            "@id": plan,
            "@type": "CreativeWork",
            "name": about.protocol,
            "identifier": f"data:{about.digest}",
        },
    ]


def _is_file(entity: Mapping[str, Json]) -> bool:
    return entity["@type"] == "File"


def _paths(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)


def _file(folder: Path, path: Path, told: Mapping[str, str]) -> dict[str, Json]:
    name = path.relative_to(folder).as_posix()
    entity: dict[str, Json] = {
        "@id": name,
        "@type": "File",
        "name": told.get(name, path.name),
        "contentSize": str(path.stat().st_size),
        "sha256": _sha256(path),
    }
    media = _TYPES.get(path.suffix)
    return {**entity, "encodingFormat": media} if media else entity


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            found.update(block)
    return found.hexdigest()


def check_folder(folder: Path) -> int:
    """How many files a folder has, each as its manifest describes it. UsageError that names what is
    missing, changed or added, or says that there is no such manifest.
    """
    listed = _listed(folder)
    there = {path.relative_to(folder).as_posix(): path for path in _paths(folder)}
    wrong = [
        *(f"{name} is missing" for name in listed if name not in there),
        *(f"{name} is not in the manifest" for name in there if name not in listed),
        *(
            f"{name} was changed"
            for name, sha256 in listed.items()
            if name in there and _sha256(there[name]) != sha256
        ),
    ]
    if wrong:
        more = f", and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise UsageError(f"{folder} is not as it was made: {'; '.join(wrong[:5])}{more}.")
    return len(listed)


def _listed(folder: Path) -> dict[str, str]:
    """{path: SHA-256} as the manifest has them."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text("utf-8"))
        return dict(_hashes(manifest["@graph"]))
    except FileNotFoundError:
        raise UsageError(
            f"{folder} has no {MANIFEST}. It is written by: "
            "tiltmeter export RUN --format audit (or crate)"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path} cannot be read as an RO-Crate manifest.") from None


def _hashes(graph: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for entity in graph:
        if entity["@type"] == "File":
            yield entity["@id"], entity["sha256"]
