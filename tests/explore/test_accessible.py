"""Every page that people look at, by the rules of axe-core for WCAG 2.2 AA: in light, and on a phone in dark."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiltmeter
from tests import axe
from tests.browser import Visit, chromium, drive
from tests.explore.driving import explorer
from tiltmeter import api
from tiltmeter.explore.static import write

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
)
OPEN = (
    "do",
    "for (const name of ['table', 'answers', 'pictures', 'marks', 'long']) document.querySelector(`details.${name}`)?.toggleAttribute('open', true)",
)
READY = ("wait", "typeof grid !== 'undefined'")
CORRECTING = (
    ("key", "r"),
    ("wait", "document.querySelector('#correction').checkVisibility()"),
)
OPENED = (READY, ("do", "open(shown()[0])"), ("wait", "document.querySelector('dialog').open"))
PLANTED = """<!doctype html><html lang="en"><title>Planted</title><main><h1>Planted</h1><img src="data:,">
<p style="color: #bbb">grey</p><p><button style="width: 9px; height: 9px; padding: 0"></button><button style="padding: 0">b</button></p></main>"""


@pytest.fixture(scope="module")
def pages(
    guards: Path, texts: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Visit, ...]]:
    folder = tmp_path_factory.mktemp("accessible")
    small = [
        tiltmeter.run(
            "roles",
            f"planted:she={share}",
            folder / share,
            language="en",
            limit=3,
            samples=2,
            judge="planted:",
        ).folder
        for share in ("0.7", "0.4")
    ]
    reports = {"pictures": [guards], "texts": small[:1], "several": small}
    files = {
        name: api.report(*runs, path=folder / f"{name}.html") for name, runs in reports.items()
    }
    planted = folder / "planted.html"
    planted.write_text(PLANTED, "utf-8")
    visits = {f"report of {name}": axe.looks(file.as_uri(), OPEN) for name, file in files.items()}
    visits["report of several"] = visits["report of several"][
        1:
    ]  # its size takes as long as all the others together
    copy = write([guards], folder / "static")
    with explorer(str(guards)) as grid, explorer(str(texts), "--annotator", "ann") as words:
        visits |= {
            "explore, pictures": axe.looks(grid, READY),
            "explore, texts": axe.looks(words, READY),
            "explore, a correction": axe.looks(words, *OPENED, *CORRECTING),
            "explore, static": axe.looks(copy.as_uri(), *OPENED),
            "explore, counts": axe.looks(f"{words}&show=counts", READY)[1:],
            "explore, found in files": axe.looks(
                copy.with_name("find.html").as_uri() + "#text=male",
                ("wait", "document.querySelector('a.card') !== null"),
            )[:1],
            "report, a drawer": axe.looks(
                files["texts"].as_uri(),
                ("do", "document.querySelector('.findings td.number a').click()"),
                ("wait", "document.querySelector('.drawer:target') !== null"),
            ),
            "planted": axe.looks(planted.as_uri())[:1],
        }
        drive(*(visit for both in visits.values() for visit in both), seconds=400)
    return visits


@pytest.mark.parametrize(
    "name",
    [
        "report of pictures",
        "report of texts",
        "report of several",
        "explore, pictures",
        "explore, texts",
        "explore, a correction",
        "explore, static",
        "explore, counts",
        "explore, found in files",
        "report, a drawer",
    ],
)
def test_axe_finds_nothing(pages: dict[str, tuple[Visit, ...]], name: str) -> None:
    for visit in pages[name]:
        found = visit.values[-1]
        assert found["violations"] == [] and found["rules"] >= 15


def test_axe_finds_what_is_planted(pages: dict[str, tuple[Visit, ...]]) -> None:
    """The guard of the test above."""
    found = {violation[0] for violation in pages["planted"][0].values[-1]["violations"]}
    assert {"image-alt", "color-contrast", "button-name", "target-size"} <= found
