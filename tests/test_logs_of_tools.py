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


def of_langchain(kind: str, text: str) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": text}}


def of_google(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


HUMAN, AI = of_langchain("HumanMessage", ASKED), of_langchain("AIMessage", SAID)
CONTENTS = {"contents": [of_google(ASKED)]}
CANDIDATES = {"candidates": [{"content": {"role": "model", "parts": [{"text": SAID}]}}]}
INDEXED = {"gen_ai.prompt.0.content": ASKED, "gen_ai.completion.0.content": SAID}
CONVERSED = {"output": {"message": {"role": "assistant", "content": [{"text": SAID}]}}}
STREAMED = [{"messageStart": {}}, *({"contentBlockDelta": {"delta": {"text": t}}} for t in SAID)]


def of_bedrock(asked: dict[str, Any], answered: object) -> dict[str, Any]:
    kind = {"schemaType": "ModelInvocationLog", "schemaVersion": "1.0", "requestId": "r"}
    return {**kind, "input": {"inputBodyJson": asked}, "output": {"outputBodyJson": answered}}


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
    # Spans of Traceloop as tests of OpenTelemetry's translator of them have them, and the example in
    # the guide of AgentCore Evaluations
    "Traceloop, LangChain": (
        "Traceloop",
        {
            "attributes": {
                "traceloop.entity.input": json.dumps(
                    {"inputs": {"messages": [HUMAN]}, "tags": [], "kwargs": {"name": "agent"}}
                ),
                "traceloop.entity.output": json.dumps(
                    {"outputs": {"messages": [HUMAN, AI]}, "kwargs": {"tags": []}}
                ),
            }
        },
    ),
    "Traceloop, function": (
        "Traceloop",
        {
            "attributes": {
                "traceloop.entity.input": json.dumps({"args": [], "kwargs": {"question": ASKED}}),
                "traceloop.entity.output": json.dumps(SAID),
            }
        },
    ),
    # gen_ai.prompt.N without its role: spans in tests of programs that read Phoenix and OpenLLMetry
    "older spans without roles": ("OpenTelemetry (older)", {"attributes": INDEXED}),
    # rows of ClickHouse's exporter, as a platform of evaluations reads them
    "older spans in ClickHouse": (
        "OpenTelemetry (older)",
        {"SpanId": "1", "TraceId": "t", "SpanName": "chat", "SpanAttributes": INDEXED},
    ),
    # messages of OTLP as Python prints them
    "OTLP with names of Python": (
        "OpenTelemetry (older)",
        {
            "resource_spans": [
                {
                    "scope_spans": [
                        {
                            "spans": [
                                {
                                    "attributes": [
                                        {"key": key, "value": {"string_value": text}}
                                        for key, text in INDEXED.items()
                                    ]
                                }
                            ]
                        }
                    ]
                }
            ]
        },
    ),
    # attributes of Google's ADK, by its documentation and programs that read them
    "Google ADK, call": (
        "Google ADK",
        {
            "attributes": {
                "gcp.vertex.agent.llm_request": json.dumps(
                    {"config": {"system_instruction": "Be kind."}, **CONTENTS}
                ),
                "gcp.vertex.agent.llm_response": json.dumps({"content": of_google(SAID)}),
            }
        },
    ),
    "Vertex AI, batch": ("Vertex AI, batch", {"request": CONTENTS, "response": CANDIDATES}),
    # invocation logs: the example of AWS's guide, and samples in guides of others
    "Bedrock, InvokeModel": (
        "Bedrock",
        of_bedrock({"prompt": ASKED}, {"type": "completion", "completion": SAID}),
    ),
    "Bedrock, Messages": (
        "Bedrock",
        of_bedrock({"messages": [USER]}, {"content": [{"type": "text", "text": SAID}]}),
    ),
    "Bedrock, Converse": (
        "Bedrock",
        of_bedrock({"messages": [{"role": "user", "content": [{"text": ASKED}]}]}, CONVERSED),
    ),
    "Bedrock, ConverseStream": ("Bedrock", of_bedrock({"messages": [USER]}, STREAMED)),
    "Bedrock, events of CloudWatch": (
        "Bedrock",
        {
            "events": [
                {
                    "timestamp": 1,
                    "message": json.dumps(of_bedrock({"messages": [USER]}, CONVERSED)),
                }
            ]
        },
    ),
    # spans in tests of Braintrust's SDK, and what programs fetch from its API
    "Braintrust, events": (
        "Braintrust",
        {
            "events": [
                {
                    "span_id": "1",
                    "root_span_id": "1",
                    "span_attributes": {"name": "task", "type": "task"},
                    "input": {"question": ASKED},
                    "output": SAID,
                },
                {
                    "span_id": "2",
                    "root_span_id": "1",
                    "span_parents": ["1"],
                    "span_attributes": {"name": "chat", "type": "llm"},
                    "input": [USER],
                    "output": [{"index": 0, "message": REPLY}],
                },
            ]
        },
    ),
    # exports of runs by scripts
    "LangSmith, list of runs": (
        "LangSmith",
        {
            "runs": [
                {
                    "run_id": "1",
                    "run_type": "llm",
                    "inputs": {"messages": [[HUMAN]]},
                    "outputs": {"generations": [[{"text": SAID, "message": AI}]]},
                }
            ]
        },
    ),
    # its spend logs, if it stores the request as its proxy had it
    "LiteLLM, request of the proxy": (
        "LiteLLM",
        {"messages": {}, "proxy_server_request": {"messages": [USER]}, "response": COMPLETION},
    ),
    "a gateway, bodies as texts": (
        "gateway",
        {"requestBody": MESSAGES, "responseBody": json.dumps(COMPLETION)},
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


def test_users_of_a_trace_are_those_of_its_observations(tmp_path: Path) -> None:
    """As scripts export a trace: without its id in each observation."""
    path = tmp_path / "trace.json"
    observation = {"id": "o", "type": "GENERATION", "input": [USER], "output": REPLY}
    trace = {"id": "t", "userId": "u", "sessionId": "s", "input": ASKED, "output": SAID}
    path.write_text(json.dumps({**trace, "observations": [observation]}), encoding="utf-8")
    [row] = read_log(path).rows
    assert (row.user, row.session, row.answer) == ("u", "s", SAID)


def test_a_call_without_a_text_is_not_an_empty_prompt(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    call = {"traceloop.entity.input": json.dumps({"args": [], "kwargs": {"n": 3}})}
    asked = {"traceloop.entity.input": json.dumps({"args": [ASKED], "kwargs": {}})}
    lines = [json.dumps({"attributes": one}) for one in (call, asked)]
    path.write_text("\n".join(lines), encoding="utf-8")
    log = read_log(path)
    assert ([row.spoken[-1].text for row in log.rows], log.left_out) == ([ASKED], 1)
