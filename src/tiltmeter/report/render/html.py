"""Writes a report as one HTML file that opens from disk without network; escapes foreign text.

The page forbids itself all loads (Content-Security-Policy default-src 'none'). Hashes allow its one
style sheet and its one script; the page also works without the script.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...errors import StoreError
from ...records import __version__
from ...system import writing
from ..figures import draw, plots
from ..figures.svg import without_links
from ..page_model.figures import Figure
from ..page_model.page import Report, Section
from ..page_model.table import Table
from ..tables import drawers as behind
from . import html_rows

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Template

# 58 %, +3 points [−26, 31], 0.515: with its unit and its interval, and no confidence nor null value
_NUMBER = re.compile(
    r"(?<![\w.=:/-])(?>[+−]?\d[\d,]*(?:\.\d+(?:[ \u00a0](?:%|points?\b))?|[ \u00a0](?:%|points?\b))"
    r"(?: \[[^\]]*\])?)(?! (?:intervals?|is no tilt)\b)"
)
_DESCRIPTION = re.compile(r"<desc\b.*?</desc>", re.DOTALL)
EXPLORER = "explorer/find.html"  # of a static explorer that lies beside the report


@lru_cache
def template(name: str) -> Template:
    """Returns a page's template; cached, as compiling takes as long as a small report."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
    from jinja2.runtime import Context
    from markupsafe import Markup, escape

    @pass_context
    def draw_markup(context: Context, figure: Figure, narrow: bool = False) -> Markup:
        content = context.get("content") or context["alone"]
        drawers = {} if context["brief"] else content.behind_of

        def place(query: str) -> str:
            return f"{context['p']}{drawers[query]}" if query in drawers else ""

        # ElementTree escapes every text in it
        prefixed = replace(figure, id=f"{context['p']}{figure.id}")
        drawing = without_links(draw(prefixed, narrow), place)
        return Markup(_described_by_other(drawing) if narrow else drawing)

    def link_number(text: str, drawer: str) -> Markup:
        """Turns the numbers in a sentence into links to the drawer of their outputs."""
        link = rf'<a href="#{escape(drawer)}">\g<0></a>'
        return Markup(_NUMBER.sub(link, str(escape(text))) if drawer else escape(text))

    environment = Environment(
        loader=PackageLoader("tiltmeter.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled_before(),
    )
    environment.filters |= {"drawn": draw_markup, "linked": link_number, "beside": _under_figures}
    environment.filters["rows"] = lambda table, drawers, prefix: Markup(
        html_rows.table_rows(table, drawers, prefix)
    )
    environment.filters["links"] = lambda places, prefix: Markup(
        html_rows.place_links(places, prefix)
    )
    environment.filters["gauge"] = lambda figure: Markup(plots.draw_gauge(figure))
    environment.filters["scale"] = lambda figure: Markup(plots.draw_scale(figure))
    environment.filters["prose"] = lambda text: Markup(
        re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    )
    environment.filters["tight"] = lambda text: text.replace(" %", "\u00a0%")
    environment.filters["place"] = behind.place
    environment.filters["quoted"] = lambda text: quote(text, safe="")
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment.get_template(name)


def _compiled_before() -> BytecodeCache | None:
    """Returns a cache of compiled templates in `__pycache__`; None if Python keeps no bytecode. The
    names of its files include a hash of this file and of Jinja's compiler, as the code depends on
    both.
    """
    from jinja2 import FileSystemBytecodeCache, bccache, compiler

    class Compiled(FileSystemBytecodeCache):
        def dump_bytecode(self, bucket: bccache.Bucket) -> None:
            with suppress(OSError):  # a disk that is full: they are compiled each time
                super().dump_bytecode(bucket)

    folder = Path(__spec__.cached or __file__).parent
    if sys.dont_write_bytecode or folder.name != "__pycache__" or not os.access(folder, os.W_OK):
        return None
    made_by = hashlib.sha256()
    for file in (__file__, compiler.__file__):
        made_by.update(Path(file).read_bytes())
    return Compiled(str(folder), f"%s.{made_by.hexdigest()[:16]}.jinja")


def _described_by_other(narrow: str) -> str:
    """Makes the narrow drawing refer to the description in the wide drawing."""
    drawing = _DESCRIPTION.sub("", narrow, count=1)
    return drawing.replace('-narrow-desc"', '-desc"', 1)


def page(report: Report, brief: bool = False, explorer: str = "") -> str:
    """Renders the whole page. brief: only the part that fits a sheet of paper. explorer: the
    address, up to the query, of an explorer that shows the outputs; "" if there is none.
    """
    runs = report.runs
    return template("report.html.j2").render(
        brief=brief,
        report=report,
        alone=runs[0].content if len(runs) == 1 else None,
        explorer=explorer if len(runs) == 1 else "",
        n=2,
        **shared_parts(),
    )


def shared_parts() -> dict[str, str]:
    """Returns the template variables of all pages: style sheet, script and content policy."""
    from markupsafe import Markup

    style, script = Markup(_asset("style.css")), Markup(_asset("report.js"))
    texts = {"style": style, "script": script, "policy": policy()}
    return {"p": "", "version": __version__, **texts}


def policy() -> str:
    """Returns the content policy of a page: no loads; style sheet and script by hash."""
    style, script = _digest(_asset("style.css")), _digest(_asset("report.js"))
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@lru_cache
def _asset(name: str) -> str:
    return (Path(__file__).parents[1] / "templates" / name).read_text(encoding="utf-8").strip()


def _digest(text: str) -> str:
    """Returns a text's hash for the page's content policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _under_figures(section: Section) -> tuple[dict[str, Table], list[Table]]:
    """Returns ({figure's id: its table}, other tables). A table goes under its last figure."""
    last = {figure.table: figure.id for figure in section.figures if figure.table}
    under = {last[table.id]: table for table in section.tables if table.id in last}
    return under, [table for table in section.tables if table.id not in last]


def write_html(report: Report, path: Path | str, brief: bool = False) -> None:
    """Writes the page atomically. brief: only the part that fits a sheet of paper."""
    target = Path(path)
    beside = target.parent / EXPLORER
    write_whole(target, page(report, brief, f"{EXPLORER}#query=" if beside.is_file() else ""))


def write_whole(target: Path, text: str) -> None:
    """Writes a page atomically. Raises StoreError if the file cannot be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        writing.write_whole(target, text, "backslashreplace")
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written: {error.strerror or error}. Choose another place: "
            "tiltmeter report RUN --out FILE"
        ) from None
