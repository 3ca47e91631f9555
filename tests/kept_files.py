"""Files that the commands of a page write, beside those that were kept: tables as they are, of a
figure its words and how many shapes it has, of an export the heads of its tables and their rows.

To keep them anew after a meant change: TILTMETER_GOLD=1 python -m pytest tests/test_docs.py
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from tests.golden.masks import mask

KEPT = Path(__file__).with_name("kept_files")
_TEXT = re.compile(r"<(text|tspan|title)\b[^>]*>([^<]+)<")
_SIGNATURE = re.compile(r"^% protocol:.*\n", re.MULTILINE)  # with versions of its instruments
_SHAPE = re.compile(r"<(rect|circle|line|path|polygon|polyline)\b")


def compare(page: Path, commands: Sequence[Sequence[str]], folder: Path) -> None:
    """Holds what the commands of a page wrote into a folder against its kept file."""
    text = "\n".join(_sections(commands, folder))
    kept = KEPT / f"{page.stem}.txt"
    if os.environ.get("TILTMETER_GOLD"):
        kept.write_text(text, encoding="utf-8")
    assert text.splitlines() == kept.read_text(encoding="utf-8").splitlines()


def _sections(commands: Sequence[Sequence[str]], folder: Path) -> Iterator[str]:
    for command in commands:
        for option, name in pairwise(command):
            path = folder / name
            if option in ("--out", "--figure") and path.suffix and path.is_file():
                yield f"== {name}\n{_file(path, folder)}"
            elif option == "--out" and command[0] == "export":
                yield f"== {name}\n" + "\n".join(map(_head, sorted(path.glob("*.csv"))))


def _file(path: Path, folder: Path) -> str:
    text = _SIGNATURE.sub("", mask(path.read_text(encoding="utf-8"), folder))
    if path.suffix != ".svg":
        return text
    shapes = Counter(_SHAPE.findall(text))
    words = [word.strip() for _, word in _TEXT.findall(text) if word.strip()]
    return "\n".join([*words, ", ".join(f"{n} {shape}" for shape, n in sorted(shapes.items()))])


def _head(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return f"{path.name}: {lines[0]}"
