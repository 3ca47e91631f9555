"""Masks for what differs between two writings of the same output: dates, durations, paths, versions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import tiltmeter

DIGITS = 9  # significant digits kept of a number
MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?( UTC)?"), "DATE"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b\d{1,2} [A-Z][a-z]+ 20\d\d\b"), "DATE"),
    (re.compile(r"\b\d+(\.\d+)? s\b(?!=)"), "DURATION s"),
    (re.compile(r"\b[\d,.]+ (calls?|outputs?|labels?) (a|per) (second|s|minute)\b"), r"RATE \1"),
    (re.compile(r"<function <lambda> at 0x[0-9a-f]+>"), "FUNCTION"),
    (re.compile(r"\b[\d,.]+ tokens/s\b"), "RATE tokens/s"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
)


def mask(text: str, folder: Path) -> str:
    """Replaces what differs from one run to the next by its name."""
    home = str(Path(tiltmeter.__file__).parents[1])
    for path, name in ((str(folder.resolve()), "WORK"), (str(folder), "WORK"), (home, "SRC")):
        text = text.replace(path, name)
    for pattern, name in MASKS:
        text = pattern.sub(name, text)
    return text.replace(tiltmeter.__version__, "VERSION")


def plain(value: object) -> object:
    """Converts a value into what JSON holds, with numbers of nine significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def as_lines(rows: list[dict[str, object]]) -> str:
    """Writes one row of JSON per line, so that a difference shows the row it is in."""
    return "".join(json.dumps(plain(row), ensure_ascii=False) + "\n" for row in rows)
