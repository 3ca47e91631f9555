"""A provider that says the user's key in each field of its replies, in each form: it is in nothing that is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from aiohttp import web

from tests.serving import serving
from tests.test_secrets import CANARY, forms
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.records import Json
from tiltmeter.store import Store

OPENAI = {
    "id": "c1", "object": "chat.completion", "model": "m", "system_fingerprint": "fp", "provider": "p",
    "choices": [{"index": 0, "finish_reason": "stop", "note": "n", "message": {
        "role": "assistant", "content": "she", "reasoning_content": "r", "refusal": "",
        "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1}, "warning": "w",
}  # fmt: skip
ANTHROPIC = {
    "id": "c1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "she"}],
    "usage": {"input_tokens": 9, "output_tokens": 1, "service_tier": "standard"}, "stop_sequence": "x",
}  # fmt: skip
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "she"}, {"text": "t", "thought": True}], "role": "model"},
                    "finishReason": "STOP", "finishMessage": "m"}],
    "modelVersion": "m", "responseId": "r",
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1},
    "promptFeedback": {"blockReasonMessage": "b"},
}  # fmt: skip
ERROR = {"error": {"message": "m", "type": "t", "code": "c", "param": "p"}, "request_id": "r"}
BODIES: dict[str, Json] = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}  # type: ignore[dict-item]


def leaves(body: Json) -> Iterator[tuple[dict[str, Json] | list[Json], str | int]]:
    """The places of all texts in a body."""
    names = body.keys() if isinstance(body, dict) else range(len(body))  # type: ignore[arg-type]
    for name in list(names):
        inside = body[name]  # type: ignore[index, call-overload]
        if isinstance(inside, str):
            yield body, name  # type: ignore[misc]
        elif isinstance(inside, dict | list):
            yield from leaves(inside)


def planted(body: Json) -> Iterator[Json]:
    """Copies of a body with the key in one field, in one form; and as a name of a field."""
    number = len(list(leaves(body)))
    spoken = cycle(forms(CANARY).values())
    while True:
        for at in range(number):
            copy = json.loads(json.dumps(body))
            place, name = list(leaves(copy))[at]
            place[name] = f"{place[name]} {next(spoken)}"  # type: ignore[index, call-overload]
            copy[next(spoken)] = "x"
            yield copy


class Teller:
    """Sends such bodies; each seventh reply is an error, with the key in a header too."""

    def __init__(self, body: Json) -> None:
        self._bodies, self._errors, self._number = planted(body), planted(ERROR), 0

    async def __aenter__(self) -> Teller:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        await request.read()
        self._number += 1
        if self._number % 7 == 3:
            told = {"x-request-id": CANARY, "retry-after": "0", "x-note": f"key {CANARY}"}
            status = (500, 400, 429, 503, 422)[self._number % 5]
            return web.json_response(next(self._errors), status=status, headers=told)
        return web.json_response(next(self._bodies), headers={"x-request-id": CANARY})


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("anthropic", "gemini")]


@pytest.mark.parametrize("kind", ["openai", *SLOW])
def test_a_key_in_a_body_is_in_nothing_that_is_written(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The key of the environment that is not the connection's own."""
    monkeypatch.setenv(f"{kind.upper()}_API_KEY", "sk-another-key-123")
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    server = Teller(BODIES[kind])
    run = tmp_path / "run"
    with serving(server):
        for samples in (8, 9):
            typed = ["--log", str(tmp_path / "log"), "run", "roles", "--model", f"{kind}:m"]
            typed += ["--language", "en", "--limit", "3", "--samples", str(samples), "--no-pilot"]
            main(
                [
                    *typed,
                    "--base-url",
                    f"{kind}={server.url}",
                    "--out",
                    str(run),
                    "--patience",
                    ".01",
                ]
            )
    said = "".join(capsys.readouterr())
    assert api.open_run(run).outputs.height > 20
    for page in ("report.html", "report.md"):
        api.report(run, path=tmp_path / page)
    for format_ in ("csv", "jsonl", "audit", "crate"):
        api.export_as(format_, run, tmp_path / format_, texts=True)
    main(["explore", str(run), "--static", str(tmp_path / "pages")])
    said += "".join(capsys.readouterr())
    texts = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with Store(run) as store:  # what the file holds packed
        rows = [
            str([*store.rows(f"SELECT * FROM {table}")]) for table in ("calls", "outputs", "labels")
        ]
    texts |= {
        "terminal": said.encode(),
        "names": " ".join(texts).encode(),
        "rows": "".join(rows).encode(),
    }
    for place, content in texts.items():
        held = [name for name, form in forms(CANARY).items() if form.encode() in content]
        assert not held, (place, held)
