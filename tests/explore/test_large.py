"""3,000 pictures of three subjects: every page is bounded, stands at once, and together they have each picture once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Visit, chromium, drive
from tests.explore.conftest import GUARDS
from tests.explore.driving import SCROLLED, STANDS, drawn, explorer
from tiltmeter import registry
from tiltmeter.explore.browse.page import PICTURES, page
from tiltmeter.explore.selection.index import Index, open_indices
from tiltmeter.explore.selection.view import ALL, View
from tiltmeter.records import Label, Output, Sampling, Trial
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.steps import protocol_snapshot
from tiltmeter.store import Store

WORDS, CUES = ("guard", "cook", "novice", "idol", "victim", "sentry"), ("masculine", "feminine")
MANY = 3_000
ELEMENTS = "document.querySelectorAll('*').length"
NEXT = "document.querySelector('a[rel=next]').click()"
KEYS = "[...document.querySelectorAll('a.card')].map(e => e.dataset.key)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "run"
    draw = random.Random(3)
    with Store(folder, create=True, writing=True) as store:
        store.freeze(Choices(("planted:0",)).frozen(registry.protocol(GUARDS)))
        protocol_snapshot.record(GUARDS, registry.protocol(GUARDS)).keep(store)
        trials = [
            Trial(
                f"{draw.getrandbits(128):032x}",
                f"planted:{n % 3}",
                "sampled",
                {"cue": CUES[n // 3 % 2], "word": WORDS[n // 6 % 6]},
                n // 36,
                "?",
                "",
                Sampling(),
            )
            for n in range(MANY)
        ]
        assert len(list(store.iter_unanswered(trials))) == MANY
        said = [draw.choice(("male", "female", "neither")) for _ in trials]
        labels = [
            Label(trial.id, "panel/a@1", "gender", value)
            for trial, value in zip(trials, said, strict=True)
        ]
        store.write(
            [], [Output(trial.id, "answer", "", "", f"{trial.id}.png") for trial in trials], labels
        )
    drawn(folder)
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    (made,) = open_indices([folder])
    yield made
    made.close()


@pytest.mark.parametrize("sort", ["sample", "surprise", "label"])
def test_pages_are_bounded_and_have_each_picture_once(index: Index, sort: str) -> None:
    seen: list[str] = []
    number, pages = 1, 1
    while number <= pages:
        found = page(index, View(tab=ALL, sort=sort, page=number))
        ids = [card.id for _, row in found.rows for cell in row for card in cell.cards]
        assert 0 < len(ids) <= PICTURES
        seen += ids
        pages, number = found.pages, number + 1
    assert (
        pages == 5 and len(seen) == len(set(seen)) == MANY
    )  # 500 in each of 3 × 2 cells, 100 of a cell on a page


def test_bars_count_what_is_not_on_the_page_too(index: Index) -> None:
    found = page(index, View(tab=ALL))
    assert sum(cell.total for _, row in found.rows for cell in row) == sum(
        bar.count for _, row in found.rows for cell in row for bar in cell.bars
    )
    assert found.total == MANY


def test_a_page_beyond_the_last_is_the_last(index: Index) -> None:
    assert (
        page(index, View(tab="cook", page=999_999)).view.page == page(index, View(tab="cook")).pages
    )


@pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
)
def test_pages_are_turned_in_a_browser_without_waiting(folder: Path) -> None:
    """Turns pages, from the click until all pictures that can be seen are painted, and scrolls through the last."""
    with explorer(str(folder)) as address:
        steps = [("go", f"{address}&tab=*"), ("ask", STANDS), ("ask", KEYS)]
        for number in (2, 3):
            turned = (
                f"location.search.includes('page={number}') && document.readyState === 'complete'"
            )
            steps += [("do", NEXT), ("wait", turned), ("ask", STANDS), ("ask", KEYS)]
        (visit,) = drive(Visit([*steps, ("ask", SCROLLED), ("ask", ELEMENTS)]))
    *pages, _, elements = visit.values
    stands, keys = pages[::2], pages[1::2]
    assert [cards for _, _, cards in stands] == [600] * 3
    assert len({key for page in keys for key in page}) == 1800
    first, *later = (ready for _, ready, _ in stands)
    assert min(later) < 3 * first  # benchmarks/explorer_browser.py has the milliseconds
    assert elements < 8 * 600  # what a frame costs while the page moves
    assert visit.messages == []
