"""Content → one HTML file that opens from disk: no network, no script; everything that came from elsewhere is escaped.

The page forbids itself all loads (Content-Security-Policy default-src 'none'); its one style sheet is allowed by hash.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from ..errors import StoreError
from .figures import draw, forest
from .parts import Content, Figure, Section, Table


def page(content: Content) -> str:
    """The whole page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def drawn(figure: Figure, narrow: bool = False) -> Markup:
        return Markup(draw(figure, narrow))  # ElementTree escapes every text in it

    environment = Environment(loader=PackageLoader("tiltmeter.report"), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    environment.filters["drawn"] = drawn
    environment.filters["beside"] = _beside
    environment.filters["gauge"] = lambda figure, decoration=False: Markup(forest.draw_gauge(figure, decoration))
    environment.filters["prose"] = lambda text: Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
    environment.filters["number"] = lambda value: f"{value:,}"
    style = (Path(__file__).parent / "templates" / "style.css").read_text(encoding="utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template("report.html.j2").render(content=content, style=Markup(style), style_hash=digest)


def _beside(section: Section) -> tuple[dict[str, Table], list[Table]]:
    """(figure id → the table that stands under it, the tables that no figure shows). A table stands under its last figure."""
    last = {figure.table: figure.id for figure in section.figures if figure.table}
    under = {last[table.id]: table for table in section.tables if table.id in last}
    return under, [table for table in section.tables if table.id not in last]


def write_html(content: Content, path: Path | str) -> None:
    """Writes the page whole or not at all."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(page(content), encoding="utf-8", errors="backslashreplace", newline="\n")
        part.replace(target)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise StoreError(f"{target} cannot be written: {error.strerror or error}. Choose another place: "
                         "tiltmeter report RUN --out FILE") from None  # fmt: skip
