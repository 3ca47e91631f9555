"""What only a browser can say: that nothing is loaded, nothing overflows, and both colour schemes are drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PIL import Image

from tests.browser import Visit, chromium, drive
from tests.report import gallery
from tiltmeter.report.page_model.page import Content, Section, alone
from tiltmeter.report.render import html

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        chromium() is None, reason="no Chromium here (Debian: apt-get install chromium)"
    ),
]
OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"
WIDTH = "document.documentElement.scrollWidth"
OUTSIDE = """
[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg, .hidden') &&
  e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length
"""


SHOWN = "[...document.querySelectorAll('svg.forest')].filter(e => e.checkVisibility()).map(e => e.classList[1])"
OVERLAPS = """
[...document.querySelectorAll('svg.forest')].filter(e => e.checkVisibility()).flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
  const box = svg.getBoundingClientRect();
  const out = texts.filter(([, r]) => r.left < box.left - 1 || r.right > box.right + 1 || r.bottom > box.bottom + 1);
  const on = texts.flatMap(([a, r], n) => texts.slice(n + 1).filter(([, s]) =>
    r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 3 && s.top < r.bottom - 3).map(([b]) => [a, b]));
  return [...out.map(([a]) => a), ...on];
})
"""
PAINTED = """
['q7', 'm1', 'p2', 'c0', 'g1'].map(name => getComputedStyle(document.querySelector('.' + name)).fill)
"""
UNREACHED = "[...document.querySelectorAll('.scroll, pre, details ol')].filter(e => e.tabIndex !== 0).length"
CUT = """
[...document.querySelectorAll('table, svg.forest, pre')].filter(e => e.getBoundingClientRect().width > 0 &&
  e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => [e.tagName, e.closest('[id]')?.id])
"""
FOLDED = "[...document.querySelectorAll('details:not([open]):not(.signatures)')].map(d => d.lastElementChild.checkVisibility())"
WRITTEN = "[...document.querySelectorAll('.signatures dl')].map(e => e.checkVisibility())"
ATTACK = (
    "<script>document.title='owned'</script><img src='http://evil.example/x.png'><main id=\"main\">"
)


SHEET = 703  # CSS pixels between the margins of A4 (210 − 2 × 12 mm)


ROWS = "[...document.querySelectorAll('.findings tr[id]')].filter(e => e.checkVisibility()).map(e => e.cells[2].textContent)"
STATUS = "document.querySelector('[role=status]').textContent"
BY_VALUE = "[...document.querySelectorAll('.findings th button')].find(e => e.textContent.trim() === 'value').focus()"
CHOOSE = """
const s = document.querySelector('.controls select'); s.value = [...s.options][1].value; s.dispatchEvent(new Event('change'))
"""


BADGE = "[...document.querySelectorAll('a[data-rows]')].at(-1).click()"
FOCUS = "[location.hash, document.activeElement.getAttribute('aria-labelledby')]"


@dataclass(frozen=True)
class Looks:
    uri: str
    phone: Visit
    desk: Visit
    attacked: Visit
    figures: tuple[Visit, ...]
    pictures: tuple[Path, Path]  # in light and in dark
    paper: Visit
    table: Visit


def asking(page: Path, *questions: str, width: int = 1280) -> Visit:
    return Visit(
        [("go", page.resolve().as_uri()), *(("ask", question) for question in questions)], width
    )


@pytest.fixture(scope="module")
def looks(built: Content, tmp_path_factory: pytest.TempPathFactory) -> Looks:
    target = tmp_path_factory.mktemp("page") / "report.html"
    html.write_html(alone(built), target)
    bad = target.with_name("bad.html")
    bad.write_text(
        target.read_text(encoding="utf-8").replace('<main id="main">', ATTACK), encoding="utf-8"
    )
    questions = (WIDTH, SHOWN, OPEN_ALL, WIDTH, OUTSIDE, UNREACHED, "document.scripts.length")
    phone, desk = (asking(target, *questions, width=width) for width in (390, 1280))
    attacked = asking(bad, "document.title")
    one_of_each = target.with_name("figures.html")
    section = Section("default", "Results", "", tuple(gallery.drawn().values()), ())
    html.write_html(alone(replace(built, sections=(section,))), one_of_each)
    figures = tuple(
        asking(one_of_each, OPEN_ALL, OVERLAPS, SHOWN, PAINTED, width=width)
        for width in (390, 1280)
    )
    pictures = target.with_name("light.png"), target.with_name("dark.png")
    schemes = (
        Visit([("go", target.resolve().as_uri()), ("picture", str(picture))], dark=dark)
        for picture, dark in zip(pictures, (False, True), strict=True)
    )
    paper = asking(target, CUT, SHOWN, FOLDED, WRITTEN, width=SHEET)
    paper.media = "print"
    order = [("do", BY_VALUE), ("key", "Enter"), ("ask", ROWS), ("key", "Enter"), ("ask", ROWS)]
    found = [("ask", ROWS), *order, ("ask", STATUS), ("do", CHOOSE), ("ask", ROWS), ("ask", STATUS)]
    found += [("do", BADGE), ("ask", ROWS), ("ask", STATUS), ("ask", FOCUS)]
    table = Visit([("go", target.resolve().as_uri()), *found])
    drive(phone, desk, attacked, *figures, *schemes, paper, table)
    return Looks(target.resolve().as_uri(), phone, desk, attacked, figures, pictures, paper, table)


@pytest.mark.parametrize(
    ("name", "width", "layout"), [("phone", 390, "narrow"), ("desk", 1280, "wide")]
)
def test_nothing_is_loaded_and_nothing_overflows(
    looks: Looks, name: str, width: int, layout: str
) -> None:
    seen: Visit = getattr(looks, name)
    closed, shown, _, opened, outside, unreached, scripts = seen.values
    assert (seen.requests, seen.messages, scripts) == ([looks.uri], [], 1)
    assert closed <= width and opened <= width and outside == 0
    assert shown and set(shown) == {layout}
    assert unreached == 0  # by the keyboard, of the boxes that scroll


def test_the_policy_is_in_force(looks: Looks) -> None:
    """The guard of the test above: the same page with a script and a picture put in runs and loads neither."""
    assert looks.attacked.values[0] == "Gendered role selection · tiltmeter"
    assert len(looks.attacked.messages) >= 2


def test_light_and_dark_are_drawn(looks: Looks) -> None:
    light, dark = (Image.open(picture).convert("L").getpixel((5, 5)) for picture in looks.pictures)
    assert light > 240 and dark < 40


def test_words_of_a_figure_do_not_cover_one_another(looks: Looks) -> None:
    """In the browser's own fonts; widths are only estimated where figures are drawn."""
    for seen, layout in zip(looks.figures, ("narrow", "wide"), strict=True):
        _, overlaps, shown, painted = seen.values
        assert overlaps == []
        assert shown == [layout] * (len(gallery.drawn()) + 1)  # and that of the first screen
        assert len(set(painted)) == 5 and "none" not in painted and "rgb(0, 0, 0)" not in painted


def test_on_paper_nothing_is_cut_and_signatures_are_written_out(looks: Looks) -> None:
    """What is folded stays so: who wants it on paper opens it."""
    cut, shown, folded, written = looks.paper.values
    assert cut == [] and set(shown) == {"wide"}
    assert len(folded) > 10 and not any(folded)
    assert written == [True]


def number_of(shown: str) -> float:
    """A value of the table of findings: "52 %", or "−14" (points)."""
    return float(shown.removesuffix(" %").replace("\N{MINUS SIGN}", "-"))


def test_findings_are_sorted_and_filtered_by_keyboard_and_it_is_announced(
    looks: Looks, built: Content
) -> None:
    before, up, down, sorted_by, some, left, named, told, there = looks.table.values
    assert before == [one.value for one in built.every_finding]
    numbers = sorted(number_of(value) for value in before if value != "—")
    assert [number_of(value) for value in up if value != "—"] == numbers
    assert [number_of(value) for value in down if value != "—"] == numbers[::-1]
    assert sorted_by == "Sorted by value, descending, within each measure."
    assert 0 < len(some) < len(before)
    assert left == f"{len(some)} of {len(before)} rows are shown."
    badge = next(one for one in reversed(built.screen.badges) if len(one.rows) > 1)
    assert 0 < len(named) == len(badge.rows) < len(before)
    assert told == f"{len(named)} of {len(before)} rows are shown."
    assert there == ["#findings", "found-table"]
