"""What endpoints of today do beside the ordinary, a row each: reasons to stop, parameters that a model is known to refuse, and
a model that thinks, from the defaults to a run that works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.models.wire import anthropic_reply
from tests.scripted import USAGE, Body, Scripted, chat, refuse
from tests.serving import serving
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.models.providers.anthropic import AnthropicMessages
from tiltmeter.models.providers.openai import OpenAIChat
from tiltmeter.records import ANSWER, CUT, FILTER, REFUSAL, STOP, TOOL, UNKNOWN, Message, Request
from tiltmeter.stages.steps.connect import Connect
from tiltmeter.store import Store
from tiltmeter.store.queries import endpoints

ASKED = Request("m", (Message("user", "Say: she"),), stop=("'",))


@pytest.mark.parametrize(
    ("reason", "ended", "outcome"),
    [
        ("end_turn", STOP, ANSWER),
        ("stop_sequence", STOP, ANSWER),
        ("max_tokens", CUT, ANSWER),
        ("model_context_window_exceeded", CUT, ANSWER),
        ("tool_use", TOOL, ANSWER),
        ("pause_turn", UNKNOWN, ANSWER),
        ("refusal", REFUSAL, REFUSAL),
    ],
)
def test_the_reasons_of_anthropic(reason: str, ended: str, outcome: str) -> None:
    reply = AnthropicMessages("claude-x", "").parse(
        ASKED, anthropic_reply("she", stop_reason=reason)
    )
    assert (reply.ended, reply.outcome) == (ended, outcome)


def test_the_category_of_a_refusal_and_the_tokens_of_a_thought_are_kept() -> None:
    body = anthropic_reply(
        "No.",
        stop_reason="refusal",
        stop_details={"category": "cyber"},
        usage={
            "input_tokens": 12,
            "output_tokens": 80,
            "output_tokens_details": {"thinking_tokens": 77},
        },
    )
    reply = AnthropicMessages("claude-x", "").parse(ASKED, body)
    assert (reply.text, reply.thought) == ("No. (cyber)", 77)


@pytest.mark.parametrize(
    ("reason", "ended", "outcome"),
    [
        ("stop", STOP, ANSWER),
        ("length", CUT, ANSWER),
        ("content_filter", FILTER, REFUSAL),
        ("tool_calls", TOOL, ANSWER),
        ("eos_token", STOP, ANSWER),
        ("model_length", CUT, ANSWER),
        (None, UNKNOWN, ANSWER),
    ],
)
def test_the_reasons_of_chat_servers(reason: str | None, ended: str, outcome: str) -> None:
    reply = OpenAIChat("m", "", local=True).parse(ASKED, chat("she", reason)[1])
    assert (reply.ended, reply.outcome) == (ended, outcome)


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        ("openai:o3", {"stop", "temperature", "top_p", "max_tokens"}),
        ("openai:o4-mini", {"stop", "temperature", "top_p", "max_tokens"}),
        ("openai:gpt-5", {"temperature", "top_p", "max_tokens"}),
    ],
)
def test_what_the_table_knows_to_be_refused_is_never_sent(
    model: str, missing: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    made: Any = Connect(subjects=(model,)).model(model, 1)
    body = made._exchanges["text"].build(ASKED).body
    assert not missing & set(body) and "max_completion_tokens" in body
    assert ("stop" in body) == ("stop" not in missing)


def test_the_upstream_of_a_router_is_recorded() -> None:
    body = {**chat("she")[1], "provider": "Fireworks"}
    assert OpenAIChat("m", "", local=True).parse(ASKED, body).fingerprint == "Fireworks"


def run(script: Any, folder: Path, **options: Any) -> tuple[api.Run, Scripted]:
    server = Scripted(script)
    with serving(server) as url:
        made = api.run(
            "roles",
            "openai:m",
            folder,
            base_url=url,
            **{"language": "en", "mode": "sampled", "limit": 20, "samples": 1, **options},
        )
    return made, server


def thinks(body: Body) -> tuple[int, Any]:
    """A model that thinks 300 tokens unless its template is told not to."""
    if body.get("chat_template_kwargs") == {"enable_thinking": False}:
        return chat("She.")
    if body["max_tokens"] < 304:
        return chat("", "length", reasoning="Hm. " * 60, usage=used(body["max_tokens"]))
    return chat("She.", reasoning="Hm. " * 300, usage=used(304))


def used(tokens: int) -> Body:
    return {**USAGE, "completion_tokens": tokens}


def test_a_model_that_can_be_told_not_to_think_is_measured_at_the_defaults(tmp_path: Path) -> None:
    made, server = run(thinks, tmp_path / "run")
    assert set(made.labels["value"]) == {"she"} and len(server.seen) == 40


def test_one_that_cannot_is_stopped_within_24_calls_and_the_command_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Scripted(
        lambda body: (
            refuse("chat_template_kwargs") if "chat_template_kwargs" in body else thinks(body)
        )
    )
    with serving(server) as url:
        typed = ["run", "roles", "--model", "openai:m", "--base-url", url, "--language", "en"]
        typed += ["--mode", "sampled", "--limit", "20", "--samples", "1"]
        assert main([*typed, "--out", str(tmp_path / "run")]) == 6
        asked = sum("chat_template_kwargs" not in body for body in server.seen)
        assert asked <= 24
        said = capsys.readouterr().err
        assert "the limit of 64 tokens went into reasoning" in said
        command = shlex.split(said.rpartition("For instance: tiltmeter ")[2])
        assert main(command) == 0
    folder = command[command.index("--out") + 1]
    made = api.open_run(folder)
    assert set(made.labels["value"]) == {"she"} and len(made.outputs) == 40
    with Store(Path(folder)) as store:
        ((_, told),) = endpoints.lines(store)
    assert "left out, since it is refused: chat_template_kwargs" in told
    assert re.search(r"reasoning seen: 30\d tokens at most, in 40 of 40 replies", told)
