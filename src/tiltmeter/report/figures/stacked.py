"""Stacked outcomes: the share of every label in a condition, answers first, then non-answers, as
one bar that sums to 100 %.

By default a bar shows an instrument's attribute in a stratum. A measure that asks for this drawing
has a bar per group; a measure of all attributes has, per attribute, bars of baseline and cues.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from xml.etree import ElementTree as ET

from ...analyse.claims.output_query import query_of, query_of_labels
from ...analyse.words import numerals, reading
from ...analyse.words.reading import Stratum
from ...instruments.images import colour
from ...instruments.images.taxonomy import NOT_APPLICABLE
from ...protocol import EVERY, MeasureSpec
from ...records import OUTCOMES, Estimate
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import Axis, Bar, Places, Stacked
from . import frame
from .svg import NARROW, SIDE, WIDE, cut_text, hatch, link_outputs, shape, text

LINE, TALL = 28, 18  # px: a row, its bar
WHOLE = Axis(domain=(0, 1), ticks=((0, "0 %"), (0.5, "50 %"), (1, "100 %")))
COLOURS = 7  # in the style sheet; further parts have them again, hatched
ROOM = 30  # px that a number in a bar needs
BARS = 48  # of a figure
_DUST = 1e-6  # of a share: rounding of summed probabilities
NO_ANSWERS = (*OUTCOMES, NOT_APPLICABLE)
REST = "answer"  # what is not told apart: one of many words


@dataclass(frozen=True, slots=True)
class StackedCounts:
    """A condition's label counts. queries: {label: query of its outputs}; "" is for the others."""

    estimate: Estimate
    label: str
    counts: Mapping[str, float]
    total: float
    queries: Mapping[str, str] = field(default_factory=dict)

    def query(self, label: str) -> str:
        """Returns the query for the outputs that have a label."""
        return self.queries.get(label, self.queries.get("", ""))


def count_outcomes(audit: Audit, estimate: Estimate, label: str) -> StackedCounts:
    """Counts all labels of an estimate's group."""
    counts = estimate.outcomes
    query = query_of_labels(audit.protocol, estimate).text()
    return StackedCounts(estimate, label, counts, sum(counts.values()), {"": query})


def build(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Stacked]:
    """Yields figures of a measure's outcomes, with a bar per group."""
    if spec.attribute == EVERY:
        yield from _by_attribute(audit, spec, prefix)
        return
    rows: dict[object, StackedCounts] = {}
    for e in audits.together(audit.of(spec.name)):
        group = {name: level for name, level in reading.group(e).items() if name != spec.attribute}
        label = ", ".join(group.values()) or "all"
        rows.setdefault(
            (reading.stratum(e), *group.items()),
            count_outcomes(audit, e, label),
        )
    name, table = audits.slug(prefix, spec.name, "figure"), audits.slug(prefix, spec.name)
    values = (*spec.among, *spec.values)
    yield from _pages(
        audit,
        list(rows.values()),
        values,
        name,
        f"every outcome of the labels “{spec.attribute}”",
        table,
    )


def _by_attribute(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Stacked]:
    """Yields, for a measure of all attributes, a folded figure per attribute: a bar per level."""
    contrast = spec.contrast or {}
    factor, across = contrast.get("factor", ""), (contrast.get("factor"), contrast.get("within"))
    by_stratum: dict[tuple[str, ...], list[StackedCounts]] = {}
    for e in audit.of(spec.name):
        group = reading.group(e)
        if "attribute" in group:
            about = tuple(level for name, level in group.items() if name not in across)
            counted = count_outcomes(audit, e, group.get(factor, "all"))
            by_stratum.setdefault(about, []).append(counted)
    for about, rows in by_stratum.items():
        name = audits.slug(prefix, spec.name, *about, "figure")
        table = strata.table_id(audit, spec, reading.grouping(rows[0].estimate), prefix)
        for figure in _pages(audit, rows, (), name, f"every label of {', '.join(about)}", table):
            yield replace(figure, folded=True)


def outcomes(audit: Audit, prefix: str) -> Iterator[Stacked]:
    """Yields figures of all outcomes of each attribute for which an instrument is declared."""
    rates = audit.of(reading.OUTCOME_RATE)
    named = {spec.attribute: spec.also for spec in audit.protocol.instruments}
    for attribute in named if len(named) > 1 or any(named.values()) else [""]:
        rows: dict[object, list[Estimate]] = {}
        for e in (e for e in rates if e.condition.get("attribute", "") == attribute):
            rows.setdefault((reading.stratum(e), *reading.condition(e).items()), []).append(e)
        counted = [_count_bar(audit, group) for group in rows.values()]
        declared = [
            v
            for spec in audit.protocol.measures
            if spec.attribute in (attribute, "") or not attribute
            for v in (*spec.among, *spec.values)
        ]
        title = (
            f"every outcome, answers or not{f', of the labels “{attribute}”' if attribute else ''}"
        )
        name, table = (
            audits.slug(prefix, "outcomes", attribute, "figure"),
            audits.slug(prefix, "outcomes"),
        )
        yield from _pages(audit, counted, declared, name, title, table)


def _count_bar(audit: Audit, rates: Sequence[Estimate]) -> StackedCounts:
    """Counts one condition's outcomes; outcomes without a rate (many words) count as answers."""
    counts = {e.condition["outcome"]: sum(e.outcomes.values()) for e in rates}
    total = max(e.n for e in rates)
    remainder = total - sum(counts.values())
    label = ", ".join(reading.condition(rates[0]).values()) or "all"
    queries = {e.condition["outcome"]: query_of(audit.protocol, e).text() for e in rates}
    rest = {REST: remainder} if remainder > _DUST * total else {}
    return StackedCounts(rates[0], label, {**rest, **counts}, total, queries)


def _pages(
    audit: Audit,
    rows: Sequence[StackedCounts],
    known: Iterable[str],
    name: str,
    title: str,
    table: str,
) -> Iterator[Stacked]:
    rows = [row for row in rows if row.total > 0]
    each = max(
        (len(list(group)) for _, group in groupby(rows, key=lambda r: reading.stratum(r.estimate))),
        default=1,
    )
    pages = strata.pages(
        strata.present(audit, [row.estimate for row in rows]), max(1, BARS // each)
    )
    for number, page in enumerate(pages, 1):
        of_page = [row for row in rows if reading.stratum(row.estimate) in page]
        words = reading.title(title) + (f" ({number} of {len(pages)})" if len(pages) > 1 else "")
        yield stack_bars(audit, of_page, known, audits.slug(name, number), words, table)


def stack_bars(
    audit: Audit,
    rows: Sequence[StackedCounts],
    known: Iterable[str],
    name: str,
    title: str,
    table: str = "",
) -> Stacked:
    """Stacks a bar per row: answers in the order of declaration, then non-answers likewise."""
    values = dict.fromkeys(
        v for row in rows for v, count in row.counts.items() if count > _DUST * row.total
    )
    answers = [v for v in dict.fromkeys((*known, *values)) if v in values and v not in NO_ANSWERS]
    parts = (*answers, *(v for v in NO_ANSWERS if v in values))
    labels = strata.labels(audit, [row.estimate for row in rows])
    bars = [
        _bar(row, parts, labels) for row in sorted(rows, key=lambda r: _stratum_index(audit, r))
    ]
    is_single = all(bar.label == "all" for bar in bars) and len(labels) > 1
    bars = [replace(bar, group="", label=bar.group) for bar in bars] if is_single else bars
    descriptions = [_bar_text(bar, parts) for bar in bars]
    rest = (
        f"; and {len(descriptions) - strata.SAID} more in the table"
        if len(descriptions) > strata.SAID
        else ""
    )
    hatched = " Hatched at the end: no answer." if len(parts) > len(answers) else ""
    return Stacked(
        id=name,
        title=title,
        text=f"{title}. {'; '.join(descriptions[: strata.SAID])}{rest}.",
        table=table,
        note=f"{strata.alone(labels)}A bar is all labels of a condition (n: how many) and sums to "
        "100 %, its parts in the order of the legend." + hatched,
        parts=parts,
        colours=tuple(_colours(audit, rows, parts)),
        answers=len(answers),
        bars=tuple(bars),
    )


def _colours(audit: Audit, rows: Sequence[StackedCounts], parts: Sequence[str]) -> Iterator[int]:
    """Yields each part's colour index: the index of its value among the attribute's values."""
    attributes = {audit.attribute(row.estimate) for row in rows}
    declared = [
        value
        for spec in audit.protocol.measures
        if spec.attribute in attributes
        for value in (*spec.among, *spec.values)
    ]
    others = frozenset().union(*map(audit.outcomes, attributes)) - {*NO_ANSWERS}
    values = [value for value in declared if value not in (EVERY, *NO_ANSWERS)]
    places = {value: place for place, value in enumerate(dict.fromkeys([*values, *sorted(others)]))}
    for part in parts:
        yield places.setdefault(part, len(places)) if part not in NO_ANSWERS else 0


def _bar_text(bar: Bar, parts: Sequence[str]) -> str:
    shares = [
        f"{part} {numerals.percent(share)}"
        for part, share in zip(parts, bar.shares, strict=True)
        if share > 0
    ]
    return f"{', '.join(filter(None, (bar.group, bar.label)))} (n {bar.n}): {', '.join(shares)}"


def _stratum_index(audit: Audit, row: StackedCounts) -> int:
    return audit.strata.index(reading.stratum(row.estimate))


def _bar(row: StackedCounts, parts: Sequence[str], labels: Mapping[Stratum, str]) -> Bar:
    total = sum(row.counts.get(part, 0.0) for part in parts)
    shares = tuple(row.counts.get(part, 0.0) / total for part in parts)
    group = labels[reading.stratum(row.estimate)] if len(labels) > 1 else ""
    queries = tuple(row.query(part) for part in parts)
    return Bar(group, row.label, shares, numerals.count(round(row.total, 1)), queries)


def draw(figure: Stacked, narrow: bool = False) -> str:
    """Draws the bars as an SVG element."""
    width, looks = NARROW if narrow else WIDE, list(_looks(figure))
    sides = (0.0, width) if narrow else (SIDE - frame.INSET, width - 100.0 + frame.INSET)

    def swatch(look: _Look) -> frame.Swatch:
        return lambda made, x, y: _piece(made, look, (x, y - 11, 14, 13))

    def row(bar: Bar) -> frame.Row:
        def draw_row(made: ET.Element, x: Places, y: float) -> None:
            base, room = y + (12 if narrow else 18), (width - 100 if narrow else SIDE) - 14
            text(made, 8, base, cut_text(bar.label, room), "fig-label")
            text(made, width - 8, base, f"n {bar.n}", "fig-number end")
            _draw_bar(made, looks, bar, (x(0), y + (21 if narrow else 5), x(1) - x(0)))

        return frame.Row(bar.group, LINE + (16 if narrow else 0), draw_row)

    legend = [(part, swatch(look)) for part, look in zip(figure.parts, looks, strict=True)]
    return frame.chart(figure, WHOLE, map(row, figure.bars), sides, legend, narrow)


def _draw_bar(
    made: ET.Element, looks: Sequence[_Look], bar: Bar, box: tuple[float, float, float]
) -> None:
    """Draws one bar; prints each share inside its segment if the share fits."""
    x, y, width = box
    whole = bar.queries[0] if len(set(bar.queries)) == 1 else ""
    if whole:  # the bar leads there with all of its pieces
        made = ET.SubElement(made, "g", {"data-query": whole})
    for number, (look, share) in enumerate(zip(looks, bar.shares, strict=True)):
        wide = share * width
        if share > 0:
            query = bar.queries[number] if bar.queries and not whole else ""
            _piece(made, look, (x, y, wide, TALL), query)
        if wide >= ROOM and look.on is not None:
            label = numerals.percent(share)
            text(made, x + wide / 2, y + 13.5, label, f"fig-in {look.on} middle")
        x += wide


def _piece(
    made: ET.Element, look: _Look, box: tuple[float, float, float, float], query: str = ""
) -> None:
    """Draws a segment of a bar, or a sample of the segment in the legend."""
    x, y, width, height = (round(v, 2) for v in box)
    shape(made, "rect", look.name, x=x, y=y, width=width, height=height)
    if look.fill:
        made[-1].set("fill", look.fill)
    link_outputs(made, query)
    if look.hatching is not None:
        hatch(made, x, y, width, height, look.hatching)


@dataclass(frozen=True, slots=True)
class _Look:
    """A segment's look. name: CSS class; fill: own colour, or ""; on: CSS class of its number."""

    name: str
    fill: str = ""
    on: str | None = None
    hatching: int | None = None


def _looks(figure: Stacked) -> Iterator[_Look]:
    """Yields the style of each part: colours for answers, hatched greys for non-answers."""
    colours = colour.own(figure.parts[: figure.answers])
    for number, part in enumerate(figure.parts):
        rgb, other = colours.get(part), number - figure.answers
        place = figure.colours[number] if figure.colours else number
        if rgb is not None:  # the text on c4 is white
            yield _Look("fig-own", "#{:02x}{:02x}{:02x}".format(*rgb), "c4" if _dark(rgb) else "")
        elif other >= 0:
            yield _Look(f"fig-part g{other % 4}", hatching=other % 3)
        else:
            name = f"c{place % COLOURS}"
            yield _Look(f"fig-part {name}", "", name, 0 if place >= COLOURS else None)


def _dark(rgb: colour.Rgb) -> bool:
    """True if white text is legible on a colour: relative luminance under .18 (WCAG 2.1)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in rgb)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18
