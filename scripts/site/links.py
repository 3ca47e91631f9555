"""Says which links of a folder of pages lead nowhere: python scripts/site/links.py FOLDER

A link is fine where the file is there and, of a page, the place in it. Addresses on the network are
left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


@cache
def read_page(path: Path) -> _Page:
    """A page's links and the places that links can lead to."""
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def broken_links(folder: Path) -> Iterator[str]:
    """`page: link` for each link that leads nowhere."""
    for path in sorted(folder.rglob("*.html")):
        for link in read_page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            place = unquote(parts.fragment)
            lost = place and target.suffix == ".html" and target.exists()
            if not target.exists() or (lost and place not in read_page(target).places):
                yield f"{path.relative_to(folder)}: {link}"


if __name__ == "__main__":
    found = list(broken_links(Path(sys.argv[1])))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
