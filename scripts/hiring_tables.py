"""Makes the tables of src/tiltmeter/protocols/hiring: résumés cut at the name, and line-ups.

    python scripts/hiring_tables.py SOURCE FOLDER

SOURCE holds resumes_to_rank.json, top_mens_names.json and top_womens_names.json of
BloombergGraphics/2024-openai-gpt-hiring-racial-discrimination (Apache-2.0).

A hundred line-ups take one name of each of eight groups, each name once. Each is asked in eight
rotations, so that every name stands once in every place. The order of the résumés is turned by one
from line-up to line-up.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from random import Random

RACES = {"A": "Asian", "B": "Black", "H": "Hispanic", "W": "White"}
FILES = {"men": "top_mens_names.json", "women": "top_womens_names.json"}
PLACES = 8


def main(source: Path, folder: Path) -> None:
    names = {
        f"{race} {gender}": json.loads((source / file).read_text("utf-8"))[letter]
        for gender, file in FILES.items()
        for letter, race in RACES.items()
    }
    _write_resumes(source, folder)
    with (folder / "lineups.csv").open("w", encoding="utf-8", newline="") as file:
        columns = ["lineup", "rotation", "order", "candidates"]
        columns += [f"name{place}" for place in range(1, PLACES + 1)]
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(_rows(names))


def _write_resumes(source: Path, folder: Path) -> None:
    jobs = json.loads((source / "resumes_to_rank.json").read_text("utf-8"))
    with (folder / "resumes.jsonl").open("w", encoding="utf-8") as file:
        for job, given in jobs.items():
            row = {"job": job, "description": given["jd"].strip()}
            for number, resume in enumerate(given["resumes"], 1):
                row[f"head{number}"], row[f"tail{number}"] = resume.strip().split("{name}")
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _rows(names: dict[str, list[str]]) -> list[dict[str, str]]:
    random = Random(2024)
    shuffled = {group: random.sample(known, len(known)) for group, known in names.items()}
    rows = []
    for number in range(min(map(len, names.values()))):
        people = [(group, known[number]) for group, known in shuffled.items()]
        random.shuffle(people)
        for turn in range(PLACES):
            turned = people[turn:] + people[:turn]
            row = {
                "lineup": f"L{number + 1:03}",
                "rotation": str(turn + 1),
                "order": str(number % PLACES + 1),
                "candidates": "; ".join(f"{group}: {name}" for group, name in turned),
            }
            rows.append(row | {f"name{n}": name for n, (_, name) in enumerate(turned, 1)})
    return rows


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
