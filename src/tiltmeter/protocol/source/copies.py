"""Published data that a protocol reads and that does not ship: its release, the place to get it,
and a check that the user's copy is that release.

`sources.toml` in the folder of a protocol names the release and the sha256 of each file:

    title = "discrim-eval, the explicit half"
    release = "Anthropic/discrim-eval"
    licence = "CC BY 4.0"
    get = "Download explicit.jsonl from …"
    files = [{ path = "explicit.jsonl", sha256 = "…" }]
    partial = true                               # a copy may lack files
    also = ["data/*.jsonl"]                      # further files of the release, not compared
    tables = { "texts.jsonl" = "texts:table" }   # tables of protocol.toml, made from the files, or
                                                 # one of them as it is: "data/texts.csv"
    outputs = "replies:read"                     # reads published outputs, for tiltmeter import
    contents = "replies:contents"                # gives the files' contents, if they are gathered

`outputs` and `contents` name functions beside the protocol. Outputs in rows need no function:
`[[outputs]]` names the columns to read (stages/steps/import_rows.py). A copy is a folder, or the
file if there is one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...system import cache, intake

DATA = "TILTMETER_DATA"  # the folder that remembers copies, in place of the system's
NAME = "sources.toml"
SHOWN = 3  # files that a message names


class MissingCopy(UsageError):
    """Raised if a protocol needs texts that do not ship, and no copy of the texts is known."""

    def __init__(self, source: CopySources) -> None:
        super().__init__(
            f"{source.protocol} asks texts that do not ship with tiltmeter. {source.get} Then "
            f"type: tiltmeter import {source.protocol} PATH"
        )
        self.source = source


@dataclass(frozen=True, slots=True)
class Copy:
    """A checked copy of a release. contents: {file: bytes}; unchecked: files of unknown sha256."""

    contents: Mapping[str, bytes]
    missing: tuple[str, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The SHA-256 over the files' names and SHA-256 hashes."""
        lines = (f"{_sha256(content)}  {name}\n" for name, content in self.contents.items())
        return _sha256("".join(lines).encode())

    @property
    def note(self) -> str:
        """A sentence on files that are missing or could not be compared; "" if there are none."""
        notes = [f"the copy lacks {_names(self.missing)}"] if self.missing else []
        if self.unchecked:
            notes.append(f"no sha256 is known of {_names(self.unchecked)}, which was not compared")
        return "; ".join(notes)


@dataclass(frozen=True, slots=True, eq=False)
class CopySources:
    """The content of a protocol's `sources.toml`.

    package: the package of the protocol's functions; files: {path: its sha256}; tables: {table: the
    function that makes it}.
    """

    protocol: str
    package: str
    title: str
    release: str
    commit: str
    licence: str
    get: str
    files: Mapping[str, str]
    tables: Mapping[str, str]
    outputs: str | Sequence[Mapping[str, Any]]
    contents: str
    partial: bool = False
    also: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Returns lines on the source of the data, its licence, and the commands that use it."""
        at = f", commit {self.commit[:12]}" if self.commit else ""
        use = [f"tiltmeter import {self.protocol} PATH{' --out RUN' if self.outputs else ''}"]
        if self.tables:
            use.append(f"tiltmeter run {self.protocol} --data PATH --model … --out RUN")
        return [
            f"{self.title}: {self.release}{at} ({self.licence}); not shipped",
            self.get,
            *(f"then: {command}" for command in use),
        ]

    def check(self, path: Path) -> Copy:
        """Compares a copy with the release. Raises UsageError if a file differs or all are gone."""
        if not path.exists():
            raise UsageError(f"There is no file or folder {path}. {self.get}")
        reader = self.function(self.contents) if self.contents else read_files
        contents = reader(path, (*self.files, *self._further(path)))
        differing = [
            name
            for name, content in contents.items()
            if name in self.files and _sha256(content) != self.files[name]
        ]
        if differing:
            at = f" at commit {self.commit[:12]}" if self.commit else ""
            raise UsageError(
                f"{path} is not the release that tiltmeter knows: {_names(differing)} differ"
                f"{'s' if len(differing) == 1 else ''}. Expected: {self.release}{at}. {self.get}"
            )
        if not contents:
            raise UsageError(f"{path} has no file of {self.release}. {self.get}")
        return Copy(
            contents,
            tuple(name for name in self.files if name not in contents),
            tuple(name for name in contents if name not in self.files),
        )

    def _further(self, path: Path) -> list[str]:
        """Returns the names of a copy's files that match `also`, which are not compared."""
        names = (
            str(file.relative_to(path).as_posix()).removesuffix(intake.XZ)
            for pattern in self.also
            for ending in ("", intake.XZ)
            for file in path.glob(f"{pattern}{ending}")
        )
        return sorted({name for name in names if name not in self.files})

    def check_texts(self, path: Path) -> Copy:
        """Reads a copy of a protocol's texts. Raises UsageError if a file differs or is missing."""
        if not self.tables:
            raise UsageError(f"{self.protocol} ships with its texts. Leave --data out.")
        copy = self.check(path)
        if copy.missing and not self.partial:
            raise UsageError(f"{path}: {copy.note}. {self.get}")
        return copy

    def texts(self, path: Path) -> dict[str, str]:
        """Returns {name in protocol.toml: table made from a copy}."""
        copy = self.check_texts(path)
        tables: dict[str, str] = {}
        for table, maker in self.tables.items():
            hashes = map(_sha256, copy.contents.values())
            key = cache.key_of(self.protocol, table, *hashes) if cache.keeps() else ""
            text = cache.read_text(key)
            tables[table] = self._table(maker, copy) if text is None else text
            if text is None:
                cache.keep_text(key, tables[table])
        return tables

    def _table(self, maker: str, copy: Copy) -> str:
        """Returns a table: an unchanged file of the copy, or a function's result."""
        if ":" in maker:
            text: str = self.function(maker)(copy.contents)
            return text
        if maker not in copy.contents:
            raise UsageError(f"The copy lacks {maker}, from which prompts are made. {self.get}")
        return copy.contents[maker].decode()

    def function(self, place: str) -> Callable[..., Any]:
        """Returns the function at `module:function` in the protocol's package."""
        module, _, name = place.partition(":")
        function: Callable[..., Any] = getattr(import_module(f"{self.package}.{module}"), name)
        return function


@lru_cache
def source_of(folder: Path, protocol: str, package: str) -> CopySources | None:
    """Reads `sources.toml` in a protocol's folder; None if the protocol reads no published data."""
    try:
        data = tomllib.loads((folder / NAME).read_text("utf-8"))
    except FileNotFoundError:
        return None
    return CopySources(
        protocol,
        package,
        data["title"],
        data["release"],
        data.get("commit", ""),
        data["licence"],
        data["get"],
        {file["path"]: file["sha256"] for file in data["files"]},
        data.get("tables", {}),
        data.get("outputs", ""),
        data.get("contents", ""),
        data.get("partial", False),
        tuple(data.get("also", ())),
    )


def read_files(path: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Reads the named files that exist, also compressed (.xz); `path` may be the only file."""
    if path.is_file() and len(names) == 1:
        return {names[0]: _plain(path)}
    contents = {}
    for name in names:
        for file_path in (path / name, path / f"{name}{intake.XZ}"):
            if file_path.is_file():
                contents[name] = _plain(file_path)
                break
    return contents


def _plain(path: Path) -> bytes:
    try:
        return intake.read_content(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}. Download it again.") from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _names(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if names[SHOWN:] else ""
    return ", ".join(names[:SHOWN]) + more


def remember(protocol: str, path: Path) -> None:
    """Stores the path to a copy of a protocol's data, for later commands."""
    known = _known() | {protocol: str(path.resolve())}
    memory = _memory()
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        part = memory.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(known, indent=1, ensure_ascii=False), "utf-8", newline="\n")
        part.replace(memory)
    except OSError as error:
        raise UsageError(
            f"{memory} cannot be written: {error.strerror}. Name another folder in {DATA}."
        ) from None


def remembered(protocol: str) -> Path | None:
    """Returns the stored path to a copy of a protocol's data; None if unknown or gone."""
    path = _known().get(protocol)
    return Path(path) if path and Path(path).exists() else None


def _known() -> dict[str, str]:
    try:
        known = json.loads(_memory().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in known.items()} if isinstance(known, dict) else {}


def _memory() -> Path:
    folder = os.environ.get(DATA)
    if folder:
        return Path(folder).expanduser() / "copies.json"
    import platformdirs

    return Path(platformdirs.user_data_dir("tiltmeter")) / "copies.json"
