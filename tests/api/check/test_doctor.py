"""`doctor` says what is there, what is missing and what to type, and never what a key is."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import planted_server
from tiltmeter.api.check import doctor
from tiltmeter.cli import main
from tiltmeter.models.providers import litellm
from tiltmeter.models.table import VARIABLE

SECRET = "sk-0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    own = tmp_path / "models.toml"
    own.write_text("", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(own))


@pytest.fixture
def server() -> Iterator[str]:
    """The base URL of a planted model over loopback."""
    with planted_server("she=0.7,refuses=seed") as url:
        yield url


def by_name(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, dict[str, Any]]]:
    code = main(["doctor", "--json", *arguments])
    return code, {
        finding["name"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]
    }


def nowhere() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def test_a_litellm_that_steals_keys_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    for number, fine in (("1.82.8", False), ("1.83.0", True)):
        monkeypatch.setattr(litellm, "version", lambda name, number=number: number)
        code, found = by_name([], capsys)
        assert found["litellm"]["ok"] is fine and code == (0 if fine else 1)
        assert ("steals keys" in found["litellm"]["said"]) is not fine


def test_a_bare_machine_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = by_name([], capsys)
    assert code == 0
    assert (
        found["Python"]["ok"]
        and found["libraries"]["ok"]
        and "aiohttp" in found["libraries"]["said"]
    )
    assert found["openai"]["ok"] is None and found["openai"]["type"] == "export OPENAI_API_KEY=…"
    assert found["weights"]["ok"] is None and "tiltmeter run" in found["weights"]["type"]


def test_keys_are_named_and_never_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("GOOGLE_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{SECRET}\u00a0x")
    assert main(["doctor"]) == 1  # a key that can be none is wrong
    shown = capsys.readouterr().out
    assert "OPENAI_API_KEY is set" in shown and "GOOGLE_API_KEY is set" in shown
    assert "ANTHROPIC_API_KEY contains a blank" in shown
    assert not [at for at in range(len(SECRET) - 7) if SECRET[at : at + 8] in shown]


def test_a_part_that_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "OPTIONAL_MODULES", (("reading tea leaves", "tealeaves", "tea"),))
    code, found = by_name([], capsys)
    assert code == 0 and found["tealeaves"]["ok"] is None
    assert found["tealeaves"]["type"] == "pip install '.[tea]'"


def test_a_wrong_table_of_ones_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('["openai:x"]\nprize = 1\n', encoding="utf-8")
    code, found = by_name([], capsys)
    assert code == 1 and "Did you mean 'price'" in found["table"]["said"]


def test_a_model_that_answers(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = by_name(["--model", "openai:planted", "--base-url", server], capsys)
    assert code == 0 and f"{server} answers" in found["openai:planted"]["said"]
    code, found = by_name(["--model", "openai:planted", "--base-url", server, "--call"], capsys)
    assert code == 0
    assert (
        found["openai:planted"]["said"].startswith("answered in ")
        and "as planted" in found["openai:planted"]["said"]
    )


@pytest.mark.parametrize("more", [[], ["--call"]])
def test_a_server_that_is_not_there(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, found = by_name(["--model", "openai:x", "--base-url", nowhere(), *more], capsys)
    assert code == 1 and "Nothing answers at" in found["openai:x"]["said"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:gpt-4.1-mini", "export OPENAI_API_KEY"),
        ("anthropic:claude-haiku-4-5", "export ANTHROPIC_API_KEY"),
        ("gemini:gemini-3.5-flash", "export GEMINI_API_KEY"),
        ("openai:dall-e-3", "was retired on 2026-05-12"),
        ("opnai:x", "Did you mean 'openai'"),
    ],
)
def test_what_a_model_lacks(model: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = by_name(["--model", model], capsys)
    assert code == 1 and said in found[model]["said"]


def test_a_model_in_process(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = by_name(["--model", "planted:she=1", "--call"], capsys)
    assert code == 0 and "as planted" in found["planted:she=1"]["said"]


def test_the_built_in_model_without_its_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "xllamacpp" else object())
    monkeypatch.setattr(doctor, "OPTIONAL_MODULES", ())
    code, found = by_name(["--model", "builtin"], capsys)
    assert code == 1 and "pip install '.[builtin]'" in found["builtin"]["said"]
