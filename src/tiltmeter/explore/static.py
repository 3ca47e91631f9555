"""The explorer as files that open from disk and load nothing else: one page per tab, with all
outputs of the tab.

Filters and order work within a page. Small and full-size pictures lie beside the pages.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import StoreError, UsageError
from ..images import Unusable
from . import rendering
from .browse.find import findings
from .browse.page import page
from .browse.sheet import contact_sheet
from .rendering import MOST_LISTED
from .selection.detail import detail
from .selection.index import Index, open_indices
from .selection.parts import OutputsPage
from .selection.thumbnails import Thumbnails, content
from .selection.view import ALL, SHOWS, View

_PLAIN = re.compile(r"[^a-z0-9]+")


def write(
    folders: Sequence[Path | str], out: Path | str, labels: Mapping[str, str] | None = None
) -> Path:
    """Writes the files into a new or empty folder; returns the path of the first page. Raises
    UsageError if the folder is not empty. labels: {short name: model}.
    """
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            f"{target} exists and is not an empty folder. Name another folder: --static FOLDER"
        )
    part = target.resolve().with_name(f".{target.resolve().name}.{os.getpid()}.part")
    indices = open_indices(folders, labels)
    try:
        part.mkdir(parents=True)
        _write_all(indices, part)
        if target.exists():
            target.rmdir()  # it is empty
        part.replace(target)
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written: {error.strerror or error}. Unfinished files were removed."
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for index in indices:
            index.close()
    return target / "index.html"


def _write_all(indices: Sequence[Index], target: Path) -> None:
    """Writes each protocol's pages: the first protocol's into the folder, others below it."""
    names = [
        target if n == 0 else target / f"{n}-{_plain(index.protocol.name)}"
        for n, index in enumerate(indices)
    ]
    for number, index in enumerate(indices):
        names[number].mkdir(exist_ok=True)
        parent = "" if number == 0 else "../"
        studies = tuple(
            (one.protocol.title, parent + ("" if n == 0 else names[n].name + "/") + "index.html")
            for n, one in enumerate(indices)
        )
        several = studies if indices[1:] else ()
        _Writer(index, names[number], View(study=number), several).write()


def _plain(name: str) -> str:
    return _PLAIN.sub("-", name.lower()).strip("-") or "runs"


class _Writer:
    """A writer of the pages for one protocol's runs."""

    def __init__(
        self, index: Index, folder: Path, view: View, studies: tuple[tuple[str, str], ...]
    ) -> None:
        self._index, self._folder, self._view, self._studies = index, folder, view, studies
        self._thumbnails = Thumbnails(room=0)  # each is made once
        self._written: set[tuple[int, str]] = set()
        self._files: dict[str, str] = {}  # output → the page of a wall that has it
        self._places = rendering.Places(
            small=lambda run, name: f"small/{run}/{Path(name).stem}.jpg",
            whole=lambda run, name: f"blobs/{run}/{name}",
            output=lambda run, trial: f"#o-{run}-{trial}",
            inline=True,
        )

    def write(self) -> None:
        """Writes the pairs, the counts, and the wall of every item, page by page."""
        wall = self._first_wall()
        names = {tab.value: _file(n, 1) for n, tab in enumerate(wall.tabs, 1)}
        shows = {"pairs": "index", "wall": "", "counts": "counts"}
        views = [*(shows[one] + ".html" if shows[one] else names[wall.view.tab] for one in SHOWS)]
        for show, name in shows.items():
            if name:
                first = replace(self._view, show=show)
                self._write_turns(first, name, views, names)
        for tab, name in names.items():
            self._write_turns(
                replace(wall.view, tab=tab, page=1, levels=self._view.levels),
                name.removesuffix(".html"),
                views,
                names,
            )
        if self._files:
            json = findings(self._index, wall.view.attribute, self._files)
            text = rendering.find_page(
                json, protocol=self._index.protocol, views=views, pictures=wall.pictures
            )
            self._write_text("find.html", text)

    def _first_wall(self) -> OutputsPage:
        """Builds the wall to open first: by the items of the pairs, unless they are too many."""
        pairs = page(self._index, self._view).view
        many = len(self._index.levels(pairs.rows)) if pairs.show != "wall" else 0
        by = pairs.rows if 0 < many <= MOST_LISTED else ""
        return page(self._index, replace(self._view, show="wall", by=by))

    def _write_turns(self, view: View, name: str, views: list[str], walls: dict[str, str]) -> None:
        """Writes all pages of a view. name: of the first file."""
        pages, turn = 1, 1
        while turn <= pages:
            markup = page(self._index, replace(view, page=turn))
            pages = markup.pages
            links: rendering.PageLinks = {
                "views": views,
                "walls": walls,
                "previous": _page_name(name, turn - 1) if turn > 1 else "",
                "next": _page_name(name, turn + 1) if turn < pages else "",
                "sheet": self._sheet(markup, _page_name(name, turn)),
            }
            self._page(markup, _page_name(name, turn), links)
            turn += 1

    def _page(self, found: OutputsPage, name: str, links: rendering.PageLinks) -> None:
        cards = [card for _, cells in found.rows for cell in cells for card in cell.cards]
        for card in cards:
            if card.blob:
                self._picture(card.run, card.blob)
        if found.view.show == "wall" and found.view.tab != ALL:
            self._files |= {card.key: name for card in cards}
        details = {card.key: detail(self._index, card.run, card.id) for card in cards}
        for one in details.values():
            for name in one.shown:
                self._picture(one.run, name)
        text = rendering.grid(
            found, self._places, self._studies, None, details, links, links["sheet"]
        )
        self._write_text(name, text)

    def _write_text(self, name: str, text: str) -> None:
        (self._folder / name).write_text(
            text, encoding="utf-8", errors="backslashreplace", newline="\n"
        )

    def _sheet(self, found: OutputsPage, name: str) -> str:
        """Writes the contact sheet of a page; returns its address, "" for a page of counts."""
        if not found.has_sheet:
            return ""
        target = f"sheet-{name.removesuffix('.html')}.png"

        def small(run: int, blob: str) -> bytes:
            self._picture(run, blob)
            return (self._folder / self._places.small(run, blob)).read_bytes()

        (self._folder / target).write_bytes(contact_sheet(found, small))
        return target

    def _picture(self, run: int, name: str) -> None:
        """Writes both sizes of a picture, once; a damaged picture gets no file."""
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
    return _page_name(f"tab-{tab}", turn)


def _page_name(name: str, turn: int) -> str:
    return f"{name}.html" if turn == 1 else f"{name}-page-{turn}.html"
