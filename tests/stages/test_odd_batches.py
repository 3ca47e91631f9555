"""Runs by batch, from the command line, against local providers that are odd; what is sent, held by the SDKs' types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from tests.batches.provider import Oddities, read_requests
from tests.batches.server import FORMATS, BatchServer
from tests.serving import serving
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.stages.batches import steps
from tiltmeter.store import Store

SETTINGS = "she=.7,agree=.9"
LATER = 5  # the command left with batches out
OWN_SERVERS = {
    "top_k",
    "min_p",
    "chat_template_kwargs",
}  # are sent where the address is not OpenAI's


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LATE_LIST_S", 0.0)
    for format_ in (*FORMATS, "azure_openai"):
        monkeypatch.setenv(f"{format_.upper()}_API_KEY", "key-of-no-provider")


class Run(dict[str, Any]):
    """What a command printed as JSON. code: how it ended; err: what it said."""

    code: int
    err: str


class Desk:
    """A provider, and commands that ask it."""

    def __init__(self, server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
        self.server, self.capsys, self.format = server, capsys, server.format

    def run(self, out: Path, *more: str, samples: int = 2) -> Run:
        """`run roles` with a subject and a judge of the format."""
        name = next(name for name, made in FORMATS.items() if type(self.format) is made)
        url = self.server.host if name == "azure" else self.server.url
        plan = ["--language", "en", "--limit", "3", "--samples", str(samples)]
        models = ["--model", f"{name}:planted", "--judge", f"{name}:judge"]
        reach = ["--base-url", f"{name}={url}", "--out", str(out), "--json"]
        code = main(["run", "roles", *models, *plan, *reach, *more])
        said = self.capsys.readouterr()
        found = Run(json.loads(said.out) if said.out.startswith("{") else {})
        found.code, found.err = code, said.err
        return found

    def batch(self, out: Path, *more: str, samples: int = 2) -> Run:
        """The same by batch, waiting for it."""
        return self.run(out, "--batch", "--wait", "--poll", "0.01", *more, samples=samples)


def stored(out: Path) -> list[tuple[Any, ...]]:
    """Outputs and labels, in order."""
    with Store(out) as store:
        return [
            *store.rows("SELECT trial, outcome, text, blob FROM outputs ORDER BY 1"),
            *store.rows(
                "SELECT output, annotator, attribute, position, value FROM labels ORDER BY 1, 2, 3, 4"
            ),
        ]


def estimates(run: Run) -> list[Mapping[str, Any]]:
    return [{key: row[key] for key in row if key != "run"} for row in run["estimates"]]


ODD: dict[str, dict[str, int]] = {
    "openai": {"missing": 3, "failing": 4, "lost_replies": 2, "others": 3, "page": 1},
    "azure": {"queue_full": 1, "filtered": 3},
    "groq": {"expired": 1, "looks": 1, "doubled": 2},
    "mistral": {"cancelled": 1, "lost_replies": 1, "others": 3, "page": 2},
    "together": {"lost_replies": 1, "others": 1, "failing": 3},
    "anthropic": {"lost_replies": 1, "others": 3, "page": 2, "doubled": 2, "failing": 2},
    "gemini": {"expired": 1, "lost_replies": 1, "others": 3, "page": 2, "doubled": 2},
}


@pytest.mark.parametrize("format_", FORMATS)
def test_labels_and_estimates_are_the_same_with_and_without(
    format_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However odd the provider is, and nothing is billed twice."""
    samples = 1 if format_ == "anthropic" else 2  # without a seed a second one is another draw
    server = BatchServer(format_, SETTINGS, Oddities(**ODD[format_]))
    with serving(server):
        desk = Desk(server, capsys)
        one = desk.run(tmp_path / "one", samples=samples)
        assert one.code == 0 and not server.ledger.created
        server.forget()
        two = desk.batch(tmp_path / "two", samples=samples)
        if "missing" in ODD[format_]:  # may be paid for: asked again only if that is typed
            assert two.code == 1 and "--pay-again" in two.err
            assert desk.batch(tmp_path / "two", samples=samples).code == 1
            for _ in range(2):  # the subject, then the judge
                two = desk.batch(tmp_path / "two", "--pay-again", samples=samples)
        ledger = server.ledger
    assert (two.code, ledger.complaints) == (0, []), two.err
    assert len(ledger.created) >= 2  # of the subject and of the judge
    assert ledger.as_dict()["most"] == 1
    assert sum(ledger.batched.values()) > sum(ledger.singles.values())
    assert stored(tmp_path / "one") == stored(tmp_path / "two")
    assert json.dumps(estimates(one)) == json.dumps(estimates(two))
    if "filtered" in ODD[format_]:
        assert any(row[1] == "refusal" for row in stored(tmp_path / "two"))


def sent(server: BatchServer) -> list[dict[str, Any]]:
    """The bodies of all lines that came."""
    return [body for batch in server.provider.batches.values() for _, body in read_requests(batch.requests)]  # fmt: skip


def checked(params: Any, body: Mapping[str, Any]) -> None:
    """Fails where a body is not of an SDK's type, or has a field that the type does not know."""
    pydantic = pytest.importorskip("pydantic")
    pydantic.TypeAdapter(params).validate_python(body)
    assert body.keys() - OWN_SERVERS <= get_type_hints(params).keys()


def test_what_is_sent_is_of_openai_s_types(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "the SDK openai is not installed"
    create = pytest.importorskip("openai.types.batch_create_params", reason=reason)
    chat = pytest.importorskip("openai.types.chat.completion_create_params")
    server = BatchServer("openai", SETTINGS)
    with serving(server):
        Desk(server, capsys).batch(tmp_path / "run", samples=1)
        for body in sent(server):
            checked(chat.CompletionCreateParamsNonStreaming, body)
        for batch in server.provider.batches.values():
            checked(create.BatchCreateParams, batch.named)
        assert len(sent(server)) > 6


def test_what_is_sent_is_of_anthropic_s_types(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "the SDK anthropic is not installed"
    create = pytest.importorskip("anthropic.types.messages.batch_create_params", reason=reason)
    server = BatchServer("anthropic", SETTINGS)
    with serving(server):
        Desk(server, capsys).batch(tmp_path / "run", samples=1)
        for batch in server.provider.batches.values():
            lines = list(read_requests(batch.requests))
            requests = [{"custom_id": name, "params": body} for name, body in lines]
            checked(create.BatchCreateParams, {"requests": requests})
        assert len(sent(server)) > 6


def test_a_batch_that_is_refused_whole_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = BatchServer("openai", SETTINGS, Oddities(invalid=1))
    with serving(server):
        desk = Desk(server, capsys)
        run = desk.batch(tmp_path / "run")
        assert run.code == 1
        assert "refused a whole batch" in run.err
        assert "The model does not know this parameter." in run.err.splitlines()[-1]
        assert not server.ledger.batched and not stored(tmp_path / "run")
        assert [job.state for job in api.jobs(tmp_path / "run")] == ["written off"]
        assert desk.batch(tmp_path / "run").code == 0  # the next is taken
        assert server.ledger.as_dict()["most"] == 1


def test_a_batch_that_vanishes_is_asked_again_only_if_that_is_typed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = BatchServer("openai", SETTINGS, Oddities(vanish=1, looks=3))
    with serving(server):
        desk = Desk(server, capsys)
        run = desk.batch(tmp_path / "run")
        assert run.code == 1 and "may be paid" in run.err and "--pay-again" in run.err
        before = len(stored(tmp_path / "run"))
        assert desk.batch(tmp_path / "run").code == 1
        assert main(["jobs", str(tmp_path / "run"), "--money"]) == 0
        assert "possibly paid  openai:planted" in capsys.readouterr().out
        assert desk.batch(tmp_path / "run", "--pay-again").code == 0
        assert len(stored(tmp_path / "run")) > before


def test_a_batch_that_never_ends_is_left_and_come_back_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = BatchServer("openai", SETTINGS, Oddities(endless=1, looks=1))
    with serving(server):
        desk = Desk(server, capsys)
        for _ in range(3):
            run = desk.run(tmp_path / "run", "--batch", "--poll", "0.01")
            assert run.code == LATER and "Come back" in run.err
        assert len(server.ledger.created) == 1
