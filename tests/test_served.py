"""What a server says of itself is kept, and a change within a run is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.records import Message, Reply, Request
from tiltmeter.served import served, warnings
from tiltmeter.store import Store


def told(folder: Path, *calls: tuple[str, str, str]) -> list[str]:
    """Warnings of a run with calls of (model, served name, fingerprint)."""
    with Store(folder, create=True, writing=True) as store:
        store.write([(Request(model, (Message("user", "?"),), nonce=str(number)), Reply("she", served=name, fingerprint=print_))
                     for number, (model, name, print_) in enumerate(calls)], [], [])  # fmt: skip
        assert sum(row.calls for row in served(store)) == sum(bool(name or print_) for _, name, print_ in calls)
        return warnings(store)


def test_one_name_and_one_fingerprint_is_no_warning(tmp_path: Path) -> None:
    same = ("openai:gpt-4o", "gpt-4o-2024-08-06", "fp_1")
    assert told(tmp_path, same, same, ("openai:other", "other", ""), ("openai:silent", "", "")) == []


def test_two_names_are_one_warning_with_counts(tmp_path: Path) -> None:
    (line,) = told(tmp_path, ("openai:gpt-4o", "gpt-4o-2024-08-06", "fp_1"), ("openai:gpt-4o", "gpt-4o-2024-11-20", "fp_2"),
                   ("openai:gpt-4o", "gpt-4o-2024-11-20", "fp_2"))  # fmt: skip
    assert "openai:gpt-4o was served by 2 models" in line and "gpt-4o-2024-11-20 fp_2 (2 calls" in line


def test_two_fingerprints_are_a_warning(tmp_path: Path) -> None:
    (line,) = told(tmp_path, ("openai:gpt-4o", "gpt-4o", "fp_1"), ("openai:gpt-4o", "gpt-4o", "fp_2"))
    assert "2 system fingerprints" in line


@pytest.mark.parametrize(
    ("model", "name", "warned"),
    [
        ("gemini:gemini-2.5-flash", "gemini-3.5-flash-lite", True),
        ("gemini:gemini-2.5-flash", "gemini-2.5-flash", False),
        ("anthropic:claude-haiku-4-5", "claude-haiku-4-5-20251001", False),
        ("anthropic:claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", False),
        ("openai:mine", "/srv/models/mine.gguf", False),  # servers of one's own name models as they like
    ],
)
def test_another_model_in_its_place(model: str, name: str, warned: bool, tmp_path: Path) -> None:
    found = told(tmp_path, (model, name, ""))
    assert bool(found) is warned
    if warned:
        assert f"{model} was asked and {name} answered" in found[0]


def test_the_command_line_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    api.run("roles", "planted:", run, limit=3, samples=1, language="en")
    assert main(["analyse", str(run)]) == 0
    assert "fingerprint" not in capsys.readouterr().err
    with Store(run, writing=True) as store:
        asked = Request("planted:", (Message("user", "?"),), nonce="later")
        store.write([(asked, Reply("she", served="planted", fingerprint="tilt-9"))], [], [])
    assert main(["analyse", str(run)]) == 0
    assert "warning: planted: had 2 system fingerprints" in capsys.readouterr().err
