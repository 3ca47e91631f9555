"""Makes src/tiltmeter/protocols/decisions/texts.jsonl.xz from discrim-eval.

    python scripts/decisions_tables.py SOURCE.jsonl.xz TARGET.jsonl.xz

SOURCE is `explicit.jsonl` of Anthropic/discrim-eval (Tamkin et al. 2023, CC BY 4.0), compressed.
The texts are not changed. Ages lose their decimals, and each text is marked by the contrasts in
which it differs from its counterpart in the cue alone: the person's race, age and gender with
their pronouns, articles and white space put aside.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path

MARKS = {
    "alone_asian": ("race", "Asian", "white"),
    "alone_black": ("race", "Black", "white"),
    "alone_hispanic": ("race", "Hispanic", "white"),
    "alone_native_american": ("race", "Native American", "white"),
    "alone_female": ("gender", "female", "male"),
    "alone_nonbinary": ("gender", "non-binary", "male"),
    **{f"alone_{age}": ("age", str(age), "60") for age in range(20, 101, 10) if age != 60},
}
WORDS = {
    "GENDER": "non-binary|nonbinary|female|male|woman|man|women|men",
    "THEY": "she|he|they",
    "THEIR": "her|his|their|hers|theirs|him|them",
    "SELF": "herself|himself|themselves|themself|themself",
}


def main(source: Path, target: Path) -> None:
    with lzma.open(source, "rt", encoding="utf-8") as lines:
        rows = [_row(json.loads(line)) for line in lines]
    plain = {_key(row): without_cues(row) for row in rows}
    for row in rows:
        for mark, (factor, level, baseline) in MARKS.items():
            sides = [_key(row | {factor: side}) for side in (level, baseline)]
            same = plain[sides[0]] == plain[sides[1]]
            row[mark] = "yes" if row[factor] in (level, baseline) and same else "no"
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _row(given: dict[str, str | float]) -> dict[str, str]:
    return {
        "scenario": str(given["decision_question_id"]),
        "race": str(given["race"]),
        "gender": str(given["gender"]),
        "age": str(int(float(given["age"]))),
        "text": str(given["filled_template"]),
    }


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return row["scenario"], row["race"], row["gender"], row["age"]


def without_cues(row: dict[str, str]) -> str:
    """A text with its cues put aside."""
    text = re.sub(rf"\b{row['age']}\b", "AGE", " ".join(row["text"].split()))
    text = re.sub(rf"(?i)\b{re.escape(row['race'])}\b", "RACE", text)
    for name, words in WORDS.items():
        text = re.sub(rf"(?i)\b(?:{words})\b", name, text)
    return re.sub(r"(?i)\ban?(?= (?:RACE|AGE|GENDER)\b)", "A", text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
