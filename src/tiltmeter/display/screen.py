"""Lays out a terminal screen: each part in the longest form that fits, and at the end a count of
the omissions; everything if there is no terminal (a pipe, a file).
"""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..stats.results import count_of

WIDEST = 100  # columns of a line that is read with ease
BRIEF_ROWS = 2  # of the screen that a line of a shorter form takes at most, and the last line
STYLE = re.compile(r"\x1b\[[0-9;]*m")


class CutForm(NamedTuple):
    """Lines, and what they omit: (number, noun), or (0, name) for things that cannot be counted."""

    lines: Sequence[str]
    left: Sequence[tuple[int, str]] = ()


class Part(NamedTuple):
    """A part of a screen. forms: longest to shortest; worth: parts of higher worth grow first."""

    forms: Sequence[CutForm]
    worth: int = 0


def part(lines: Sequence[str], brief: Sequence[str] = (), title: str = "", worth: int = 0) -> Part:
    """Returns a part with two forms. title: names the omission of the brief form, "" for none."""
    return Part((CutForm(lines), CutForm(brief, ((0, title),) if title else ())), worth)


def as_text(parts: Sequence[Part]) -> str:
    """Serialises parts as JSON, which `of_text` reads."""
    return json.dumps(parts, ensure_ascii=False)


def of_text(text: str) -> list[Part]:
    """Reads parts from the JSON that `as_text` writes."""
    return [Part([CutForm(*form) for form in forms], worth) for forms, worth in json.loads(text)]


def full_rest(left: str) -> list[str]:
    """Returns the screen's default last line; [] if nothing is left out."""
    return [f"The rest ({left}): --full"] if left else []


def screen(
    parts: Sequence[Part],
    size: tuple[int, int] | None,
    rest: Callable[[str], list[str]] = full_rest,
) -> list[str]:
    """Lays out parts as lines. size: (columns, rows) or None for no limit; rest: the last lines."""
    forms = [one.forms[0] for one in parts]
    last = rest(left_out(forms))
    if size is None:
        return [*(line for form in forms for line in form.lines), *last]
    columns, rows = size
    width = min(WIDEST, columns)
    if sum(height(form.lines, width) for form in forms) + height(last, width) > rows:
        end = rest(left_out([one.forms[-1] for one in parts]))
        forms = _fit_parts(parts, width, rows - height(end, width))
        last = rest(left_out(forms))
    shown = (
        wrap(line, width) if form is one.forms[0] else cut_line(line, width)
        for one, form in zip(parts, forms, strict=True)
        for line in form.lines
    )
    return [*shown, *(wrap(line, width) for line in last)]


def _fit_parts(parts: Sequence[Part], width: int, rows: int) -> list[CutForm]:
    """Returns the longest form of each part that fits the rows; higher worth grows first."""
    shortest = [one.forms[-1] for one in parts]
    chosen = list(shortest)
    used = sum(_brief_height(form, width) for form in shortest)
    for n in sorted(range(len(parts)), key=lambda n: -parts[n].worth):
        old_height = _brief_height(shortest[n], width)
        for index, form in enumerate(parts[n].forms[:-1]):
            new_height = _brief_height(form, width) if index else height(form.lines, width)
            if used + new_height - old_height <= rows:
                chosen[n] = form
                used += new_height - old_height
                break
    return chosen


def left_out(forms: Sequence[CutForm]) -> str:
    """Lists the omissions of these forms, such as `2 more tables, 8 rows`."""
    numbers: dict[str, int] = {}
    for number, noun in (left for form in forms for left in form.left):
        numbers[noun] = numbers.get(noun, 0) + number
    return ", ".join(
        _count_text(number, noun) if number else noun for noun, number in numbers.items()
    )


def _count_text(number: int, noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    return f"{count_of(number, first)}{of}{rest}"


def _brief_height(form: CutForm, width: int) -> int:
    return sum(height([cut_line(line, width)], width) for line in form.lines)


def cut_line(line: str, width: int) -> str:
    """Wraps a line of a shorter form and cuts it to BRIEF_ROWS rows."""
    shown = wrap(line, width).split("\n")
    if len(shown) <= BRIEF_ROWS:
        return "\n".join(shown)
    last = shown[BRIEF_ROWS - 1][: width - 2].rstrip()
    return "\n".join([*shown[: BRIEF_ROWS - 1], f"{last} …"])


def height(lines: Sequence[str], width: int) -> int:
    """Counts the terminal rows that the lines take."""
    shown = (row for line in lines for row in wrap(line, width).split("\n"))
    return sum(max(1, -(-_columns(row) // width)) for row in shown)


def _columns(text: str) -> int:
    """Counts the columns that a text takes; East Asian wide characters take two."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in STYLE.sub("", text))


def wrap(line: str, width: int) -> str:
    """Breaks a line between words, indents the rest; keeps a line whole if a word is too wide."""
    plain = STYLE.sub("", line)
    if len(plain) <= width or max(map(len, plain.split()), default=0) > width:
        return line
    begin = " " * (len(plain) - len(plain.lstrip()))
    return textwrap.fill(
        plain.strip(),
        width,
        initial_indent=begin,
        subsequent_indent=begin + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
