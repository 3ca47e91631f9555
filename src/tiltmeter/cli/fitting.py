"""Text for a terminal: lines are broken between words at its width, with what begins them kept in
line. What goes elsewhere (a file, a pipe) stays one line a sentence.
"""

from __future__ import annotations

import shutil
import sys
import textwrap

import click

WIDEST_COLUMNS = 100  # of a line that is read with ease


def echo_fitted(text: str) -> None:
    """Prints lines as wide as the terminal, or as they are where there is none."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    width = min(WIDEST_COLUMNS, shutil.get_terminal_size().columns)
    for line in text.splitlines():
        click.echo(fitted(line, width))


def fitted(line: str, width: int) -> str:
    """A line broken between words, what follows two columns further in than it begins."""
    if len(line) <= width:
        return line
    begin = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=begin,
        subsequent_indent=begin + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
