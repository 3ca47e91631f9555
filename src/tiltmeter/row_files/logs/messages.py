"""Parses the turns of a conversation, in the formats in which tools write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
_ROLES = {
    "human": USER,
    "humanmessage": USER,
    "ai": ASSISTANT,
    "aimessage": ASSISTANT,
    "aimessagechunk": ASSISTANT,
    "model": ASSISTANT,
    "systemmessage": SYSTEM,
    "developer": SYSTEM,
    "toolmessage": TOOL,
    "function": TOOL,
}
_TEXTS = ("text", "input_text", "output_text", "message")  # kinds of parts that hold a text
_MESSAGES = ("messages", "contents", "new_message", "body")  # what holds them beside settings
_ASKED = ("prompt", "question", "query", "input", "user_input", "message", "inputs", "text")
_ANSWERED = ("content", "output", "answer", "text", "response", "completion", "result", "outputs")
_TOLD = (
    "system",
    "instructions",
    "system_instruction",
    "config",
)  # keys of a system prompt beside what is asked


class Turn(NamedTuple):
    """One turn of a conversation."""

    role: str
    text: str


def parsed(value: Any) -> Any:
    """Parses a string that holds JSON; returns anything else unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def text_of(content: Any) -> str:
    """Returns the text of a message's content: a string, or the joined text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("text") or content.get("content"))
    if not isinstance(content, Sequence):
        return ""
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in _TEXTS:
            texts.append(text_of(part.get("text") or part.get("content")))
    return "\n".join(filter(None, texts))


def turn(message: Any) -> Turn | None:
    """Returns a message as a turn; None if it is not a message."""
    if _is_pair(message):
        return Turn(_role(message[0]), message[1])
    if not isinstance(message, Mapping):
        return None
    if "message.role" in message:  # a cell of OpenInference
        parts = message.get("message.contents") or []
        content = message.get("message.content") or [
            part.get("message_content.text") for part in parts if isinstance(part, Mapping)
        ]
        return Turn(_role(message["message.role"]), text_of(content))
    if isinstance(message.get("message"), Mapping) and "role" not in message:
        return turn(message["message"])
    inner = message.get("kwargs")
    if (
        isinstance(inner, Mapping) and "id" in message
    ):  # LangChain, serialised: the kind is the end of the id
        names = message.get("id")
        last = names[-1] if isinstance(names, list) and names else "human"
        return Turn(_role(last), text_of(inner.get("content")))
    if "role" not in message and "type" in message:
        data = message.get("data")
        content = data.get("content") if isinstance(data, Mapping) else message.get("content")
        return Turn(_role(message["type"]), text_of(content))
    content = message["parts"] if "parts" in message else message.get("content")
    return Turn(_role(message.get("role", USER)), text_of(content))


def _is_langchain(value: Mapping[str, Any]) -> bool:
    """True if a value is a serialised LangChain message."""
    return "id" in value and isinstance(value.get("kwargs"), Mapping)


def _told(value: Any) -> str:
    """Returns the text of a system prompt, which Google wraps in parts or in a configuration."""
    if isinstance(value, Mapping):
        return _told(value.get("parts") or value.get("system_instruction") or value.get("text"))
    return text_of(value)


def unquoted(value: Any) -> Any:
    """Decodes a string that is one JSON string; returns anything else unchanged."""
    if isinstance(value, str) and value[:1] == value[-1:] == '"':
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _is_pair(message: Any) -> bool:
    """True if a message has the form [role, text]."""
    return (
        isinstance(message, list)
        and len(message) == 2
        and all(isinstance(one, str) for one in message)
        and _role(message[0]) in (USER, ASSISTANT, SYSTEM, TOOL)
    )


def _role(name: object) -> str:
    low = str(name).lower()
    return _ROLES.get(low, low)


def turns(value: Any) -> list[Turn]:
    """Returns the turns of an input: a text, messages, or an object that holds either."""
    value = parsed(value)
    if isinstance(value, Mapping):
        if "messages" not in value and (
            "role" in value or _is_langchain(value) or "parts" in value
        ):
            return [one] if (one := turn(value)) and one.text else []
        system = [Turn(SYSTEM, text) for name in _TOLD if (text := _told(value.get(name)))]
        names = [name for name in (*_MESSAGES, *_ASKED) if name in value]
        asked = next((inner for name in names if (inner := turns(value[name]))), [])
        if not asked and value.keys() <= {"args", "kwargs"}:  # a call of a function, by Traceloop
            asked = turns(value.get("kwargs")) or turns(next(iter(value.get("args") or ()), None))
        return [*system, *asked] if asked else []
    if isinstance(value, str):
        return [Turn(USER, value)] if value.strip() else []
    if not isinstance(value, Sequence):
        return []
    if value and isinstance(value[0], list) and not _is_pair(value[0]):
        value = value[0]  # a batch of one conversation
    return [one for one in map(turn, value) if one is not None and one.text]


def _delta(chunk: Any) -> str:
    """Returns the text of one chunk of a streamed answer, as Bedrock and Anthropic log it."""
    if not isinstance(chunk, Mapping):
        return ""
    inner = chunk.get("contentBlockDelta", chunk)
    delta = inner.get("delta") if isinstance(inner, Mapping) else None
    text = delta.get("text") if isinstance(delta, Mapping) else None
    return text if isinstance(text, str) else ""


def answer(value: Any) -> str:
    """Returns the text of an output: a text, a message, or a list of choices or generations."""
    value = parsed(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if streamed := "".join(map(_delta, value)):
            return streamed
        if value and isinstance(value[0], list) and not _is_pair(value[0]):
            value = value[0]
        one = turn(value if _is_pair(value) else value[-1]) if value else None
        return one.text if one else ""
    if not isinstance(value, Mapping):
        return ""
    for name in ("choices", "generations", "candidates"):
        if isinstance(value.get(name), list) and value[name]:
            first = value[name][0]
            first = first[0] if isinstance(first, list) and first else first
            return answer(first)
    if _is_langchain(value) or "parts" in value:
        one = turn(value)
        return one.text if one else ""
    for name in _ANSWERED:
        if value.get(name):
            content = value[name]
            return text_of(content) if isinstance(content, list) else answer(content)
    return answer(value["message"]) if "message" in value else answer(value.get("messages"))
