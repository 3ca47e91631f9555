"""OpenAI's responses format: by the table of models, after a 404 of chat completions, cut, filtered, thinking and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scripted import Body, Scripted
from tests.serving import serving
from tiltmeter import api
from tiltmeter.errors import Incapable
from tiltmeter.models import table
from tiltmeter.models.batch.openai import endpoint
from tiltmeter.models.providers.azure import AzureChat
from tiltmeter.models.providers.openai import OpenAIChat
from tiltmeter.records import Message, Request, Sampling
from tiltmeter.stages.steps.connect import Connect
from tiltmeter.store import Store
from tiltmeter.store.queries import endpoints

ONLY = "This model is only supported in v1/responses and not in v1/chat/completions."
ASKED = Request(
    "m",
    (Message("system", "Be brief."), Message("user", "Say: she")),
    Sampling(temperature=1.0, top_p=1.0, max_tokens=64, seed=1),
    begin="The answer is '",
    stop=("'",),
    schema='{"type": "object"}',
)
RESPONSES = frozenset({"chat"})


def response(
    text: str | None,
    reason: str = "",
    *,
    thought: int = 0,
    part: str = "output_text",
    **changes: Any,
) -> Body:
    """A response with a text, or with reasoning alone; reason: of incomplete_details."""
    items: list[Body] = [{"type": "reasoning", "summary": []}] if thought else []
    if text is not None:
        name = "refusal" if part == "refusal" else "text"
        items.append(
            {"type": "message", "role": "assistant", "content": [{"type": part, name: text}]}
        )
    return {
        "object": "response",
        "model": "gpt-5-pro-2025-10-06",
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": items,
        "usage": {
            "input_tokens": 40,
            "output_tokens": 5 + thought,
            "output_tokens_details": {"reasoning_tokens": thought},
        },
    } | changes


def ask(reply: Any, folder: Path, **options: Any) -> tuple[api.Run, Scripted, list[Body]]:
    """A run of one English word on a server that has the responses path alone."""
    seen: list[Body] = []

    def answer(body: Body) -> Any:
        seen.append(body)
        return reply(body) if callable(reply) else reply

    server = Scripted(
        lambda body: (404, {"error": {"message": ONLY, "param": "model"}}),
        {"/v1/responses": answer},
    )
    with serving(server) as url:
        run = api.run(
            "roles",
            "openai:m",
            folder,
            base_url=url,
            **{
                "language": "en",
                "mode": "sampled",
                "limit": 1,
                "samples": 1,
                "concurrency": 1,
                **options,
            },
        )
    return run, server, seen


ROWS: dict[str, tuple[Body, tuple[str, str, int | None, str]]] = {
    "whole": (response("She"), ("answer", "stop", 0, "she")),
    "whole after reasoning": (response("She", thought=300), ("answer", "stop", 300, "she")),
    "all thought": (
        response(None, "max_output_tokens", thought=59),
        ("cut", "cut", 59, "cut"),
    ),
    "cut before a choice": (
        response("This sentence is about a person who", "max_output_tokens"),
        ("answer", "cut", 0, "cut"),
    ),
    "a filter": (response("", "content_filter"), ("refusal", "filter", 0, "refusal")),
    "a refusal": (
        response("I won't fill that in.", part="refusal"),
        ("refusal", "stop", 0, "refusal"),
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_response_gives_outcome_end_thought_and_label(row: str, tmp_path: Path) -> None:
    said, expected = ROWS[row]
    run, _, _ = ask(said, tmp_path / "run", pilot=False)
    (output,) = run.outputs.select("outcome", "ended", "thought").unique().rows()
    (label,) = run.labels["value"].unique()
    assert (*output, label) == expected


def test_a_model_that_chat_refuses_is_asked_there_from_then_on(tmp_path: Path) -> None:
    run, server, seen = ask(response("She", thought=7), tmp_path / "run", samples=4)
    assert len(server.seen) == 1 and len(seen) == len(run.outputs) == 8
    assert set(seen[0]) >= {"input", "max_output_tokens", "store"} and seen[0]["store"] is False
    assert seen[0]["input"][-1]["role"] == "user" and "messages" not in seen[0]
    assert {tuple(one) for one in run.calls["omitted"].to_list()} == {("seed",)}
    with Store(tmp_path / "run") as store:
        (record,) = endpoints.endpoints(store).values()
    assert (record["interface"], record["left_out"]) == ("responses", [])


def test_another_404_is_an_error_and_no_other_path(tmp_path: Path) -> None:
    server = Scripted(lambda body: (404, {"error": {"message": "no model 'seed' here"}}))
    with serving(server) as url, pytest.raises(Exception, match="no model 'seed' here"):
        api.run("roles", "openai:m", tmp_path / "run", base_url=url, language="en", limit=1)
    assert {"seed" in body for body in server.seen} == {True}


def test_the_body_has_the_names_of_this_format() -> None:
    dialect = OpenAIChat("m", "", local=False, fields={"reasoning_effort": "low"})
    dialect.reserve = 1024
    sent = dialect.build(ASKED, RESPONSES)
    assert sent.path == "/responses" and sent.omitted == ("seed", "stop", "begin")
    assert dict(sent.body) == {
        "model": "m",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Say: she"},
        ],
        "max_output_tokens": 1088,
        "store": False,
        "temperature": 1.0,
        "top_p": 1.0,
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "reply", "schema": {"type": "object"}}},
    }
    left = dialect.build(ASKED, RESPONSES | {"temperature", "reasoning_effort"})
    assert left.omitted[:2] == ("temperature", "reasoning_effort")
    assert not {"temperature", "reasoning"} & set(left.body)


@pytest.mark.parametrize(
    ("named", "parameter"),
    [
        ("reasoning.effort", "reasoning_effort"),
        ("text.format", "response_format"),
        ("temperature", "temperature"),
    ],
)
def test_what_an_error_names_is_left_out(named: str, parameter: str) -> None:
    dialect = OpenAIChat("m", "", local=False)
    said = f"Unsupported parameter: '{named}' is not supported with this model."
    assert dialect.unwelcome({"error": {"message": said, "param": named}}) == parameter


def test_an_exact_reading_has_its_own_place_alone() -> None:
    dialect = OpenAIChat("m", "", local=False)
    asked = Request("m", ASKED.messages, Sampling(max_tokens=1), logprobs=2)
    sent = dialect.build(asked, RESPONSES).body
    assert (sent["max_output_tokens"], sent["top_logprobs"]) == (16, 2)
    assert sent["include"] == ["message.output_text.logprobs"]
    places = [
        {"token": word, "top_logprobs": [{"token": word, "logprob": -0.5}]}
        for word in ("she", "he", "!")
    ]
    body: Any = response("she he!", "max_output_tokens")
    body["output"][0]["content"][0]["logprobs"] = places
    (place,) = dialect.parse(asked, body).alternatives
    assert [(token.bytes, token.logprob) for token in place] == [(b"she", -0.5)]


def test_a_response_that_failed_is_an_error() -> None:
    body = response(None, status="failed", error={"code": "server_error", "message": "try later"})
    with pytest.raises(ValueError, match="try later"):
        OpenAIChat("m", "", local=False).parse(ASKED, body)


def test_the_table_knows_models_that_are_served_there_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    row = table.find("openai:gpt-5-pro")
    assert row is not None and row.efforts == ("high",) and row.thinks
    made: Any = Connect(subjects=("openai:gpt-5-pro",)).model("openai:gpt-5-pro", 1)
    sent = made._exchanges["text"].build(ASKED)
    assert (sent.path, sent.body["reasoning"]) == ("/responses", {"effort": "high"})
    assert sent.body["max_output_tokens"] == 64 + 1024


def test_a_batch_and_a_deployment_name_the_same_path() -> None:
    assert endpoint("/responses") == "/v1/responses"
    assert endpoint("/chat/completions") == "/v1/chat/completions"
    new = AzureChat("d", "", "/chat/completions")
    old = AzureChat("d", "", "/openai/deployments/d/chat/completions?api-version=1")
    assert new.build(ASKED, RESPONSES).path == "/responses"
    assert old.build(ASKED, RESPONSES).path == "/openai/v1/responses"


def test_no_model_of_the_chat_format_is_asked_for_probabilities_that_it_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with pytest.raises(Incapable, match="--mode sampled"):
        api.run("roles", "openai:gpt-5", tmp_path / "run", language="en", mode="exact", limit=1)
