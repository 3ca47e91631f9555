"""The drawers of a report: each number leads to the outputs that were counted for it."""

from __future__ import annotations

import re

import pytest

import tiltmeter
from tests.browser import Visit, chromium, drive
from tiltmeter.analyse.claims.output_query import OutputQuery, query_of
from tiltmeter.analyse.whole_run.outputs_behind import Counted
from tiltmeter.report.page_model.figures import Dots, Stacked
from tiltmeter.report.page_model.page import Content
from tiltmeter.report.run_page import content
from tiltmeter.store import Store


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    folder = tmp_path_factory.mktemp("behind") / "run"
    return tiltmeter.run(
        "roles",
        "planted:she=0.7,refuse=0.1",
        folder,
        language="en",
        limit=12,
        samples=20,
        mode=["sampled", "exact"],
    )


@pytest.fixture(scope="module")
def built(run: tiltmeter.Run) -> Content:
    with Store(run.folder) as store:
        return content.build(store, run.protocol, run.analyse())


def test_a_drawer_says_how_many_were_counted_and_which_are_here(
    run: tiltmeter.Run, built: Content
) -> None:
    drawers = {one.id: one for one in built.behind}
    here = {one.id for group in built.examples.groups for one in group.examples}
    assert len(here) == 400 < len(run.outputs)
    with Store(run.folder) as store:
        counted = Counted(store, run.protocol)
        for row in run.analyse():
            query = query_of(run.protocol, row)
            if row.value is not None and row.n:
                drawer = drawers[built.behind_of[query.text()]]
                outputs = counted.outputs(query)
                assert drawer.total == len(outputs)
                assert drawer.in_page == len(here & set(outputs))
                places = {place for place, _ in drawer.here}
                assert places <= {f"o{one[:12]}" for one in here & set(outputs)}


def test_a_piece_of_a_bar_and_a_dot_lead_to_what_they_count(
    run: tiltmeter.Run, built: Content
) -> None:
    drawn = [built.screen.figure, *(one for part in built.sections for one in part.figures)]
    bars = [(one.parts, bar) for one in drawn if isinstance(one, Stacked) for bar in one.bars]
    dots = [dot for one in drawn if isinstance(one, Dots) for row in one.strips for dot in row.dots]
    values = {dot.query: dot.value for dot in dots}
    assert len(bars) > 1 and 2 * len(values) == len(dots) > 40
    with Store(run.folder) as store:
        counted = Counted(store, run.protocol)
        for parts, bar in bars:
            for part, share, query in zip(parts, bar.shares, bar.queries, strict=True):
                if share:
                    rows = counted.labels(OutputQuery.parse(query))
                    own = rows.filter(rows["value"] == part)["weight"].sum()
                    assert own == pytest.approx(share * rows["weight"].sum())
                    assert query in built.behind_of
        for query, value in values.items():
            rows = counted.labels(OutputQuery.parse(query))
            own = rows.filter(rows["value"] == "she")["weight"].sum()
            assert own == pytest.approx(value * rows["weight"].sum())


def test_every_row_of_a_table_has_its_drawer(built: Content) -> None:
    tables = [table for section in built.sections for table in section.tables]
    assert sum(len(table.links) for table in tables) > 20
    for table in tables:
        assert len(table.links) == len(table.rows)
        assert all(link in built.behind_of for link in table.links)


def test_links_of_the_page_lead_somewhere(run: tiltmeter.Run) -> None:
    text = run.report().read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= {*ids}
    assert set(re.findall(r'data-b="([^"]+)"', text)) <= {*ids} and 'data-query="{' not in text
    heading, lede, *_ = re.findall(r'<(?:h1|p class="lede")[^>]*>(.*?)</(?:h1|p)>', text)
    assert 'href="#b' in heading and 'href="#b' in lede
    queries = re.findall(r"explore RUN --query '([^']+)'", text)
    assert len(queries) > 20
    for query in queries:
        OutputQuery.parse(query.replace("&amp;", "&"))


LINK = "document.querySelector('.table td:not(.mark) a')"
DRAWER = "document.querySelector('.drawer:target')"
MARK = """
document.querySelector('svg.wide [data-b]').dispatchEvent(new MouseEvent('click', {bubbles: true}))
"""


@pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
)
def test_a_click_opens_the_drawer_and_its_outputs(run: tiltmeter.Run) -> None:
    """By links alone: only Esc needs a script."""
    visit = Visit(
        [
            ("go", run.report().as_uri()),
            ("do", f"{LINK}.closest('details') && ({LINK}.closest('details').open = true)"),
            ("do", f"{LINK}.click()"),
            ("wait", f"{DRAWER} !== null"),
            ("ask", f"{DRAWER}.checkVisibility()"),
            ("ask", f"{DRAWER}.querySelector('b').textContent"),
            ("do", f"{DRAWER}.querySelector('li a').click()"),
            ("wait", "location.hash.startsWith('#o')"),
            ("ask", "document.querySelector(location.hash).checkVisibility()"),
            ("ask", f"{DRAWER} === null"),
            ("do", "document.querySelector('.findings td.number a').focus()"),
            ("key", "Enter"),
            ("wait", f"{DRAWER} !== null"),
            ("ask", f"document.activeElement === {DRAWER} && {DRAWER}.ariaLabel"),
            ("key", "Escape"),
            ("wait", f"{DRAWER} === null"),
            ("ask", "document.activeElement.closest('.findings') !== null"),
        ]
    )
    drive(visit)
    shown, counted, visible, closed, announced, back = visit.values
    assert announced.startswith("Outputs of ")
    assert back and shown and visible and closed and re.fullmatch(r"\d+ of \d+", counted)
    assert visit.messages == []
