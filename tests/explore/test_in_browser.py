"""What only a browser can say: keys, the opened output, filters, and that files load nothing from elsewhere."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser import Visit, chromium, drive
from tests.explore.driving import explorer
from tiltmeter.errors import UsageError
from tiltmeter.explore.static import write

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
)
OPEN, SHUT = "document.querySelector('dialog').open", "!document.querySelector('dialog').open"
FOCUSED = "document.activeElement.dataset.key"
SHOWN = "[...document.querySelectorAll('a.card')].filter(e => e.checkVisibility()).map(e => e.dataset.key)"
VALUES = "[...document.querySelectorAll('a.card')].filter(e => e.checkVisibility()).map(e => e.dataset.value)"
LOOKED = "document.querySelector('dialog article')?.dataset.key"
COUNT = "document.querySelector('#summary b').textContent"
WIDTH = "document.documentElement.scrollWidth"
NAMELESS = """
[...document.querySelectorAll('a, button, input, select, img, dialog, nav, [role=region]')].filter(e => e.type !== 'hidden' &&
  !(e.ariaLabel || e.textContent.trim() || e.alt || e.querySelector('img[alt]') || (e.labels && e.labels.length))).map(e => e.outerHTML)
"""
LOADED = "[...document.images].filter(e => e.checkVisibility() && e.getBoundingClientRect().top < innerHeight).every(e => e.complete && e.naturalWidth > 0)"
READY = "typeof grid !== 'undefined'"
CONTRAST = """
(() => {
  const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!c.endsWith(', 0)')) return c; } return 'rgb(255, 255, 255)'; };
  return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('select') && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => { const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x); return [e.className || e.tagName, (a + .05) / (b + .05)]; })
    .filter(([, ratio]) => ratio < 4.5);
})()
"""


def choose(name: str, value: str) -> tuple[str, str]:
    return (
        "do",
        f"form.elements.{name}.value = {value!r}; form.elements.{name}.dispatchEvent(new Event('change', {{bubbles: true}}))",
    )


def with_keys(address: str) -> list[tuple[str, str]]:
    """Walks to the third output, opens it, turns to the next and closes it; then looks for a word."""
    return [
        ("go", address),
        ("wait", READY),
        ("ask", SHOWN),
        ("do", "document.body.focus()"),
        ("key", "ArrowRight"),
        ("ask", FOCUSED),
        ("key", "ArrowRight"),
        ("ask", FOCUSED),
        ("key", "Enter"),
        ("wait", OPEN),
        ("ask", LOOKED),
        ("do", f"window.first = {LOOKED}"),
        ("key", "ArrowRight"),
        ("wait", f"{LOOKED} !== first && location.href.includes({LOOKED})"),
        ("ask", LOOKED),
        ("ask", "location.href"),
        ("ask", CONTRAST),
        ("ask", NAMELESS),
        ("key", "Escape"),
        ("wait", SHUT),
        ("wait", "!location.href.includes('open=')"),
        ("ask", FOCUSED),
        ("ask", "location.href"),
        ("key", "/"),
        ("ask", "document.activeElement.name"),
    ]


MOVING = """
[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).transitionDuration !== '0s' ||
  getComputedStyle(e).animationName !== 'none').length
"""
SOURCE = Path(__file__).parents[2] / "src"
DRAWER = "document.querySelector('.drawer:target')"


@dataclass(frozen=True)
class Looks:
    keys: tuple[Visit, ...]
    filtered: Visit
    phone: tuple[Visit, ...]
    hostile: Visit
    broken: Visit
    reported: Visit


@pytest.fixture(scope="module")
def looks(guards: Path, texts: Path) -> Looks:
    with explorer(str(guards)) as pictures, explorer(str(texts)) as words:
        keys = tuple(Visit(with_keys(address)) for address in (pictures, words))
        filtered = Visit(
            [
                ("go", pictures + "&tab=*"),
                ("wait", READY),
                choose("value", "male"),
                ("wait", "location.search.includes('value=male')"),
                ("wait", "document.readyState === 'complete'"),
                ("ask", VALUES),
                ("ask", "form.elements.value.value"),
                choose("per", "2"),
                choose("high", "256"),
                (
                    "ask",
                    "getComputedStyle(document.querySelector('.cards')).gridTemplateColumns.split(' ').length",
                ),
                ("ask", "document.querySelector('a.card img').getBoundingClientRect().height"),
                ("ask", "location.search"),
                ("do", "location.reload()"),
                (
                    "wait",
                    "document.readyState === 'complete' && document.querySelector('a.card img')?.getBoundingClientRect().height === 256",
                ),
            ]
        )
        phone = tuple(
            Visit(
                [
                    ("go", address),
                    ("wait", READY),
                    ("ask", WIDTH),
                    ("ask", CONTRAST),
                    ("ask", NAMELESS),
                    ("do", "open(shown()[0])"),
                    ("wait", OPEN),
                    ("ask", WIDTH),
                    ("ask", MOVING),
                ],
                width=390,
                dark=dark,
                still=True,
            )
            for address, dark in ((pictures, True), (words, False))
        )
        hostile = Visit(
            [
                ("go", words + "&tab=*&text=evil.example"),
                ("wait", READY),
                ("ask", COUNT),
                ("do", "open(shown()[0])"),
                ("wait", OPEN),
                ("ask", "document.title"),
                ("ask", "document.querySelector('iframe, base, dialog style') === null"),
            ]
        )
        broken = Visit(
            [
                ("go", pictures),
                ("wait", READY),
                ("wait", LOADED),
                (
                    "do",
                    "const i = document.querySelector('a.card img'); i.src = '/small/0/' + '0'.repeat(32) + '.png'",
                ),
                ("wait", "document.querySelector('.damaged') !== null"),
                ("ask", "document.querySelector('.damaged').textContent"),
            ]
        )
        reported = Visit(
            [
                ("go", words),
                ("wait", READY),
                ("ask", MOVING),
                ("do", "document.querySelector('header a[href^=\"/report/\"]').click()"),
                ("wait", "document.querySelector('.findings td.number a') !== null"),
                ("do", "document.querySelector('.findings td.number a').click()"),
                ("wait", f"{DRAWER} !== null"),
                ("ask", f"{DRAWER}.querySelector('b').textContent.split(' of ')[1]"),
                ("do", f"[...{DRAWER}.querySelectorAll('a')].at(-1).click()"),
                ("wait", "document.querySelector('.banner b') !== null"),
                ("ask", "document.querySelector('.banner').textContent"),
            ]
        )
        drive(*keys, filtered, *phone, hostile, broken, reported)
    return Looks(keys, filtered, phone, hostile, broken, reported)


@pytest.mark.parametrize("which", [0, 1], ids=["pictures", "texts"])
def test_keys_walk_open_turn_and_close(looks: Looks, which: int) -> None:
    shown, first, second, opened, turned, address, faint, nameless, back, left, field = looks.keys[
        which
    ].values
    assert first == shown[0] and second in shown and second != first and opened == second
    assert turned == shown[shown.index(opened) + 1] and turned in address
    assert back == turned and "open=" not in left and field == "text"
    assert (faint, nameless) == ([], [])


@pytest.mark.parametrize("which", [0, 1], ids=["pictures", "texts"])
def test_only_the_server_is_asked(looks: Looks, which: int) -> None:
    visit = looks.keys[which]
    home = visit.requests[0].partition("?")[0]
    assert all(address.startswith(home) for address in visit.requests) and visit.messages == []
    assert all("token=" not in address for address in visit.requests[1:])


def test_filters_and_sizes_stand_in_the_address(looks: Looks) -> None:
    values, chosen, columns, height, address = looks.filtered.values
    assert values and set(values) == {"male"} and chosen == "male"
    assert (
        (columns, height) == (2, 256)
        and "per=2" in address
        and "high=256" in address
        and "value=male" in address
    )


def test_a_phone_is_wide_enough(looks: Looks) -> None:
    for visit in looks.phone:
        width, faint, nameless, opened, _ = visit.values
        assert width == opened == 390 and (faint, nameless) == ([], [])


def test_nothing_moves_where_reduced_motion_is_asked_for(looks: Looks) -> None:
    assert [visit.values[-1] for visit in looks.phone] == [0, 0]
    assert looks.reported.values[0] > 0  # else cards change their colour gently
    motion = re.compile(r"transition|animation|scroll-behavior")
    for path in SOURCE.rglob("*.css"):
        apart = r"@media \(prefers-reduced-motion: no-preference\) \{.*\}$"
        assert not motion.search(re.sub(apart, "", path.read_text("utf-8"), flags=re.MULTILINE))


def test_hostile_outputs_do_nothing(looks: Looks) -> None:
    count, title, clean = looks.hostile.values
    assert (
        int(count) >= 2 and "owned" not in title and clean is True and looks.hostile.messages == []
    )
    assert not any(
        "evil.example" in address.partition("?")[0] for address in looks.hostile.requests
    )


def test_the_report_stands_beside_and_its_numbers_open_their_outputs(looks: Looks) -> None:
    _, counted, banner = looks.reported.values
    assert banner.startswith(f"{counted} outputs were counted for ")
    assert looks.reported.messages == []  # its own style sheet and script are allowed


def test_a_damaged_picture_says_so(looks: Looks) -> None:
    assert looks.broken.values == ["The picture is missing or damaged."]


# files


@pytest.fixture(scope="module")
def files(
    guards: Path, texts: Path, rewrites: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return write([guards, texts, rewrites], tmp_path_factory.mktemp("static") / "pages").parent


@pytest.fixture(scope="module")
def opened(files: Path) -> tuple[Visit, ...]:
    first, second, third = (
        next(files.glob(name)).as_uri()
        for name in ("index.html", "1-*/index.html", "2-*/index.html")
    )
    last = sorted(files.glob("tab-*.html"))[-1].as_uri()
    filtering = [
        ("go", last + "#value=male"),
        ("wait", READY),
        ("ask", VALUES),
        ("ask", COUNT),
        choose("value", ""),
        ("ask", VALUES),
        choose("sort", "label"),
        (
            "ask",
            "[...document.querySelector('.cards').children].map(e => e.firstElementChild.dataset.value)",
        ),
        ("ask", "location.hash"),
        (
            "do",
            "form.elements.text.value = 'A PHOTO OF A MALE-GENDERED COOK'; form.elements.text.dispatchEvent(new Event('input', {bubbles: true}))",
        ),
        ("ask", COUNT),
    ]
    marks = [
        ("go", third),
        ("wait", READY),
        ("do", "open(shown()[0])"),
        ("wait", OPEN),
        (
            "ask",
            "[...document.querySelectorAll('dialog .prose')].map(e => e.querySelectorAll('mark').length)",
        ),
        ("ask", CONTRAST),
        ("ask", WIDTH),
    ]
    return tuple(
        drive(
            Visit([*with_keys(first), ("wait", LOADED)]),
            Visit(with_keys(second)),
            Visit(filtering),
            Visit(marks, dark=True),
            Visit(marks, width=390),
        )
    )


@pytest.mark.parametrize("which", [0, 1], ids=["pictures", "texts"])
def test_files_open_from_disk_with_the_same_keys(opened: tuple[Visit, ...], which: int) -> None:
    visit = opened[which]
    shown, first, second, looked, turned, address, faint, nameless, back, left, field = visit.values
    assert (
        (first, looked) == (shown[0], second)
        and turned in address
        and back == turned
        and "open=" not in left
        and field == "text"
    )
    assert (faint, nameless) == ([], [])


def test_files_ask_for_nothing_from_elsewhere(opened: tuple[Visit, ...], files: Path) -> None:
    for visit in opened:
        assert visit.requests and all(
            address.startswith(files.as_uri()) for address in visit.requests
        )
        assert visit.messages == []


def test_files_are_filtered_and_ordered_in_the_page(opened: tuple[Visit, ...]) -> None:
    male, count, every, ordered, address, found = opened[2].values
    assert male and set(male) == {"male"} and int(count) == len(male) < len(every)
    assert ordered == sorted(ordered) and "sort=label" in address and "value" not in address
    assert 0 < int(found) < len(every)


def test_rewrites_are_marked_in_input_and_output(opened: tuple[Visit, ...]) -> None:
    for visit, width in zip(opened[3:], (1280, 390), strict=True):
        (given, output), faint, wide = visit.values
        assert given > 0 and output > 0 and faint == [] and wide <= width


def test_files_are_put_into_no_folder_that_has_others(guards: Path, files: Path) -> None:
    with pytest.raises(UsageError, match="not an empty folder"):
        write([guards], files)


def test_a_broken_picture_is_said_in_files(broken: Path, tmp_path: Path) -> None:
    pages = "".join(
        path.read_text("utf-8") for path in write([broken], tmp_path / "out").parent.glob("*.html")
    )
    assert "is not in the run&#39;s folder" in pages and "is not what was stored" in pages


def test_it_ends_at_once(guards: Path) -> None:
    began = time.monotonic()
    with explorer(str(guards)) as address:
        assert "token=" in address
        opened = time.monotonic()
    assert time.monotonic() - opened < 5 * (opened - began)
