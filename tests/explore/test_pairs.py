"""Pairs, counts, the list of items and the outputs of a number: what stands where, against numbers by hand."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

import tiltmeter
from tests.conftest import Made
from tiltmeter import registry
from tiltmeter.analyse.claims.output_query import query_of
from tiltmeter.analyse.whole_run.outputs_behind import Counted
from tiltmeter.errors import UsageError
from tiltmeter.explore import rendering
from tiltmeter.explore.browse.effects import compare, distance
from tiltmeter.explore.browse.page import page
from tiltmeter.explore.browse.sheet import contact_sheet
from tiltmeter.explore.selection.detail import detail
from tiltmeter.explore.selection.index import Index, open_indices
from tiltmeter.explore.selection.view import View
from tiltmeter.explore.server import Explorer

SAID = {  # word: what was said with he first, then with she first
    "kind": ("he", "he", "he", "she"),
    "warm": ("he", "he", "she", "she"),
    "calm": ("she", "she", "she", "she"),
}


@pytest.fixture
def index(made: type[Made], tmp_path: Path) -> Iterator[Index]:
    """Three words, two answers in each order."""
    run = made(tmp_path / "run", registry.protocol("roles"))
    common = {"language": "en", "class": "communal"}
    run.label(
        (
            {**common, "order": order, "word": word, "lexeme": word},
            "sampled",
            {values[2 * n + sample]: 1.0},
        )
        for sample in (0, 1)
        for word, values in SAID.items()
        for n, order in enumerate(("he_first", "she_first"))
    )
    run.store.close()
    (opened,) = open_indices([tmp_path / "run"])
    yield opened
    opened.close()


def test_a_distance_by_hand() -> None:
    assert distance({"x": 3, "y": 1}, {"x": 1, "y": 1}) == 0.25
    assert distance({"x": 2}, {}) == 0.0
    three = {"a": {"x": 1.0}, "b": {"x": 1.0, "y": 1.0}, "c": {"y": 1.0}}
    assert compare(three, "") == (1.0, True)  # a against c
    assert compare(three, "b") == (0.5, False)  # b's commonest are both


def test_changed_pairs_stand_first_then_the_largest_effect(index: Index) -> None:
    found = page(index, View())
    assert found.view.show == "pairs" and found.view.rows == "lexeme"
    assert [row for row, _ in found.rows] == ["warm", "kind", "calm"]
    assert found.effects == {"warm": (1.0, True), "kind": (0.5, False), "calm": (0.0, False)}
    assert found.changed == (1, 3)
    assert [tab.value for tab in found.tabs] == ["warm", "kind", "calm", "*"]
    only = page(index, View(changed="1"))
    assert [row for row, _ in only.rows] == ["warm"]
    cell = found.rows[0][1][0]
    assert [card.labels for card in cell.cards] == [("he",), ("he",)]


def test_a_cell_opens_its_wall(index: Index) -> None:
    from urllib.parse import parse_qsl

    cell = page(index, View()).rows[1][1][1]  # kind, she first
    wall = page(index, View.parse(dict(parse_qsl(cell.address[1:]))))
    assert (wall.view.show, wall.view.tab, wall.total) == ("wall", "kind", 2)
    assert sorted(card.labels for card in wall.rows[0][1][0].cards) == [("he",), ("she",)]


def test_counts_by_hand(index: Index) -> None:
    """Of 2 answers; Fisher's exact p of 0 of 2 against 2 of 2 is 1/3 (2 of 6 tables as unlikely)."""
    found = page(index, View(show="counts"))
    assert found.value == "she"
    warm = [cell.count for cell in found.rows[0][1]]
    assert [(one.hits, one.n, one.share) for one in warm if one] == [(0, 2, 0), (2, 2, 1)]
    assert warm[0] is not None and warm[0].p is None  # the baseline
    assert warm[1] is not None and warm[1].p == pytest.approx(1 / 3)
    html = rendering.grid(found, Explorer.places(found.view))
    assert "<b>2</b> of 2" in html and "p = .333" in html


def test_the_outputs_of_a_number_are_those_that_are_shown(index: Index) -> None:
    (source,) = index.sources.values()
    run = tiltmeter.open_run(source.store.folder)
    for row in run.analyse():
        query = query_of(run.protocol, row)
        found = page(index, View(query=query.text(), number=f"{row.measure} {row.value}"))
        assert found.total == len(Counted(source.store, run.protocol).outputs(query))
        assert found.banner is not None and found.banner.outputs == found.total
    html = rendering.grid(found, Explorer.places(found.view))
    assert f"<bdi>{row.measure}" in html and 'name="query"' in html


def test_a_query_that_is_none_is_said(index: Index) -> None:
    for text in ("x", "annotator=a&f.colour=red", "annotator=a&variant=none"):
        with pytest.raises(UsageError):
            page(index, View(query=text))


def test_a_search_counts_what_it_found_in_each_item(texts: Path) -> None:
    (opened,) = open_indices([texts])
    found = page(opened, View(text="evil.example"))
    every = {tab.value: tab.count for tab in found.tabs}
    assert found.found == every["*"] >= 1
    assert sum(count or 0 for name, count in every.items() if name != "*") == found.found
    opened.close()


def test_an_output_names_the_same_prompt_with_the_cue_changed(index: Index) -> None:
    warm = page(index, View()).rows[0][1]
    one, other = (cell.cards[0] for cell in warm)
    assert detail(index, 0, one.id).paired[0][0] == "“she” named first"
    assert other.id in [output for _, output in detail(index, 0, one.id).paired]


def test_a_contact_sheet_holds_the_pictures_of_the_page(guards: Path) -> None:
    (opened,) = open_indices([guards])
    found = page(opened, View())
    cards = [card for _, cells in found.rows for cell in cells for card in cell.cards]
    asked: list[tuple[int, str]] = []

    def small(run: int, name: str) -> bytes:
        asked.append((run, name))
        made = io.BytesIO()
        Image.new("RGB", (64, 64), (200, 10, 10)).save(made, "PNG")
        return made.getvalue()

    sheet = Image.open(io.BytesIO(contact_sheet(found, small)))
    assert asked == [(card.run, card.blob) for card in cards if card.blob]
    red = sum(n for n, colour in sheet.getcolors(1 << 20) or () if colour == (200, 10, 10))
    assert sheet.format == "PNG" and red == 128 * 128 * len(asked) > 0
    opened.close()


def test_a_contact_sheet_holds_the_beginnings_of_texts(rewrites: Path) -> None:
    (index,) = open_indices([rewrites])
    found = page(index, View())
    index.close()
    sheet = Image.open(io.BytesIO(contact_sheet(found, lambda run, name: b"")))
    frames = sum(n for n, colour in sheet.getcolors(1 << 20) or () if colour == (0x54, 0x5D, 0x68))
    cards = sum(len(cell.cards) for _, row in found.rows for cell in row)
    assert found.has_sheet and frames > cards * 2 * (272 + 128 - 2) > 0
    assert not replace(found, view=View(show="counts")).has_sheet
