"""Writes the golden outputs to a folder, and compares two such folders."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import tiltmeter
from tests.golden import commands, runs
from tests.golden.masks import mask

SHOWN = 12  # lines of the difference of one item


def write(
    target: Path, say: Callable[[str], None] = lambda line: None, names: Sequence[str] = ()
) -> int:
    """Writes numbers/ and texts/ below the target. Returns how many items there are. names: of the
    planted runs to write alone, without commands.
    """
    number = 0
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="golden-"))).resolve()
        for name, text in _items(work, say, names):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            number += 1
    return number


def _items(
    work: Path, say: Callable[[str], None], names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    say("planted runs")
    for folder in runs.make_runs(work, tuple(names)):
        run = tiltmeter.Run(folder)
        for name, text in runs.numbers(run):
            yield f"numbers/runs/{name}.jsonl", text
        for name, text in runs.texts(run, work):
            yield f"texts/runs/{name}", text
    if names:
        return
    say("commands")
    printed, codes = commands.commands(work)
    yield "numbers/exit_codes.json", commands.exit_codes(codes)
    for name, text in printed.items():
        yield f"texts/{name}", text
    say("help pages and signatures")
    yield "texts/signatures.txt", mask(commands.signatures(), work)
    for name, text in commands.help_pages(work):
        yield f"texts/{name}", text


def compare(old: Path, new: Path) -> dict[str, list[str]]:
    """Item → the first lines of its difference. Empty if both folders hold the same."""
    names = sorted({*_names(old), *_names(new)})
    differences = {}
    for name in names:
        before, after = _lines(old / name), _lines(new / name)
        if before != after:
            diff = difflib.unified_diff(before, after, "before", "after", n=0, lineterm="")
            differences[name] = [line[:240] for line in diff][2 : 2 + SHOWN]
    return differences


def _names(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _lines(path: Path) -> list[str]:
    """The lines of an item; of HTML and SVG each tag is one."""
    if not path.is_file():
        return ["(not there)"]
    text = path.read_text("utf-8")
    if path.suffix in (".html", ".svg"):
        text = text.replace("><", ">\n<")
    return text.splitlines()
