"""Anthropic's format: recorded shapes, and the whole client against a local server that checks what is sent."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.models.wire import KEY, AnthropicWire, anthropic_reply
from tiltmeter.errors import (
    Incapable,
    MissingKey,
    ModelError,
    TiltmeterError,
    TransientError,
    UsageError,
)
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers.anthropic import AnthropicMessages, anthropic
from tiltmeter.records import ANSWER, REFUSAL, Message, Reply, Request, Sampling

SAMPLING = Sampling(seed=7, max_tokens=64)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def request(word: str = "she", **changes: Any) -> Request:
    return Request(
        "anthropic:x", (Message("user", f"Say: {word}"),), **({"sampling": SAMPLING} | changes)
    )


def talk(wire: AnthropicWire, *requests: Request) -> list[Reply]:
    return wire.talk(
        lambda: anthropic("claude-haiku-4-5", ModelOptions(base_url=wire.url)), *requests
    )


def parsed(body: Any, asked: Request | None = None) -> Reply:
    return AnthropicMessages("m", "").parse(asked or request(), body)


def test_a_reply_and_what_was_sent() -> None:
    wire = AnthropicWire()
    (reply,) = talk(wire, request())
    assert (reply.text, reply.outcome, reply.usage) == ("she", ANSWER, (12, 3))
    assert reply.served == "claude-haiku-4-5-20251001" and reply.omitted == ("seed",)
    assert wire.seen == [
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 64,
            "temperature": 1.0,
            "top_p": 1.0,
            "messages": [{"role": "user", "content": "Say: she"}],
        }
    ]


def test_system_messages_have_a_field_of_their_own() -> None:
    wire = AnthropicWire()
    turns = (
        Message("system", "Be brief."),
        Message("system", "In English."),
        *request().messages,
        Message("assistant", "x"),
        Message("user", "y"),
    )
    talk(wire, Request("anthropic:x", turns, SAMPLING))
    assert wire.seen[0]["system"] == "Be brief.\n\nIn English."
    assert [turn["role"] for turn in wire.seen[0]["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("refuses", "omitted", "requests"),
    [
        (["both"], ("seed", "top_p"), 2),
        (["temperature"], ("seed", "temperature"), 2),
        (["temperature", "top_p"], ("seed", "temperature", "top_p"), 3),
        (["begin"], ("seed", "begin"), 2),
        (["both", "begin"], ("seed", "top_p", "begin"), 3),
    ],
)
def test_what_a_model_refuses_is_left_out_recorded_and_not_sent_again(
    refuses: Sequence[str], omitted: tuple[str, ...], requests: int
) -> None:
    wire = AnthropicWire(refuses=refuses)
    tried: list[dict[str, Any]] = []
    check = wire.check
    wire.check = lambda body: (tried.append(body), check(body))[1]  # type: ignore[method-assign]
    first, second = talk(
        wire, request(begin="The answer is '"), request("he", begin="The answer is '")
    )
    assert first.omitted == second.omitted == omitted
    assert (first.text, second.text) == ("she", "he")
    assert len(tried) == requests + 1


def test_a_begun_answer_is_sent_as_the_last_turn_without_a_blank_at_its_end() -> None:
    wire = AnthropicWire()
    (reply,) = talk(wire, request(begin="The answer is "))
    assert wire.seen[0]["messages"][-1] == {"role": "assistant", "content": "The answer is"}
    assert reply.omitted == ("seed",)


def test_refusals_are_results() -> None:
    stopped = anthropic_reply("I can't", stop_reason="refusal")
    blocked = {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "Output blocked by content filtering policy",
        },
    }
    first, second = talk(AnthropicWire([(200, stopped), (400, blocked)]), request(), request("he"))
    assert (first.outcome, first.text) == (REFUSAL, "I can't")
    assert second.outcome == REFUSAL and "content filtering" in second.text


@pytest.mark.parametrize(
    ("status", "kind", "said", "error", "shown"),
    [
        (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit",
            TransientError,
            "429",
        ),
        (529, "overloaded_error", "Overloaded", TransientError, "529"),
        (500, "api_error", "Internal server error", TransientError, "500"),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            ModelError,
            "no credit left",
        ),
        (404, "not_found_error", "model: claude-x", ModelError, "after 'anthropic:'"),
        (
            403,
            "permission_error",
            "Your API key does not have permission",
            MissingKey,
            "Set ANTHROPIC_API_KEY",
        ),
        (413, "request_too_large", "Request exceeds the maximum size", ModelError, "413"),
        (
            400,
            "invalid_request_error",
            "messages: roles must alternate",
            ModelError,
            "roles must alternate",
        ),
    ],
)
def test_errors_by_their_kind(
    status: int, kind: str, said: str, error: type[TiltmeterError], shown: str
) -> None:
    body = {"type": "error", "error": {"type": kind, "message": said}}
    with pytest.raises(error) as caught:
        talk(AnthropicWire([(status, body)]), request())
    assert type(caught.value) is error and shown in str(caught.value)


def test_a_wrong_key_is_named_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingKey) as caught:
        talk(AnthropicWire(key="another"), request())
    assert "ANTHROPIC_API_KEY" in str(caught.value) and "***" in str(caught.value)
    assert not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in str(caught.value)]
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(MissingKey, match="export ANTHROPIC_API_KEY"):
        anthropic("claude-haiku-4-5")


def test_what_it_cannot_do_is_said_before_anything_is_sent() -> None:
    wire = AnthropicWire()
    with pytest.raises(Incapable, match="--mode sampled"):
        talk(wire, request(logprobs=20))
    with pytest.raises(UsageError, match="from 0 to 1"):
        talk(AnthropicWire(), request(sampling=Sampling(temperature=1.5)))
    assert wire.seen == []
    with pytest.raises(UsageError, match="anthropic:claude"):
        anthropic("")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (anthropic_reply("", content=[]), ""),
        (
            anthropic_reply(
                "",
                content=[{"type": "thinking", "thinking": "he?"}, {"type": "text", "text": "she"}],
            ),
            "she",
        ),
        (
            anthropic_reply(
                "", content=[{"type": "text", "text": "s"}, {"type": "text", "text": "he"}]
            ),
            "she",
        ),
        (anthropic_reply("she", stop_reason="max_tokens"), "she"),
        (anthropic_reply("she", stop_reason="a_reason_of_tomorrow", extra=1), "she"),
        (anthropic_reply("she \ud83d"), "she �"),
    ],
)
def test_odd_but_legal_replies(body: Any, text: str) -> None:
    reply = parsed(body)
    assert (reply.text, reply.outcome) == (text, ANSWER)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 4, "output_tokens": 2, "cache_read_input_tokens": 10}, (14, 2)),
        ({"input_tokens": 4, "output_tokens": 2, "cache_read_input_tokens": None}, (4, 2)),
        ({"input_tokens": 10**9, "output_tokens": 2}, None),
        ({"input_tokens": 4, "output_tokens": -2}, None),
        ({"input_tokens": "4", "output_tokens": 2}, None),
        (None, None),
    ],
)
def test_usage_is_believed_where_it_can_be(usage: Any, tokens: tuple[int, int] | None) -> None:
    assert parsed(anthropic_reply("she", usage=usage)).usage == tokens


@pytest.mark.parametrize("body", [None, [], {}, {"choices": []}, {"content": "she"}])
def test_what_is_no_reply(body: Any) -> None:
    with pytest.raises(ValueError, match="not Anthropic's"):
        parsed(body)


def test_a_schema_is_sent_and_left_out_where_it_is_refused() -> None:
    dialect = AnthropicMessages("m", "")
    asked = request(schema='{"type":"object"}')
    assert dialect.build(asked, frozenset()).body["output_config"]["format"]["schema"] == {
        "type": "object"
    }
    refused = {
        "error": {
            "type": "invalid_request_error",
            "message": "output_config: Extra inputs are not permitted",
        }
    }
    without = dialect.build(asked, frozenset({dialect.unwelcome(refused)}))
    assert "output_config" not in without.body and "response_format" in without.omitted
