"""Records as tools export them, by the names of fields in their sources and documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.row_files.logs import read_log

ASKED, SAID = "Thank Emily for her work.", "Thank you, Emily."
USER = {"role": "user", "content": ASKED}
REPLY = {"role": "assistant", "content": SAID}
COMPLETION = {"id": "c", "choices": [{"index": 0, "message": REPLY}]}
MESSAGES = json.dumps({"messages": [USER]})


def of_openinference(message: dict[str, str]) -> dict[str, str]:
    return {f"message.{key}": value for key, value in message.items()}


RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "Helicone, export with bodies": (
        "Helicone",
        {"request_user_id": "u", "request_body": {"messages": [USER]}, "response_body": COMPLETION},
    ),
    "LiteLLM, logging payload": (
        "chat",
        {"call_type": "acompletion", "messages": [USER], "response": COMPLETION, "end_user": "u"},
    ),
    "LiteLLM, spend logs": (
        "chat",
        {"request_id": "r", "messages": json.dumps([USER]), "response": json.dumps(COMPLETION)},
    ),
    "Weave, call": (
        "Weave",
        {
            "op_name": "weave:///e/p/op/openai.chat.completions.create:v1",
            "inputs": {"model": "m", "messages": [USER]},
            "output": COMPLETION,
        },
    ),
    "MLflow, table of traces": (
        "plain",
        {"trace_id": "tr-1", "request": MESSAGES, "response": json.dumps(COMPLETION)},
    ),
    "MLflow, trace": (
        "MLflow",
        {
            "info": {"trace_id": "tr-1", "request_preview": ASKED},
            "data": {
                "spans": [
                    {
                        "span_id": "1",
                        "parent_id": None,
                        "attributes": {
                            "mlflow.spanType": '"CHAT_MODEL"',
                            "mlflow.spanInputs": MESSAGES,
                            "mlflow.spanOutputs": json.dumps(COMPLETION),
                        },
                    }
                ]
            },
        },
    ),
    "Vercel AI SDK, outer span": (
        "Vercel AI SDK",
        {
            "spanId": "1",
            "attributes": {
                "ai.operationId": "ai.generateText",
                "ai.prompt": json.dumps({"system": "Be kind.", "messages": [USER]}),
                "ai.response.text": SAID,
            },
        },
    ),
    "Vercel AI SDK, call": (
        "Vercel AI SDK",
        {
            "spanId": "2",
            "attributes": {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": json.dumps(
                    [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]
                ),
                "ai.response.text": SAID,
            },
        },
    ),
    "OpenInference, span of the SDK": (
        "OpenInference",
        {
            "context": {"trace_id": "0x1", "span_id": "0x2"},
            "attributes": {
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": ASKED,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": SAID,
            },
        },
    ),
    "Phoenix, table of spans": (
        "OpenInference",
        {
            "context.span_id": "1",
            "span_kind": "LLM",
            "attributes.llm.input_messages": [of_openinference(USER)],
            "attributes.llm.output_messages": [of_openinference(REPLY)],
        },
    ),
    "Phoenix, nested attributes": (
        "OpenInference",
        {
            "attributes": {
                "llm": {
                    "input_messages": [{"message": USER}],
                    "output_messages": [{"message": REPLY}],
                }
            }
        },
    ),
    "Phoenix, table of chains": (
        "OpenInference (chain)",
        {"span_kind": "CHAIN", "attributes.input.value": ASKED, "attributes.output.value": SAID},
    ),
    "promptfoo, as documented": (
        "promptfoo",
        {"version": 3, "results": {"outputs": [{"prompt": ASKED, "text": SAID}], "stats": {}}},
    ),
    "LangSmith, example": (
        "LangSmith",
        {"inputs": {"question": ASKED}, "outputs": {"answer": SAID}, "metadata": {}},
    ),
    "OpenAI, stored completion": (
        "chat",
        {"object": "chat.completion", "messages": [USER], "choices": COMPLETION["choices"]},
    ),
    "Traceloop, workflow": (
        "Traceloop",
        {
            "attributes": {
                "traceloop.entity.input": json.dumps({"inputs": {"question": ASKED}}),
                "traceloop.entity.output": json.dumps({"outputs": {"answer": SAID}}),
            }
        },
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_read_with_its_answer(tmp_path: Path, name: str) -> None:
    shape, record = RECORDS[name]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    log = read_log(path)
    assert log.shape == shape
    [row] = log.rows
    assert (row.spoken[-1].text, row.answer) == (ASKED, SAID)


def test_a_batch_of_anthropic_has_its_system_prompt(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    body = {"model": "m", "max_tokens": 9, "system": "Be kind.", "messages": [USER]}
    path.write_text(json.dumps({"custom_id": "1", "params": body}) + "\n", encoding="utf-8")
    [row] = read_log(path).rows
    assert (row.system, row.spoken[-1].text) == ("Be kind.", ASKED)


def test_calls_inside_a_span_are_read_once(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    outer, inner = (RECORDS[f"Vercel AI SDK, {part}"][1] for part in ("outer span", "call"))
    lines = [json.dumps(outer), json.dumps({**inner, "parentSpanId": "1"})]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [row.line for row in read_log(path).rows] == [1]
    assert [row.line for row in read_log(path, spans="llm").rows] == [2]
