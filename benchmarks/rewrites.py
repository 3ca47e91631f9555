"""How often the rules read a rewrite as two readers did: on 862 rewrites of up to 300 words.

    python benchmarks/rewrites.py [--part tuning | "held out" | fresh | all] [--errors] [--json]

The texts and labels are in tests/instruments/rewrites: written by a language model as chat models
write (notes, narrators, second persons, flips, refusals, quotes, markdown, …), and marked in two
readings, by language models too. The 440 of texts.jsonl may be tuned on. The 222 of texts_2.jsonl
were written before version 3 of the rules, and no rule has seen them. The 200 of texts_3.jsonl are
fresh: 100 typical ones, two of each of 50 of our own texts as a chat model answers on them, and 100
hard ones of the other kinds. A refusal or a reply that is no rewrite is a class of its own, `no
rewrite`. `--errors` lists the misread ones, of the tuning part alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rewrite_gold import confusion, quality

from tiltmeter.instruments.rewrites import VERDICT, labels, verdicts
from tiltmeter.instruments.rewrites.outcomes import READ
from tiltmeter.records import UNSURE
from tiltmeter.stats.wilson import wilson

GOLD = Path(__file__).parents[1] / "tests" / "instruments" / "rewrites"
TUNING, HELD_OUT, FRESH = PARTS = ("tuning", "held out", "fresh")
FILES = {TUNING: "", HELD_OUT: "_2", FRESH: "_3"}
TYPICAL = "typical"
NO_REWRITE = "no rewrite"
FLIPPED = "noun_flipped"
GENDERS = ("masculine", "feminine", "mixed")
# The verdict that each rate counts, and the pronouns of the inputs that it is a share of.
RATES = {"gendering": ("they", "none"), "misgendering": ("he", "she")}
NO_EVIDENCE = ("form", "point_of_view")  # who speaks may change: not in the rates
LENGTHS = ((0, 99), (100, 149), (150, 10_000))  # words of a rewrite, first and last


class Marked(NamedTuple):
    """One rewrite: what the readers say of it, and what the rules say."""

    id: str
    part: str
    kind: str
    transformation: str
    pronoun: str
    words: int
    gold: str
    label: str
    gold_verdict: str
    verdict: str
    flipped: bool
    found_flipped: bool


def rows(part: str) -> list[dict[str, str]]:
    """Texts and labels of a part joined by their id; `pronouns`, `shape` and `noun_flipped` are the
    readers'.
    """
    labels = {row["id"]: row for row in _lines(f"labels{FILES[part]}.jsonl")}
    texts = _lines(f"texts{FILES[part]}.jsonl")
    return [{**row, **labels[row["id"]], "part": part} for row in texts]


def _lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (GOLD / name).read_text("utf-8").splitlines()]


def marked(row: dict[str, str]) -> Marked:
    cell = {
        "theme": row["theme"],
        "noun": row["noun"],
        "pronoun": row["input_pronoun"],
        "text": row["input"],
    }
    found = labels(cell, row["rewrite"])
    read = found["shape"] in READ
    is_rewrite = row["shape"] not in ("refusal", "invalid")
    gold = row["pronouns"] if is_rewrite else NO_REWRITE
    verdict = verdicts(cell, gold, flipped=bool(row[FLIPPED]))[VERDICT] if is_rewrite else gold
    return Marked(
        row["id"],
        row["part"],
        row["kind"],
        row["transformation"],
        row["input_pronoun"],
        len(row["rewrite"].split()),
        gold,
        found["pronouns"] if read else NO_REWRITE,
        verdict,
        found[VERDICT] if read else NO_REWRITE,
        bool(row[FLIPPED]),
        found.get(FLIPPED) == "yes",
    )


def right(found: Iterable[Marked]) -> tuple[int, int]:
    """How many are right, of how many."""
    return _count(one.label == one.gold for one in found)


def figures(found: Sequence[Marked]) -> dict[str, float]:
    """Macro F1 over the classes, and the shares of what there is."""
    table = quality((one.gold, one.label) for one in found)
    macro = next(row.f1 or 0.0 for row in table if row.name == "macro")
    each = {name: hits / number for name, (hits, number) in shares(found).items() if number}
    return {"macro_f1": macro, **each}


def shares(found: Sequence[Marked]) -> dict[str, tuple[int, int]]:
    """How many, of how many: right, a gender on a true `none`, flips found; rewrites that have a
    verdict, and verdicts that are right.
    """
    rewritten = [one for one in found if one.gold_verdict != NO_REWRITE]
    given = [one for one in found if one.verdict not in (UNSURE, NO_REWRITE)]
    return {
        "right": right(found),
        "gender_on_none": _count(one.label in GENDERS for one in found if one.gold == "none"),
        "flips_found": _count(one.found_flipped for one in found if one.flipped),
        "false_flips": _count(one.found_flipped for one in found if not one.flipped),
        "verdict_given": (len(given), len(rewritten)),
        "verdict_right": _count(one.verdict == one.gold_verdict for one in given),
    }


def rates(found: Sequence[Marked]) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Each rate by the readers and by the rules, as a report counts it: how many, of how many."""
    among = {
        name: [
            one for one in found if one.pronoun in given and one.transformation not in NO_EVIDENCE
        ]
        for name, given in RATES.items()
    }
    return {
        name: (
            _count(one.gold_verdict == name for one in each if one.gold_verdict != NO_REWRITE),
            _count(one.verdict == name for one in each if one.verdict not in (UNSURE, NO_REWRITE)),
        )
        for name, each in among.items()
    }


def _count(each: Iterable[bool]) -> tuple[int, int]:
    values = list(each)
    return sum(values), len(values)


def _share(hits: int, number: int) -> str:
    """A share with its interval of 95 % (Wilson)."""
    one = wilson(hits, number)
    if one.value is None or one.low is None or one.high is None:
        return "of 0"
    return f"{hits} of {number} ({one.value:.2f}; {one.low:.2f} to {one.high:.2f})"


def shown(found: Sequence[Marked]) -> None:
    """The shares and rates, and the table by class, by kind and by length."""
    for name, counts in shares(found).items():
        print(f"  {name:<15} {_share(*counts)}")
    for name, (gold, rules) in rates(found).items():
        print(f"  {name:<15} readers {_share(*gold)}, rules {_share(*rules)}")
    pairs = [(one.gold, one.label) for one in found]
    for row in quality(pairs):
        precision, recall, f1 = (
            "  – " if value is None else f"{value:.2f}"
            for value in (row.precision, row.recall, row.f1)
        )
        print(f"  {row.name:<12} precision {precision}  recall {recall}  F1 {f1}  n {row.n}")
    wrong = [f"{a} → {b} {n}" for (a, b), n in confusion(pairs).most_common() if a != b]
    print("  taken for another:", ", ".join(wrong))
    for kind in sorted({one.kind for one in found}):
        hits, number = right(one for one in found if one.kind == kind)
        print(f"  kind {kind:<14} {_share(hits, number)}")
    for low, high in LENGTHS:
        hits, number = right(one for one in found if low <= one.words <= high)
        print(f"  {low:>3} to {high:>5} words  {_share(hits, number)}")


def groups(part: str) -> dict[str, list[Marked]]:
    """The rewrites of a part, the fresh ones in two: typical and hard."""
    found = [marked(row) for row in rows(part)]
    if part != FRESH:
        return {part: found}
    return {
        f"{part}, {TYPICAL}": [one for one in found if one.kind == TYPICAL],
        f"{part}, hard": [one for one in found if one.kind != TYPICAL],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--errors", action="store_true", help="list the misread, tuning part alone")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = PARTS if options.part == "all" else (options.part,)
    parts = {name: found for part in names for name, found in groups(part).items()}
    if options.json:
        print(json.dumps({name: figures(part) for name, part in parts.items()}, indent=1))
        return 0
    for name, part in parts.items():
        print(f"\n{name}: macro F1 {figures(part)['macro_f1']:.3f}")
        shown(part)
    if options.errors:
        for one in parts.get(TUNING, []):
            if one.label != one.gold or one.flipped != one.found_flipped:
                print(f"{one.id} {one.kind}: {one.gold}, read as {one.label}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
