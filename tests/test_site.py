"""Docs as a site (scripts/docs builds it): the check of its links, the order of its pages."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTIONS = runpy.run_path(str(ROOT / "scripts" / "site" / "conf.py"))["_sections"]
CHECK = runpy.run_path(str(ROOT / "scripts" / "site" / "links.py"))["broken_links"]


def test_links_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">a</h1><a href="b.html#there">1</a><a href="#here">2</a><a href="c.html">3</a>'
        '<a href="https://example.org/gone">4</a><img src="gone.png">'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#here">1</a><a href="a.html#lost">2</a>')
    assert list(CHECK(tmp_path)) == [
        "a.html: b.html#there",
        "a.html: c.html",
        "a.html: gone.png",
        "b.html: a.html#lost",
    ]


def test_the_sidebar_has_every_page_once_under_its_kind() -> None:
    docs = ROOT / "docs"
    sections = SECTIONS((docs / "README.md").read_text("utf-8"))
    assert list(sections) == ["Tutorials", "How-to guides", "Reference", "Explanation"]
    for heading, named in sections.items():
        kind = heading.lower().removesuffix(" guides")
        there = [f"{kind}/{path.stem}" for path in (docs / kind).glob("*.md")]
        assert sorted(named) == sorted(there), heading
