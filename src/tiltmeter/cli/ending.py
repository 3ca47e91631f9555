"""The output of a verb that ends with estimates: computed and written to the page once, then looked
up until something changes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..api.runs import cached_results
from ..api.runs.run_folder import Run
from ..display import visible
from ..records import Estimate, Json
from ..store import Store
from ..system import cache
from .options import Printing

if TYPE_CHECKING:  # imports numpy; cached output must not pay for it
    from ..report.page_model.page import Content

# Variables by which rich chooses widths, colours and lines.
_TERMINAL = ("COLUMNS", "LINES", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")


@dataclass(frozen=True, slots=True)
class Ending:
    """The printed results of a verb. warnings, asked, checks: lines for standard error; asked: the
    number of calls of judges' questions if equal ones shared calls; text: for standard output, fit
    for the terminal; page: SHA-256 of the written page, "" for none; code: the exit code.
    """

    warnings: Sequence[str]
    text: str
    page: str
    asked: Sequence[str]
    checks: Sequence[str]
    code: int


def ending_of(run: Run, printing: Printing) -> Ending:
    """Returns the printed part of a run's results, and makes sure that its page is written."""
    key = _key(run, printing)
    text = cache.read_text(key)
    if text is not None:
        cached = Ending(**json.loads(text))
        if cached.page == _digest(printing.page):
            return cached
    ending = _compute(run, printing)
    cache.keep_text(key, json.dumps(asdict(ending)))
    return ending


def _key(run: Run, printing: Printing) -> str:
    """Returns the key of the ending in the cache; "" if JUnit is written too."""
    if printing.junit is not None:
        return ""
    how = [str(value) for value in asdict(printing).values()]
    with Store(run.folder) as store:
        return cached_results.key_of(
            store,
            run.protocol,
            "ending",
            str(run.folder),
            how,
            run.notes,
            _terminal(),
        )


def _terminal() -> Json:
    """Lists the properties of the terminal that a text depends on; rich reads any stream's
    width.
    """
    sizes: list[Sequence[int]] = []
    for number in range(3):
        with suppress(OSError):
            sizes.append(tuple(os.get_terminal_size(number)))
    facts = [os.environ.get(name) for name in _TERMINAL]
    return [sizes, sys.stdout.isatty(), sys.stdout.encoding, *facts]


class _Captured(io.StringIO):
    """A buffer that rich treats like standard output."""

    encoding = property(lambda self: sys.stdout.encoding)

    def isatty(self) -> bool:
        """True if standard output is a terminal."""
        return sys.stdout.isatty()


def _digest(page: Path | None) -> str:
    """Returns the SHA-256 of a file, "" if there is none."""
    if page is None or not page.is_file():
        return ""
    return hashlib.sha256(page.read_bytes()).hexdigest()


def _compute(run: Run, printing: Printing) -> Ending:
    from ..analyse.words.short_model_names import given_names
    from ..report.page_model.page import alone
    from ..report.run_page import content, models_asked

    estimates = run.analyse(printing.variant)
    named = given_names(dict(printing.labels), (row.subject for row in estimates))
    with Store(run.folder) as store:
        page = printing.page is not None
        built = content.build(store, run.protocol, estimates, named, for_page=page)
        asked = models_asked.asked_once(store)
    warnings = [f"warning: {visible(text)}" for text in run.warnings(estimates=estimates)]
    if printing.page is not None:
        from ..report.render import html

        html.write_html(alone(built), printing.page)
    text = _text(run, printing, estimates, built)
    checked = run.check(*printing.fail_if, estimates=estimates, **printing.gate)
    checked = replace(checked, allow=printing.allow)
    verdicts = run.verdicts(estimates=estimates)
    if printing.junit is not None:
        from ..api.handover.junit import write_junit

        write_junit(printing.junit, run.protocol.name, checked, verdicts)
    if printing.variant == "default" and not checked.changed:
        warnings += [f"warning: {visible(line)}" for line in run.changes(verdicts)]
    digest = _digest(printing.page)
    return Ending(warnings, text, digest, asked, checked.lines, checked.exit_code)


def _text(run: Run, printing: Printing, estimates: Sequence[Estimate], built: Content) -> str:
    """Returns the text for standard output."""
    if printing.as_json or printing.as_csv:
        from ..report.render import json_csv

        if not printing.as_json:
            return json_csv.as_csv(estimates)
        verdicts = run.verdicts(estimates=estimates)
        return f"{json_csv.as_json(built.run_info, estimates, verdicts, run.protocol)}\n"
    from rich.console import Console

    printed = _Captured()
    console = Console(file=printed)
    if printing.variant == "default" and not printing.full:
        from ..report.render import terminal_screen

        terminal_screen.print_screen(built, console, shlex.quote(str(run.folder)))
    else:  # imports 30 modules for tables of judges and of papers
        from ..report.render import terminal
        from ..report.tables import cross_table_formats, cross_tables

        for name, model in printing.labels:
            printed.write(f"{visible(name)} = {visible(model)}\n")
        papers = cross_tables.declared(run.protocol, estimates, printing.variant)
        tables = [cross_table_formats.terminal_table(table) for table in papers]
        terminal.print_table(built, console, tables)
    return printed.getvalue()
