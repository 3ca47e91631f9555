"""An instrument against gold labels, as in the paper's Table 2: precision, recall and F1 by class, and who was taken
for whom.

`overall` weighs the classes by how often gold has them, `macro` weighs them alike: the paper's judge has precision .78,
recall .71, and a macro F1 of .71 (n = 2,553; its own rewrites, so for orientation only).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...errors import ProtocolError


@dataclass(frozen=True, slots=True)
class Quality:
    """One class. None where there is nothing to divide by: a class that was never named has no precision."""

    name: str
    precision: float | None
    recall: float | None
    f1: float | None
    n: int


def confusion(pairs: Iterable[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """(gold, found) → how often."""
    return Counter(pairs)


def quality(pairs: Iterable[tuple[str, str]]) -> list[Quality]:
    """Every class of gold, then `overall` (weighted by support) and `macro`.

    Worked example: gold a a b, found a b b: a has precision 1 and recall 1/2, F1 2/3; b has 1/2 and 1, F1 2/3.
    """
    table = confusion(pairs)
    names = list(dict.fromkeys(gold for gold, _ in table))
    rows = [_class(name, table) for name in names]
    total = sum(row.n for row in rows)
    if not total:
        return []
    return [*rows, _all("overall", rows, total, weighted=True), _all("macro", rows, total, weighted=False)]


def _class(name: str, table: Counter[tuple[str, str]]) -> Quality:
    right = table[name, name]
    found = sum(count for (_, label), count in table.items() if label == name)
    gold = sum(count for (label, _), count in table.items() if label == name)
    f1 = 2 * right / (found + gold) if found + gold else None
    return Quality(name, right / found if found else None, right / gold if gold else None, f1, gold)


def _all(name: str, rows: list[Quality], total: int, weighted: bool) -> Quality:
    precision, recall, f1 = (_mean(rows, field, weighted) for field in ("precision", "recall", "f1"))
    return Quality(name, precision, recall, f1, total)


def _mean(rows: list[Quality], field: str, weighted: bool) -> float | None:
    known = [(getattr(row, field), row.n if weighted else 1) for row in rows if getattr(row, field) is not None]
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known) if known else None


def read(path: Path) -> list[dict[str, str]]:
    """Gold from a CSV file with the columns theme, noun, label, text (the rewrite) and, where it is known, input."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    for column in ("theme", "noun", "label", "text"):
        if not rows or column not in rows[0]:
            raise ProtocolError(
                f"{path.name} has no column '{column}'. Needed: theme, noun, label, text; input if known."
            )
    return rows
