"""The words of the source: docstrings that begin with what the thing is or does, and locals that
are named by what they hold.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tiltmeter"
CLAUSES = frozenset("What How Where Whether Which Whose Who When Why".split())
MOST_CLAUSES = 0.01  # of all docstrings
VAGUE = frozenset("found said told own made one here there".split())
MOST_VAGUE = 1700  # a number that only falls: rename some before you add one


@cache
def _read() -> tuple[list[tuple[str, str]], list[tuple[str, int]]]:
    """Returns (file, docstring) and (file, line of a vague local) of the whole source."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings, vague = [], []
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, documented) and (docstring := ast.get_docstring(node)):
                docstrings.append((file, docstring))
            elif (
                isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE
            ) or (isinstance(node, ast.arg) and node.arg in VAGUE):
                vague.append((file, node.lineno))
    return docstrings, vague


def test_docstrings_begin_with_what_a_thing_is_or_does():
    docstrings, _ = _read()
    clauses = [row for row in docstrings if row[1].split()[0].rstrip(",:") in CLAUSES]
    assert len(clauses) <= MOST_CLAUSES * len(docstrings), clauses


def test_locals_are_named_by_what_they_hold():
    _, vague = _read()
    assert len(vague) <= MOST_VAGUE
