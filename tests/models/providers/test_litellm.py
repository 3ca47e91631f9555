"""litellm: the real package against the planted server, in a process of its own; what is said where it is missing or bad.

The package is in no extra of the tests (250 MB). With it: pip install '.[litellm]' && pytest -m slow tests/models/providers/test_litellm.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.cli import main
from tiltmeter.errors import MissingExtra, UsageError
from tiltmeter.models.kinds import make_model
from tiltmeter.models.providers import litellm as module
from tiltmeter.store import Store

KEY = "sk-0123456789abcdef0123456789abcdef"
real = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("litellm") is None, reason="the extra litellm is not installed"),
]


def installed(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    def version(name: str) -> str:
        if not number:
            raise PackageNotFoundError(name)
        return number

    monkeypatch.setattr(module, "version", version)


def test_a_missing_extra_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    installed(monkeypatch, "")
    assert (
        main(
            [
                "run",
                "roles",
                "-m",
                "litellm:mistral/x",
                "--limit",
                "1",
                "--out",
                str(tmp_path / "run"),
            ]
        )
        == 2
    )
    said = capsys.readouterr().err
    assert "needs the extra 'litellm'" in said and "pip install '.[litellm]'" in said
    with pytest.raises(MissingExtra):
        make_model("litellm:mistral/x")


@pytest.mark.parametrize("number", ["1.82.7", "1.82.8"])
def test_the_two_versions_that_steal_keys_are_refused_before_they_are_imported(
    number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, number)
    with pytest.raises(UsageError, match=f"The installed litellm {number} steals keys"):
        make_model("litellm:mistral/x")
    assert "litellm" not in sys.modules
    installed(monkeypatch, "1.83.0")
    assert make_model("litellm:mistral/x").name == "litellm:mistral/x"


def test_the_extra_leaves_those_versions_out() -> None:
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    (line,) = project["optional-dependencies"]["litellm"]
    allowed = Requirement(line).specifier
    assert not any(number in allowed for number in module.STOLEN) and "1.106.2" in allowed
    for extra in ("all", "test"):
        assert not any("litellm" in each for each in project["optional-dependencies"][extra])


@pytest.mark.parametrize("name", ["", "mistral", "/x", "mistral/"])
def test_a_name_without_provider_or_model(name: str) -> None:
    with pytest.raises(UsageError, match="PROVIDER/MODEL"):
        make_model(f"litellm:{name}")


def test_every_key_of_the_environment_is_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "1.106.2")
    monkeypatch.setenv("WATSONX_APIKEY", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY + "-longer")
    monkeypatch.setenv("SHORT_TOKEN", "the")
    model = make_model("litellm:watsonx/x")
    assert model.connection.clean(f"{KEY}-longer, {KEY}, the end") == "***, ***, the end"


# with the package itself


@contextmanager
def serving(settings: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tiltmeter", "serve", f"planted:{settings}", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.communicate(timeout=300)


COMPLETION = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": "planted",
    "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
}
ASK = """
import asyncio, json, sys
from tiltmeter import registry
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import Message, Request
async def go():
    model = make_model("litellm:openai/planted", ModelOptions(base_url=sys.argv[1]))
    await model.open()
    reply = await model.ask(Request(model.name, (Message("user", "He or she?"),)))
    await model.close()
    print(json.dumps([reply.outcome, reply.text, reply.usage]))
asyncio.run(go())
"""


@contextmanager
def saying(status: int, body: Any) -> Iterator[str]:
    """A server that says one thing, whatever it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join(300)


def typed(url: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`tiltmeter run roles` on litellm's openai provider, with a key in the environment that the server repeats."""
    command = [
        sys.executable,
        "-m",
        "tiltmeter",
        "run",
        "roles",
        "-m",
        "litellm:openai/planted",
        "--base-url",
        url,
        "--limit",
        "6",
        "--samples",
        "2",
        "--language",
        "en",
        "--out",
        str(folder),
        *more,
    ]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OPENAI_API_KEY": KEY},
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


class TestReal:
    pytestmark = real

    def test_a_run_says_what_the_same_run_through_our_own_client_says(
        self, run: Path, tmp_path: Path
    ) -> None:
        with serving("she=0.7,refuse=.2,refuses=seed") as url:
            done = typed(url, run)
            assert done.returncode == 0, done.stderr
            own = [
                "run",
                "roles",
                "-m",
                "openai:planted",
                "--base-url",
                url,
                "--limit",
                "6",
                "--samples",
                "2",
            ]
            assert main([*own, "--language", "en", "--out", str(tmp_path / "own")]) == 0
        rows = (
            "SELECT request, outcome, served, fingerprint, prompt_tokens, cost, omitted FROM calls"
        )
        with Store(run) as store, Store(tmp_path / "own") as other:
            found, expected = list(store.rows(rows)), list(other.rows(rows))
        assert len(found) == len(expected) == 24
        assert {row[2] for row in found} == {row[2] for row in expected} == {"planted"}
        assert {row[3] for row in found} == {row[3] for row in expected} != {""}
        assert {row[5] for row in found} == {0.0}  # a server on this machine
        assert {"seed"} == {name for row in found for name in json.loads(row[6])}
        assert sorted(row[4] for row in found) == sorted(row[4] for row in expected)
        assert KEY not in str(found)

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ("unauthorised=1", "refuses the key (HTTP 401)"),
            ("refuses=model", "refuses the request (HTTP 400)"),
        ],
    )
    def test_errors_are_told_without_the_key(self, settings: str, said: str, run: Path) -> None:
        with serving(settings) as url:
            done = typed(url, run)
        assert done.returncode == 1 and said in done.stderr, done.stderr
        assert KEY not in done.stderr and "Traceback" not in done.stderr

    def test_faults_that_pass_are_tried_again_by_the_engine(self, run: Path) -> None:
        with serving("she=0.7,fail=.3") as url:
            done = typed(url, run)
        assert done.returncode == 0, done.stderr
        with Store(run) as store:
            assert next(store.rows("SELECT count(*) FROM outputs"))[0] == 24

    def test_nothing_listens(self, run: Path) -> None:
        done = typed("http://127.0.0.1:9/v1", run)
        assert done.returncode == 1 and "cannot be reached" in done.stderr, done.stderr

    def test_a_key_that_is_not_there_is_named(self, run: Path) -> None:
        bare = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
        command = [
            sys.executable,
            "-m",
            "tiltmeter",
            "run",
            "roles",
            "-m",
            "litellm:mistral/x",
            "--limit",
            "1",
            "--out",
            str(run),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=bare)
        assert done.returncode == 1 and "export MISTRAL_API_KEY=" in done.stderr, done.stderr

    @pytest.mark.parametrize(
        ("status", "body", "outcome", "text"),
        [
            (
                400,
                {
                    "error": {
                        "message": "Blocked by our policy.",
                        "type": "invalid_request_error",
                        "code": "content_policy_violation",
                    }
                },
                "refusal",
                "Blocked by our policy.",
            ),
            (
                200,
                COMPLETION
                | {
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "content_filter",
                            "message": {"role": "assistant", "content": "He"},
                        }
                    ]
                },
                "refusal",
                "He",
            ),
            (
                200,
                COMPLETION
                | {
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "stop",
                            "message": {"role": "assistant", "content": "She"},
                        }
                    ]
                },
                "answer",
                "She",
            ),
        ],
    )
    def test_a_providers_refusal_is_a_result(
        self, status: int, body: Any, outcome: str, text: str
    ) -> None:
        with saying(status, body) as url:
            done = subprocess.run(
                [sys.executable, "-c", ASK, url], capture_output=True, text=True, timeout=300
            )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
        assert found[0] == outcome and text in found[1]
        assert found[2] == ([20, 3] if status == 200 else None)

    def test_log_probabilities_and_no_connection_but_the_one_asked_for(self) -> None:
        script = """
import asyncio, json, sys
seen = []
sys.addaudithook(lambda event, given: seen.append(given[1]) if event == "socket.connect" else None)
names = []
sys.addaudithook(lambda event, given: names.append(given[0]) if event == "socket.getaddrinfo" else None)
from tiltmeter import registry
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import Message, Request, Sampling
async def go():
    model = make_model("litellm:openai/planted", ModelOptions(base_url=sys.argv[1]))
    await model.open()
    before = len(seen)
    asked = Request(model.name, (Message("user", "Option 1: he\\nOption 2: she"),), Sampling(1.0, 1.0, 1), logprobs=20)
    reply = await model.ask(asked)
    await model.close()
    print(json.dumps([before, [str(each) for each in seen], [str(n) for n in names], len(reply.alternatives[0]), reply.outcome]))
asyncio.run(go())
"""
        with serving("she=0.7") as url:
            done = subprocess.run(
                [sys.executable, "-c", script, url], capture_output=True, text=True, timeout=300
            )
        assert done.returncode == 0, done.stderr
        before, seen, names, alternatives, outcome = json.loads(done.stdout.splitlines()[-1])
        assert before == 0 and outcome == "answer" and alternatives > 1
        assert all("127.0.0.1" in address for address in [*seen, *names]), (seen, names)
