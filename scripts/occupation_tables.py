"""Makes src/tiltmeter/protocols/occupations/occupations.csv.

    python scripts/occupation_tables.py PROMPTS.json SHARES.csv TARGET.csv

PROMPTS is the list of prompts of DALL-Eval (Cho et al. 2023, MIT), SHARES the shares of women in
occupations of the example `translation` (FiveThirtyEight, CC BY 4.0). An occupation has a share
where SHARES has the same word, the others have none.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

LEAD = "A person who works as "


def main(prompts: Path, shares: Path, target: Path) -> None:
    with shares.open(encoding="utf-8", newline="") as file:
        known = {row["occupation"]: row["women_share"] for row in csv.DictReader(file)}
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["occupation", "called", "women_share"])
        for prompt in json.loads(prompts.read_text("utf-8")):
            called = prompt.removeprefix(LEAD).strip()
            if prompt.startswith(LEAD) and called:
                word = called.split(" ", 1)[1]
                writer.writerow([word, called, known.get(word, "")])


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
