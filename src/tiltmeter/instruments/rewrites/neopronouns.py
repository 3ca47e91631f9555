"""Neopronoun sets that a rewrite may keep or change: xe, ze/hir, fae, it, ey (neopronouns.csv)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...row_files import own_rows


class PronounSet(NamedTuple):
    """The forms of a neopronoun."""

    subject: str
    object: str
    determiner: str
    possessive: str
    reflexive: str


@cache
def pronoun_sets() -> dict[str, PronounSet]:
    """Returns the neopronoun sets by name: xe, ze, fae, it, ey."""
    rows = own_rows(Path(__file__).with_name("neopronouns.csv"))
    return {row.pop("name"): PronounSet(**row) for row in rows}
