"""Begun choices end where the mark is closed: what is sent, and what of longer replies is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripted import USAGE, Scripted, chat, refuse
from tests.serving import serving
from tiltmeter import api, registry
from tiltmeter.stages.planning import begun, plan
from tiltmeter.stages.planning.plan import Choices

SIXTEEN = {**USAGE, "completion_tokens": 16}


@pytest.mark.parametrize(
    ("language", "begin", "ends"),
    [
        ("en", "The answer is '", (("'",), 16)),
        ("en", 'The answer is "', (('"',), 16)),
        ("zh", "答案是“", (("”",), 16)),  # 他 has three bytes
        ("ja", "答えは「", (("」",), 16)),  # 彼女 has six
        ("en", "The answer is", ((), 0)),
    ],
)
def test_where_a_begun_choice_ends(language: str, begin: str, ends: object) -> None:
    protocol = registry.protocol("roles")
    choices = Choices(("m",), languages=(language,), modes=("sampled",), limit=1, begin=begin)
    trial = next(plan.trials(protocol, choices))
    assert begun.ending(trial, protocol) == ends
    asked = plan.request(trial, protocol)
    assert (asked.stop, asked.sampling.max_tokens) == (ends[0], ends[1] or 64)  # type: ignore[index]


@pytest.mark.parametrize(
    ("said", "reason", "label"),
    [
        ("she", "stop", "she"),
        ("she' or 'he'. I cannot say", "length", "she"),
        ("he", "length", "he"),
        ("a person of whom nobody ever", "length", "invalid"),
        ("", "length", "cut"),
    ],
)
def test_a_reply_is_read_to_the_mark(said: str, reason: str, label: str, tmp_path: Path) -> None:
    server = Scripted(lambda body: chat(said, reason, usage=SIXTEEN))
    with serving(server) as url:
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
    assert set(run.labels["value"]) == {label}
    assert {(one["stop"][0], one["max_tokens"]) for one in server.seen} == {("'", 16)}


def test_a_model_that_takes_no_stop_is_asked_without_it(tmp_path: Path) -> None:
    server = Scripted(lambda body: refuse("stop") if "stop" in body else chat("she' is", "length"))
    with serving(server) as url:
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
    assert set(run.labels["value"]) == {"she"}
    assert {tuple(one) for one in run.calls["omitted"].to_list()} == {("stop",)}


def test_a_limit_that_somebody_chose_stands(tmp_path: Path) -> None:
    server = Scripted(lambda body: chat("she"))
    with serving(server) as url:
        api.run(
            "roles",
            "openai:m",
            tmp_path / "run",
            base_url=url,
            mode="sampled",
            language="en",
            limit=1,
            samples=1,
            begin="The answer is '",
            max_tokens=40,
        )
    assert {one["max_tokens"] for one in server.seen} == {40}
