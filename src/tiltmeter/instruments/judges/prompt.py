"""What every judge shares: texts shown to a model as data, and replies that are one word of a
closed list or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from ...records import ANSWER, Reply, Sampling, content_id
from ..text.language import fold, without_reasoning
from ..wording import Json

# A word and a reason are few tokens; the rest is room for models that think before they answer.
SAMPLING = Sampling(temperature=0.0, top_p=1.0, max_tokens=512)
AROUND = " \t\r\n'\"“”‘’«»`*_.。"  # may stand round a word without changing it
NOTHING = "(no reply)"  # stands for an empty turn, which servers refuse


def plain(text: str) -> str:
    """The text as it can be sent: half characters (lone surrogates) are no Unicode."""
    return text.encode("utf-8", "replace").decode()


def reply_text(reply: Reply) -> str:
    """What a judge said, without its thoughts; "" where it refused or the reply cannot be used."""
    return without_reasoning(plain(reply.text)).strip() if reply.outcome == ANSWER else ""


def mark(output: str, *texts: str) -> str:
    """A code of the output that stands in none of the texts: so they cannot close their marks.

    It is taken from the output's id, a hash of prompt and seed that its writer was not told.
    """
    number, found = 0, output[:12]
    while not found or any(found in text for text in texts):
        number += 1
        found = content_id("mark", output, texts, number)[:12]
    return found


def one_of(text: str, words: Iterable[str]) -> str | None:
    """The word of a closed list that a text is, quotes and a full stop aside; no word is looked for
    inside a text.
    """
    meant = fold(text).strip(AROUND)
    return next((word for word in words if _folded(word) == meant), None)


@lru_cache(maxsize=1024)
def _folded(word: str) -> str:
    """`fold` of a word of a list, which is looked at for every reply."""
    return fold(word)


def json_object(text: str) -> dict[str, Json] | None:
    """The object that a whole text is, a code fence aside; None where it is anything else or names
    a key twice.
    """
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
