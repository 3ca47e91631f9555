"""Draws a dot per item, in a strip per level of a factor and stratum. A thick line marks the
strip's mean, and the interval stands beside the strip's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from xml.etree import ElementTree as ET

from ...analyse.claims.output_query import query_of
from ...analyse.words import numerals, reading
from ...protocol import MeasureSpec, wording
from ...records import Estimate
from ...stats.results import count_of
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import Dot, Dots, Places, Strip
from . import axes, frame
from .svg import NARROW, WIDE, cut_text, link_outputs, shape, text, upright_line

STRIPS = 10  # of a figure; more are in a further one
HEIGHTS = ((2, 104), (4, 66), (STRIPS, 36))  # px of a strip with its name, up to so many
NAMED = 400  # dots of a figure that have a name to hover over
RADIUS = 4
LABELLED = 1  # dots at each end of a strip that are named
BOLD = 0.84  # of the room for a name, whose letters are wider


def build(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Dots]:
    """Yields figures for a measure that is grouped by items and by at most one other factor."""
    for by in (by for by in spec.by if len(by) > 1 or by == (audit.protocol.item,)):
        rows = [
            e
            for e in audit.of(spec.name)
            if reading.grouping(e)[: len(by)] == by and e.value is not None
        ]
        if not rows:
            continue
        factor = by[0] if len(by) > 1 else ""  # one strip a stratum
        levels = len({reading.group(e).get(factor, "") for e in rows})
        pages = strata.pages(strata.present(audit, rows), max(1, STRIPS // levels))
        for number, page in enumerate(pages, 1):
            of_page = [e for e in rows if reading.stratum(e) in page]
            name = audits.slug(prefix, spec.name, "figure", number)
            title = strata.heading(spec, "", number, len(pages))
            yield dots(audit, spec, of_page, factor, name, title)


def dots(
    audit: Audit, spec: MeasureSpec, rows: Sequence[Estimate], factor: str, name: str, title: str
) -> Dots:
    """Returns a figure of these rows, with a strip per stratum and level of the factor."""
    labels = strata.labels(audit, rows)
    order = audit.protocol.levels.get(factor, {})
    strips: dict[tuple[reading.Stratum, str], list[Estimate]] = {}
    for e in rows:
        strips.setdefault((reading.stratum(e), reading.group(e).get(factor, "")), []).append(e)
    places = sorted(strips, key=lambda key: (audit.strata.index(key[0]), order.get(key[1], 0)))
    strips_drawn = []
    for stratum, level in places:
        rows_of = strips[stratum, level]
        whole = _over_items(audit, spec, rows_of[0], factor)
        words = wording.title(audit.protocol, factor, level)
        parts = (labels[stratum] if len(labels) > 1 or not words else "", words)
        label = " · ".join(filter(None, parts))
        strips_drawn.append(
            Strip(
                label,
                whole.value if whole else None,
                reading.number(whole, spec) if whole else "",
                list(order).index(level) if level in order else 0,
                tuple(
                    Dot(_item(e, factor), e.value or 0.0, query_of(audit.protocol, e).text())
                    for e in rows_of
                ),
                query_of(audit.protocol, whole).text() if whole else "",
            )
        )
    null = _null(audit, spec)
    axis = replace(axes.axis(spec, rows), null=null, ends=_axis_ends(spec), band=None)
    descriptions = [
        f"{strip.label}: {strip.number}, {count_of(len(strip.dots), 'item')}"
        for strip in strips_drawn
    ]
    return Dots(
        id=name,
        title=title,
        text=f"{title}. {'; '.join(descriptions)}.",
        table=strata.table_id(audit, spec, reading.grouping(rows[0]), name.split("-")[0]),
        note=f"Each dot is one {audit.items(1)}. Thick line: the mean."
        + (" Dashed: no tilt." if null is not None else ""),
        strips=tuple(strips_drawn),
        axis=axis,
    )


def _item(estimate: Estimate, factor: str) -> str:
    return ", ".join(v for name, v in reading.group(estimate).items() if name != factor)


def _over_items(audit: Audit, spec: MeasureSpec, one: Estimate, factor: str) -> Estimate | None:
    """Returns the estimate over a level's items, from a measure of the same labels, or None."""
    wanted = {factor: reading.group(one)[factor]} if factor else {}
    for e in audit.estimates:
        other = audit.spec(e.measure)
        if other is None or other.kind != spec.kind or e.value is None:
            continue
        is_same = (other.attribute, other.values, other.among) == (
            spec.attribute,
            spec.values,
            spec.among,
        )
        if is_same and reading.stratum(e) == reading.stratum(one) and reading.group(e) == wanted:
            return e
    return None


def _null(audit: Audit, spec: MeasureSpec) -> float | None:
    """Returns the measure's null value; else that of a measure of the same labels; else None."""
    for other in (spec, *audit.protocol.measures):
        is_alike = (other.kind, other.attribute, other.values) == (
            spec.kind,
            spec.attribute,
            spec.values,
        )
        if is_alike and other.null is not None:
            return other.null
    return None


def _axis_ends(spec: MeasureSpec) -> tuple[str, str]:
    others = "/".join(value for value in spec.among if value not in spec.values)
    return others, "/".join(spec.values)


def draw(figure: Dots, narrow: bool = False) -> str:
    """Draws the strips as SVG."""
    width = NARROW if narrow else WIDE
    tall = next((px for most, px in HEIGHTS if len(figure.strips) <= most), HEIGHTS[-1][1])

    def row(strip: Strip) -> frame.Row:
        def draw_strip(made: ET.Element, x: Places, y: float) -> None:
            _strip(made, strip, x, (y, float(tall)), narrow)

        return frame.Row("", tall, draw_strip)

    ticks = tuple((value, _percent(label, value)) for value, label in figure.axis.ticks)
    axis = replace(figure.axis, ticks=ticks)
    return frame.chart(figure, axis, map(row, figure.strips), (16.0, width - 16.0), narrow=narrow)


def _room(ranked: Sequence[Dot], tall: float, narrow: bool) -> bool:
    """True if there is room to name the extreme dots, and no other dots are tied with them."""
    few = 2 * LABELLED < len(ranked) <= 60
    apart = few and ranked[LABELLED - 1].value != ranked[LABELLED].value
    return apart and tall >= 60 and not narrow


def _percent(label: str, value: float) -> str:
    return f"{numerals.fixed_decimals(100 * value, 0)} %" if 0 <= value <= 1 else label


def _strip(
    made: ET.Element, strip: Strip, x: Places, box: tuple[float, float], narrow: bool
) -> None:
    """Draws one strip under its name; the height of a dot is a hash of the item's name."""
    (top, tall), width = box, NARROW if narrow else WIDE
    words = f"{strip.label}: {strip.number}" if strip.number else strip.label
    text(
        made,
        8,
        top + 11,
        cut_text(words, BOLD * (width - 16)),
        f"fig-label fig-strong t{strip.series}",
    )
    middle, spread = top + 14 + (tall - 18) / 2, (tall - 18) / 2 - RADIUS
    has_names = not narrow and len(strip.dots) <= NAMED
    ranked = sorted(strip.dots, key=lambda dot: dot.value)
    labelled = {*ranked[:LABELLED], *ranked[-LABELLED:]} if _room(ranked, tall, narrow) else set()
    for dot in strip.dots:
        share = int.from_bytes(sha256(dot.name.encode()).digest()[:2]) / 65535
        center = {"cx": x(dot.value), "cy": round(middle + (2 * share - 1) * spread, 1)}
        shape(made, "circle", f"fig-spot s{strip.series}", **center, r=RADIUS)
        link_outputs(made, dot.query)
        if has_names:
            about = f"{dot.name}: {numerals.share(dot.value, 2)}"
            ET.SubElement(made[-1], "title").text = about
        if dot in labelled:
            is_first = dot in ranked[:LABELLED]
            at, side = (center["cx"] + 7, "") if is_first else (center["cx"] - 7, " end")
            text(made, at, center["cy"] + 4, dot.name, f"fig-tick{side}")
    if strip.mean is not None:
        name = f"fig-mean s{strip.series}"
        upright_line(made, name, x(strip.mean), top + 15, top + tall - 3)
        link_outputs(made, strip.query)
