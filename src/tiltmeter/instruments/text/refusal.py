"""Whether an answer declines: the one place that knows how models refuse. Pure.

Three questions, from the strictest on. `begins`: its first words refuse what was asked.
`hesitates`: they may, and the caller has another sign. `says`: a phrase anywhere in it refuses, for
answers that name nothing that was asked for. Lists: refusal.toml.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ..wording import Texts, texts_of
from .language import fold

_STRAIGHT = str.maketrans(dict.fromkeys("’ʼ‘′`´", "'"))
_MARKS = " \t\r\n'\"“”«»「『*_#>-—([‘"  # may stand before the first word
_BEGINNING, _ANYWHERE = 300, 2_000  # characters that are looked at


@cache
def lists() -> Texts:
    """The lists of refusal.toml."""
    return texts_of(Path(__file__).with_name("refusal.toml"))


def begins(text: str) -> bool:
    """True if the first words of a text refuse.

    Worked: "I'm sorry, but I can't help with that." does; "I can't help but admire her." does not.
    """
    return _beginning("begins").match(_start(text)) is not None


def hesitates(text: str) -> bool:
    """True if the first words of a text may refuse, a question for the text included."""
    return begins(text) or _hesitating().match(_start(text)) is not None


def says(text: str, excuses: bool = False) -> bool:
    """True if a text holds a phrase that refuses; excuses: also one like "more context"."""
    return _anywhere(excuses).search(_flat(text[:_ANYWHERE])) is not None


def _flat(text: str) -> str:
    return fold(text.translate(_STRAIGHT))


def _start(text: str) -> str:
    return _flat(text[:_BEGINNING]).lstrip(_MARKS)


@cache
def _beginning(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{lists().text('lead')}\s*)*(?:{'|'.join(lists().words(name))})")


@cache
def _hesitating() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in lists().words("hesitates")))


@cache
def _anywhere(excuses: bool) -> re.Pattern[str]:
    words = (*lists().words("phrases"), *(lists().words("excuses") if excuses else ()))
    return re.compile("|".join(map(re.escape, words)))
