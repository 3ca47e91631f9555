"""Published rankings as a run: `tiltmeter import hiring PATH --out RUN`.

PATH is a clone of Bloomberg's release, in which each reply is a file, or a file of JSON lines with
path, model, job, names, groups and reply. Names and groups are in the order of the prompt; A_W
stands for Asian women, and so on. The article did not count the replies in folders called
`oversampled`; they are marked, and `--variant published` leaves them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ...errors import UsageError
from ...instruments.ranking.ranking import Rankings
from ...protocol import Protocol
from ...protocol.source.copies import Copy
from ...records import ANSWER, Answered, Json, Label, Output, Reply, Sampling, Trial, content_id
from ...system import intake

RACES = {"A": "Asian", "B": "Black", "H": "Hispanic", "W": "White"}
GENDERS = {"M": "men", "W": "women"}
COLUMNS = ("path", "model", "job", "names", "groups", "reply")
BELOW = "data/intermediary/resume_ranking"  # the replies in a clone

Imported = tuple[Trial, Output, Sequence[Label]]


class Published(NamedTuple):
    """One published reply. groups, names: in the order of the prompt."""

    path: str
    model: str
    job: str
    names: tuple[str, ...]
    groups: tuple[str, ...]
    reply: str


def contents(path: Path, folders: Sequence[str]) -> dict[str, bytes]:
    """Returns {folder of the release: its replies as JSON lines, sorted by file}, without missing
    folders; the result is the same for a clone and for a file of JSON lines. Raises UsageError for
    an unreadable file.
    """
    lines: dict[str, list[tuple[str, str]]] = {}
    for row in _in_clone(path, folders) if path.is_dir() else _in_file(path):
        at = PurePosixPath(row.path)
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        lines.setdefault(str(at.parent), []).append((at.name, text))
    return {
        name: "".join(f"{text}\n" for _, text in sorted(lines[name])).encode()
        for name in folders
        if name in lines
    }


def read(protocol: Protocol, copy: Copy) -> Iterator[Imported]:
    """Yields one trial per reply, labelled by the protocol's instrument."""
    (spec,) = (spec for spec in protocol.instruments if spec.kind == Rankings.kind)
    instrument = Rankings(spec)
    mode = protocol.default_mode
    for line in b"".join(copy.contents.values()).decode().splitlines():
        path, model, job, names, groups, reply = json.loads(line)
        row = Published(path, model, job, tuple(names), tuple(groups), reply)
        name = content_id(protocol.name, "replies", row.path)
        trial = Trial(name, row.model, mode, _factors(row), 0, "", "", Sampling(None, None, 0))
        output = Output(name, ANSWER, row.reply, "")
        yield trial, output, instrument.read(Answered(trial, output, Reply(row.reply)))


def _in_file(path: Path) -> Iterator[Published]:
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            yield _parse(line, f"{path.name}, line {number}")


def _in_clone(path: Path, folders: Sequence[str]) -> Iterator[Published]:
    base = path / BELOW if (path / BELOW).is_dir() else path
    for folder in folders:
        for file in sorted((base / folder).glob("*.json")):
            try:
                data = json.loads(_text(file))
                asked = data["context"]
                row = {
                    "path": f"{folder}/{file.name}",
                    "model": data["model"],
                    "job": asked["job"],
                    "names": asked["default_order"],
                    "groups": asked["demo_order"],
                    "reply": data["choices"][0]["message"]["content"],
                }
            except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
                raise UsageError(f"{file} is not a reply of the release: {error}.") from None
            yield _parse(json.dumps(row), str(file))


def _text(path: Path) -> str:
    try:
        return intake.read_text(path)
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read as JSON in UTF-8: {error}") from None


def _parse(line: str, where: str) -> Published:
    try:
        row = json.loads(line)
        names, groups = tuple(map(str, row["names"])), tuple(map(_group, row["groups"]))
        reply = Published(
            str(row["path"]), str(row["model"]), str(row["job"]), names, groups, str(row["reply"])
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(
            f"{where} is not a reply: {error}. It needs {', '.join(COLUMNS)}, and groups such as "
            "A_W."
        ) from None
    if len(names) != len(groups) or len(names) < 2:
        raise UsageError(f"{where}: {len(names)} names, {len(groups)} groups. Pair 2 or more.")
    return reply


def _group(code: Json) -> str:
    race, _, gender = str(code).partition("_")
    return f"{RACES[race]} {GENDERS[gender]}"


def _factors(row: Published) -> dict[str, str]:
    """Returns a reply's factors; replies about the same eight people share a line-up."""
    people = zip(row.groups, row.names, strict=True)
    return {
        "job": row.job,
        "rotation": "",
        "order": "",
        "part": "oversampled" if "/oversampled/" in row.path else "asked",
        "candidates": "; ".join(f"{group}: {name}" for group, name in people),
        "lineup": f"published {content_id(*sorted(row.names))[:8]}",
    }
