"""The rules for rewrites against labels of your own, as in the paper's Table 2: precision, recall
and F1 by class, and who was taken for whom.

    python benchmarks/rewrite_gold.py gold.csv

gold.csv has the columns theme, noun, label, text (the rewrite) and, where it is known, input.

`overall` weighs the classes by how often gold has them, `macro` weighs them alike: the paper's
judge has precision .78, recall .71, and a macro F1 of .71 (n = 2,553; its own rewrites, so for
orientation only).
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tiltmeter.errors import ProtocolError
from tiltmeter.instruments.pronouns.pronouns import CLASSES, identify, person


@dataclass(frozen=True, slots=True)
class Quality:
    """One class. None where there is nothing to divide by: a class that was never named has no
    precision.
    """

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

    Worked example: gold a a b, found a b b: a has precision 1 and recall 1/2, F1 2/3; b has 1/2 and
    1, F1 2/3.
    """
    table = confusion(pairs)
    names = list(dict.fromkeys(gold for gold, _ in table))
    rows = [_class(name, table) for name in names]
    return [*rows, *summary(rows)]


def summary(rows: list[Quality]) -> list[Quality]:
    """`overall` and `macro` of classes; nothing for no gold."""
    total = sum(row.n for row in rows)
    if not total:
        return []
    return [_all("overall", rows, total, weighted=True), _all("macro", rows, total, weighted=False)]


def _class(name: str, table: Counter[tuple[str, str]]) -> Quality:
    right = table[name, name]
    found = sum(count for (_, label), count in table.items() if label == name)
    gold = sum(count for (label, _), count in table.items() if label == name)
    f1 = 2 * right / (found + gold) if found + gold else None
    return Quality(name, right / found if found else None, right / gold if gold else None, f1, gold)


def _all(name: str, rows: list[Quality], total: int, weighted: bool) -> Quality:
    precision, recall, f1 = (
        _mean(rows, field, weighted) for field in ("precision", "recall", "f1")
    )
    return Quality(name, precision, recall, f1, total)


def _mean(rows: list[Quality], field: str, weighted: bool) -> float | None:
    known = [
        (getattr(row, field), row.n if weighted else 1)
        for row in rows
        if getattr(row, field) is not None
    ]
    return (
        sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
        if known
        else None
    )


def read(path: Path) -> list[dict[str, str]]:
    """Gold from a CSV file with the columns theme, noun, label, text (the rewrite) and, where it is
    known, input.

    Raises ProtocolError for a missing column, a label that is no class, another encoding than
    UTF-8.
    """
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
    except UnicodeDecodeError:
        raise ProtocolError(f"{path.name} is not in UTF-8.") from None
    for column in ("theme", "noun", "label", "text"):
        if not rows or column not in rows[0]:
            raise ProtocolError(
                f"{path.name} has no column '{column}'. Needed: theme, noun, label, text; input "
                "if known."
            )
    for number, row in enumerate(rows, 1):
        if row["label"] not in CLASSES:
            raise ProtocolError(
                f"{path.name}, row {number}: '{row['label']}' is no label. There is: "
                f"{', '.join(CLASSES)}."
            )
    return rows


def against(rows: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    """(gold, what the rules say) for each row: what `quality` and `confusion` take."""
    return [
        (
            row["label"],
            identify(row["text"], person(row["theme"], row["noun"], row.get("input") or "")).label,
        )
        for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    pairs = against(read(parser.parse_args().file))
    for row in quality(pairs):
        rates = (
            "–" if rate is None else f"{rate:.3f}" for rate in (row.precision, row.recall, row.f1)
        )
        print(f"{row.name:10} precision, recall, F1: {', '.join(rates)}; n {row.n}")
    for (gold, found), number in confusion(pairs).items():
        print(f"{gold} taken for {found}: {number}")


if __name__ == "__main__":
    main()
