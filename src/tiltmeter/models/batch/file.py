"""Batches that the user runs: writes a file of requests in OpenAI's format, reads a file of
results.

vLLM's `run-batch -i work.jsonl -o work.out.jsonl` reads and writes such files, and so does any
program that keeps a line's custom_id. A batch has ended when each request has a result, or when its
input file is gone: then the rest counts as not done."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import BinaryIO

from ...errors import ModelError
from ...records import Json
from ...system import READ_FLAGS, intake
from ..http.body import parse as parse_json
from ..http.body import word_at
from .format import PREFIX_CHARACTERS, BatchLine, Bounds, Candidate, Handed, Seen, request_key
from .openai import OpenAIBatches, result
from .wire import MOST_LINE_BYTES, Wire

FILE = "file:"  # begins the remote id of such a batch
_SEPARATOR = "#"
_PREFIX = re.compile(f"[0-9a-f]{{{PREFIX_CHARACTERS}}}")


class FileBatches(OpenAIBatches):
    """A batch format of plain files. path: the file to write, numbered if another one exists."""

    def __init__(self, path: Path) -> None:
        super().__init__(Bounds(1_000_000, 2 * 10**9, 24 * 365))
        self._path = path

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Does nothing: a file needs no upload."""
        return FILE

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Copies the file to the requested path; doing so twice changes nothing."""
        path = self._free_path(handed)
        part = path.with_name(f".{path.name}.{handed.prefix}.part")  # no name of somebody's file
        try:
            shutil.copyfile(handed.file, part)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        remote = _SEPARATOR.join((f"{FILE}{path}", handed.prefix, str(handed.requests)))
        return Seen(remote, ended=False, said=f"written to {path}")

    def _free_path(self, handed: Handed) -> Path:
        path = self._path.resolve()
        for number in count(2):
            if not path.exists() or _is_of(path, handed.prefix):
                return path
            path = path.with_stem(f"{self._path.stem}.{number}")
        raise AssertionError("unreachable")

    async def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields nothing, as `create` may be repeated."""
        for candidate in tuple[Candidate, ...]():
            yield candidate

    async def look(self, wire: Wire, remote: str) -> Seen:
        """Returns the batch's state, with the number of results so far."""
        path, prefix, requests = _split_remote(remote)
        names = {line.custom_id async for line in _results(path)}
        done = sum(name.startswith(f"{prefix}-") for name in names)
        ended = done >= requests or not _is_of(path, prefix)
        status = f"{results_path(path)} has {done:,} of {requests:,}"
        return Seen(remote, ended, status, done=done, total=requests)

    async def lines(self, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        """Yields the results so far."""
        path, _, _ = _split_remote(seen.remote)
        async for line in _results(path):
            yield line

    async def cancel(self, wire: Wire, remote: str) -> None:
        """Renames the file to .cancelled.jsonl."""
        path, prefix, _ = _split_remote(remote)
        if _is_of(path, prefix):
            path.replace(path.with_suffix(".cancelled.jsonl"))


def results_path(path: Path) -> Path:
    """Returns the path of a file's results: work.out.jsonl for work.jsonl."""
    return path.with_suffix(f".out{path.suffix}")


def names_own_file(remote: str, folder: Path, typed: Path | None) -> bool:
    """True if the path stored for a batch may be used: the file has this batch's requests, is
    inside the run's folder, or was typed by the user. typed: the file of --batch-file.
    """
    path, prefix, _ = _split_remote(remote)
    if _is_of(path, prefix) or intake.is_inside(folder, path):
        return True
    if typed is None:
        return False
    stem, typed = path.stem, typed.resolve()
    is_numbered = stem.startswith(f"{typed.stem}.") and stem[len(typed.stem) + 1 :].isdecimal()
    return path.parent == typed.parent and (stem == typed.stem or is_numbered)


def path_of(remote: str) -> Path:
    """Returns the path of a batch's file."""
    return _split_remote(remote)[0]


def _split_remote(remote: str) -> tuple[Path, str, int]:
    try:
        path, prefix, requests = remote.removeprefix(FILE).rsplit(_SEPARATOR, 2)
        if not _PREFIX.fullmatch(prefix) or "\0" in path:
            raise ValueError
        return Path(path), prefix, int(requests)
    except ValueError:
        raise ModelError(f"The stored name of a batch of this run is malformed: {remote}") from None


def _is_of(path: Path, prefix: str) -> bool:
    """True if a file's first line is a request of the batch."""
    try:
        with _open(path) as lines:
            first: Json = parse_json(lines.readline(MOST_LINE_BYTES)).body
    except OSError:
        return False
    return bool(request_key(prefix, word_at(first, "custom_id")))


def _open(path: Path) -> BinaryIO:
    """Opens a regular file. Raises OSError for a pipe, a device or a folder."""
    number = os.open(path, READ_FLAGS)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise FileNotFoundError(f"{path} is not an ordinary file")
    return os.fdopen(number, "rb")


async def _results(path: Path) -> AsyncIterator[BatchLine]:
    try:
        with _open(results_path(path)) as lines:
            while line := lines.readline(MOST_LINE_BYTES):
                body = parse_json(line).body
                if body is not None:  # the last line may still be written
                    yield result(body)
    except FileNotFoundError:
        return
