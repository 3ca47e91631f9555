"""What servers of one's own say of themselves, and the system prompt that a template hides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import Body, Scripted, chat
from tests.serving import serving
from tiltmeter import api
from tiltmeter.models.http.endpoint import MARK, hidden_prompt
from tiltmeter.store import Store
from tiltmeter.store.queries import endpoints

QWEN = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
# a family's prompt before MARK, and what of it is a system prompt
TEMPLATES = {
    "qwen": (f"<|im_start|>system\n{QWEN}<|im_end|>\n<|im_start|>user\n{MARK}<|im_end|>\n", QWEN),
    "none": (f"<|im_start|>user\n{MARK}<|im_end|>\n<|im_start|>assistant\n", ""),
    "gemma": (f"<bos><start_of_turn>user\n{MARK}<end_of_turn>\n", ""),
    "mistral": (f"<s>[INST] {MARK} [/INST]", ""),
    "llama 3": (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: "
        "December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user"
        f"<|end_header_id|>\n\n{MARK}<|eot_id|>",
        "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024",
    ),
    "gpt-oss": (
        "<|start|>system<|message|>You are ChatGPT.\nReasoning: low<|end|><|start|>user"
        f"<|message|>{MARK}<|end|>",
        "You are ChatGPT.\nReasoning: low",
    ),
    "phi": (f"<|system|>\nBe brief.<|end|>\n<|user|>\n{MARK}<|end|>\n", "Be brief."),
}


@pytest.mark.parametrize("family", TEMPLATES)
def test_the_hidden_prompt_of_a_template(family: str) -> None:
    prompt, hidden = TEMPLATES[family]
    assert hidden_prompt(prompt) == hidden


def template(body: Body) -> dict[str, str]:
    """As Qwen2.5's: a system prompt of its own where there is none."""
    turns = body["messages"]
    if turns[0]["role"] != "system":
        turns = [{"role": "system", "content": QWEN}, *turns]
    said = (f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in turns)
    return {"prompt": "".join(said)}


LLAMA_CPP: dict[str, Callable[[Body], Any]] = {
    "/props": lambda body: {
        "chat_template": "{{ messages }}",
        "model_ftype": "Q4_K - Medium",
        "build_info": "b6700-abc",
        "default_generation_settings": {"n_ctx": 4096},
    },
    "/v1/models": lambda body: {
        "data": [{"id": "m", "meta": {"n_ctx_train": 32768, "n_params": 494032768}}]
    },
    "/apply-template": template,
}
VLLM: dict[str, Callable[[Body], Any]] = {
    "/version": lambda body: {"version": "0.26.0"},
    "/v1/models": lambda body: {"data": [{"id": "m", "max_model_len": 8192}]},
    "/tokenize": lambda body: {"tokens": [*template(body)["prompt"].encode()]},
    "/detokenize": lambda body: {"prompt": bytes(body["tokens"]).decode()},
}
OLLAMA: dict[str, Callable[[Body], Any]] = {
    "/api/version": lambda body: {"version": "0.9.1"},
    "/api/show": lambda body: {
        "system": QWEN,
        "template": "{{ .System }}",
        "details": {"quantization_level": "Q8_0"},
        "model_info": {"general.parameter_count": 7, "qwen2.context_length": 32768},
    },
}


def asked(folder: Path, paths: Any, **options: Any) -> tuple[api.Run, Scripted]:
    server = Scripted(lambda body: chat("she"), paths)
    with serving(server) as url:
        run = api.run(
            "roles",
            "openai:m",
            folder,
            base_url=url,
            language="en",
            mode="sampled",
            limit=2,
            samples=1,
            **options,
        )
    return run, server


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (
            LLAMA_CPP,
            {
                "server": "llama.cpp b6700-abc",
                "quantisation": "Q4_K - Medium",
                "parameters": 494032768,
                "context": 4096,
                "trained_context": 32768,
                "hidden_prompt": QWEN,
            },
        ),
        (VLLM, {"server": "vLLM 0.26.0", "context": 8192, "hidden_prompt": QWEN}),
        (
            OLLAMA,
            {
                "server": "Ollama 0.9.1",
                "quantisation": "Q8_0",
                "parameters": 7,
                "trained_context": 32768,
                "hidden_prompt": QWEN,
            },
        ),
        ({}, {}),
    ],
    ids=["llama.cpp", "vllm", "ollama", "unknown"],
)
def test_the_record_of_an_endpoint(paths: Any, expected: Any, tmp_path: Path) -> None:
    run, _ = asked(tmp_path / "run", paths)
    with Store(tmp_path / "run") as store:
        (record,) = endpoints.endpoints(store).values()
    assert {name: record.get(name) for name in expected} == expected
    assert record["effort"] == {"chat_template_kwargs": {"enable_thinking": False}}
    page = run.report(tmp_path / "report.html").read_text("utf-8")
    assert ("hidden system prompt" in page) and (QWEN in page) == bool(expected)
    assert any(QWEN in warning for warning in run.warnings()) == bool(expected)


def test_an_empty_system_prompt_asks_for_none_and_checks_it(tmp_path: Path) -> None:
    run, server = asked(tmp_path / "run", LLAMA_CPP, system="")
    assert all(body["messages"][0] == {"role": "system", "content": ""} for body in server.seen)
    with Store(tmp_path / "run") as store:
        assert endpoints.hidden_prompts(store) == {}
    assert "|hidden:" not in str(run.analyse()[0].signature)


def test_two_runs_through_other_endpoints_are_told_apart(tmp_path: Path) -> None:
    one, _ = asked(tmp_path / "one", LLAMA_CPP)
    asked(tmp_path / "other", VLLM)
    found = api.compare(tmp_path / "one", tmp_path / "other")
    said = 'its server is "llama.cpp b6700-abc" in one and "vLLM 0.26.0" in other'
    assert any(said in warning for warning in found.warnings)
    assert "|hidden:" in one.analyse()[0].signature
