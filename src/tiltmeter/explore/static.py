"""The explorer as files that open from disk and load nothing from elsewhere: a page a tab, with all
its outputs in it.

Filters and order work within a page. Pictures lie beside it, small ones and whole ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import StoreError, UsageError
from ..images import Unusable
from . import rendering
from .detail import detail
from .index import Index, open_indices
from .page import page
from .parts import Page
from .thumbnails import Thumbnails, content
from .view import View

_PLAIN = re.compile(r"[^a-z0-9]+")


def write(folders: Sequence[Path | str], out: Path | str) -> Path:
    """Writes the files into a new or empty folder; returns the page to begin with. UsageError where
    there is something else.
    """
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            f"{target} is there already and not an empty folder. Give --static another place."
        )
    indices = open_indices(folders)
    try:
        target.mkdir(parents=True, exist_ok=True)
        names = [
            target if n == 0 else target / f"{n}-{_plain(index.protocol.name)}"
            for n, index in enumerate(indices)
        ]
        for number, index in enumerate(indices):
            names[number].mkdir(exist_ok=True)
            up = "" if number == 0 else "../"
            studies = (
                tuple(
                    (
                        one.protocol.title,
                        up + ("" if n == 0 else names[n].name + "/") + "index.html",
                    )
                    for n, one in enumerate(indices)
                )
                if indices[1:]
                else ()
            )
            _Writer(index, names[number], View(study=number), studies).write()
    except OSError as error:
        raise StoreError(
            f"{error.filename or target} cannot be written: {error.strerror or error}."
        ) from None
    finally:
        for index in indices:
            index.close()
    return target / "index.html"


def _plain(name: str) -> str:
    return _PLAIN.sub("-", name.lower()).strip("-") or "runs"


class _Writer:
    """One protocol's runs."""

    def __init__(
        self, index: Index, folder: Path, view: View, studies: tuple[tuple[str, str], ...]
    ) -> None:
        self._index, self._folder, self._view, self._studies = index, folder, view, studies
        self._thumbnails = Thumbnails(room=0)  # each is made once
        self._written: set[tuple[int, str]] = set()
        self._places = rendering.Places(
            small=lambda run, name: f"small/{run}/{Path(name).stem}.jpg",
            whole=lambda run, name: f"blobs/{run}/{name}",
            output=lambda run, trial: f"#o-{run}-{trial}",
            inline=True,
        )

    def write(self) -> None:
        """Writes every tab, page by page."""
        first = page(self._index, self._view)
        for number, tab in enumerate(first.tabs):
            pages = 1
            for turn in range(1, 1_000_000):
                if turn > pages:
                    break
                found = page(
                    self._index, View.parse(_parameters(self._view, first, tab.value, turn))
                )
                pages = found.pages
                self._page(found, [_file(n, 1) for n in range(len(first.tabs))], number, turn)

    def _page(self, found: Page, tabs: list[str], tab: int, turn: int) -> None:
        cards = [card for _, cells in found.rows for cell in cells for card in cell.cards]
        for card in cards:
            if card.blob:
                self._picture(card.run, card.blob)
        details = {card.key: detail(self._index, card.run, card.id) for card in cards}
        about: rendering.PageLinks = {
            "tabs": tabs,
            "previous": _file(tab, turn - 1) if turn > 1 else "",
            "next": _file(tab, turn + 1) if turn < found.pages else "",
        }
        text = rendering.grid(found, self._places, self._studies, None, details, about)
        (self._folder / _file(tab, turn)).write_text(
            text, encoding="utf-8", errors="backslashreplace", newline="\n"
        )

    def _picture(self, run: int, name: str) -> None:
        """Both sizes of a picture, once; what is damaged has no file, and the page says so."""
        if (run, name) in self._written:
            return
        self._written.add((run, name))
        source = self._index.sources[run].store.folder
        try:
            whole, small = content(source, name)[1], self._thumbnails.small(source, name)
        except (StoreError, UsageError, Unusable):
            return
        for place, data in (
            (self._places.whole(run, name), whole),
            (self._places.small(run, name), small),
        ):
            path = self._folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _file(tab: int, turn: int) -> str:
    if tab == 0 and turn == 1:
        return "index.html"
    return f"tab-{tab + 1}.html" if turn == 1 else f"tab-{tab + 1}-page-{turn}.html"


def _parameters(view: View, first: Page, tab: str, turn: int) -> dict[str, str]:
    """The address of a page, with the factors as the first page has them."""
    chosen = first.view
    return {
        "study": str(view.study),
        "by": chosen.by,
        "rows": chosen.rows,
        "columns": chosen.columns,
        "tab": tab,
        "attribute": chosen.attribute,
        "page": str(turn),
    }
