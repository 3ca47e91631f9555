"""Compares an exported folder with a new export of the run inside it, or of another run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import TiltmeterError
from ...formats import seals, signing
from ...formats.completed import is_completed
from ...formats.crate import TO_COMPLETE, files_of, foreign_of, graph_of, ids, read_manifest
from ...gold import majority
from ...models.http.body import object_at, parse
from ...records import Json
from ...stages.steps import protocol_snapshot
from ...store import Store
from ...system import intake
from ..handover.deposits import export_audit, export_crate
from .findings import Findings

RUN = "run"  # of a crate: the run inside it
_FREE = ("contentSize", "sha256", "mentions")  # of an entity: held against files and seals


def compare_with_export(folder: Path, run: Path, findings: Findings) -> None:
    """Compares every file of a folder with a new export of a run."""
    crate = (folder / RUN).is_dir()
    with TemporaryDirectory() as place:
        run = _unchanging(run, Path(place))
        folders = [Path(place) / name for name in ("plain", "texts")]
        if crate:
            export_crate(run, folders[0])
            folders = folders[:1]
        else:
            export_audit(run, folders[0])
            export_audit(run, folders[1], texts=True)
        if _tool(folder) != _tool(folders[0]):
            findings.unchecked.append(
                "pages and tables cannot be compared, since another version wrote them: "
                f"version {_tool(folder) or 'unknown'}; this is {_tool(folders[0])}"
            )
            return
        faults = [list(_differences(folder, one, findings)) for one in folders]
        for what, name in min(faults, key=len):
            findings.add(what, name)


def _unchanging(run: Path, place: Path) -> Path:
    """Returns a run that an export will not write to: the run, or a copy if labels by majority are
    not what people say, which an export stores anew.
    """
    with Store(run) as store:
        protocol, _ = protocol_snapshot.protocol_of(store)
        if majority.changes(store, protocol) or majority.outdated(store, protocol):
            store.copy_to(place / RUN)
            return place / RUN
    return run


def _differences(folder: Path, made: Path, findings: Findings) -> list[tuple[str, str]]:
    faults, links = [], set(foreign_of(folder))
    names = {path.relative_to(made).as_posix() for path in files_of(made)}
    for path in files_of(folder):
        name = path.relative_to(folder).as_posix()
        if name not in names and not name.startswith(f"{RUN}/"):
            faults.append(("a file is none of this export", name))
    for name in sorted(names):
        findings.count("files")
        if name == f"{RUN}/run.sqlite":
            continue  # its rows are what everything else is computed from
        if not links.isdisjoint({folder / name, *(folder / name).parents}):
            faults.append(("a file is a link", name))
            continue
        if not (folder / name).is_file():
            faults.append(("a file of this export is missing", name))
            continue
        ours, theirs = (intake.read_bytes(place / name) for place in (made, folder))
        if ours == theirs:
            continue
        if name not in TO_COMPLETE:
            faults.append(("a file does not follow from the run", name))
        elif not is_completed(_text(ours), _text(theirs)):
            faults.append(("a document was changed outside what is to be filled in", name))
    faults += [
        ("the manifest does not follow from the run", name) for name in _entities(folder, made)
    ]
    return faults


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _entities(folder: Path, made: Path) -> list[str]:
    """Lists the manifest's entities that differ in more than hashes, seals and the licence."""
    theirs, ours = _graph(folder), _graph(made)
    sealed = {name for name in theirs if name.startswith(seals.SEAL)}
    manifests = (_manifest(folder), _manifest(made))
    if len({json.dumps({**one, "@graph": None}, sort_keys=True) for one in manifests}) > 1:
        return ["what its words mean, or what stands beside the graph"]
    changed = [name for name in ours if _fixed(theirs.get(name, {})) != _fixed(ours[name])]
    changed += [
        name
        for name in ours
        if set(ids(theirs.get(name, {}).get("mentions"))) - sealed
        != set(ids(ours[name].get("mentions")))
    ]
    changed += [name for name in sealed if not seals.is_seal(theirs[name])]
    changed += list(theirs.keys() - ours.keys() - sealed)
    return [name for name in changed if name != "#license"]


def _fixed(entity: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in entity.items() if name not in _FREE}


def _manifest(folder: Path) -> dict[str, Json]:
    try:
        return object_at(parse(read_manifest(folder)).body)
    except OSError:
        return {}


def _graph(folder: Path) -> dict[str, dict[str, Json]]:
    return {str(entity["@id"]): entity for entity in graph_of(_manifest(folder))}


def _tool(folder: Path) -> str:
    return str(_graph(folder).get("#tiltmeter", {}).get("version", ""))


def check_manifest(folder: Path, findings: Findings) -> seals.FolderCheck | None:
    """Compares each file with its hash in the manifest; None, with a finding, if they differ."""
    try:
        return seals.check_folder(folder)
    except TiltmeterError as error:
        findings.add("the folder is not as its manifest says", str(error))
        return None


def check_signature(folder: Path, signers: Path | str | None, findings: Findings) -> None:
    """Checks the manifest's signature, if it is signed or `signers` require a signature."""
    try:
        signer = signing.signer_of(folder, None if signers is None else Path(signers))
    except TiltmeterError as error:
        findings.add("the manifest is not as it was signed", str(error))
        return
    if signer is not None:
        findings.signer = f"{signer.name}, {signer.key}".removeprefix(", ")
