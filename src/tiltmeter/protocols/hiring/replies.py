"""Published rankings as a run: `tiltmeter import hiring rankings.jsonl.xz --out RUN`.

A line is a reply: path, model, job, names and groups in the order of the prompt, reply. The groups
are written A_W (Asian women) and so on. Replies whose path has `oversampled` were drawn and not
counted by the article; they are marked, and `--variant published` leaves them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ... import intake
from ...errors import UsageError
from ...instruments.ranking.ranking import Rankings
from ...protocol import Protocol
from ...records import ANSWER, Answered, Json, Label, Output, Reply, Sampling, Trial, content_id

RACES = {"A": "Asian", "B": "Black", "H": "Hispanic", "W": "White"}
GENDERS = {"M": "men", "W": "women"}
COLUMNS = ("path", "model", "job", "names", "groups", "reply")

Imported = tuple[Trial, Output, Sequence[Label]]


class Published(NamedTuple):
    """One line of the file; groups and names in the order of the prompt."""

    path: str
    model: str
    job: str
    names: tuple[str, ...]
    groups: tuple[str, ...]
    reply: str


def read(protocol: Protocol, path: Path) -> Iterator[Imported]:
    """One trial a reply, labelled by the protocol's instrument. UsageError names the file and the
    line of what cannot be read.
    """
    (spec,) = (spec for spec in protocol.instruments if spec.kind == Rankings.kind)
    instrument = Rankings(spec)
    mode = protocol.default_mode
    for number, line in enumerate(_lines(path), 1):
        found = _parse_line(line, f"{path.name}, line {number}")
        name = content_id(protocol.name, "replies", found.path)
        trial = Trial(name, found.model, mode, _factors(found), 0, "", "", Sampling(None, None, 0))
        output = Output(name, ANSWER, found.reply, "")
        yield trial, output, instrument.read(Answered(trial, output, Reply(found.reply)))


def _lines(path: Path) -> list[str]:
    try:
        text = intake.read_text(path)
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read as JSON lines in UTF-8: {error}") from None
    return [line for line in text.splitlines() if line.strip()]


def _parse_line(line: str, where: str) -> Published:
    try:
        row = json.loads(line)
        names, groups = tuple(map(str, row["names"])), tuple(map(_group, row["groups"]))
        found = Published(
            str(row["path"]), str(row["model"]), str(row["job"]), names, groups, str(row["reply"])
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(
            f"{where} is no reply: {error}. It needs {', '.join(COLUMNS)}; groups as A_W."
        ) from None
    if len(names) != len(groups) or len(names) < 2:
        raise UsageError(f"{where}: {len(names)} names and {len(groups)} groups.")
    return found


def _group(code: Json) -> str:
    race, _, gender = str(code).partition("_")
    return f"{RACES[race]} {GENDERS[gender]}"


def _factors(found: Published) -> dict[str, str]:
    """Replies about the same eight people, of whatever job, are one cluster."""
    people = zip(found.groups, found.names, strict=True)
    return {
        "job": found.job,
        "rotation": "",
        "order": "",
        "part": "oversampled" if "/oversampled/" in found.path else "asked",
        "candidates": "; ".join(f"{group}: {name}" for group, name in people),
        "lineup": f"published {content_id(*sorted(found.names))[:8]}",
    }
