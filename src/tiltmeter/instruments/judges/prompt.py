"""Parts of all judges: texts shown as data, and replies that are one word of a list or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from ...languages.letters import fold
from ...records import ANSWER, Answered, Message, Reply, Request, Sampling, content_id
from ..text.thought import without_thought
from ..wording import Json

# A word and a reason are few tokens; the rest is room for models that think before they answer.
SAMPLING = Sampling(temperature=0.0, top_p=1.0, max_tokens=512)
AROUND = " \t\r\n'\"“”‘’«»`*_.。"  # may stand round a word without changing it
MARK_DIGITS = 16  # hexadecimal ones of a code
NOTHING = "(no reply)"  # stands for an empty turn, which servers refuse
T = TypeVar("T")


def plain(text: str) -> str:
    """The text as it can be sent: half characters (lone surrogates) are no Unicode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def reply_text(reply: Reply) -> str:
    """Returns a judge's reply without thoughts; "" if it refused or cannot be used."""
    return without_thought(plain(reply.text)).strip() if reply.outcome == ANSWER else ""


def converse(
    messages: list[Message],
    request: Callable[[tuple[Message, ...], int], Request],
    read: Callable[[str], tuple[T, str]],
    rounds: int,
) -> Generator[Sequence[Request], Sequence[Reply], tuple[T, bool]]:
    """Asks a judge until its reply can be read; returns the value, and True if it can be used;
    after `rounds` unusable replies, the last one.

    messages: the conversation so far, which grows by what is said. request: of the messages so far
    and the turn, from 1. read: what a reply says, and what the judge is told of a reply that cannot
    be used, before it is asked again; "" of one that can.
    """
    for turn in range(1, rounds + 1):
        (reply,) = yield [request(tuple(messages), turn)]
        text = reply_text(reply)
        found, objection = read(text)
        messages.append(Message("assistant", text or NOTHING))
        if not objection:
            break
        messages.append(Message("user", objection))
    return found, not objection


def mark(*texts: str) -> str:
    """A code that stands in none of the texts: so they cannot close their marks. Equal texts have
    the same code, so that equal questions are equal byte for byte.

    It is a hash over the whole of them, so whoever writes a text can compute codes, and still none
    that holds in the text that it is put into: that changes the hash. To meet 64 bits by trying is
    out of reach, and where it is met another code is taken.
    """
    number = 0
    while True:
        code = content_id("mark", texts, number)[:MARK_DIGITS]
        for text in texts:
            if code in text:
                break
        else:
            return code
        number += 1


def nonce(item: Answered, sampling: Sampling, *turn: str | int) -> str:
    """Makes the nonce of a judge's question: the turn alone at temperature 0, so that equal
    questions are one call; else with the output, since each reply is a draw of its own.
    """
    output = "" if sampling.temperature == 0 else item.trial.id
    return "/".join([output, *map(str, turn)])


def one_of(text: str, words: Iterable[str]) -> str | None:
    """Returns the list's word that a text is, quotes and full stop aside; never one inside."""
    return _by_folded(tuple(words)).get(fold(text).strip(AROUND))


@lru_cache(maxsize=256)
def _by_folded(words: tuple[str, ...]) -> dict[str, str]:
    """The words of a list by what `fold` makes of them, of two alike the first."""
    return {fold(word): word for word in reversed(words)}


def json_object(text: str) -> dict[str, Json] | None:
    """Parses the object that a text is, code fence aside; None if not, or a key is twice."""
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
