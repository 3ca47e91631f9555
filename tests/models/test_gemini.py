"""Gemini's format: recorded shapes, and the whole client against a local server that checks what is sent."""

import math
from typing import Any

import pytest

from tests.models.wire import KEY, GeminiWire, gemini_error, gemini_reply
from tiltmeter.errors import Incapable, MissingKey, ModelError, TransientError
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.providers.gemini import GeminiContent, gemini, thinking_config
from tiltmeter.records import ANSWER, CUT, ERROR, REFUSAL, Message, Reply, Request, Sampling

SAMPLING = Sampling(seed=7, max_tokens=64)
QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)


def request(word: str = "she", **changes: Any) -> Request:
    return Request(
        "gemini:x", (Message("user", f"Say: {word}"),), **({"sampling": SAMPLING} | changes)
    )


def talk(wire: GeminiWire, *requests: Request, **options: Any) -> list[Reply]:
    return wire.talk(
        lambda: gemini("gemini-2.5-flash", ModelOptions(base_url=wire.url, **options)), *requests
    )


def parsed(body: Any, asked: Request | None = None) -> Reply:
    return GeminiContent("m", "").parse(asked or request(), body)


def test_a_reply_and_what_was_sent() -> None:
    wire = GeminiWire()
    (reply,) = talk(wire, request())
    assert (reply.text, reply.outcome, reply.usage, reply.omitted) == ("she", ANSWER, (9, 2), ())
    assert reply.served == "gemini-2.5-flash"
    config = {"temperature": 1.0, "topP": 1.0, "seed": 7, "maxOutputTokens": 64}
    assert wire.seen == [
        {
            "contents": [{"role": "user", "parts": [{"text": "Say: she"}]}],
            "generationConfig": config,
        }
    ]


def test_turns_and_system_messages() -> None:
    wire = GeminiWire()
    turns = (
        Message("system", "Be brief."),
        *request().messages,
        Message("assistant", "x"),
        Message("user", "y"),
    )
    talk(wire, Request("gemini:x", turns, SAMPLING))
    assert wire.seen[0]["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert [turn["role"] for turn in wire.seen[0]["contents"]] == ["user", "model", "user"]


def test_log_probabilities() -> None:
    wire = GeminiWire()
    (reply,) = talk(wire, request(logprobs=100, begin="The answer is '"))
    assert wire.seen[0]["generationConfig"]["logprobs"] == 20
    assert reply.omitted == ("begin",)
    ((first, second),) = reply.alternatives
    assert (first.bytes, second.bytes) == (b"she", b"other") and math.isclose(first.logprob, -0.25)
    with pytest.raises(Incapable, match="--mode sampled"):
        talk(GeminiWire(refuses=["anylogprobs"]), request(logprobs=5))


def test_refused_parameters_are_left_out_and_recorded() -> None:
    first, second = talk(GeminiWire(refuses=["seed", "topP"]), request(), request("he"))
    assert set(first.omitted) == set(second.omitted) == {"seed", "top_p"}
    assert (first.text, second.text) == ("she", "he")


def test_thinking_is_switched_off_where_it_can_be() -> None:
    wire = GeminiWire()
    (reply,) = talk(wire, request(), effort="none")
    assert (
        wire.seen[0]["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 0}
        and reply.omitted == ()
    )
    (reply,) = talk(GeminiWire(refuses=["thinking"]), request(), effort="none")
    assert reply.omitted == ("thinking",)


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gemini-2.5-pro", "low", {"thinkingBudget": 1024}),
        ("gemini-3.5-flash", "minimal", {"thinkingLevel": "minimal"}),
        ("gemini-3.5-flash", "", {}),
    ],
)
def test_an_effort_is_a_budget_or_a_level_and_never_both(
    model: str, effort: str, sent: dict[str, Any]
) -> None:
    assert thinking_config(model, effort) == sent


@pytest.mark.parametrize(
    ("body", "outcome", "text"),
    [
        (
            {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}},
            REFUSAL,
            "",
        ),
        (gemini_reply("", content={}, finishReason="SAFETY"), REFUSAL, ""),
        (gemini_reply("She is", finishReason="RECITATION"), REFUSAL, "She is"),
        (
            gemini_reply("", content={"role": "model"}, finishReason="PROHIBITED_CONTENT"),
            REFUSAL,
            "",
        ),
        (gemini_reply("", content={}, finishReason="OTHER"), ERROR, ""),
        (gemini_reply("", finishReason="STOP"), ANSWER, ""),
        (gemini_reply("she", finishReason="MAX_TOKENS"), ANSWER, "she"),
        (gemini_reply("she", finishReason="A_REASON_OF_TOMORROW"), ANSWER, "she"),
        (
            gemini_reply(
                "", content={"parts": [{"text": "he?", "thought": True}, {"text": "she"}]}
            ),
            ANSWER,
            "she",
        ),
        (
            gemini_reply(
                "", content={"parts": [{"text": "s"}, {"executableCode": {}}, {"text": "he"}]}
            ),
            ANSWER,
            "she",
        ),
        ({"candidates": [], "usageMetadata": {}}, ERROR, ""),
    ],
)
def test_reasons_to_stop_are_outcomes(body: Any, outcome: str, text: str) -> None:
    reply = parsed(body)
    assert (reply.outcome, reply.text) == (outcome, text)


def test_a_reply_that_was_all_thinking_was_cut() -> None:
    body = gemini_reply("", content={"role": "model"}, finishReason="MAX_TOKENS")
    body["usageMetadata"] = {"promptTokenCount": 9, "thoughtsTokenCount": 64}
    reply = parsed(body)
    assert (reply.text, reply.usage, reply.ended, reply.thought) == ("", (9, 64), CUT, 64)


def quota(name: str, delay: str = "") -> dict[str, Any]:
    details: list[Any] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]}
    ]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    return gemini_error(429, "RESOURCE_EXHAUSTED", QUOTA, details)


def test_a_quota_of_a_minute_is_waited_for_and_one_of_a_day_is_not() -> None:
    with pytest.raises(TransientError) as caught:
        talk(
            GeminiWire(
                [(429, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "26s"))]
            ),
            request(),
        )
    assert caught.value.retry_after == 26
    with pytest.raises(ModelError, match="no credit left"):
        talk(
            GeminiWire([(429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "26s"))]),
            request(),
        )
    with pytest.raises(TransientError):
        talk(
            GeminiWire(
                [(429, gemini_error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted"))]
            ),
            request(),
        )
    with pytest.raises(TransientError):
        talk(
            GeminiWire([(503, gemini_error(503, "UNAVAILABLE", "The model is overloaded."))]),
            request(),
        )


def test_a_wrong_key_answers_400_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingKey) as caught:
        talk(GeminiWire(key="another"), request())
    assert "GEMINI_API_KEY" in str(caught.value) and "***" in str(caught.value)
    assert not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in str(caught.value)]
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(MissingKey, match="export GEMINI_API_KEY"):
        gemini("gemini-2.5-flash")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert gemini("gemini-2.5-flash").name == "gemini:gemini-2.5-flash"


def test_an_unknown_model() -> None:
    said = "models/gemini-x is not found for API version v1beta"
    with pytest.raises(ModelError, match="after 'gemini:'"):
        talk(GeminiWire([(404, gemini_error(404, "NOT_FOUND", said))]), request())


def test_a_name_cannot_leave_its_place_in_the_path() -> None:
    built = GeminiContent("../../v1/files?x=", "").build(request(), frozenset())
    assert built.path == "/models/..%2F..%2Fv1%2Ffiles%3Fx%3D:generateContent"


@pytest.mark.parametrize("body", [None, [], {}, {"choices": []}])
def test_what_is_no_reply(body: Any) -> None:
    with pytest.raises(ValueError, match="not Gemini's"):
        parsed(body)
