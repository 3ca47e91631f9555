"""The first tool that an answer calls, as recorded in the reply of a system or of a provider.

The formats parsed are those of OpenAI (`tool_calls`, `function_call`, items of `output`), Anthropic
(blocks `tool_use`) and Gemini (`functionCall`), and the result of a user's own function: `{"text":
…, "tools": ["refund"]}`, names or objects with a `name`. Arguments are ignored.

Label: the tool's name; `no_tool` if none is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ..records import Answered, Json, Label
from . import ReplyParser

NO_TOOL = "no_tool"
_LISTS = ("tools", "tool_calls", "choices", "output", "content", "candidates", "parts")
_INSIDE = ("message", "content", "function_call", "functionCall", "function")
_CALLS = ("tool_use", "function_call", "tool_call", "function")


class Tool(ReplyParser):
    """settings: none."""

    kind = "tool"
    version = "1"
    summary = "the name of the tool that an answer calls first"
    modality = "text"

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the name of the first tool, or `no_tool`."""
        return [self.label(item, first_tool(item.reply.raw) or NO_TOOL)]


def first_tool(raw: str) -> str:
    """Returns the name of the first tool that a reply calls, or "".

    By hand: '{"tools": [{"name": "refund"}]}' → refund.
    """
    try:
        body: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    return next(_names(body, called=False), "")


def _names(part: Json, *, called: bool) -> Iterator[str]:
    """Yields the names of called tools in order. called: True if `part` is inside a call."""
    if isinstance(part, str) and called:
        yield part
    elif isinstance(part, list):
        for one in part:
            yield from _names(one, called=called)
    elif isinstance(part, dict):
        name = part.get("name")
        if isinstance(name, str) and (called or part.get("type") in _CALLS):
            yield name
            return
        for key in _INSIDE:
            if isinstance(part.get(key), dict):
                inside = called or key in ("function_call", "functionCall")
                yield from _names(part[key], called=inside)
        for key in _LISTS:
            if isinstance(part.get(key), list):
                yield from _names(part[key], called=key in ("tools", "tool_calls"))
