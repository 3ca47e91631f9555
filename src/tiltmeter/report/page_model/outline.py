"""The outline of a report: blocks of text and tables, which each file format writes in its own way.
Only the HTML page has figures, pictures and raw answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from .table import Table


class Strong(str):
    """Words to emphasise."""

    __slots__ = ()


class Soft(str):
    """Words to tone down."""

    __slots__ = ()


class Code(str):
    """Words to copy literally."""

    __slots__ = ()


Line = tuple[str, ...]  # words, some of them Strong, Soft or Code


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. level: 1 for the page, 2 for a section, 3 for a subsection."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; writes nothing if empty."""

    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of lines; writes nothing if empty."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted words, such as a prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Commands or JSON on several lines."""

    text: str
    kind: str = ""


Outline = Heading | Paragraph | Bullets | Quote | Listing | Table
