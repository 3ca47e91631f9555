"""Logs of other tools as answers of an audit: their samples, our statistics.

- Inspect's `.eval` (zipped) and `.json`: the last user message is the prompt, an epoch a sample,
  metadata are columns (inspect_ai.log, version 2 of the format).
- `lm_eval --log_samples`: the fields of `doc` are columns; the prompt is `doc.prompt` or as sent.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from ...errors import MissingExtra, ModelError
from ...records import ERROR, Json
from ..http.body import at, list_at, object_at, parse, text_at, word_at

ENDING = ".eval"
EXTRA = "inspect"  # reads zip entries that are compressed by Zstandard (method 93)
ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<26xHH")  # of a zip entry: the lengths of its name and extra field
MOST_ENTRY_BYTES = 2**28
_TRIAL = re.compile("[0-9a-f]{32}")
Row = dict[str, Json]


def is_inspect(data: Mapping[str, Json]) -> bool:
    """True if the JSON is a complete log of Inspect."""
    return isinstance(data.get("eval"), dict) and isinstance(data.get("samples"), list)


def inspect_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yields the samples of an `.eval` file, numbered from 1."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.startswith("samples/"))
            start = "header.json" if "header.json" in archive.namelist() else "_journal/start.json"
            head = _json(path, archive, start)
            samples = (_json(path, archive, name) for name in names)
            yield from enumerate(sample_rows(head, samples), 1)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, OSError) as error:
        raise ModelError(f"{path} is not a log of Inspect ({error}).") from None


def _json(path: Path, archive: zipfile.ZipFile, name: str) -> Json:
    parsed = parse(_entry(path, archive, name))
    if parsed.fault:
        raise ModelError(f"{path} is not a log of Inspect ({name} is {parsed.fault}).")
    return parsed.body


def _entry(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Returns the bytes of a zip entry. Raises ModelError if it is too large."""
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        with archive.open(name) as unpacked:
            content = unpacked.read(MOST_ENTRY_BYTES + 1)
    else:
        with path.open("rb") as file:
            file.seek(entry.header_offset)
            skipped = sum(LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size)))
            file.seek(skipped, 1)
            content = _unpack(file.read(entry.compress_size))
    if len(content) > MOST_ENTRY_BYTES:  # what the archive says of its size may be a lie
        raise ModelError(f"{path}: {name} has more than {MOST_ENTRY_BYTES // 2**20} MiB.")
    return content


def _unpack(packed: bytes) -> bytes:
    """Decompresses Zstandard data, up to one byte more than an entry may have."""
    try:
        zstandard = import_module("zstandard")
    except ModuleNotFoundError:
        raise MissingExtra("Reading a log of Inspect (.eval)", EXTRA) from None
    try:
        content: bytes = (
            zstandard.ZstdDecompressor().stream_reader(packed).read(MOST_ENTRY_BYTES + 1)
        )
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    return content


def sample_rows(head: Json, samples: Iterable[Json]) -> Iterator[Row]:
    """Yields a row per sample of a log."""
    model = word_at(head, "eval", "model")
    for sample in samples:
        if isinstance(sample, Mapping):
            yield _sample_row(sample, model)


def _sample_row(sample: Mapping[str, Json], model: str) -> Row:
    row: Row = {**object_at(sample, "metadata")}
    prompt = _last_of_user(sample.get("input"))
    if prompt:
        row["prompt"] = prompt
    if _TRIAL.fullmatch(str(sample.get("id", ""))):
        row["id"] = str(sample["id"])
    else:
        row.pop("id", None)
    epoch = sample.get("epoch")
    row["sample"] = epoch - 1 if isinstance(epoch, int) and epoch > 0 else 0
    return row | _output(sample) | {"model": model}


def _output(sample: Mapping[str, Json]) -> Row:
    """Returns the text and the outcome of a sample."""
    error = sample.get("error")
    if error:
        reason = word_at(error, "message") if isinstance(error, Mapping) else str(error)
        return {"text": reason, "outcome": ERROR}
    if not list_at(sample, "output", "choices"):
        return {"text": "", "outcome": ERROR}
    first = at(sample, "output", "choices", 0)
    return {
        "text": _text(at(first, "message", "content")),
        "finish_reason": at(first, "stop_reason"),
    }


def _last_of_user(given: Json) -> str:
    """Returns the prompt: a text unchanged, or the last user message of a list."""
    if not isinstance(given, list):
        return text_at(given)
    asked = [_text(at(turn, "content")) for turn in given if at(turn, "role") == "user"]
    return asked[-1] if asked else ""


def _text(content: Json) -> str:
    """Returns the text of a message: the text itself, or its text parts joined."""
    return text_at(content) or "".join(text_at(part, "text") for part in list_at(content))


def is_harness(data: Mapping[str, Json]) -> bool:
    """True if an object is a line of `lm_eval --log_samples`."""
    return isinstance(data.get("doc"), dict) and "resps" in data


def harness_rows(data: Mapping[str, Json]) -> Iterator[Row]:
    """Yields one row per reply to a document."""
    doc = data["doc"]
    assert isinstance(doc, Mapping)
    row: Row = dict(doc)
    if not isinstance(row.get("prompt"), str):
        sent = _sent_text(data.get("arguments"))
        row.update({"prompt": sent} if sent else {})
    for text in _texts(data["resps"]):
        yield row | {"text": text}


def _texts(replies: Json) -> Iterator[str]:
    """Yields the replies from nested lists."""
    waiting = [replies]
    while waiting:
        reply = waiting.pop(0)
        if isinstance(reply, str):
            yield reply
        waiting[:0] = list_at(reply)


def _sent_text(arguments: Json) -> str:
    """Returns the prompt sent: the first argument, or the last user message of a JSON chat."""
    while isinstance(arguments, (dict, list)) and arguments:
        arguments = next(iter(arguments.values())) if isinstance(arguments, dict) else arguments[0]
    if not isinstance(arguments, str):
        return ""
    chat = parse(arguments.encode("utf-8", "surrogatepass")).body
    return _last_of_user(chat) if isinstance(chat, list) else arguments
