"""The ordinary endpoints: a body of each format → what the planted model says, in that format."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from tests.batches.provider import Answer, digest
from tiltmeter.errors import TiltmeterError
from tiltmeter.models.http.body import at, count_at, list_at, text_at
from tiltmeter.planted.model import Planted
from tiltmeter.planted.served import chat as server_chat
from tiltmeter.planted.served import pictures
from tiltmeter.planted.served.pictures import Shelf
from tiltmeter.planted.subjects import parse
from tiltmeter.records import Json, Message, Reply, Request, Sampling

BLOCKED = "Output blocked by content filtering policy"


class Answers:
    """A planted model. filtered: about each n-th request is refused by a content filter."""

    def __init__(self, settings: str, filtered: int = 0) -> None:
        self._shelf = Shelf()
        self._model = Planted(parse(settings), see=self._shelf.see)
        self._filtered = filtered
        self.forget()

    def forget(self) -> None:
        """As if nothing had been asked yet."""
        self._drawn: Counter[str] = Counter()  # without a seed each request is another draw

    def _reply(self, body: Json, read: Callable[[Shelf, Json], Request]) -> Reply:
        if self._model.settings.fast:
            return Reply("she", usage=(20, 1), served="planted")
        asked = read(self._shelf, body)
        if asked.sampling.seed is None:
            key = digest(body)
            asked = replace(asked, nonce=str(self._drawn[key]))
            self._drawn[key] += 1
        return self._model.reply(asked)

    def blocks(self, body: Json) -> bool:
        """True if the content filter refuses a body."""
        return bool(self._filtered) and int(digest(body)[8:], 16) % self._filtered == 0

    def chat(self, body: Json) -> Answer:
        """/chat/completions and, for a body with a prompt, /images/generations."""
        draws = bool(at(body, "prompt"))
        if self.blocks(body):
            return 400, openai_error("It is filtered.", "content_filter")
        try:
            reply = self._reply(body, _picture_request if draws else server_chat.chat_request)
        except (TiltmeterError, ValueError) as problem:
            return 400, openai_error(str(problem), None)
        made = pictures.generation(reply) if draws else server_chat.completion(reply)
        return 200, made

    def messages(self, body: Json) -> Answer:
        """Anthropic's /messages."""
        if self.blocks(body):
            return 400, anthropic_error("invalid_request_error", BLOCKED)
        try:
            reply = self._reply(body, _anthropic_request)
        except (TiltmeterError, ValueError) as problem:
            return 400, anthropic_error("invalid_request_error", str(problem))
        prompt, completion = reply.usage or (1, 1)
        return 200, {
            "id": "msg_planted",
            "type": "message",
            "role": "assistant",
            "model": "planted",
            "content": [{"type": "text", "text": reply.text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": prompt, "output_tokens": completion},
        }

    def content(self, body: Json) -> Answer:
        """Gemini's :generateContent."""
        if self.blocks(body):
            return 200, {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "planted"}
        try:
            reply = self._reply(body, _gemini_request)
        except (TiltmeterError, ValueError) as problem:
            return 400, gemini_error(400, "INVALID_ARGUMENT", str(problem))
        prompt, completion = reply.usage or (1, 1)
        part: Json = {"text": reply.text}
        if reply.picture:
            data = base64.b64encode(reply.picture).decode()
            part = {"inlineData": {"mimeType": "image/png", "data": data}}
        return 200, {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "modelVersion": "planted",
            "responseId": "r1",
            "usageMetadata": {
                "promptTokenCount": prompt,
                "candidatesTokenCount": completion,
                "totalTokenCount": prompt + completion,
            },
        }


def openai_error(message: str, code: str | None) -> Json:
    """An error as OpenAI and its followers put it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return {"error": error}


def anthropic_error(kind: str, message: str) -> Json:
    """An error as Anthropic puts it."""
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error, "request_id": "req_1"}


def gemini_error(code: int, status: str, message: str) -> Json:
    """An error as Google puts it."""
    return {"error": {"code": code, "message": message, "status": status}}


def _picture_request(shelf: Shelf, body: Json) -> Request:
    return pictures.picture_request(body)


def _anthropic_request(shelf: Shelf, body: Json) -> Request:
    messages = [Message("system", text_at(body, "system"))] if at(body, "system") else []
    for turn in list_at(body, "messages"):
        content = at(turn, "content")
        parts = list_at(content)
        text = content if isinstance(content, str) else "".join(text_at(p, "text") for p in parts)
        shown = tuple(
            _seen(shelf, text_at(part, "source", "media_type"), text_at(part, "source", "data"))
            for part in parts
            if at(part, "type") == "image"
        )
        messages.append(Message(text_at(turn, "role"), text, shown))
    limit = count_at(body, "max_tokens")
    if limit is None or not messages:
        raise ValueError("max_tokens: Field required")
    begin = messages.pop().content if messages[-1].role == "assistant" else ""
    return Request("planted", tuple(messages), Sampling(max_tokens=limit), begin)


def _gemini_request(shelf: Shelf, body: Json) -> Request:
    system = "".join(text_at(part, "text") for part in list_at(body, "systemInstruction", "parts"))
    messages = [Message("system", system)] if system else []
    for turn in list_at(body, "contents"):
        parts = list_at(turn, "parts")
        shown = tuple(
            _seen(shelf, text_at(p, "inlineData", "mimeType"), text_at(p, "inlineData", "data"))
            for p in parts
            if at(p, "inlineData")
        )
        role = "assistant" if at(turn, "role") == "model" else "user"
        messages.append(Message(role, "".join(text_at(part, "text") for part in parts), shown))
    if not messages:
        raise ValueError("contents is not specified")
    config = at(body, "generationConfig")
    limit, seed = count_at(config, "maxOutputTokens") or 256, count_at(config, "seed")
    size = "64x64" if at(config, "responseModalities") else ""
    return Request("planted", tuple(messages), Sampling(max_tokens=limit, seed=seed), size=size)


def _seen(shelf: Shelf, media_type: str, data: str) -> str:
    return shelf.take(f"data:{media_type};base64,{data}")
