"""Neopronoun sets that a rewrite may keep or change: xe, ze/hir, fae, it, ey (neopronouns.csv)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class PronounSet:
    subject: str
    object: str
    determiner: str
    possessive: str
    reflexive: str


@cache
def pronoun_sets() -> dict[str, PronounSet]:
    """The sets by name: xe, ze, fae, it, ey."""
    with Path(__file__).with_name("neopronouns.csv").open(encoding="utf-8", newline="") as handle:
        return {row.pop("name"): PronounSet(**row) for row in csv.DictReader(handle)}
