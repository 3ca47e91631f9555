"""Tools for all judges: to show texts as data, and to parse replies of one listed word."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from ...languages.letters import fold
from ...records import ANSWER, Answered, Message, Reply, Request, Sampling, content_id
from .. import Instrument
from ..text.thought import without_thought
from ..wording import Json

# A word and a reason are few tokens; the rest is room for models that think before they answer.
SAMPLING = Sampling(temperature=0.0, top_p=1.0, max_tokens=512)
AROUND = " \t\r\n'\"“”‘’«»`*_.。"  # may stand round a word without changing it
MARK_DIGITS = 16  # hexadecimal ones of a code
NOTHING = "(no reply)"  # stands for an empty turn, which servers refuse
T = TypeVar("T")


def plain(text: str) -> str:
    """Replaces lone surrogates, which cannot be encoded, in a text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def reply_text(reply: Reply) -> str:
    """Returns a judge's reply without the thinking; "" if the judge refused or failed."""
    return without_thought(plain(reply.text)).strip() if reply.outcome == ANSWER else ""


def converse(
    messages: list[Message],
    request: Callable[[tuple[Message, ...], int], Request],
    read: Callable[[str], tuple[T, str]],
    rounds: int,
) -> Generator[Sequence[Request], Sequence[Reply], tuple[T, bool]]:
    """Asks a judge until its reply can be parsed; returns (value, True), or (last value, False)
    after `rounds` unusable replies.

    messages: the conversation so far, which is extended in place. request: makes a request from the
    messages and the turn, from 1. read: returns the value of a reply and the objection to send
    before asking again, "" if the reply is usable.
    """
    for turn in range(1, rounds + 1):
        (reply,) = yield [request(tuple(messages), turn)]
        text = reply_text(reply)
        value, objection = read(text)
        messages.append(Message("assistant", text or NOTHING))
        if not objection:
            break
        messages.append(Message("user", objection))
    return value, not objection


def asking(
    by: Instrument,
    item: Answered,
    sampling: Sampling = SAMPLING,
    schema: str = "",
    longest: int = 0,
) -> Callable[[tuple[Message, ...], int], Request]:
    """Returns the function by which `converse` makes a judge's requests about an output."""

    def request(messages: tuple[Message, ...], turn: int) -> Request:
        return Request(
            by.judge,
            messages,
            sampling,
            schema=schema,
            longest=longest,
            purpose=by.annotator,
            nonce=nonce(item, sampling, turn),
        )

    return request


def mark(*texts: str) -> str:
    """Returns a code that occurs in none of the texts, so that none can end its own quotation.
    Equal texts get the same code, so that equal questions are equal byte for byte.

    The code is a hash over all texts. An author can compute such hashes but cannot put the code
    into the text, as that changes the hash. Guessing 64 bits is infeasible, and a code that does
    occur is replaced by the next one.
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
    """Makes the nonce of a judge's question. At temperature 0 it is the turn alone, so that equal
    questions share one call; else it includes the output, so that each question is sampled anew.
    """
    output = "" if sampling.temperature == 0 else item.trial.id
    return "/".join([output, *map(str, turn)])


def one_of(text: str, words: Iterable[str]) -> str | None:
    """Returns the listed word that a text equals, ignoring case, quotes, full stop; or None."""
    return _by_folded(tuple(words)).get(fold(text).strip(AROUND))


@lru_cache(maxsize=256)
def _by_folded(words: tuple[str, ...]) -> dict[str, str]:
    """Returns {case-folded word: listed word}; if two words fold alike, the first counts."""
    return {fold(word): word for word in reversed(words)}


def json_object(text: str) -> dict[str, Json] | None:
    """Parses a JSON object, perhaps in a code fence; None for other text or a repeated key."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice")
    return content
