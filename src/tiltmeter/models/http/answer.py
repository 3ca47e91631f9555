"""An HTTP answer, and the statuses with a special meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...errors import ModelError
from ...records import Json

MAX_TEXT = 8 * 2**20  # bytes of a reply that is text, log-probabilities and all
PASSING_STATUSES = {408, 409, 425, 429}
# Of a server that is well and has no room now: too many requests (RFC 6585), overloaded
# (Anthropic). 503 means it too if the server says for how long, or why in these words.
FULL_STATUSES = {429, 529}
FULL_WORDS = re.compile(
    r"overload|capacity|too many|rate.?limit|slow down|busy|queue is full", re.I
)
# Codes of an account without credit, as OpenAI and those who follow it send them with 429.
NO_CREDIT = re.compile(r"insufficient_(quota|balance|credits?)|billing_hard_limit|credit balance")
# Of a gateway that had no answer in time: behind it the call may have been made and charged for.
UNANSWERED = {408, 502, 504, *range(520, 528)}


class TooLong(ModelError):
    """The error if a reply is larger than allowed."""


class Answer(NamedTuple):
    """An HTTP answer. body: its JSON, or None if it is not JSON (`fault` is the reason)."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    body: Json
    fault: str = ""
    breaks_off: bool = False


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]+")


def plain(text: str) -> str:
    """Returns a server's text as one line, without characters that control a terminal."""
    return _CONTROLS.sub(" ", text).strip()


def refusal(name: str, base: str, statuses: tuple[int, int], said: str) -> str:
    """Explains a refused request. statuses: the status in HTTP's sense, the status received."""
    kind, status = statuses
    if kind == 404:
        bare = "/" not in base.partition("://")[2]
        ends = f"try {base}/v1" if bare else "most end in /v1"
        return (
            f"{base} does not know this model or this path (HTTP 404): {said.rstrip('.')}. Check "
            f"the name after '{name.partition(':')[0]}:' and --base-url ({ends})."
        )
    if 300 <= status < 400:
        return (
            f"{base} redirects (HTTP {status}). Redirects are not followed, because the key would "
            "be sent to the new address. Give the final address as --base-url."
        )
    return f"{name} refuses the request (HTTP {status}): {said}"
