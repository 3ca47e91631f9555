"""What a server says of itself is kept, and a change within a run is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.models.kinds import serves_asked
from tiltmeter.records import Message, Reply, Request
from tiltmeter.store import Store
from tiltmeter.store.served_models import Served, between, read_served, warnings


def told(folder: Path, *calls: tuple[str, str, str]) -> list[str]:
    """Warnings of a run with calls of (model, served name, fingerprint)."""
    with Store(folder, create=True, writing=True) as store:
        store.write(
            [
                (
                    Request(model, (Message("user", "?"),), nonce=str(number)),
                    Reply("she", served=name, fingerprint=print_),
                )
                for number, (model, name, print_) in enumerate(calls)
            ],
            [],
            [],
        )
        assert sum(row.calls for row in read_served(store)) == sum(
            bool(name or print_) for _, name, print_ in calls
        )
        return warnings(store, serves_asked)


def test_one_name_and_one_fingerprint_is_no_warning(tmp_path: Path) -> None:
    same = ("openai:gpt-4o", "gpt-4o-2024-08-06", "fp_1")
    assert (
        told(tmp_path, same, same, ("openai:other", "other", ""), ("openai:silent", "", "")) == []
    )


def test_two_names_are_one_warning_with_counts(tmp_path: Path) -> None:
    (line,) = told(
        tmp_path,
        ("openai:gpt-4o", "gpt-4o-2024-08-06", "fp_1"),
        ("openai:gpt-4o", "gpt-4o-2024-11-20", "fp_2"),
        ("openai:gpt-4o", "gpt-4o-2024-11-20", "fp_2"),
    )
    assert (
        "openai:gpt-4o was served by 2 models" in line and "gpt-4o-2024-11-20 fp_2 (2 calls" in line
    )


def test_two_fingerprints_are_a_warning(tmp_path: Path) -> None:
    (line,) = told(
        tmp_path, ("openai:gpt-4o", "gpt-4o", "fp_1"), ("openai:gpt-4o", "gpt-4o", "fp_2")
    )
    assert "2 system fingerprints" in line


@pytest.mark.parametrize(
    ("model", "name", "warned"),
    [
        ("gemini:gemini-2.5-flash", "gemini-3.5-flash-lite", True),
        ("gemini:gemini-2.5-flash", "gemini-2.5-flash", False),
        ("anthropic:claude-haiku-4-5", "claude-haiku-4-5-20251001", False),
        ("anthropic:claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", False),
        (
            "openai:mine",
            "/srv/models/mine.gguf",
            False,
        ),  # servers of one's own name models as they like
    ],
)
def test_another_model_in_its_place(model: str, name: str, warned: bool, tmp_path: Path) -> None:
    found = told(tmp_path, (model, name, ""))
    assert bool(found) is warned
    if warned:
        assert f"{model} was asked and {name} answered" in found[0]


OLD, NEW = "2026-11-01T10:00:00+00:00", "2026-11-20T09:00:00+00:00"


def test_between_two_runs_names_come_before_fingerprints() -> None:
    whose = ("in a", "in b")
    a = [
        Served("openai:x", "x-1", "fp_1", 10, OLD, OLD),
        Served("openai:only-a", "y", "", 1, OLD, OLD),
    ]
    b = [Served("openai:x", "x-2", "fp_2", 7, NEW, NEW)]
    assert between(a, b, whose) == [
        "openai:x was served by x-1 fp_1 (10 calls, 2026-11-01 to 2026-11-01) in a and "
        "x-2 fp_2 (7 calls, 2026-11-20 to 2026-11-20) in b. Their answers are not of one subject."
    ]
    (line,) = between(a, [Served("openai:x", "x-1", "fp_2", 7, NEW, NEW)], whose)
    assert (
        line.startswith("openai:x had another system fingerprint: x-1 fp_1")
        and "changed something between" in line
    )
    assert between(a, [Served("openai:x", "x-1", "fp_1", 7, NEW, NEW)], whose) == []
    assert (
        between(a, [Served("openai:x", "", "", 7, NEW, NEW)], whose) == []
    )  # a server that says nothing
    assert between(a, [], whose) == between([], b, whose) == []


def days(folder: Path, *calls: tuple[str, str, str]) -> list[str]:
    """Warnings of a run with calls of (day, served name, fingerprint)."""
    with Store(folder, create=True, writing=True) as store:
        for number, (_, name, print_) in enumerate(calls):
            asked = Request("openai:x", (Message("user", "?"),), nonce=str(number))
            store.write([(asked, Reply("she", served=name, fingerprint=print_))], [], [])
        for number, (day, _, _) in enumerate(calls, 1):
            list(
                store.rows(
                    "UPDATE packed_calls SET date = ? WHERE n = ?",
                    (f"{day}T12:00:00.000+00:00", number),
                )
            )
        return warnings(store, serves_asked)


def test_a_run_that_went_on_on_another_day_with_another_model(tmp_path: Path) -> None:
    (line,) = days(
        tmp_path, ("2026-11-01", "x-1", ""), ("2026-11-02", "x-1", ""), ("2026-11-20", "x-2", "")
    )
    assert "x-1 (2 calls, 2026-11-01 to 2026-11-02) until 2026-11-02" in line
    assert "x-2 (1 call, 2026-11-20 to 2026-11-20) since 2026-11-20, when the run went on" in line


@pytest.mark.parametrize(
    "calls",
    [
        [("2026-11-01", "x-1", ""), ("2026-11-01", "x-2", "")],  # one day
        [
            ("2026-11-01", "x-1", ""),
            ("2026-11-20", "x-2", ""),
            ("2026-11-21", "x-1", ""),
        ],  # back again
    ],
)
def test_what_is_no_clean_cut_is_a_change_within(
    calls: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    (line,) = days(tmp_path, *calls)
    assert "served by 2 models within this run" in line


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
