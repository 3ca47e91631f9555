"""A view as an address encodes it: factors, filters, order, page, sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

SORTS = {"sample": "sample", "surprise": "surprise, highest first", "label": "label"}
PER_ROW = ("auto", *map(str, range(1, 11)))
HEIGHTS = ("64", "96", "128", "192", "256", "384")  # pixels of a picture
MOST_CHARACTERS = 200  # characters of what is looked for
ALL = "*"  # as a level: every one
SHOWS = {"pairs": "Pairs", "wall": "Wall", "counts": "Counts"}
LISTS = {"effect": "effect", "surprise": "surprise", "disagreement": "disagreement"}


@dataclass(frozen=True, slots=True)
class View:
    """The choices behind a page. Fields at their defaults (mostly "") are left out of the address.

    by, rows, columns: factors (or mode, subject; `by` also "label" and "outcome"); tab: a level of
    `by`. attribute, value, outcome, split, text: filters; levels: {factor: level} besides the tab.
    show: pairs, wall or counts; changed: only pairs whose label changes; order: of the list of
    items; query: of a number's outputs (analyse/output_query.py); number: as printed.
    """

    study: int = 0
    show: str = ""
    query: str = ""
    number: str = ""
    changed: str = ""
    order: str = "effect"
    by: str = ""
    tab: str = ""
    rows: str = ""
    columns: str = ""
    attribute: str = ""
    value: str = ""
    outcome: str = ""
    split: str = ""
    text: str = ""
    sort: str = "sample"
    page: int = 1
    per: str = "auto"
    high: str = "128"
    levels: tuple[tuple[str, str], ...] = ()
    open: str = ""

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> View:
        """Reads a view from an address's parameters; ignores invalid ones."""
        names = {f.name for f in fields(cls)} - {"study", "page", "levels"}
        filters = {name: value for name, value in given.items() if name in names and value}
        allowed = {"sort": SORTS, "per": PER_ROW, "high": HEIGHTS, "show": SHOWS, "order": LISTS}
        filters = {
            name: value for name, value in filters.items() if value in allowed.get(name, (value,))
        }
        if "text" in filters:
            filters["text"] = filters["text"].strip()[:MOST_CHARACTERS]
        if "number" in filters:
            filters["number"] = filters["number"][:MOST_CHARACTERS]
        levels = tuple(
            (name[2:], value) for name, value in given.items() if name.startswith("f.") and value
        )
        return cls(
            _number(given.get("study", "0")),
            page=max(1, _number(given.get("page", "1"))),
            levels=levels,
            **filters,
        )

    def address(self, **changes: object) -> str:
        """Writes the view, with changes, as the query part of an address; page 1 if not changed."""
        view = replace(self, **({"page": 1} | changes))  # type: ignore[arg-type]
        default = View()
        filters = [
            (f.name, str(getattr(view, f.name)))
            for f in fields(View)
            if f.name != "levels" and getattr(view, f.name) != getattr(default, f.name)
        ]
        return "?" + urlencode([*filters, *((f"f.{name}", level) for name, level in view.levels)])

    def of_wall(self, row: str, column: str = "") -> str:
        """Returns the address of the wall for a row of pairs or counts, or for one cell."""
        levels = dict(self.levels) | ({self.columns: column} if column else {})
        return self.address(
            show="wall", by=self.rows, tab=row, rows="", changed="", levels=tuple(levels.items())
        )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
