"""Figures: what is drawn lies where the numbers say, and looks as the gold files have it.

Gold files are rewritten by: TILTMETER_GOLD=1 python -m pytest tests/report/test_figures.py
"""

from __future__ import annotations

import difflib
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.report import gallery
from tiltmeter import registry
from tiltmeter.errors import ProtocolError
from tiltmeter.protocol import FIGURES, Protocol
from tiltmeter.protocol.reading.load import load
from tiltmeter.records import Estimate
from tiltmeter.report import figures
from tiltmeter.report.figures import axes, forest, stacked, svg
from tiltmeter.report.page_model import audits, strata
from tiltmeter.report.page_model.figures import Axis, Dots, Figure, Heat, Histogram, Plot, Stacked
from tiltmeter.report.page_model.page import Content, alone
from tiltmeter.report.render import html

Row = tuple[float, float | None, float | None]  # value, low, high
NAME = "{http://www.w3.org/2000/svg}"
GOLD = Path(__file__).with_name("gold")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
DRAWN = gallery.drawn()
EVERY = DRAWN | gallery.first_screens()


def classes(root: ET.Element, name: str) -> list[ET.Element]:
    return [e for e in root.iter() if name in e.get("class", "").split()]


def tree(figure: Figure, narrow: bool = False) -> ET.Element:
    return ET.fromstring(figures.draw(figure, narrow))


@pytest.mark.parametrize("layout", ["wide", "narrow"])
@pytest.mark.parametrize("name", EVERY)
def test_figures_look_as_the_gold_files(name: str, layout: str) -> None:
    text = (
        svg.without_links(figures.draw(EVERY[name], layout == "narrow")).replace("><", ">\n<")
        + "\n"
    )
    as_before(GOLD / f"{name}-{layout}.svg", text)


@pytest.mark.parametrize("name", DRAWN)
def test_the_pictures_of_the_docs_are_drawn_by_the_report(name: str) -> None:
    as_before(PICTURES / f"figure-{name}.svg", gallery.picture(DRAWN[name]))


def as_before(file: Path, text: str) -> None:
    if os.environ.get("TILTMETER_GOLD"):
        file.write_text(text, encoding="utf-8", newline="\n")
    gold = file.read_text(encoding="utf-8")
    changes = list(
        difflib.unified_diff(
            gold.splitlines(), text.splitlines(), file.name, "drawn now", lineterm="", n=1
        )
    )
    assert not changes, "\n".join(
        ["TILTMETER_GOLD=1 rewrites this file, if the change is meant.", *changes[:60]]
    )


def test_every_drawing_has_a_gold_file_and_a_name_for_protocols() -> None:
    assert {file.stem.rpartition("-")[0] for file in GOLD.glob("*.svg")} == set(EVERY)
    assert tuple(sorted(figures.BUILDS)) == FIGURES
    assert {type(figure) for figure in EVERY.values()} == {Plot, Stacked, Heat, Histogram, Dots}


def test_every_figure_is_well_formed_and_named(built: Content) -> None:
    shown = [figure for section in built.sections for figure in section.figures]
    assert len(shown) == 8
    assert len({figure.id for figure in shown}) == len(shown)
    for figure in (*shown, *DRAWN.values()):
        for narrow in (False, True):
            root = tree(figure, narrow)
            assert root.get("role") == "img"
            labels = {root.get("aria-labelledby"), root.get("aria-describedby")}
            found = [root.find(f"{NAME}title"), root.find(f"{NAME}desc")]
            assert all(part is not None and part.text for part in found)
            assert labels == {part.get("id") for part in found if part is not None}
            assert not any(e.get("style") or e.get("fill") or e.get("stroke") for e in root.iter())
            assert {e.tag.removeprefix(NAME) for e in root.iter()} <= {
                "svg",
                "g",
                "title",
                "desc",
                "text",
                "line",
                "rect",
                "path",
                "circle",
                "polygon",
            }
            if isinstance(figure, Plot):
                points = sum(len(row.points) for row in figure.rows)
                assert len(classes(root, "fig-mark")) == points + (
                    len(figure.series) if len(figure.series) > 1 else 0
                )


def test_every_figure_has_its_table_in_the_page(built: Content) -> None:
    page = html.page(alone(built))
    for section in built.sections:
        tables = {table.id for table in section.tables}
        for figure in section.figures:
            assert figure.table in tables
        for table in tables:
            assert page.count(f'id="{table}"') == 1


def test_a_figure_has_at_most_six_series_each_with_its_own_shape(built: Content) -> None:
    pages = [f for f in built.sections[0].figures if f.id.startswith("default-share_she")]
    many, two = (page for page in pages if isinstance(page, Plot))
    assert (len(many.series), len(two.series)) == (1, 2)  # of five strata each has a row
    assert len({row.label for row in many.rows} | set(two.series)) == 7
    assert all(len(row.points) == 1 for row in many.rows)
    shapes = set()
    for number in range(strata.SERIES):
        root = ET.Element("svg")
        svg.SHAPES[number](root, 0, 0, "")
        shapes.add((root[0].tag, root[0].get("points")))
    assert len(shapes) == strata.SERIES


def simple(roles: Protocol, measure: str, *rows: Row) -> Plot:
    spec = next(spec for spec in roles.measures if spec.name == measure)
    estimates = [
        Estimate(
            "roles",
            "m",
            "c/1",
            measure,
            {"class": f"k{place}"},
            None,
            value,
            spec.unit,
            low,
            high,
            0.95,
            signature="s",
        )
        for place, (value, low, high) in enumerate(rows)
    ]
    audit = audits.audit(roles, estimates, {"s": "S1"})
    headline = replace(spec, headline=True)
    return forest.forest(audit, headline, estimates, "f", "t")


def test_points_lie_where_the_axis_says(roles: Protocol) -> None:
    """Linear: x is proportional to the value. By hand: .25 lies midway between 0 and .5."""
    root = ET.fromstring(
        figures.draw(
            simple(roles, "share_she", (0.0, None, None), (0.5, None, None), (0.25, 0.1, 0.4))
        )
    )
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
    axis = figure.axis
    assert axis.scale == "log" and [label for _, label in axis.ticks] == ["1/2", "1", "2", "4"]
    x = [
        float(c.get("cx", "nan")) for c in ET.fromstring(figures.draw(figure)).iter(f"{NAME}circle")
    ]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.02)


@pytest.mark.parametrize(
    "rows",
    [
        [(0.0, 0.0, 0.0)],
        [(1.0, None, None)],
        [(0.0, None, 40.0), (1e6, 2.0, None)],
        [(3.0, 1e-5, 1e5)],
    ],
)
@pytest.mark.parametrize("measure", ["odds_she", "order_effect", "share_she"])
def test_odd_numbers_stay_inside_the_picture(
    roles: Protocol, measure: str, rows: list[Row]
) -> None:
    if measure != "odds_she":
        rows = [
            (min(v, 1.0), low and min(low, 1.0), high and min(high, 1.0)) for v, low, high in rows
        ]
    figure = simple(roles, measure, *rows)
    ticks = figure.axis.ticks
    assert 2 <= len(ticks) <= 16 and all(math.isfinite(value) for value, _ in ticks)
    text = figures.draw(figure)
    width = float(ET.fromstring(text).get("viewBox", "").split()[2])
    places = [float(value) for value in re.findall(r' (?:c?x[12]?)="([^"]*)"', text)]
    assert all(0 <= place <= width for place in places)


def test_a_difference_axis_is_symmetric_about_nothing(roles: Protocol) -> None:
    axis = simple(roles, "order_effect", (0.12, 0.03, 0.21)).axis
    assert axis.domain[0] == -axis.domain[1]
    assert 0.0 in [value for value, _ in axis.ticks]
    assert axis.ends == ("lower with “she” named first", "higher with “she” named first")


def test_the_band_is_shaded_between_its_ends() -> None:
    """On a logarithmic axis from 1/2 to 4 over W px: 0.8 lies at log2(0.8 / 0.5) / 3 of it, 1.25 at log2(1.25 / 0.5) / 3."""
    root = tree(DRAWN["forest"])
    (zone,) = classes(root, "fig-zone")
    ticks = [float(e.get("x1", "nan")) for e in classes(root, "fig-grid")]
    width = ticks[-1] - ticks[0]
    left = float(zone.get("x", "nan"))
    assert left == pytest.approx(ticks[0] + math.log2(1.6) / 3 * width, abs=0.02)
    assert left + float(zone.get("width", "nan")) == pytest.approx(
        ticks[0] + math.log2(2.5) / 3 * width, abs=0.02
    )
    assert any(e.text == "four-fifths band, 0.8 to 1.25" for e in root.iter(f"{NAME}text"))


def test_a_dumbbell_joins_the_points_of_a_row_and_stars_what_was_tested() -> None:
    figure = DRAWN["dumbbell"]
    assert isinstance(figure, Plot) and figure.series == ("side: gendered", "side: en", "side: zh")
    assert [[point.text for point in row.points] for row in figure.rows] == [
        [".21", ".62*", ".50"],
        [".40", ".45", ".80"],
    ]
    root = tree(figure)
    ends = {(e.get("x1"), e.get("x2")) for e in classes(root, "fig-join")}
    circles = [e.get("cx") for e in classes(root, "fig-mark") if e.tag == f"{NAME}circle"][
        1:
    ]  # the first is the legend's
    assert len(ends) == 4 and {x for x, _ in ends} >= set(circles)


@pytest.mark.parametrize("narrow", [False, True])
def test_the_pieces_of_a_bar_are_its_shares(narrow: bool) -> None:
    """By hand: 150 male, 30 female, 12 neither, 8 refusals of 200 are .75, .15, .06, .04 of the bar."""
    figure = DRAWN["stacked"]
    assert isinstance(figure, Stacked) and figure.parts == (
        "male",
        "female",
        "neither",
        "refusal",
        "invalid",
    )
    assert figure.bars[0].shares == (0.75, 0.15, 0.06, 0.04, 0.0)
    assert all(math.isclose(sum(bar.shares), 1) for bar in figure.bars)
    pieces = [float(e.get("width", "nan")) for e in classes(tree(figure, narrow), "fig-part")][
        len(figure.parts) :
    ]
    first = pieces[:4]
    assert [piece / sum(first) for piece in first] == pytest.approx(
        [0.75, 0.15, 0.06, 0.04], abs=1e-3
    )
    assert (
        len(classes(tree(figure, narrow), "fig-hatch")) == 3 + 3
    )  # no-answers, in the legend and in the bars


def test_words_that_are_not_told_apart_are_answers() -> None:
    """Of many words only the no-answers have rates; the rest of the bar is what was answered."""
    rate = gallery.estimate("labels", {"outcome": "refusal"}, 0.1, outcomes={"refusal": 20.0})
    rows = [replace(rate, measure="outcome_rate")]
    (figure,) = stacked.outcomes(
        audits.audit(replace(gallery.PROTOCOL, instruments=()), rows, {}), "g"
    )
    assert figure.parts == ("answer", "refusal") and figure.bars[0].shares == (0.9, 0.1)


def test_cells_lie_about_the_null_value() -> None:
    """The ends are a factor of four, whatever the largest: log 1.9 / log 4 = .463, level 2; log 0.62 / log 4 = −.345, level −1;
    log 1.1 / log 4 = .069, level 0; 0 is the end."""
    figure = DRAWN["heat-null"]
    assert isinstance(figure, Heat) and figure.scale == ((-4, "≤ 0.25"), (0, "1.00"), (4, "≥ 4.00"))
    cells = [cell for _, line in figure.rows for cell in line if cell]
    assert [cell.level for cell in cells] == [-1, 0, 2, -4]
    assert [cell.symbol for cell in cells] == ["▼", "", "▲", ""]


def test_panels_share_rows_and_scale() -> None:
    """A dumbbell of two headings as panels: a value lies at the same place of each, and its row is named once."""
    plot = DRAWN["dumbbell"]
    assert isinstance(plot, Plot)
    row = replace(plot.rows[0], group="one", label="FF")
    twice = replace(plot, rows=(row, replace(row, group="two")), panels=True)
    root = tree(twice)
    spots = [float(e.get("cx", "nan")) for e in root.iter(f"{NAME}circle")][-2:]
    heads = classes(root, "fig-heading")
    assert [head.text for head in heads] == ["one", "two"]
    starts = [float(head.get("x", "nan")) for head in heads]
    assert spots[1] - spots[0] == pytest.approx(starts[1] - starts[0], abs=0.1)
    assert [e.text for e in root.iter(f"{NAME}text")].count("FF") == 1


def test_differences_have_one_of_two_scales() -> None:
    spec = next(one for one in gallery.PROTOCOL.measures if one.name == "against_en")
    for value, ends in ((0.02, (-0.25, 0.25)), (-0.3, (-1.0, 1.0))):
        row = gallery.estimate("against_en", {}, value, low=value, high=value)
        assert axes.axis(spec, [row]).domain == ends


def test_a_cell_with_nothing_is_hatched_and_said() -> None:
    figure = DRAWN["heat"]
    assert (
        isinstance(figure, Heat)
        and "family, FM: nothing measured" in figure.text
        and "Hatched" in figure.note
    )
    assert len(classes(tree(figure), "fig-hatch")) == 1
    symbols = {
        (row, place): cell.symbol
        for row, line in figure.rows
        for place, cell in enumerate(line)
        if cell
    }
    told = {place: symbol for place, symbol in symbols.items() if symbol}
    assert told == {("family", 0): "▲", ("career", 2): "△"}


def test_no_hatching_leaves_its_rectangle() -> None:
    for kind in (0, 1, 2):
        root = ET.Element("svg")
        svg.hatch(root, 100, 50, 40, 18, kind)
        ends = re.findall(r"[ML]([\d.]+),([\d.]+)", root[0].get("d", ""))
        assert len(ends) == (32 if kind == 2 else 16)
        assert all(100 <= float(x) <= 140 and 50 <= float(y) <= 68 for x, y in ends)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", DRAWN)
def test_all_stays_inside_the_picture(name: str, narrow: bool) -> None:
    root = tree(DRAWN[name], narrow)
    width, height = (float(part) for part in root.get("viewBox", "").split()[2:])
    for e in root.iter():
        x, y, kinds = float(e.get("x", 0)), float(e.get("y", 0)), e.get("class", "").split()
        if e.tag == f"{NAME}text" and not e.get("transform"):
            long = svg.width_of(e.text or "")
            left = x - long if "end" in kinds else x - long / 2 if "middle" in kinds else x
        else:
            left, long = x, float(e.get("width", 0)) if e is not root else 0.0
        assert left >= 0 and left + long <= width + 1 and 0 <= y <= height, (e.attrib, e.text)


def test_the_figures_of_the_protocols_that_ask_for_one() -> None:
    asked = {
        (name, spec.name): spec.figure
        for name in ("words", "dialogues", "protext")
        for spec in registry.protocol(name).measures
        if spec.figure != "forest"
    }
    assert asked == {
        ("words", "class_share"): "dumbbell",
        ("words", "off_list"): "stacked",
        ("dialogues", "topic_share"): "heat",
        ("protext", "either"): "heat",
        ("protext", "pronouns_out"): "heat",
        ("protext", "either_published"): "heat",
    }
    band = next(
        spec.band for spec in registry.protocol("words").measures if spec.name == "di_class"
    )
    assert band == {"low": 0.8, "high": 1.25, "text": "four-fifths band"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('figure = "heatmap"', "No figure 'heatmap'. Did you mean 'heat'?"),
        ('band = { low = 1.25, high = 0.8, text = "b" }', "band: low must be below high"),
        ('band = { low = 0.8, text = "b" }', "band: 'high' is missing"),
        ("band = [0.8, 1.25]", "band: [0.8, 1.25] is not a table"),
    ],
)
def test_a_wrong_figure_or_band_is_refused(tmp_path: Path, line: str, said: str) -> None:
    text = Path(gallery.__file__).with_name("gallery.toml").read_text(encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(text.replace('figure = "dumbbell"', line), encoding="utf-8")
    with pytest.raises(ProtocolError, match=re.escape(said)):
        load(path)


def test_hostile_labels_are_text() -> None:
    bad = "</svg><img onerror=x>"
    figure = Plot(
        id="f",
        title="<script>",
        text="&\"'",
        series=(bad, bad),
        rows=(),
        axis=Axis(
            domain=(0, 1),
            ticks=((0.0, "<b>"),),
            ends=("<", ">"),
            band=(0.2, 0.4),
            band_text=bad,
        ),
    )
    bar = Stacked(id="s", title=bad, text=bad, parts=(bad,), answers=1, bars=())
    for one in (figure, replace(figure, joined=True), bar):
        allowed = {"svg", "title", "desc", "text", "line", "rect", "circle", "polygon"}
        assert {e.tag.removeprefix(NAME) for e in tree(one).iter()} <= allowed


def test_a_divergence_is_drawn_over_what_chance_gives() -> None:
    """Its rows differ in the contrast alone and are no single items, so they are a figure, however many pairs there are."""
    rows = [
        replace(
            gallery.estimate("impact", {}, 0.1 * n),
            measure="against_en",
            unit="share of 1 bit",
            contrast={"pairing": pair},
            clusters=None,
            null_low=-0.02,
            null_high=0.04,
        )
        for n, pair in enumerate(
            ("all pairs", "a − b", "a − c", "a − d", "b − c", "b − d", "c − d")
        )
    ]
    spec = next(spec for spec in gallery.PROTOCOL.measures if spec.name == "against_en")
    (figure,) = forest.build(audits.audit(gallery.PROTOCOL, rows, {}), spec, "g")
    assert len(figure.rows) == 7 and all(row.points[0].null == (-0.02, 0.04) for row in figure.rows)
    zones = classes(tree(figure), "fig-zone")
    points = [float(e.get("cx", "nan")) for e in tree(figure).iter(f"{NAME}circle")]
    assert len({e.get("x") for e in zones}) == 1
    each = (points[6] - points[0]) / 0.6  # px for 1; by hand: .06 wide, from −.02
    assert float(zones[0].get("width", "nan")) == pytest.approx(0.06 * each, abs=0.05)
    assert points[0] - float(zones[0].get("x", "nan")) == pytest.approx(0.02 * each, abs=0.05)


def test_a_heading_stands_once_where_groups_have_several_contrasts(roles: Protocol) -> None:
    rows = [
        Estimate(
            "roles",
            "m",
            "choice/1@a",
            "order_effect",
            {"mode": "exact", "class": group},
            {"order": level},
            0.1,
            "share",
            0.0,
            0.2,
            0.95,
            n=9,
        )
        for group in ("communal", "standout")
        for level in ("b − a", "c − a")
    ]
    spec = next(spec for spec in roles.measures if spec.name == "order_effect")
    plot = forest.forest(audits.audit(roles, rows, {}), spec, rows, "x", "Effect")
    assert [(row.group, row.label) for row in plot.rows] == [
        ("by class; order: b − a", "communal"),
        ("by class; order: b − a", "standout"),
        ("by class; order: c − a", "communal"),
        ("by class; order: c − a", "standout"),
    ]
    assert "communal, order: c − a, m: +.10" in plot.text


def test_counted_values_of_a_nuisance_stand_under_its_name() -> None:
    """The places of a ranking are values of `first_shown`: a reader is told of places."""
    hiring = registry.protocol("hiring")
    rows = [
        Estimate(
            "hiring",
            "m",
            "ranking/1@a",
            "place_shown",
            {"mode": "sampled", "first_shown": place},
            None,
            0.2,
            "share",
            0.1,
            0.3,
            0.95,
            n=9,
        )
        for place in ("1", "2")
    ]
    spec = next(spec for spec in hiring.measures if spec.name == "place_shown")
    plot = forest.forest(audits.audit(hiring, rows, {}), spec, rows, "x", "Place")
    assert {row.group for row in plot.rows} == {"by place"}


def test_a_value_has_one_colour_in_every_figure() -> None:
    """One that stands alone keeps the colour that it has beside the other."""
    rows = gallery.estimates()
    whole = audits.audit(gallery.PROTOCOL, rows, {})
    (all_sides,) = stacked.build(whole, whole.spec("labels"), "g")
    counted = [stacked.StackedCounts(e, "x", {"female": 9.0}, 9.0) for e in whole.of("labels")[:1]]
    alone = stacked.stack_bars(whole, counted, (), "s", "t")
    place = dict(zip(all_sides.parts, all_sides.colours, strict=True))
    assert alone.parts == ("female",) and alone.colours == (place["female"],)
    assert place["male"] != place["female"]
