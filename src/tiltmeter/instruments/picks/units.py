"""The units into which an answer with picks is cut, and patterns of the words that join picks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...languages.pack import pack

ENTRY, ROW, OFF, ASIDE, PROSE = "entry", "row", "off", "aside", "prose"
LINE = 60  # characters that a single entry may have


class Pick(NamedTuple):
    """A picked word. lexeme: "" if the word is not listed; text: its letters as written."""

    lexeme: str
    text: str


class PicksReading(NamedTuple):
    """The distinct picks of an answer, in order. listed: how many of them are on the list."""

    picks: Sequence[Pick]
    listed: int


class PickPart(NamedTuple):
    """A part of a row, without its "and". short: True if it can be a word rather than a clause."""

    text: str
    pick: Pick
    short: bool


class Unit(NamedTuple):
    """An entry, line or sentence. kind: its form; listed: the number of picks on the list."""

    kind: str
    picks: tuple[Pick, ...]
    listed: int


NOTHING = Unit(PROSE, (), 0)


def distinct(picks: Sequence[Pick]) -> PicksReading:
    """Removes repeated words."""
    lexemes = [pick.lexeme for pick in picks]
    if len(set(lexemes)) < len(lexemes):  # a word twice, or several off the list
        first: dict[str, Pick] = {}
        for pick in picks:
            first.setdefault(pick.lexeme or f" {pick.text}", pick)
        picks = list(first.values())
        lexemes = [pick.lexeme for pick in picks]
    return PicksReading(picks, len(lexemes) - lexemes.count(""))


def frames_of(code: str) -> list[tuple[str, str]]:
    """Returns (text before, text after) the words of a pack's frame sentences, in lower case."""
    replies = (row for row in pack(code).answers if row.instrument == "picks")
    frames = [
        row.reply.lower().rstrip(".。।!").partition("{words}")
        for row in replies
        if row.use == "frame" and "{words}" in row.reply
    ]
    around = [(before.strip(" :"), after.strip()) for before, _, after in frames]
    return sorted(around, key=lambda frame: -len("".join(frame)))


def count_listed(picks: Sequence[Pick]) -> int:
    """Counts the picks that are on the list."""
    return len([pick for pick in picks if pick.lexeme])


def either(phrases: Sequence[str]) -> str:
    """Makes a pattern that matches any of the phrases, longest first."""
    alternatives = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    return f"(?:{alternatives})" if alternatives else r"(?!)"


def between(phrases: Sequence[str], unspaced: bool) -> str:
    """Makes a pattern that matches any of the phrases between two words."""
    return either(phrases) if unspaced else rf"[\s,]{either(phrases)}(?:\s+|['’])"
