"""How many of the hard prompts are swapped right, wrong, set aside or missed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tiltmeter.cues import pair
from tiltmeter.cues.en.tables import MAN, WOMAN, names

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "nasty.jsonl").read_text("utf-8").splitlines()
]
_GENDERS = {"W": (WOMAN,), "M": (MAN,), "N": (WOMAN, MAN)}


def is_as_expected(expected: str, text: str, prompt: str) -> bool:
    """True if a version is the expected one, any name of the right gender in a slot <W> or <M>."""
    slots = re.findall(r"<([WMN])>", expected)
    pattern = re.sub(r"<[WMN]>", r"([A-Z][a-zé]+|[a-z]+)", re.escape(expected))
    match = re.fullmatch(pattern, text)
    if not match:
        return False
    chosen: dict[str, set[str]] = {}
    for slot, name in zip(slots, match.groups(), strict=True):
        if (
            re.search(rf"\b{name}\b", prompt)
            or names().gender.get(name.lower()) not in _GENDERS[slot]
        ):
            return False
        chosen.setdefault(slot, set()).add(name)
    return all(len(one) == 1 for one in chosen.values())


def outcome(row: dict[str, str]) -> str:
    """The outcome of one prompt."""
    result = pair(row["prompt"], row["swap"])
    if row["expect"] in ("swap", "mirrored"):
        if result.status in ("paired", "mirrored"):
            kind = "paired" if row["expect"] == "swap" else "mirrored"
            right = is_as_expected(row["expected"], result.text, row["prompt"])
            return "right" if right and result.status == kind else "wrong"
        return "missed" if result.status == "no cue" else "set aside"
    if row["expect"] == "none":
        return "right none" if result.status == "no cue" else f"needless {result.status}"
    return "aside rightly" if result.status == "set aside" else f"MATTERS, {result.status}"


def rows(half: str = "") -> Iterator[dict[str, str]]:
    """Yields the rows: "open", those with an even number; "kept", those with an odd one; or all."""
    for row in ROWS:
        if not half or (int(row["id"][1:]) % 2 == 0) == (half == "open"):
            yield row


def count(half: str = "") -> Counter[str]:
    """Counts the outcomes."""
    return Counter(outcome(row) for row in rows(half))


if __name__ == "__main__":
    import sys

    half = sys.argv[1] if len(sys.argv) > 1 else "open"
    print(count(half))
    for row in rows(half):
        said = outcome(row)
        if said not in ("right", "right none", "aside rightly"):
            result = pair(row["prompt"], row["swap"])
            print(row["id"], said, "|", row["prompt"], "|", result.text or result.reason)
