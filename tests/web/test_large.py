"""3,000 pictures of three subjects: every page is bounded, and together they have each picture once."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.web.conftest import GUARDS
from tiltmeter import registry
from tiltmeter.planning import Choices
from tiltmeter.records import Label, Output, Sampling, Trial
from tiltmeter.store import Store
from tiltmeter.web.index import Index, opened
from tiltmeter.web.page import PICTURES, page
from tiltmeter.web.view import ALL, View

WORDS, CUES = ("guard", "cook", "novice", "idol", "victim", "sentry"), ("masculine", "feminine")
MANY = 3_000


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("large") / "run"
    draw = random.Random(3)
    with Store(folder, create=True, writing=True) as store:
        store.freeze(Choices(("planted:0",)).frozen(registry.protocol(GUARDS)))
        store.put("source", GUARDS)
        trials = [
            Trial(f"{draw.getrandbits(128):032x}", f"planted:{n % 3}", "sampled",
                  {"cue": CUES[n // 3 % 2], "word": WORDS[n // 6 % 6]}, n // 36, "?", "", Sampling())
            for n in range(MANY)
        ]  # fmt: skip
        assert len(list(store.unanswered(trials))) == MANY
        said = [draw.choice(("male", "female", "neither")) for _ in trials]
        labels = [Label(trial.id, "panel/a@1", "gender", value) for trial, value in zip(trials, said, strict=True)]
        store.write([], [Output(trial.id, "answer", "", "", f"{trial.id}.png") for trial in trials], labels)
    (made,) = opened([folder])
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
    assert pages == 5 and len(seen) == len(set(seen)) == MANY  # 500 in each of 3 × 2 cells, 100 of a cell on a page


def test_bars_count_what_is_not_on_the_page_too(index: Index) -> None:
    found = page(index, View(tab=ALL))
    assert sum(cell.total for _, row in found.rows for cell in row) == sum(
        bar.count for _, row in found.rows for cell in row for bar in cell.bars
    )
    assert found.total == MANY


def test_a_page_beyond_the_last_is_the_last(index: Index) -> None:
    assert page(index, View(tab="cook", page=999_999)).view.page == page(index, View(tab="cook")).pages
