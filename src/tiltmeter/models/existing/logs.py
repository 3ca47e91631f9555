"""Logs of other tools as answers of an audit: their samples, our statistics.

- Inspect's `.eval` (a zip of JSON) and `.json`: the last that the user says is the prompt, each
  epoch a sample, metadata are columns (inspect_ai.log, version 2 of the format).
- `lm_eval --log_samples`: the fields of `doc` are columns, the prompt is `doc.prompt` or what was
  sent.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from ...errors import MissingExtra, ModelError
from ...records import ERROR, Json

ENDING = ".eval"
EXTRA = "inspect"  # reads zip entries that are compressed by Zstandard (method 93)
ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<26xHH")  # of a zip entry: the lengths of its name and extra field
MOST_ENTRY_BYTES = 2**28
_TRIAL = re.compile("[0-9a-f]{32}")
Row = dict[str, Json]


def is_inspect(data: Mapping[str, Json]) -> bool:
    """True for the JSON of a whole log."""
    return isinstance(data.get("eval"), dict) and isinstance(data.get("samples"), list)


def inspect_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The samples of an `.eval` file, numbered in their order."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.startswith("samples/"))
            start = "header.json" if "header.json" in archive.namelist() else "_journal/start.json"
            head = json.loads(_entry(path, archive, start))
            samples = (json.loads(_entry(path, archive, name)) for name in names)
            yield from enumerate(sample_rows(head, samples), 1)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise ModelError(f"{path} is no log of Inspect ({error}).") from None


def _entry(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of an entry."""
    entry = archive.getinfo(name)
    if entry.file_size > MOST_ENTRY_BYTES:
        raise ModelError(f"{path}: {name} has more than {MOST_ENTRY_BYTES // 2**20} MiB.")
    if entry.compress_type != ZSTANDARD:
        return archive.read(name)
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        skipped = sum(LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size)))
        file.seek(skipped, 1)
        return _unpack(file.read(entry.compress_size))


def _unpack(content: bytes) -> bytes:
    try:
        reader = import_module("zstandard").ZstdDecompressor().decompressobj()
    except ModuleNotFoundError:
        raise MissingExtra("A log of Inspect (.eval)", EXTRA) from None
    unpacked: bytes = reader.decompress(content)
    return unpacked


def sample_rows(head: Mapping[str, Json], samples: Iterable[Json]) -> Iterator[Row]:
    """A row for each sample of a log."""
    spec = head.get("eval")
    model = str(spec.get("model", "")) if isinstance(spec, Mapping) else ""
    for sample in samples:
        if isinstance(sample, Mapping):
            yield _sample_row(sample, model)


def _sample_row(sample: Mapping[str, Json], model: str) -> Row:
    metadata = sample.get("metadata")
    row: Row = dict(metadata) if isinstance(metadata, Mapping) else {}
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
    """The text and the outcome of a sample."""
    output, error = sample.get("output"), sample.get("error")
    if error:
        reason = error.get("message", "") if isinstance(error, Mapping) else error
        return {"text": str(reason), "outcome": ERROR}
    choices = output.get("choices") if isinstance(output, Mapping) else None
    if not isinstance(output, Mapping) or not isinstance(choices, list) or not choices:
        return {"text": "", "outcome": ERROR}
    first = choices[0] if isinstance(choices[0], Mapping) else {}
    message = first.get("message")
    text = _text(message.get("content")) if isinstance(message, Mapping) else ""
    return {"text": text, "finish_reason": first.get("stop_reason")}


def _last_of_user(given: Json) -> str:
    """The prompt: a text, or the last message of a user."""
    if isinstance(given, list):
        messages = [
            _text(message.get("content"))
            for message in given
            if isinstance(message, Mapping) and message.get("role") == "user"
        ]
        return messages[-1] if messages else ""
    return given if isinstance(given, str) else ""


def _text(content: Json) -> str:
    """The text of a message: a text, or its parts that are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def is_harness(data: Mapping[str, Json]) -> bool:
    """True for a line of `lm_eval --log_samples`."""
    return isinstance(data.get("doc"), dict) and "resps" in data


def harness_rows(data: Mapping[str, Json]) -> Iterator[Row]:
    """A row for each reply to a document."""
    doc = data["doc"]
    assert isinstance(doc, Mapping)
    row: Row = dict(doc)
    if not isinstance(row.get("prompt"), str):
        sent = _sent_text(data.get("arguments"))
        row.update({"prompt": sent} if sent else {})
    for text in _texts(data["resps"]):
        yield row | {"text": text}


def _texts(replies: Json) -> Iterator[str]:
    """The replies, which stand in lists of lists."""
    if isinstance(replies, str):
        yield replies
    elif isinstance(replies, list):
        for reply in replies:
            yield from _texts(reply)


def _sent_text(arguments: Json) -> str:
    """Returns the text that was sent: the first argument of the first request, a text or a chat as
    JSON.
    """
    while isinstance(arguments, (dict, list)) and arguments:
        arguments = next(iter(arguments.values())) if isinstance(arguments, dict) else arguments[0]
    if not isinstance(arguments, str):
        return ""
    try:
        chat = json.loads(arguments)
    except ValueError:
        return arguments
    return _last_of_user(chat) if isinstance(chat, list) else arguments
