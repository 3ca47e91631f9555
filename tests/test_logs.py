"""Logs by their content: twelve shapes, columns that are refused, hostile files, and a canary."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.api.start.traffic.redaction import redacted
from tiltmeter.cli import main
from tiltmeter.errors import TiltmeterError, UsageError
from tiltmeter.models.existing.readers import read_lines
from tiltmeter.row_files.logs import Logged, Turn, read_log

ASKED, SAID = "Thank Emily for her work.", "Thank you, Emily."
CANARY = "zq canary 7Q4X speaks"


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def langchain(kind: str, text: str) -> dict[str, Any]:
    return {"lc": 1, "id": ["langchain", "schema", "messages", kind], "kwargs": {"content": text}}


def numbered(prefix: str, answers: str, middle: str = "") -> dict[str, str]:
    return {
        f"{prefix}.0{middle}.role": "user",
        f"{prefix}.0{middle}.content": ASKED,
        f"{answers}.0{middle}.role": "assistant",
        f"{answers}.0{middle}.content": SAID,
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": json.dumps(value)}}


def structured(key: str, role: str, text: str) -> dict[str, Any]:
    def pairs(**values: Any) -> dict[str, Any]:
        return {"kvlistValue": {"values": [{"key": k, "value": v} for k, v in values.items()]}}

    part = pairs(type={"stringValue": "text"}, content={"stringValue": text})
    told = pairs(role={"stringValue": role}, parts={"arrayValue": {"values": [part]}})
    return {"key": key, "value": {"arrayValue": {"values": [told]}}}


CHAT = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": SAID}]
SHAPES: dict[str, tuple[str, Any]] = {
    "opentelemetry": (
        "OpenTelemetry",
        otlp(
            {
                "attributes": [
                    attribute("gen_ai.input.messages", [message("user", ASKED)]),
                    attribute("gen_ai.output.messages", [message("assistant", SAID)]),
                ]
            }
        ),
    ),
    "older": (
        "OpenTelemetry (older)",
        {"attributes": numbered("gen_ai.prompt", "gen_ai.completion")},
    ),
    "openinference": (
        "OpenInference",
        {"attributes": numbered("llm.input_messages", "llm.output_messages", ".message")},
    ),
    "chain": (
        "OpenInference (chain)",
        {"attributes": {"input.value": json.dumps({"question": ASKED}), "output.value": SAID}},
    ),
    "langfuse": (
        "Langfuse",
        {
            "id": "o",
            "traceId": "t",
            "type": "GENERATION",
            "input": json.dumps(CHAT[:1]),
            "output": CHAT[1],
        },
    ),
    "langsmith": (
        "LangSmith",
        {
            "id": "r",
            "run_type": "llm",
            "inputs": {"messages": [[langchain("HumanMessage", ASKED)]]},
            "outputs": {"generations": [[{"text": SAID}]]},
        },
    ),
    "langsmith chain": (
        "LangSmith",
        {
            "id": "r",
            "run_type": "chain",
            "inputs": {"question": ASKED},
            "outputs": {"answer": SAID},
        },
    ),
    "promptfoo": (
        "promptfoo",
        {"results": {"results": [{"prompt": {"raw": ASKED}, "response": {"output": SAID}}]}},
    ),
    "promptfoo 4": (
        "promptfoo",
        {"results": [{"prompt": {"raw": ASKED}, "providerResponse": {"output": SAID}}]},
    ),
    "opentelemetry, structured": (
        "OpenTelemetry",
        otlp(
            {
                "attributes": [
                    structured("gen_ai.input.messages", "user", ASKED),
                    structured("gen_ai.output.messages", "assistant", SAID),
                ]
            }
        ),
    ),
    "langfuse, one trace": (
        "Langfuse",
        {"observations": [{"id": "o", "traceId": "t", "input": ASKED, "output": SAID}]},
    ),
    "batch": (
        "batch",
        {
            "custom_id": "1",
            "body": {"messages": [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]},
        },
    ),
    "chat": ("chat", {"messages": CHAT}),
    "plain": ("plain", {"prompt": ASKED, "response": SAID}),
    "plain, another name": ("plain", {"id": 3, "question": ASKED, "model_output": SAID}),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("lines", [1, 2])
def test_a_shape_is_told_by_its_content(tmp_path: Path, name: str, lines: int) -> None:
    shape, record = SHAPES[name]
    path = tmp_path / "log.txt.bak"
    path.write_text("\n".join([json.dumps(record)] * lines), encoding="utf-8")
    log = read_log(path)
    assert (log.shape, len(log.rows)) == (shape, lines)
    assert [one.text for one in log.rows[0].turns] == [ASKED]
    assert log.rows[0].answer == ("" if name in ("batch", "plain, another name") else SAID)


def test_traces_give_their_outermost_record_or_each_call(tmp_path: Path) -> None:
    chain = {"id": "1", "run_type": "chain", "inputs": {"question": ASKED}, "outputs": {}}
    call = {
        "id": "2",
        "parent_run_id": "1",
        "run_type": "llm",
        "inputs": {"question": "Inner."},
        "outputs": {},
    }
    tool = {"id": "3", "parent_run_id": "1", "run_type": "tool", "inputs": {"x": 1}, "outputs": {}}
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, (chain, call, tool))), encoding="utf-8")
    assert [row.turns[-1].text for row in read_log(path).rows] == [ASKED]
    assert [row.turns[-1].text for row in read_log(path, spans="llm").rows] == ["Inner."]


def test_tables_are_read_too(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"": ["0", "1"], "prompt": [ASKED, "Write to Kevin."], "prompt_gen": ["a b", "c d"]}
    )
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "b.bin")
    for name in ("a.csv", "b.bin"):
        assert [row.turns[0].text for row in read_log(tmp_path / name).rows] == [
            ASKED,
            "Write to Kevin.",
        ]


def test_two_columns_that_can_be_the_prompt_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("question,instruction\nWho came?,Answer it.\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"'question', 'instruction'\. Type: --prompt"):
        read_log(path)
    assert read_log(path, "question").rows[0].turns[0].text == "Who came?"


def deep() -> bytes:
    return b'{"prompt": ' + b"[" * 5000 + b"]" * 5000 + b"}"


HOSTILE: dict[str, bytes | Callable[[], bytes]] = {
    "nothing": b"",
    "blanks": b"  \n\n \n",
    "a mark alone": b"\xef\xbb\xbf",
    "zeros": b"\0\0\0\0" + CANARY.encode(),
    "broken JSON": b'{"prompt": "' + CANARY.encode() + b'"',
    "a broken line": b'{"prompt": "a b"}\n{"prompt": "' + CANARY.encode() + b'", }\n',
    "a number": b"42",
    "a list of numbers": b"[1, 2, 3]",
    "a list of texts": json.dumps([CANARY]).encode(),
    "null": b"null",
    "an empty object": b"{}",
    "empty objects": b"{}\n{}\n",
    "nested too deep": deep,
    "no prompt": json.dumps({"a": 1, "b": CANARY[:2]}).encode(),
    "prompt of a number": b'{"prompt": 5}',
    "prompt of a list of numbers": b'{"prompt": [1, 2]}',
    "prompt of null": b'{"prompt": null}',
    "an answer alone": json.dumps({"answer": CANARY}).encode(),
    "messages of texts": json.dumps({"messages": [CANARY]}).encode(),
    "messages of an object": json.dumps({"messages": {"role": CANARY}}).encode(),
    "only an assistant": json.dumps(
        {"messages": [{"role": "assistant", "content": CANARY}]}
    ).encode(),
    "only a system prompt": json.dumps(
        {"messages": [{"role": "system", "content": CANARY}]}
    ).encode(),
    "empty spans": json.dumps(otlp()).encode(),
    "spans of nothing": json.dumps(otlp({"attributes": None})).encode(),
    "attributes of texts": json.dumps(otlp({"attributes": [CANARY]})).encode(),
    "results of a batch": json.dumps({"custom_id": "1", "response": {"body": CANARY}}).encode(),
    "promptfoo of nothing": json.dumps({"results": {"results": []}}).encode(),
    "langsmith of nothing": json.dumps({"run_type": "llm", "inputs": None}).encode(),
    "parquet of nothing": b"PAR1" + CANARY.encode() + b"PAR1",
    "a spreadsheet of nothing": b"PK\x03\x04" + CANARY.encode(),
    "a table without a header": f"{CANARY},{CANARY} again\nmore words,and others\n".encode(),
    "bytes of another encoding": b"prompt\n\xff\xfe\x81" + CANARY.encode(),
    "a quote that never ends": f'prompt,answer\n"{CANARY},x\n'.encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_and_shows_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    content = HOSTILE[name]
    path = tmp_path / "log.jsonl"
    path.write_bytes(content() if callable(content) else content)
    code = main(["audit", str(path), "--dry-run", "--out", str(tmp_path / "out")])
    said = capsys.readouterr()
    assert code in (1, 2) and said.err.startswith("error: ")
    assert "canary" not in said.err + said.out and "7Q4X" not in said.err + said.out


def test_there_are_thirty_hostile_files() -> None:
    assert len(HOSTILE) >= 30 and len(SHAPES) >= 12


def test_a_canary_is_in_no_message_and_no_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pairs are shown by what differs alone; JUnit, the log and the baseline have no text."""
    path, out = tmp_path / "p.jsonl", tmp_path / "out"
    rows = [{"prompt": f"{CANARY}: she has case {n} of {'xyz' * n}."} for n in range(12)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    bot = tmp_path / "bot.py"
    bot.write_text("def answer(prompt):\n    return 'Fine, this is done now.'\n", encoding="utf-8")
    gate = ["--fail-on", "tilt", "--margin", "5,length=10%,reading=1"]
    files = ["--junit", str(tmp_path / "j.xml"), "--out", str(out)]
    main(
        [
            "--log",
            str(tmp_path / "log"),
            "audit",
            str(path),
            "--model",
            f"python:{bot}:answer",
            "--yes",
            *gate,
            *files,
        ]
    )
    capsys.readouterr()
    for file in (tmp_path / "j.xml", out / "baseline.json", tmp_path / "log"):
        assert "7Q4X" not in file.read_text("utf-8")


def test_a_private_audit_keeps_numbers_and_keyed_hashes_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path, out = tmp_path / "p.jsonl", tmp_path / "out"
    rows = [{"prompt": f"{CANARY}: she has case {n} of {'xyz' * n}."} for n in range(12)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    bot = tmp_path / "bot.py"
    bot.write_text(f"def answer(prompt):\n    return 'Fine, {CANARY}.'\n", encoding="utf-8")
    typed = ["audit", str(path), "--model", f"python:{bot}:answer", "--private", "--out", str(out)]
    assert main(typed) == 2 and not out.exists()
    gate = ["--fail-on", "tilt", "--margin", "5,length=10%,reading=1"]
    assert main([*typed, "--yes", *gate, "--junit", str(tmp_path / "j.xml")]) == 4
    said = capfd.readouterr()
    files = {file.name: file.read_text("utf-8") for file in out.iterdir()}
    assert set(files) == {"decisions.csv", "numbers.csv", "baseline.json"}
    everything = "".join((*files.values(), said.out, said.err, (tmp_path / "j.xml").read_text()))
    assert "7Q4X" not in everything and "speaks" not in everything
    assert "refusal_gender" in files["numbers.csv"]


def test_redaction_keeps_the_same_placeholder_for_the_same_value() -> None:
    text = "Mail a.b@x.com or a.b@x.com, call +49 30 1234567, card 4111 1111 1111 1111, DE89 3704 0044 0532 0130 00, order 12-34."
    found = redacted(Logged((Turn("user", text),), 1, "answer")).turns[0].text
    assert (
        found
        == "Mail [EMAIL-1] or [EMAIL-1], call [PHONE-4], card [CARD-3], [IBAN-2], order 12-34."
    )


def test_errors_are_of_this_tool(tmp_path: Path) -> None:
    with pytest.raises(TiltmeterError, match="There is no file"):
        read_log(tmp_path / "nowhere.jsonl")


def test_langfuse_has_prompts_in_what_asks_and_none_in_tools_or_judges(tmp_path: Path) -> None:
    """Kinds of observations as its documentation of exports lists them; no parent is an empty
    string, and an export is of one trace or of many.
    """
    kinds = ("AGENT", "TOOL", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL", "EVENT")
    rows = [
        {
            "id": kind,
            "trace_id": kind,
            "parent_observation_id": "",
            "type": kind,
            "input": f"{kind} asks for her file.",
            "output": SAID,
            "user_id": "u",
            "session_id": "s",
        }
        for kind in kinds
    ]
    path = tmp_path / "observations.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    log = read_log(path)
    assert (log.shape, log.left_out) == ("Langfuse", 6)
    assert [(row.turns[0].text, row.user, row.session) for row in log.rows] == [
        ("AGENT asks for her file.", "u", "s")
    ]


def test_a_run_of_langsmith_has_its_thread_in_the_metadata(tmp_path: Path) -> None:
    """Its session_id is the project; messages may be pairs of a role and a text."""
    run = {
        "run_type": "llm",
        "session_id": "project",
        "trace_id": "t",
        "inputs": {"messages": [["system", "Be kind."], ["user", ASKED]]},
        "outputs": {
            "messages": [{"role": "assistant", "content": [{"type": "text", "text": SAID}]}]
        },
    }
    threaded = run | {"extra": json.dumps({"metadata": {"thread_id": "h", "user_id": "u"}})}
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, (run, threaded))), encoding="utf-8")
    rows = read_log(path).rows
    assert [(row.user, row.session) for row in rows] == [("", "t"), ("u", "h")]
    assert {(row.system, row.spoken[0].text, row.answer) for row in rows} == {
        ("Be kind.", ASKED, SAID)
    }


def test_a_batch_for_the_responses_endpoint_has_instructions(tmp_path: Path) -> None:
    body = {"instructions": "Be kind.", "input": [{"role": "user", "content": ASKED}]}
    path = tmp_path / "batch.jsonl"
    path.write_text(json.dumps({"custom_id": "1", "body": body}), encoding="utf-8")
    (row,) = read_log(path).rows
    assert (row.system, row.spoken[0].text) == ("Be kind.", ASKED)


@pytest.mark.parametrize(
    "name", [name for name in SHAPES if name not in ("batch", "plain, another name", "plain")]
)
def test_a_log_is_a_file_of_answers_too(tmp_path: Path, name: str) -> None:
    for ending in (".json", ".jsonl"):
        path = tmp_path / f"log{ending}"
        path.write_text(json.dumps(SHAPES[name][1]), encoding="utf-8")
        assert [(one.prompt, one.reply.text) for one in read_lines(path)] == [(ASKED, SAID)]


def test_results_of_a_batch_answer_trials_by_their_id(tmp_path: Path) -> None:
    bodies = (
        {"choices": [{"message": {"role": "assistant", "content": SAID}}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": SAID}]}]},
    )
    for body in bodies:
        path = tmp_path / "results.jsonl"
        path.write_text(json.dumps({"custom_id": "t7", "response": {"body": body}}), "utf-8")
        assert [(one.id, one.reply.text) for one in read_lines(path)] == [("t7", SAID)]


@pytest.mark.parametrize("place", ["span event", "log record"])
def test_messages_of_opentelemetry_may_stand_in_an_event(tmp_path: Path, place: str) -> None:
    """`gen_ai.client.inference.operation.details`, as an event of a span or a log record."""

    def structured(role: str, text: str) -> dict[str, object]:
        part = [{"key": "type", "value": {"stringValue": "text"}}]
        part.append({"key": "content", "value": {"stringValue": text}})
        parts = {"arrayValue": {"values": [{"kvlistValue": {"values": part}}]}}
        fields = [{"key": "role", "value": {"stringValue": role}}, {"key": "parts", "value": parts}]
        return {"arrayValue": {"values": [{"kvlistValue": {"values": fields}}]}}

    attributes = [
        {"key": "gen_ai.input.messages", "value": structured("user", "Is she late?")},
        {"key": "gen_ai.output.messages", "value": structured("assistant", "Yes.")},
    ]
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": attributes}
    span = {"spanId": "1", "name": "chat", "attributes": [], "events": [event]}
    document = (
        {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
        if place == "span event"
        else {"resourceLogs": [{"scopeLogs": [{"logRecords": [event]}]}]}
    )
    path = tmp_path / "otlp.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    log = read_log(path)
    assert (log.shape, log.rows[0].turns[0].text) == ("OpenTelemetry", "Is she late?")
    assert log.rows[0].answer == "Yes."
