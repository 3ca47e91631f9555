"""Replaces addresses and numbers that identify people by placeholders, before anything is sent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ....cues import pair
from ....cues.records import IN_CODE, MIRRORED, PAIRED
from ....records import digest
from ....row_files.logs import Logged, Turn
from .decisions import PromptDecision, joined

_KINDS = (
    ("EMAIL", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("IBAN", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")),
    ("CARD", re.compile(r"(?<![+\w])\d(?:[ -]?\d){12,18}\b")),
    (
        "PHONE",
        re.compile(
            r"(?<![\w.])(?:\+\d{1,3}[ ./-]?)?(?:\(\d{1,5}\)[ ./-]?)?"
            r"\d{2,5}(?:[ ./-]\d{2,10}){1,4}(?![\w.])|\+\d{7,14}\b"
        ),
    ),
)
_DATE = re.compile(r"\d{4}[-./ ](?:\d{4}|\d{1,2}[-./ ]\d{1,2})|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}")


def redacted(row: Logged) -> Logged:
    """Returns a conversation with placeholders; equal values share a placeholder."""
    numbers: dict[tuple[str, str], str] = {}

    def placeholder(kind: str, value: str) -> str:
        digits = sum(map(str.isdigit, value))
        dated = _DATE.fullmatch(value) is not None
        if (kind == "PHONE" and (digits < 7 or dated)) or (kind == "CARD" and not _is_card(value)):
            return value
        return numbers.setdefault((kind, value), f"[{kind}-{len(numbers) + 1}]")

    turns = []
    for turn in row.turns:
        text = turn.text
        for kind, pattern in _KINDS:
            parts, last = [], 0
            for hit in pattern.finditer(text):
                parts += [text[last : hit.start()], placeholder(kind, hit.group())]
                last = hit.end()
            text = "".join((*parts, text[last:]))
        turns.append(Turn(turn.role, text))
    return replace(row, turns=tuple(turns), answer="")


def paired_if_redacted(
    rows: Sequence[Logged], decisions: Sequence[PromptDecision], seed: int
) -> Counter[str]:
    """Counts per swap the prompts set aside for an address or code that redaction would pair."""
    conversations = {digest(joined(row))[:12]: row for row in rows}
    numbers = Counter[str]()
    for one in decisions:
        if one.reason.startswith(IN_CODE) and one.prompt in conversations:
            text = joined(redacted(conversations[one.prompt]))
            numbers[one.swap] += pair(text, one.swap, seed=seed).status in (PAIRED, MIRRORED)
    return numbers


def _is_card(value: str) -> bool:
    """True if the digits pass the checksum of card numbers (Luhn)."""
    digits = [int(one) for one in value if one.isdigit()][::-1]
    doubled = [
        sum(divmod(2 * digit, 10)) if index % 2 else digit for index, digit in enumerate(digits)
    ]
    return sum(doubled) % 10 == 0
