"""Writes a page as Markdown, with the same words and numbers, for a pull request or an appendix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch
from pathlib import Path

from ...page_model.document import RunsPage
from ...page_model.outline import (
    Bullets,
    Code,
    Heading,
    Line,
    Listing,
    Paragraph,
    Quote,
    Soft,
    Strong,
)
from ...page_model.page import Report
from ...page_model.table import Table
from ..html import write_whole
from ..outlines import outline

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#])")


def write(page: Report | RunsPage, path: Path, brief: bool = False) -> None:
    """Writes the page as Markdown; ignores `brief`."""
    write_whole(path, markdown(page))


def markdown(page: Report | RunsPage) -> str:
    """Returns the page as Markdown."""
    return "\n".join(line for block in outline(page) for line in lines(block)) + "\n"


def escape(text: str) -> str:
    """Escapes all special characters, and writes line breaks as ⏎."""
    return _SPECIAL.sub(r"\\\1", text).replace("\n", " ⏎ ")


@singledispatch
def lines(block: object) -> Iterator[str]:
    """Yields the Markdown lines of a block; registered per type of block."""
    raise TypeError(f"no Markdown for {type(block).__name__}")


@lines.register
def _(block: Heading) -> Iterator[str]:
    yield f"{'#' * block.level} {escape(block.text)}\n"


@lines.register
def _(block: Paragraph) -> Iterator[str]:
    if block.line:
        yield f"{_words(block.line).rstrip()}\n"


@lines.register
def _(block: Bullets) -> Iterator[str]:
    yield from (f"- {_words(line)}" for line in block.lines)
    yield from [""] if block.lines else []


@lines.register
def _(block: Quote) -> Iterator[str]:
    yield f"> {escape(block.text)}\n"


@lines.register
def _(block: Listing) -> Iterator[str]:
    fence = _fence(block.text, 3)
    yield f"{fence}{block.kind}\n{block.text}\n{fence}\n"


@lines.register
def _(block: Table) -> Iterator[str]:
    yield f"### {escape(block.title)}\n"
    yield from [f"{escape(block.about)}\n"] if block.about else []
    rules = (" ---: " if column.kind == "number" else " --- " for column in block.columns)
    yield _row(column.name for column in block.columns)
    yield f"|{'|'.join(rules)}|"
    yield from map(_row, block.rows)
    yield ""
    yield from (f"- {letter}: {escape(text)}" for letter, text in block.notes)
    yield from (f"- {mark}: {_code(text)}" for mark, text in block.marks)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escape, cells))} |"


def _words(line: Line) -> str:
    return "".join(map(_word, line))


def _word(words: str) -> str:
    if isinstance(words, Code):
        return _code(words)
    mark = "**" if isinstance(words, Strong) else "*" if isinstance(words, Soft) else ""
    return f"{mark}{escape(words)}{mark}"


def _code(text: str) -> str:
    """Returns an inline code span with a fence longer than any run of backticks inside."""
    gap = " " if "`" in text else ""
    return f"{_fence(text, 1)}{gap}{text}{gap}{_fence(text, 1)}".replace("\n", " ⏎ ")


def _fence(text: str, least: int) -> str:
    return "`" * max(least, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
