"""Writes pages as files. Each file ending has a module here with a function `write`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ....errors import UsageError
from ...page_model.document import RunsPage
from ...page_model.page import Report


def endings() -> list[str]:
    """Returns the file endings that have a module: `.html`, `.md`."""
    return sorted(f".{module.name}" for module in iter_modules(__path__))


def check_ending(path: Path | str) -> str:
    """Returns a path's ending, or `.html` without one. Raises UsageError if it is unsupported."""
    ending = Path(path).suffix.lower() or ".html"
    if ending not in endings():
        raise UsageError(
            f"A report is HTML or Markdown, not {ending}: give a file name that ends in "
            f"{' or '.join(endings())}. For paper, print the HTML page. For tables and figures "
            "alone type: tiltmeter table, tiltmeter figure"
        )
    return ending


def write_page(page: Report | RunsPage, path: Path | str, brief: bool = False) -> None:
    """Writes a page in the format of the path's ending, atomically. brief: one sheet of paper."""
    import_module(f".{check_ending(path)[1:]}", __name__).write(page, Path(path), brief)
