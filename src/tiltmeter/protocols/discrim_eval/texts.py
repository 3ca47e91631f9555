"""The table of `discrim_eval`, made from a copy of the release.

Ages lose their decimals. Each text is marked by the contrasts in which only the cue differs from
its counterpart: in which the texts are equal without race, age, gender with its pronouns, articles
and white space. The texts themselves are not changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

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
    "SELF": "herself|himself|themselves|themself",
}
Row = dict[str, str]


def table(contents: Mapping[str, bytes]) -> str:
    """Returns the marked texts of `explicit.jsonl` as JSON lines."""
    rows = [_row(json.loads(line)) for line in contents["explicit.jsonl"].decode().splitlines()]
    plain = {_key(row): without_cues(row) for row in rows}
    for row in rows:
        for mark, (factor, level, baseline) in MARKS.items():
            sides = [_key(row | {factor: side}) for side in (level, baseline)]
            is_same = plain[sides[0]] == plain[sides[1]]
            row[mark] = "yes" if row[factor] in (level, baseline) and is_same else "no"
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def without_cues(row: Row) -> str:
    """Returns a text with placeholders for its cues, so that texts can be compared without them."""
    text = re.sub(rf"\b{row['age']}\b", "AGE", " ".join(row["text"].split()))
    text = re.sub(rf"(?i)\b{re.escape(row['race'])}\b", "RACE", text)
    for name, words in WORDS.items():
        text = re.sub(rf"(?i)\b(?:{words})\b", name, text)
    return re.sub(r"(?i)\ban?(?= (?:RACE|AGE|GENDER)\b)", "A", text)


def _row(given: Mapping[str, str | float]) -> Row:
    return {
        "scenario": str(given["decision_question_id"]),
        "race": str(given["race"]),
        "gender": str(given["gender"]),
        "age": str(int(float(given["age"]))),
        "text": str(given["filled_template"]),
    }


def _key(row: Row) -> tuple[str, ...]:
    return row["scenario"], row["race"], row["gender"], row["age"]
