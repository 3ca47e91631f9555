"""Forest plots: what is drawn lies where the numbers say."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tiltmeter.protocol import Protocol
from tiltmeter.records import Estimate
from tiltmeter.report import figures, reading, svg
from tiltmeter.report.parts import Content, Figure

Row = tuple[float, float | None, float | None]  # value, low, high
NAME = "{http://www.w3.org/2000/svg}"


def test_every_figure_is_well_formed_and_named(built: Content) -> None:
    drawn = [figure for section in built.sections for figure in section.figures]
    assert len(drawn) == 5
    for figure in drawn:
        for narrow in (False, True):
            root = ET.fromstring(svg.forest(figure, narrow))
            assert root.get("role") == "img"
            labels = {root.get("aria-labelledby"), root.get("aria-describedby")}
            found = [root.find(f"{NAME}title"), root.find(f"{NAME}desc")]
            assert all(part is not None and part.text for part in found)
            assert labels == {part.get("id") for part in found if part is not None}
            points = sum(len(row.points) for row in figure.rows)
            marks = [e for e in root.iter() if "fig-mark" in e.get("class", "")]
            legend = len(figure.series) if len(figure.series) > 1 else 0
            assert len(marks) == points + legend
            assert not any(e.get("style") or e.get("fill") or e.get("stroke") for e in root.iter())


def test_a_figure_has_at_most_six_series_each_with_its_own_shape(built: Content) -> None:
    pages = [f for f in built.sections[0].figures if f.id.startswith("default-share_she")]
    assert [len(page.series) for page in pages] == [5, 2]
    assert len({series for page in pages for series in page.series}) == 7
    shapes = set()
    for number in range(figures.SERIES):
        root = ET.Element("svg")
        svg.SHAPES[number](root, 0, 0, "")
        shapes.add((root[0].tag, root[0].get("points")))
    assert len(shapes) == figures.SERIES


def simple(roles: Protocol, measure: str, *rows: Row) -> Figure:
    spec = next(spec for spec in roles.measures if spec.name == measure)
    estimates = [
        Estimate(
            "roles", "m", "c/1", measure, {"class": f"k{place}"}, None, value, spec.unit, low, high, 0.95, signature="s"
        )
        for place, (value, low, high) in enumerate(rows)
    ]
    audit = reading.audit(roles, estimates, {"s": "S1"})
    headline = replace(spec, headline=True)
    return figures._forest(audit, headline, estimates, list(audit.strata), "f", "t")


def test_points_lie_where_the_axis_says(roles: Protocol) -> None:
    """Linear: x is proportional to the value. By hand: .25 lies midway between 0 and .5."""
    root = ET.fromstring(svg.forest(simple(roles, "share_she", (0.0, None, None), (0.5, None, None), (0.25, 0.1, 0.4))))
    x = [float(c.get("cx", "nan")) for c in root.iter(f"{NAME}circle")]
    assert x[2] == pytest.approx((x[0] + x[1]) / 2, abs=0.01)
    null = next(e for e in root.iter(f"{NAME}line") if e.get("class") == "fig-null")
    assert float(null.get("x1", "nan")) == pytest.approx(x[1], abs=0.01)
    line = next(e for e in root.iter(f"{NAME}line") if e.get("class", "").startswith("fig-line"))
    assert float(line.get("x1", "nan")) - x[0] == pytest.approx(0.1 / 0.5 * (x[1] - x[0]), abs=0.02)
    hollow = [("hollow" in c.get("class", "")) for c in root.iter(f"{NAME}circle")]
    assert hollow == [True, True, False]


def test_odds_have_a_logarithmic_axis(roles: Protocol) -> None:
    """1/2 and 2 lie equally far from 1."""
    figure = simple(roles, "odds_she", (0.5, None, None), (1.0, None, None), (2.0, 1.1, 3.9))
    assert figure.scale == "log" and [label for _, label in figure.ticks] == ["1/2", "1", "2", "4"]
    x = [float(c.get("cx", "nan")) for c in ET.fromstring(svg.forest(figure)).iter(f"{NAME}circle")]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.02)


@pytest.mark.parametrize("rows", [
    [(0.0, 0.0, 0.0)], [(1.0, None, None)], [(0.0, None, 40.0), (1e6, 2.0, None)], [(3.0, 1e-5, 1e5)],
])  # fmt: skip
@pytest.mark.parametrize("measure", ["odds_she", "order_effect", "share_she"])
def test_odd_numbers_stay_inside_the_picture(roles: Protocol, measure: str, rows: list[Row]) -> None:
    if measure != "odds_she":
        rows = [(min(v, 1.0), low and min(low, 1.0), high and min(high, 1.0)) for v, low, high in rows]
    figure = simple(roles, measure, *rows)
    assert 2 <= len(figure.ticks) <= 16 and all(math.isfinite(value) for value, _ in figure.ticks)
    text = svg.forest(figure)
    width = float(ET.fromstring(text).get("viewBox", "").split()[2])
    places = [float(value) for value in re.findall(r' (?:c?x[12]?)="([^"]*)"', text)]
    assert all(0 <= place <= width for place in places)


def test_a_difference_axis_is_symmetric_about_nothing(roles: Protocol) -> None:
    figure = simple(roles, "order_effect", (0.12, 0.03, 0.21))
    assert figure.domain[0] == -figure.domain[1]
    assert 0.0 in [value for value, _ in figure.ticks]
    assert figure.ends == ("lower with she_first", "higher with she_first")


def test_hostile_labels_are_text() -> None:
    figure = Figure(
        "f", "<script>", "&\"'", ("</svg><img onerror=x>",), (), "linear", (0, 1), ((0.0, "<b>"),), None, ("<", ">")
    )
    root = ET.fromstring(svg.forest(figure))
    assert {e.tag.removeprefix(NAME) for e in root.iter()} <= {"svg", "title", "desc", "text", "line"}
