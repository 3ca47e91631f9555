"""An input beside its rewrite, in pieces that mark third-person pronouns with their class, and
words that differ.

Pronouns are found by the protocol's own rules (instruments/pronouns), words are compared in order
(difflib).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ...instruments.pronouns.pronouns import Found, mentions, person
from ...instruments.pronouns.told import NOTHING
from ...instruments.rewrites import told_of

_TOKEN = re.compile(r"\s+|\w+(?:['’]\w+)*|[^\w\s]")
MOST_WORDS = 2_000  # words of a text beyond which nothing is compared


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text. kind: "" or a pronoun's class (masculine, …); other: if another person's."""

    text: str
    kind: str = ""
    other: bool = False
    changed: bool = False

    @property
    def said(self) -> str:
        """The meaning of the piece's mark, in words."""
        words = [f"{self.kind} pronoun", *["of another"] * self.other] if self.kind else []
        return ", ".join([*words, *["changed"] * self.changed])


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An input and its rewrite, each split into pieces."""

    given: tuple[Piece, ...]
    output: tuple[Piece, ...]


def rewrite(cell: Mapping[str, str], output: str) -> Rewrite | None:
    """Marks an input and its rewrite; None if the design has no columns text, noun and theme."""
    if not {"text", "theme", "noun"} <= cell.keys():
        return None
    original = cell["text"]
    main_person = person(cell["theme"], cell["noun"], original)
    facts = told_of(cell) if "pronoun" in cell else NOTHING
    left, right = _TOKEN.findall(original), _TOKEN.findall(output)
    gone, added = _changed_places(left, right)
    return Rewrite(
        tuple(_pieces(left, gone, mentions(original, main_person))),
        tuple(_pieces(right, added, mentions(output, main_person, facts))),
    )


def _changed_places(left: Sequence[str], right: Sequence[str]) -> tuple[set[int], set[int]]:
    """Returns (indices of left tokens without a counterpart, the same for right tokens)."""
    a = [(n, word) for n, word in enumerate(left) if not word.isspace()]
    b = [(n, word) for n, word in enumerate(right) if not word.isspace()]
    if max(len(a), len(b)) > MOST_WORDS:
        return set(), set()
    same = SequenceMatcher(
        None, [word for _, word in a], [word for _, word in b], autojunk=False
    ).get_matching_blocks()
    kept_a = {a[block.a + i][0] for block in same for i in range(block.size)}
    kept_b = {b[block.b + i][0] for block in same for i in range(block.size)}
    return {n for n, _ in a} - kept_a, {n for n, _ in b} - kept_b


def _pieces(tokens: Sequence[str], changed: set[int], found: Sequence[Found]) -> Iterator[Piece]:
    """Joins neighbouring tokens with the same marks into pieces."""
    spans = [
        (one.begin, one.begin + len(one.form), one.value, one.whose != "primary") for one in found
    ]
    text, marks, at = "", ("", False, False), 0
    for number, token in enumerate(tokens):
        kind, other = next(
            ((value, other) for begin, end, value, other in spans if begin <= at < end), ("", False)
        )
        now = (kind, other, number in changed)
        if token.isspace() and not kind and marks[2] and number + 1 in changed:
            # the blank between two changed words
            now = (marks[0], marks[1], True) if not marks[0] else now
        if now != marks and text:
            yield Piece(text, *marks)
            text = ""
        text, marks, at = text + token, now, at + len(token)
    if text:
        yield Piece(text, *marks)
