"""How much models are told to think, in the words of each endpoint, and what is left out where one refuses."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import Scripted, chat, refuse
from tests.serving import serving
from tiltmeter import api
from tiltmeter.errors import UsageError
from tiltmeter.models import reasoning
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers.anthropic import AnthropicMessages, anthropic
from tiltmeter.models.providers.openai import OpenAIChat
from tiltmeter.records import Message, Request, Sampling
from tiltmeter.stages.steps.connect import Connect

ASKED = Request("m", (Message("user", "Say: she"),), Sampling(max_tokens=64, seed=1))


@pytest.mark.parametrize(
    ("wanted", "efforts", "switchable", "sent"),
    [
        (None, ("none", "low"), False, "none"),
        (None, ("minimal", "low"), False, "minimal"),  # cannot be switched off: its least
        ("off", ("low", "high"), False, "low"),
        (None, (), False, ""),  # nothing is known of it
        ("off", (), False, "none"),
        (None, (), True, "none"),
        ("default", ("none", "low"), True, ""),
        ("high", ("none", "low"), True, "high"),
    ],
)
def test_the_effort_that_is_asked(
    wanted: str | None, efforts: tuple[str, ...], switchable: bool, sent: str
) -> None:
    assert reasoning.effort(wanted, efforts, switchable=switchable) == sent


@pytest.mark.parametrize(
    ("host", "effort", "fields"),
    [
        ("api.openai.com", "none", {"reasoning_effort": "none"}),
        ("openrouter.ai", "none", {"reasoning": {"effort": "none"}}),
        ("api.deepseek.com", "none", {"thinking": {"type": "disabled"}}),
        (
            "api.deepseek.com",
            "low",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
        ),
        ("localhost", "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        (
            "localhost",
            "low",
            {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": "low"},
        ),
        ("localhost", "", {}),
    ],
)
def test_each_host_is_told_in_its_own_words(host: str, effort: str, fields: Any) -> None:
    assert reasoning.chat_fields(host, effort) == fields


def test_an_unknown_effort_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Type one of: off, default, minimal, low"):
        api.plan("roles", "openai:m", reasoning="lots")


@pytest.mark.parametrize(
    ("model", "effort", "reserve"),
    [
        ("openai:gpt-5", "minimal", 1024),
        ("openai:gpt-5.4", "none", 0),
        ("openai:gpt-4o", None, 0),
        ("gemini:gemini-2.5-flash", "none", 0),
        ("gemini:gemini-3.5-flash", "minimal", 1024),
    ],
)
def test_the_table_says_how_little_a_model_can_think(
    model: str, effort: str | None, reserve: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    connect = Connect(subjects=(model,))
    made = connect.model(model, 1)
    assert made.reserve == reserve
    body: Any = made._dialects["text"].build(ASKED, frozenset()).body  # type: ignore[attr-defined]
    assert body.get("reasoning_effort") == (effort if model.startswith("openai") else None)
    price = connect.expected_price(model)
    if price is not None:
        worst = price.worst(ASKED)
        assert worst == pytest.approx(price._replace(reserve=0).worst(ASKED) + price.of(0, reserve))


def test_openai_is_sent_the_newer_name_of_the_limit_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    made: Any = make_model("openai:gpt-4.1-mini", ModelOptions())
    body = made._dialects["text"].build(ASKED, made._exchanges["text"].omitted).body
    assert body["max_completion_tokens"] == 64 and "max_tokens" not in body


def test_a_reserve_is_asked_for_beside_the_limit_but_not_of_an_exact_reading() -> None:
    dialect = OpenAIChat("m", "", local=True)
    dialect.reserve = 1024
    assert dialect.build(ASKED, frozenset()).body["max_tokens"] == 1088
    exact = Request("m", ASKED.messages, Sampling(max_tokens=1), logprobs=5)
    assert dialect.build(exact, frozenset()).body["max_tokens"] == 1


PARAMETERS = (
    *("temperature", "top_p", "seed", "top_k", "min_p", "stop"),
    *("chat_template_kwargs", "max_tokens"),
)


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_parameter_that_is_refused_is_left_out_and_recorded(
    parameter: str, tmp_path: Path
) -> None:
    def script(body: dict[str, Any]) -> tuple[int, Any]:
        return refuse(parameter) if parameter in body else chat("she")

    with serving(Scripted(script)) as url:
        run = api.run(
            "roles",
            "openai:m",
            tmp_path / "run",
            base_url=url,
            mode="sampled",
            language="en",
            limit=1,
            samples=1,
            begin="The answer is '",
        )
    omitted = {tuple(one) for one in run.calls["omitted"].to_list()}
    assert omitted == ({()} if parameter == "max_tokens" else {(parameter,)})
    assert set(run.labels["value"]) == {"she"}


def test_claude_is_told_to_think_little_or_not_at_all() -> None:
    off = AnthropicMessages("claude-x", "", effort="none").build(ASKED, frozenset())
    assert off.body["thinking"] == {"type": "disabled"}
    low = AnthropicMessages("claude-x", "", effort="low")
    low.reserve = 1024
    sent = low.build(ASKED, frozenset()).body
    assert (sent["output_config"], sent["max_tokens"]) == ({"effort": "low"}, 1088)
    assert "thinking" not in sent
    left = low.build(ASKED, frozenset({"effort"}))
    assert "output_config" not in left.body and left.omitted == ("seed", "effort")


@pytest.mark.parametrize(
    ("capabilities", "effort", "reserve"),
    [
        ({"thinking": {"supported": True, "types": {"disabled": {"supported": True}}}}, "none", 0),
        (
            {"thinking": {"supported": True, "types": {"adaptive": {"supported": True}}}},
            "low",
            1024,
        ),
        ({"thinking": {"supported": False}}, "", 0),
        ({}, "", 0),
    ],
)
def test_anthropic_is_asked_whether_thinking_can_be_switched_off(
    capabilities: Any, effort: str, reserve: int
) -> None:
    paths = {"/v1/models/claude-x": lambda body: {"id": "claude-x", "capabilities": capabilities}}

    async def main() -> tuple[str, int]:
        async with Scripted(lambda body: chat("she"), paths) as server:
            model: Any = anthropic("claude-x", ModelOptions(base_url=server.url))
            await model.open()
            await model.close()
            return model._dialects["text"].effort, model.reserve

    assert asyncio.run(main()) == (effort, reserve)
