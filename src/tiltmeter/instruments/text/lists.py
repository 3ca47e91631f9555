"""Rewrites lists into one format: each entry on its own line, after "1." or "-". For all
instruments that parse lists. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...languages.patterns import lazy
from .json_replies import json_in

_CIRCLED = lazy("[\u2460-\u2473]")
_KEYCAP = lazy("(\\d{1,2})\ufe0f?\u20e3")
_MEDALS = {ord("🥇"): "\n1. ", ord("🥈"): "\n2. ", ord("🥉"): "\n3. "}
_RANK = lazy(r"\W*(?:\d{1,2}|first|second|third|(?:four|fif|six|seven|eigh|nin|ten)th)\W*", re.I)
_HAN_DIGITS = "一二三四五六七八九十"
_HAN = lazy(rf"^[^\S\n]*([{_HAN_DIGITS}])[、.．]\s*", re.MULTILINE)


def numbers_as_digits(text: str) -> str:
    """Rewrites circled numbers, keycap numbers and medals as "1. ", each on its own line."""
    if text.isascii():
        return text
    if "\u20e3" in text:
        text = _KEYCAP.sub(r"\n\1. ", text)
    text = _HAN.sub(lambda mark: f"{_HAN_DIGITS.index(mark[1]) + 1}. ", text)
    text = _CIRCLED.sub(lambda mark: f"\n{ord(mark[0]) - 0x245F}. ", text)
    return text.translate(_MEDALS) if "🥇" in text else text


def json_as_bullets(text: str) -> str:
    """Rewrites the texts of a JSON array, or of an object's first array, as bullets; of an object
    in the array, its first text. Leaves a text without JSON unchanged.
    """
    if '"' not in text or not ("[" in text or "{" in text):
        return text
    try:
        entries = list(_strings(json_in(text)))
    except RecursionError:  # nested beyond reason
        return text
    return "\n".join(f"- {entry}" for entry in entries) or text


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        values = [value for value in data.values() if isinstance(value, (str, list))]
        if len(values) > 1 and all(map(_RANK.fullmatch, data)):  # {"1": …, "2": …}
            yield from _strings(values)
            return
        arrays = [value for value in values if isinstance(value, list)]
        yield from _strings(arrays[0] if arrays else values[0] if values else "")
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)
