"""Makes src/tiltmeter/protocols/hiring/lineups.csv from the matched names in protocols/data.

    python scripts/hiring_tables.py

A line-up is one set of full_names.csv: one name of each of eight groups. It is asked in eight
rotations, so that every name stands once in every place and once above every résumé. The order of
the résumés is turned by one from line-up to line-up.
"""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

PROTOCOLS = Path(__file__).parents[1] / "src" / "tiltmeter" / "protocols"
PLACES = 8


def main() -> None:
    rows = lineup_rows(PROTOCOLS / "data" / "full_names.csv")
    target = PROTOCOLS / "hiring" / "lineups.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def lineup_rows(names: Path) -> list[dict[str, str]]:
    """A row per line-up and rotation, each with its eight people in the order of the prompt."""
    sets: dict[str, list[tuple[str, str]]] = {}
    with names.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            person = (f"{row['ethnicity']} {row['gender']}", row["person"])
            sets.setdefault(row["set"], []).append(person)
    random = Random(2026)
    rows = []
    for number, (name, people) in enumerate(sets.items()):
        random.shuffle(people)
        for turn in range(PLACES):
            turned = people[turn:] + people[:turn]
            row = {
                "lineup": f"L{name}",
                "rotation": str(turn + 1),
                "order": str(number % PLACES + 1),
                "candidates": "; ".join(f"{group}: {person}" for group, person in turned),
            }
            rows.append(row | {f"name{n}": person for n, (_, person) in enumerate(turned, 1)})
    return rows


if __name__ == "__main__":
    main()
