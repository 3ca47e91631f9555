"""How many prompts of a set are swapped right, wrong, set aside or missed.

`nasty.jsonl` was written before the rules, by their author; `fresh_*.jsonl` by four others, who have
not seen them.

    python -m tests.cues.nasty FILE
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

from tiltmeter.cues import Pairing, pair
from tiltmeter.cues.en.tables import MAN, WOMAN, names

FOLDER = Path(__file__).parent
_GENDERS = {"W": (WOMAN,), "M": (MAN,), "N": (WOMAN, MAN)}
_RACES = ("black", "white", "asian", "hispanic", "latino", "latina")
_ARTICLE = r"\1(?:n(?=\\ [aeiouAEIOU])|(?=\\ [^aeiouAEIOU]))\\ "
RIGHT = ("right", "right none", "aside rightly")


@lru_cache
def rows(file: str = "nasty.jsonl") -> tuple[dict[str, str], ...]:
    """Returns the prompts of a file of this folder."""
    lines = (FOLDER / file).read_text("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


def is_as_expected(expected: str, result: Pairing, prompt: str) -> bool:
    """True if a version is the expected one: in a slot <W> or <M> a name of the right gender, one
    per person, in <N> also one borne by women and men alike, as it was; in <GROUP> any other race,
    behind the article that it needs.
    """
    slots = re.findall(r"<([WMN]|GROUP)>", expected)
    pattern = re.sub(r"\b([Aa])n?\\ (?=<GROUP>)", _ARTICLE, re.escape(expected))
    pattern = re.sub(r"<(?:[WMN]|GROUP)>", r"([A-Z]?[a-zé]+|[A-Z]+)", pattern)
    match = re.fullmatch(pattern, result.text)
    if not match:
        return False
    chosen: dict[str, set[str]] = {}
    for slot, word in zip(slots, match.groups(), strict=True):
        if slot == "N" and word.lower() in names().both:
            continue
        if re.search(rf"\b{word}\b", prompt):
            return False
        if slot == "GROUP":
            if word.lower() not in _RACES:
                return False
        elif names().gender.get(word.lower()) not in _GENDERS[slot]:
            return False
        chosen.setdefault(slot, set()).add(word)
    people = Counter(
        person for person, _ in {(cue.other, cue.person) for cue in result.cues if cue.person}
    )
    return all(
        len(given) == (people[_GENDERS[slot][0]] if slot in "WM" else 1)
        for slot, given in chosen.items()
    )


def outcome(row: dict[str, str], result: Pairing | None = None) -> str:
    """Names the outcome of one prompt."""
    result = result or pair(row["prompt"], row["swap"])
    if row["expect"] in ("swap", "mirror"):
        if result.status in ("paired", "mirrored"):
            kind = "paired" if row["expect"] == "swap" else "mirrored"
            right = is_as_expected(row["expected"], result, row["prompt"])
            return "right" if right and result.status == kind else "wrong"
        return "missed" if result.status == "no cue" else "set aside"
    if row["expect"] == "none":
        return "right none" if result.status == "no cue" else f"needless {result.status}"
    return "aside rightly" if result.status == "set aside" else f"MATTERS, {result.status}"


def count(file: str = "nasty.jsonl") -> Counter[str]:
    """Counts the outcomes of a file's prompts."""
    return Counter(outcome(row) for row in rows(file))


def back_and_forth(file: str = "nasty.jsonl") -> tuple[int, int]:
    """Counts the swaps of gender that give the text back when swapped again, and all swaps."""
    pairs = [pair(row["prompt"]) for row in rows(file) if row["swap"] == "gender"]
    swapped = [one for one in pairs if one.text]
    return sum(pair(one.text).text == one.texts[0] for one in swapped), len(swapped)


def summary(file: str) -> str:
    """Returns the four rates of a file as text."""
    outcomes = count(file)
    everything, must = len(rows(file)), sum(r["expect"] in ("swap", "mirror") for r in rows(file))
    right = sum(outcomes[word] for word in RIGHT)
    swapped = sum(
        n for word, n in outcomes.items() if word in ("MATTERS, paired", "MATTERS, mirrored")
    )
    back, swaps = back_and_forth(file)
    return (
        f"{file}: {everything} prompts\n"
        f"of {must} to be swapped: right {outcomes['right']} ({outcomes['right'] / must:.1%}), "
        f"set aside {outcomes['set aside']}, missed {outcomes['missed']}, wrong {outcomes['wrong']}\n"
        f"over all right {right} ({right / everything:.1%}), wrong {outcomes['wrong']} "
        f"({outcomes['wrong'] / everything:.1%}); swapped where it matters {swapped}\n"
        f"swapped twice gives the text back: {back} of {swaps} ({back / max(swaps, 1):.1%})\n"
        f"{dict(outcomes)}"
    )


if __name__ == "__main__":
    import sys

    file = sys.argv[1] if len(sys.argv) > 1 else "nasty.jsonl"
    print(summary(file))
    for row in rows(file):
        result = pair(row["prompt"], row["swap"])
        word = outcome(row, result)
        if word not in RIGHT:
            print(row["id"], word, "|", row["prompt"], "|", result.text or result.reason)
