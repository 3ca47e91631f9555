"""README.md as an index can show it: python scripts/long_description.py README.md TAG [HOMEPAGE]

An index renders the page alone, so links to files of the clone lead nowhere there. With a HOMEPAGE
(the address of the repository, that a release names) they become addresses of the files at the TAG,
pictures those of their bytes; without one, links become their words and pictures are left out. What
is written replaces the file; addresses and places in the page stay as they are.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")  # to a file


def relative_links(text: str) -> list[str]:
    """The files that links of a page name, outside its code."""
    return [link[3] for part in FENCE.split(text)[::2] for link in LINK.finditer(part)]


def for_an_index(text: str, tag: str, homepage: str = "") -> str:
    """The page with no link to a file."""

    def instead(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        if not homepage:
            return "" if picture else words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({homepage.rstrip('/')}/{kind}/{tag}/{path})"

    parts = FENCE.split(text)  # code stands in every second
    parts[::2] = [LINK.sub(instead, part) for part in parts[::2]]
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(for_an_index(page.read_text("utf-8"), *sys.argv[2:]), "utf-8")
