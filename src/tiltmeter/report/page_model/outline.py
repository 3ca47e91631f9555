"""The outline of a report: blocks of text and tables, which each format of files writes in its own
way. Figures, pictures and raw answers stand in the HTML page alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from .table import Table


class Strong(str):
    """Words that weigh more."""

    __slots__ = ()


class Soft(str):
    """Words that stand aside."""

    __slots__ = ()


class Code(str):
    """Words that are copied as they are."""

    __slots__ = ()


Line = tuple[str, ...]  # words, some of them Strong, Soft or Code


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a level: 1 of the whole, 2 of a part, 3 of what is in it."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of words; nothing if it has none."""

    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines of a list; nothing if there are none."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """The words of somebody else."""

    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Commands or JSON over several lines."""

    text: str
    kind: str = ""


Outline = Heading | Paragraph | Bullets | Quote | Listing | Table
