"""Makes src/tiltmeter/protocols/decisions_names/texts.jsonl from the texts of `decisions`.

    python scripts/decisions_names_texts.py

Of each scenario the two texts about a white person of 40 years are taken, a man's and a woman's.
The words for race and gender are left out; pronouns stay. `person` is put where no noun is left.
"""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

PROTOCOLS = Path(__file__).parents[1] / "src" / "tiltmeter" / "protocols"
GROUPS = {"male": "men", "female": "women"}
CUE = re.compile(r"(?i)\b(?:white,? (?:fe)?male|(?:fe)?male,? white|(?<=old )female)\b")
RACE = re.compile(r"(?i)\bwhite +")
RUN_TOGETHER = "whiteseeking"  # as scenario 27 has it
NO_NOUN = re.compile(r"@(?: person)?(?=[.,]| (?:suffering|seeking|who|with|currently|has)\b)")


def main() -> None:
    with lzma.open(PROTOCOLS / "decisions" / "texts.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    base = [row for row in rows if row["race"] == "white" and row["age"] == "40"]
    texts = [
        {"scenario": row["scenario"], "gender": gender, "text": without_cue(row["text"])}
        for row in base
        if (gender := GROUPS.get(row["gender"]))
    ]
    target = PROTOCOLS / "decisions_names" / "texts.jsonl"
    target.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in texts), "utf-8")


def without_cue(text: str) -> str:
    """The text without the words for race and gender, white space put in order."""
    spaced = " ".join(text.replace(RUN_TOGETHER, "person seeking").split())
    plain = CUE.sub("@", re.sub(r"(?i)\b(a)\(n\) ?", r"\1 ", spaced))
    plain = RACE.sub("", NO_NOUN.sub("person", plain).replace("@ ", ""))
    return " ".join(plain.split())


if __name__ == "__main__":
    main()
