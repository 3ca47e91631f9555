"""The first screen, in Chromium: what must be on it is on it, at 1280 × 720, whatever was asked."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tiltmeter
from tests.browser import Visit, chromium, drive

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
    ),
]
HEIGHT, PHONE = 720, 844  # px of a first screen, and of a telephone's that is 390 wide
TALL = "document.documentElement.scrollHeight"
HEAD = "document.querySelector('#findings').getBoundingClientRect().bottom"  # of the headline part
# name → (right, bottom) of what a first screen must hold; the last line of its figure and examples
BOXES = """
(() => { const found = {};
for (const [name, where] of Object.entries({headline: 'h1', size: '.lede', badges: '.badges',
    figure: '.seen svg.wide', examples: '.same'})) {
  const one = document.querySelector(where);
  found[name] = one ? [one.getBoundingClientRect().right, one.getBoundingClientRect().bottom] : null;
}
return found; })()
"""
PLANTED: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "roles": ("roles", ["planted:she=0.7"], {"language": "en", "limit": 20, "samples": 4}),
    "words": (
        "words",
        ["planted:protocol=words,communal.female=2"],
        {"language": "en", "limit": 6},
    ),
    "dialogues": (
        "dialogues",
        ["planted:protocol=dialogues,appearance.FF=0.9"],
        {"language": "en", "samples": 25, "judge": ["planted:protocol=dialogues"]},
    ),
    "soda": (
        "soda",
        ["planted:protocol=soda,product_color/blue.men=.9"],
        {
            "samples": 12,
            "judge": ["planted:protocol=soda"],
            "where": {"object": ["car"], "dimension": ["base", "gender"]},
        },
    ),
    "gramvis": (
        "gramvis",
        ["planted:protocol=gramvis,male.gendered=.9,female.gendered=.1,male.en=.2,female.en=.8"],
        {"limit": 2, "samples": 1, "judge": ["planted:protocol=gramvis"]},
    ),
    "protext": ("protext", ["planted-rewriter:gender=0.5"], {"limit": 24}),
    "five": (
        "roles",
        [
            f"planted:she=0.{n}{n},she.communal=0.{n}{n}001,refuse=0.0000000{n},seed={n}"
            for n in range(3, 8)
        ],
        {"language": "en", "limit": 6, "samples": 2},
    ),
    "one item": ("roles", ["planted:she=0.6"], {"language": "en", "limit": 1, "samples": 4}),
    "all refused": (
        "roles",
        ["planted:refuse=1"],
        {"language": "en", "limit": 4, "samples": 2},
    ),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, computed_once: Path) -> dict[str, Visit]:
    folder = tmp_path_factory.mktemp("screens")
    visits = {}
    for name, (protocol, models, options) in PLANTED.items():
        run = tiltmeter.run(protocol, models, folder / name, **options)
        told = "[document.querySelector('h1').textContent, document.body.innerText]"
        go = ("go", run.report().resolve().as_uri())
        steps = [go, *(("ask", what) for what in (BOXES, told, HEAD))]
        visits[name] = Visit(steps, height=HEIGHT)
        visits[f"{name}, no scripts"] = Visit([go, ("ask", told)], scripts=False, height=HEIGHT)
        brief = run.report(run.folder / "brief.html", brief=True).resolve().as_uri()
        pages = [("go", brief), ("paper", str(folder / f"{name}.pdf"))]
        visits[f"{name}, brief"] = Visit(pages)
        if name == "soda":
            paper = [steps[0], ("paper", str(folder / "whole.pdf"))]
            visits["paper"] = Visit(paper)
        if name == "gramvis":
            visits["phone"] = Visit([steps[0], ("ask", TALL)], width=390, height=PHONE)
    drive(*visits.values())
    for name in PLANTED:
        visits[f"{name}, brief"].values[:] = [sheets(folder / f"{name}.pdf")]
    visits["paper"].values[:] = [sheets(folder / "whole.pdf")]
    return visits


def sheets(paper: Path) -> int:
    return len(re.findall(rb"/Type\s*/Page[^s]", paper.read_bytes()))


@pytest.mark.parametrize("name", PLANTED)
def test_a_brief_report_is_one_printed_page(seen: dict[str, Visit], name: str) -> None:
    assert seen[f"{name}, brief"].values == [1]


def test_a_report_of_pictures_is_short(seen: dict[str, Visit]) -> None:
    """At most twelve phone screens of the one with most languages, twelve sheets of the one with most attributes."""
    assert seen["phone"].values[0] <= 12 * PHONE and seen["paper"].values[0] <= 12


@pytest.mark.parametrize("name", PLANTED)
def test_the_first_screen_holds_all_that_it_should(seen: dict[str, Visit], name: str) -> None:
    boxes, (headline, text), head = seen[name].values
    assert head <= 3 * HEIGHT
    assert seen[name].messages == []
    for what, box in boxes.items():
        assert box is not None, what
        assert box[0] <= 1280 and box[1] <= HEIGHT, (what, box)
    assert "%" in text[: text.index("What was found")]
    assert "{" not in headline and headline.endswith(".")


@pytest.mark.parametrize("name", PLANTED)
def test_every_number_is_there_without_a_script(seen: dict[str, Visit], name: str) -> None:
    """What a script adds is buttons and how many rows a filter shows."""
    (_, text), (_, bare) = seen[name].values[1], seen[f"{name}, no scripts"].values[0]
    numbers, without = (Counter(re.findall(r"[\d.]*\d", shown)) for shown in (text, bare))
    assert len(numbers) > 9 and without >= numbers


SAID = {
    "roles": "writes “she” in",
    "words": "A picks communal words",
    "dialogues": "Two women talk of appearance in",
    "soda": "Told “for men”, A draws the car with the colour blue in",
    "protext": "A gives a gender to",
    "one item": "writes “she” in",
    "all refused": "Nothing could be measured for A: 100\u00a0% of answers are refusal.",
}


@pytest.mark.parametrize("name", SAID)
def test_the_headline_says_what_moved(seen: dict[str, Visit], name: str) -> None:
    assert SAID[name] in seen[name].values[1][0]


def test_names_of_sixty_characters_become_letters(seen: dict[str, Visit]) -> None:
    models = PLANTED["five"][1]
    assert min(map(len, models)) >= 60
    headline, text = seen["five"].values[1]
    assert not any(name in headline for name in models)
    assert "the full names of 5 models" in text
