"""Writes a page as one HTML file that opens from disk and loads nothing."""

from __future__ import annotations

from pathlib import Path

from ...page_model.document import RunsPage
from ...page_model.page import Report
from .. import html


def write(page: Report | RunsPage, path: Path, brief: bool = False) -> None:
    """Writes the page. brief: only the part of a report that fits a sheet of paper."""
    if isinstance(page, Report):
        html.write_html(page, path, brief)
        return
    template = html.template("runs.html.j2")
    text = template.render(page=page, alone=None, brief=True, **html.shared_parts())
    html.write_whole(path, text)
