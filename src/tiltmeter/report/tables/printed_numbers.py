"""Sets the authors' printed numbers beside ours: a section, and a badge."""

from __future__ import annotations

from collections.abc import Sequence

from ...analyse.whole_run.printed_beside import PrintedBeside, sentence, survivors
from ..page_model.page import Badge, Section
from ..page_model.table import Field, number, table_of, words

NAME = "published-beside-ours"
_ABOUT = (
    "A printed number is ours if ours rounds to it. The interval and the verdict are ours: over "
    "the items that the claim is about, adjusted over all claims of its family."
)


def badge(numbers: Sequence[PrintedBeside]) -> Badge:
    """Makes the badge on how many printed numbers are reproduced."""
    return Badge("plain", f"published numbers {sentence(numbers)}", f"#{NAME}-section")


FIELDS: tuple[Field[PrintedBeside], ...] = (
    words("published as", lambda n: " · ".join((n.printed.measure, *n.printed.condition.values()))),
    number("printed", lambda n: n.printed.text.replace("-", "−")),
    number("computed as published", lambda n: _text(n, n.as_published) + ("" if n.equal else " ✗")),
    number("ours", lambda n: _text(n, n.row.value)),
    number("95 % interval", lambda n: _interval(n), brief=False),
    words(
        "verdict", lambda n: f"{n.verdict.word.symbol} {n.verdict.word.value}" if n.verdict else ""
    ),
    words("why they part", lambda n: n.why, brief=False),
    words("source", lambda n: n.printed.source, brief=False),
)


def section(numbers: Sequence[PrintedBeside]) -> Section:
    """Makes the section with a row per printed number."""
    title, claims = "Published beside ours", survivors(numbers)
    text = f"{sentence(numbers).capitalize()}{f'; {claims}' if claims else ''}. {_ABOUT}"
    return Section(NAME, title, text, (), (table_of(NAME, title, "", numbers, FIELDS),))


def _interval(number: PrintedBeside) -> str:
    ends = (number.row.low, number.row.high)
    return " to ".join(_text(number, end) for end in ends if end is not None)


def _text(number: PrintedBeside, value: float | None) -> str:
    scaled = number.printed.scaled(value)
    return "–" if scaled is None else f"{scaled:.{number.printed.decimals}f}".replace("-", "−")
