"""The numbers that the authors of an audit printed, beside ours: a section, and a badge."""

from __future__ import annotations

from collections.abc import Sequence

from ...analyse.whole_run.printed_beside import PrintedBeside, sentence, survivors
from ..page_model.page import Badge, Column, Section, Table

NAME = "published-beside-ours"
_ABOUT = (
    "A printed number is ours if ours rounds to it. The interval and the verdict are ours: over "
    "the items that the claim is about, adjusted over all claims of its family."
)


def badge(numbers: Sequence[PrintedBeside]) -> Badge:
    """Returns the badge that says how many printed numbers come out."""
    return Badge("plain", f"published numbers {sentence(numbers)}", f"#{NAME}-section")


def section(numbers: Sequence[PrintedBeside]) -> Section:
    """Returns the section with a row per printed number."""
    columns = (
        Column("published as", brief=True),
        Column("printed", "number", brief=True),
        Column("computed as published", "number", brief=True),
        Column("ours", "number", brief=True),
        Column("95 % interval", "number"),
        Column("verdict", brief=True),
        Column("why they part"),
        Column("source"),
    )
    title = "Published beside ours"
    claims = survivors(numbers)
    text = f"{sentence(numbers).capitalize()}{f'; {claims}' if claims else ''}. {_ABOUT}"
    rows = tuple(map(_row, numbers))
    return Section(NAME, title, text, (), (Table(NAME, title, "", columns, rows),))


def _row(number: PrintedBeside) -> tuple[str, ...]:
    printed, row, verdict = number.printed, number.row, number.verdict
    parts = (printed.measure, *printed.condition.values())
    ends = (row.low, row.high)
    interval = " to ".join(_text(number, end) for end in ends if end is not None)
    return (
        " · ".join(parts),
        printed.text.replace("-", "−"),
        _text(number, number.as_published) + ("" if number.equal else " ✗"),
        _text(number, row.value),
        interval,
        f"{verdict.word.symbol} {verdict.word.value}" if verdict else "",
        number.why,
        printed.source,
    )


def _text(number: PrintedBeside, value: float | None) -> str:
    scaled = number.printed.scaled(value)
    return "–" if scaled is None else f"{scaled:.{number.printed.decimals}f}".replace("-", "−")
