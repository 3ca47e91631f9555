"""Renders pages as HTML. Texts are escaped, and their hidden characters are written out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ..report.page_model.sanitize import visible
from .selection import parts, view
from .selection.detail import Detail

if TYPE_CHECKING:
    from jinja2 import Environment

T = TypeVar("T")
ASSETS = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Places:
    """Functions that return the address of a picture (small, whole) and of an output, on a server
    or in files. inline: True if style and script are part of the page, allowed by their hashes.
    """

    small: Callable[[int, str], str]
    whole: Callable[[int, str], str]
    output: Callable[[int, str], str]
    inline: bool


class PageLinks(TypedDict):
    """Addresses of files: the pages before and after ("" for none), the three views, the wall of
    each item, the contact sheet ("" for none).
    """

    previous: str
    next: str
    views: list[str]
    walls: dict[str, str]
    sheet: str


@cache
def asset(name: str) -> str:
    """Reads a style sheet or script of this package as text."""
    return (ASSETS / name).read_text(encoding="utf-8").strip()


def policy(inline: bool, own: str = "explore.js") -> str:
    """Writes a page's Content-Security-Policy. own: the script in the page, allowed by its hash."""
    if not inline:
        return (
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
    style, script = (_hash(asset(name)) for name in ("explore.css", own))
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src 'self' file:; "
        "form-action 'none'; base-uri 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_visible,
    )
    environment.globals |= {
        "asset": lambda name: Markup(asset(name)),
        "policy": policy,
        "ALL": view.ALL,
        "SORTS": view.SORTS,
        "PER_ROW": view.PER_ROW,
        "HEIGHTS": view.HEIGHTS,
        "RULE": RULE,
        "NONE": parts.NONE,
        "LISTS": view.LISTS,
        "SHOWS": view.SHOWS,
        "MOST_LISTED": MOST_LISTED,
        "COUNT_RULE": COUNT_RULE,
    }
    environment.filters["count"] = lambda value: (
        f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    )
    environment.filters["percent"] = lambda share: f"{100 * share:.0f} %"
    environment.filters["places"] = lambda value: f"{100 * value:.3f}".rstrip("0").rstrip(".")
    environment.filters["chance"] = lambda p: (
        "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)
    )
    environment.filters["bits"] = lambda value: f"{value:.1f} bits"
    return environment


def _make_visible(value: T) -> T | str:
    """Writes out the hidden characters of a text; markup and other values stay as they are."""
    from markupsafe import Markup

    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


RULE = (
    "Surprise = −log2 of the share that the output's label has among all labels of its condition "
    "(subject, mode, language and the level of the factor that the protocol contrasts), in bits; "
    "of several labels the rarest counts."
)


COUNT_RULE = (
    "Of single outputs: 95 % interval by Wilson, p by Fisher's exact test against the baseline, "
    "not adjusted. A claim about the model is in the report, over items and adjusted."
)
MOST_LISTED = 300  # items of the list beside a page


def grid(
    found: parts.OutputsPage,
    places: Places,
    studies: tuple[tuple[str, str], ...] = (),
    opened: Detail | None = None,
    details: Mapping[str, Detail] | None = None,
    pages: PageLinks | None = None,
    sheet: str = "",
    reports: tuple[tuple[str, str], ...] = (),
) -> str:
    """Renders the page of a view. studies: (name, address) of other protocols' runs; opened: the
    output shown in detail; reports: (words, address) of the runs' reports.

    details: {key: output in detail} to include in the page; pages: links to other files; sheet:
    address of the contact sheet.
    """
    template = _environment().get_template("grid.html.j2")
    return str(
        template.render(
            page=found,
            view=found.view,
            places=places,
            studies=studies,
            opened=opened,
            details=details or {},
            pages=pages,
            sheet=sheet,
            reports=reports,
        )
    )


def load_templates() -> None:
    """Compiles the page templates in advance, as compiling takes longer than rendering."""
    for name in ("grid.html.j2", "detail.html.j2"):
        _environment().get_template(name)


def part(found: Detail, places: Places) -> str:
    """Renders one output as a fragment, for the script to insert into the page."""
    return str(_environment().get_template("detail.html.j2").render(detail=found, places=places))


def alone(found: Detail, places: Places, back: str) -> str:
    """Renders one output as a page of its own, for a browser without the script."""
    return str(
        _environment().get_template("alone.html.j2").render(detail=found, places=places, back=back)
    )


def message(text: str, places: Places) -> str:
    """Renders a page with one message."""
    return str(_environment().get_template("message.html.j2").render(text=text, places=places))


def render_template(template: str, **given: Any) -> str:
    """Renders a template by name. given: the template's variables."""
    return str(_environment().get_template(template).render(**given))


def find_page(data: str, **given: Any) -> str:
    """Renders the search page of a static explorer. data: JSON that is safe inside a page."""
    from markupsafe import Markup

    return render_template("find.html.j2", data=Markup(data), **given)
