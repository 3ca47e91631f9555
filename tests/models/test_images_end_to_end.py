"""Audits of pictures by the command line, on local servers that draw: outcomes as they are stored, and a process that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.existing.test_folder import GUARDS
from tests.models.studios import KEY, PNG, BflStudio, OpenAIStudio, ReplicateStudio, Studio
from tests.serving import serving
from tiltmeter.cli import main
from tiltmeter.models.http import queue
from tiltmeter.store import Store


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "BFL_API_KEY", "REPLICATE_API_TOKEN"):
        monkeypatch.setenv(name, KEY)
    Path("guards.toml").write_text(GUARDS, encoding="utf-8")


def rows(query: str) -> list[Any]:
    with Store("run") as store:
        return list(store.rows(query))


def audit(kind: str, name: str, url: str, *more: str) -> list[str]:
    return [
        "run",
        "guards.toml",
        "--model",
        f"{kind}:{name}",
        "--base-url",
        f"{kind}={url}",
        "--out",
        "run",
        *more,
    ]


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 600
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("kind", "name", "made"),
    [("bfl", "flux-2-pro", BflStudio), ("replicate", "owner/name", ReplicateStudio)],
)
def test_killed_while_it_waits_nothing_is_paid_twice(
    kind: str, name: str, made: type[Studio]
) -> None:
    studio = made(polls=4)
    with serving(studio) as url:
        command = [
            sys.executable,
            "-m",
            "tiltmeter",
            *audit(kind, name, url, "--samples", "4", "--concurrency", "4"),
        ]
        for number in range(3):
            before = dict(studio.looks)
            with subprocess.Popen(
                command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=os.environ
            ) as process:
                # a look at a piece of work says that its id is stored
                wait_until(
                    lambda seen=before: (
                        sum(studio.looks.get(each, 0) > seen.get(each, 0) for each in studio.looks)
                        == 4
                    )
                )  # type: ignore[misc]
                process.send_signal(signal.SIGKILL)
            assert len(studio.submitted) == 4, f"kill {number + 1}"
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert len(studio.submitted) == 8 and studio.fetches == 8
    assert rows("SELECT outcome, count(*) FROM outputs GROUP BY 1") == [("answer", 8)]
    assert rows("SELECT count(DISTINCT remote_id), min(remote_id) > '' FROM calls") == [(8, 1)]
    assert KEY.encode() not in Path("run/run.sqlite").read_bytes()


def test_no_more_work_at_once_than_the_provider_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "FIRST_PAUSE_SECONDS", 0.05)
    studio = BflStudio(polls=3)
    studio.filling = True
    with serving(studio) as url:
        assert main(audit("bfl", "flux-2-pro", url, "--samples", "40", "--concurrency", "60")) == 0
    assert len(studio.submitted) == studio.ended == 80 and studio.most == 24


def test_stopped_while_it_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Work that does not end leaves its trials open; the same command waits for it again and hands nothing in."""
    studio = BflStudio("never")
    with serving(studio) as url:
        with monkeypatch.context() as impatient:  # with work; a request has all its time
            impatient.setattr(queue, "PATIENCE_TIMEOUTS", 0)
            for _ in range(2):
                assert main(audit("bfl", "flux-2-pro", url)) == 1
                assert "to wait longer" in capsys.readouterr().err
        studio.does = ""
        assert main(audit("bfl", "flux-2-pro", url)) == 0
    assert len(studio.submitted) == 4 and rows(
        "SELECT count(*) FROM outputs WHERE outcome = 'answer'"
    ) == [(4,)]


@pytest.mark.parametrize(
    ("does", "outcome", "said", "suffix", "content"),
    [
        ("", "answer", "", ".png", PNG),
        ("refuse", "refusal", "safety system", "", b""),
        ("picture/html", "error", "web page", ".bin", b"<html>Please sign in</html>"),
        ("picture/broken", "error", "breaks off", ".bin", PNG[:70]),
        ("picture/gone", "error", "it has expired", "", b""),
    ],
)
def test_outcomes_as_they_are_stored(
    does: str, outcome: str, said: str, suffix: str, content: bytes
) -> None:
    with serving(OpenAIStudio(does)) as url:
        assert main(audit("openai", "gpt-image-2", url, "--samples", "1")) == 0
    for found, text, blob in rows("SELECT outcome, text, blob FROM outputs"):
        assert found == outcome and said in text and Path(blob).suffix == suffix
        with Store("run") as store:
            assert (store.blob(blob) if blob else b"") == content
    omitted = {row[0] for row in rows("SELECT omitted FROM calls")}
    assert omitted == {'["response_format", "seed"]'} or outcome == "refusal"
    if does.startswith("picture"):
        assert rows("SELECT DISTINCT revised FROM calls") == [
            ("A friendly guard at a gate, in watercolour",)
        ]


def test_a_model_that_writes_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "guards.toml", "--model", "openai:gpt-4.1-mini", "--out", "run"]) == 1
    assert (
        "writes text, but pictures are asked for. Name a model that makes"
        in capsys.readouterr().err
    )
    assert (
        main(["run", "roles", "--model", "bfl:flux-2-pro", "--limit", "2", "--out", "other"]) == 1
    )
    assert (
        "makes pictures, but text is asked for. Name a model that writes" in capsys.readouterr().err
    )
