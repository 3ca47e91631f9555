"""Writes a table of rows × columns as Markdown, LaTeX (booktabs), CSV, or for the terminal.

To add a format, add a function here and its name to FORMATS; the commands then offer it. Importing
the names is cheap, as the commands need them for --help.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ...analyse.words import numerals
from ...analyse.words.numerals import LEADER, OPEN_LEADER
from ...display import visible

if TYPE_CHECKING:  # they bring half of the package
    from ..page_model.table import Table
    from .cross_tables import CrossTable

LONGEST_NUMBER_CHARACTERS = 40  # of a cell with an interval, stars and n; what is longer is text
WIDE_TEXT = r"p{0.7\linewidth}"
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "−": r"$-$",
    "—": "---",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "▲": r"$\blacktriangle$",
    "△": r"$\vartriangle$",
    "λ": r"$\lambda$",
}


def markdown(table: CrossTable) -> str:
    """Writes a Markdown table, title above and notes below; a row's leading cells are bold."""

    def cell(text: str) -> str:
        text, mark = _mark(text)
        special = r"([\\|*_`<\[\]])" if re.search(r"[^\W\d_pn]", text) else r"([|*])"
        text = re.sub(special, r"\\\1", text).replace("\n", "<br>")
        return f"**{text}**{mark}" if mark else text

    heads = [*table.row_names, *map(" · ".join, table.columns)]
    lines = [
        [*map(cell, heads)],
        [
            *("---" for _ in table.row_names),
            *("---:" if table.estimates else "---" for _ in table.columns),
        ],
        *([*map(cell, levels), *map(cell, cells)] for levels, cells in table.rows),
    ]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "".join(f"\n\n{cell(note)}" for note in table.notes)
    marks = "".join(f"\n\n`{mark}`" for mark in table.signatures)
    return visible(f"**{cell(table.title)}**\n\n{body}{notes}{marks}\n")


def csv_text(table: CrossTable) -> str:
    """Writes a header, then a line per row, with cells as shown, except for a plain minus sign and
    empty cells for missing values, so that programs can read the numbers.
    """

    def cell(text: str) -> str:
        return "" if text == numerals.NOTHING else text.replace(numerals.MINUS, "-")

    from ...gold.sheet import guard_formula

    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    heads = [*table.row_names, *map(" · ".join, table.columns)]
    writer.writerow(map(guard_formula, heads))
    for levels, cells in table.rows:
        writer.writerow([*map(guard_formula, levels), *map(cell, cells)])
    return sheet.getvalue()


def latex(table: CrossTable) -> str:
    """Returns a `table` with a `tabular` in the style of booktabs, ready to paste into a paper. It
    needs \\usepackage{booktabs, amssymb}; the signatures stand above it as comments.
    """
    texts = [WIDE_TEXT if _is_text(table, n) else "r" for n in range(len(table.columns))]
    columns = "l" * len(table.row_names) + "".join(texts)
    comments = [f"% {mark}" for mark in table.signatures]
    body = [
        " & ".join([*map(_latex_cell, levels), *map(_latex_cell, cells)]) + r" \\"
        for levels, cells in _without_repeats(table.rows)
    ]
    notes = " ".join(map(_latex, table.notes))
    lines = [
        "% needs \\usepackage{booktabs} and \\usepackage{amssymb}",
        *comments,
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *_latex_heads(table),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {notes}"] if notes else []),
        r"\end{table}",
    ]
    return visible("\n".join(lines)) + "\n"


def _is_text(table: CrossTable, column: int) -> bool:
    """True if some text in a column is longer than a number."""
    return any(len(cells[column]) > LONGEST_NUMBER_CHARACTERS for _, cells in table.rows)


def _mark(text: str) -> tuple[str, str]:
    """Splits a cell into its text and the mark of a leading cell (▲ or △), "" without a mark."""
    for mark in (LEADER, OPEN_LEADER):
        if text.endswith(f" {mark}"):
            return text.removesuffix(f" {mark}"), f" {mark}"
    return text, ""


def _latex(text: str) -> str:
    lines = text.split("\n")
    return r" \newline ".join(
        "".join(_LATEX.get(character, character) for character in line) for line in lines
    )


def _latex_cell(text: str) -> str:
    text, mark = _mark(text)
    if mark:
        return rf"\textbf{{{_latex(text)}}}{_latex(mark)}"
    starred = re.fullmatch(r"([+−<>]? ?[\d.,]+)(\*{1,3})( .*)?", text)
    if starred:
        return f"{_latex(starred[1])}$^{{{starred[2]}}}${_latex(starred[3] or '')}"
    return _latex(text)


def _latex_heads(table: CrossTable) -> list[str]:
    """Writes a header line per column axis; equal neighbours share a head with a rule below."""
    lines, first = [], len(table.row_names)
    for depth in range(len(table.column_names)):
        is_last = depth == len(table.column_names) - 1
        heads = [_latex(name) if is_last else "" for name in table.row_names]
        rules, place = [], first + 1
        for levels, group in groupby(table.columns, key=lambda one: one[: depth + 1]):
            wide = len(list(group))
            text = _latex(levels[-1])
            heads.append(text if wide == 1 else rf"\multicolumn{{{wide}}}{{c}}{{{text}}}")
            if wide > 1:
                rules.append(rf"\cmidrule(lr){{{place}-{place + wide - 1}}}")
            place += wide
        lines.append(" & ".join(heads) + r" \\")
        lines += [" ".join(rules)] if rules else []
    return lines


def _without_repeats(
    rows: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Blanks labels that equal the label above, from the left; never a row's last label."""
    result, above = [], tuple[str, ...]()
    for levels, cells in rows:
        kept = [
            n
            for n in range(len(levels))
            if levels[: n + 1] != above[: n + 1] or n == len(levels) - 1
        ]
        result.append((tuple(level if n in kept else "" for n, level in enumerate(levels)), cells))
        above = levels
    return result


def terminal_table(table: CrossTable) -> Table:
    """Converts a cross table to a report's Table, for the terminal."""
    from ..page_model.table import Column, Table

    columns = (
        *(Column(name, "text", True) for name in table.row_names),
        *(Column(name, "number", True) for name in _short_heads(table)),
    )
    rows = tuple((*levels, *cells) for levels, cells in table.rows)
    return Table("", table.title, "\n  ".join(table.notes), columns, rows)


def _short_heads(table: CrossTable) -> list[str]:
    """Returns each column's level on the last axis if these are unique, else all its levels."""
    last = [levels[-1] for levels in table.columns]
    return last if len(set(last)) == len(last) else [" · ".join(one) for one in table.columns]


FORMATS: dict[str, Callable[[CrossTable], str]] = {
    "md": markdown,
    "latex": latex,
    "csv": csv_text,
}
