"""The page of a history as one HTML file."""

from __future__ import annotations

from pathlib import Path

from ..several_runs.history import HistoryPage
from . import html


def write_page(page: HistoryPage, path: Path | str) -> None:
    """Writes the page as one HTML file that opens from disk and loads nothing."""
    text = html.template("history.html.j2").render(
        page=page, alone=None, brief=True, **html.shared_parts()
    )
    html.write_whole(Path(path), text)
