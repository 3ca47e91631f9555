"""Providers that lie for a while (tests/batches/lies.py): nothing is billed twice, no answer is lost, no run is stuck."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.batches.lies import LIES, Liar, Lie
from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tiltmeter import api
from tiltmeter.errors import TiltmeterError
from tiltmeter.models.batch import wire
from tiltmeter.models.http import connection
from tiltmeter.stages.batches import steps
from tiltmeter.store import Store

SETTINGS, KIND = "she=.7,seed=3", "planted"
COMMANDS = 15  # of which the last must have ended well
KEYS = ("OPENAI", "AZURE_OPENAI", "GROQ", "MISTRAL", "TOGETHER", "ANTHROPIC", "GEMINI")


@pytest.fixture(autouse=True)
def _provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LATE_LIST_S", 0.02)
    for name in KEYS:
        monkeypatch.setenv(f"{name}_API_KEY", "k1234567890")


def ask(format_: str, server: BatchServer, out: Path, **options: object) -> str:
    """A command; why it did not end well, "" if it did."""
    url = server.host if format_ == "azure" else server.url
    given = {"language": "en", "limit": 3, "samples": 1, "batch": True, "patience": 0.5}
    waiting = {"wait": True, "poll": 0.001, "base_urls": {format_: url}, "pilot": False}
    try:
        run = api.run("roles", f"{format_}:{KIND}", out, **{**given, **waiting, **options})  # type: ignore[arg-type]
    except TiltmeterError as error:
        return str(error)
    return "" if run.outputs.height == 6 else f"{run.outputs.height} outputs"


def answers(out: Path) -> list[tuple[str, ...]]:
    with Store(out) as store:
        return sorted(store.rows("SELECT trial, outcome, text FROM outputs"))


def harm(format_: str, lie: Lie, out: Path, truth: list[tuple[str, ...]]) -> str:
    """The harm that a lie does; "" if it does none."""
    server = BatchServer(format_, SETTINGS, Oddities(looks=2))
    said: list[str] = []
    with serving(server):
        server.liar = Liar(lie)
        for _ in range(COMMANDS):
            said.append(ask(format_, server, out))
            if not said[-1]:
                break
        ledger = server.ledger
    most = max((ledger.batched + ledger.singles).values(), default=0)
    made = len(ledger.created)
    if said[-1]:
        return f"stuck: {said[-1][:300]}"
    if most > 1 or made > 1:
        return f"billed {most} times, {made} batches"
    if answers(out) != truth:
        return "answers lost"
    return "" if server.liar.told else "never told"


@pytest.mark.parametrize("format_", LIES)
def test_a_lie_costs_nothing_and_loses_nothing(format_: str, tmp_path: Path) -> None:
    honest = BatchServer(format_, SETTINGS, Oddities(looks=2))
    with serving(honest):
        assert not ask(format_, honest, tmp_path / "honest")
    truth = answers(tmp_path / "honest")
    harms = {
        lie.name: done
        for number, lie in enumerate(LIES[format_])
        if (done := harm(format_, lie, tmp_path / str(number), truth))
    }
    print(json.dumps(harms, indent=1))
    assert not harms


FORMATS = [
    "openai",
    "anthropic",
    *(pytest.param(one, marks=pytest.mark.slow) for one in ("mistral", "gemini")),
]


@pytest.mark.parametrize("ahead_s", [600, -600])
@pytest.mark.parametrize("format_", FORMATS)
def test_a_clock_that_is_wrong_finds_a_batch_whose_receipt_was_lost(
    format_: str, ahead_s: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten minutes ahead, and behind: the provider's own time says since when to look."""

    class Shifted(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=ahead_s)

    shifted = SimpleNamespace(**{**vars(time), "time": lambda: time.time() + ahead_s})
    monkeypatch.setattr(wire, "datetime", Shifted)
    monkeypatch.setattr(connection, "time", shifted)
    server = BatchServer(format_, SETTINGS, Oddities(looks=2, lost_replies=1))
    with serving(server):
        said = [ask(format_, server, tmp_path / "run") for _ in range(4)]
        ledger = server.ledger
    assert said[-1] == ""
    assert len(ledger.created) == 1
    assert max((ledger.batched + ledger.singles).values()) == 1


@pytest.mark.parametrize("ahead_s", [31 * 10**6, -31 * 10**6])
@pytest.mark.parametrize("format_", FORMATS)
def test_a_provider_s_clock_that_is_wrong_once_finds_a_batch_whose_receipt_was_lost(
    format_: str, ahead_s: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A year ahead when the batch is sent: it is older than that in the list, and its age is below zero for a year."""
    server = BatchServer(format_, SETTINGS, Oddities(looks=2, lost_replies=1))

    def offset_s(self: connection.Connection) -> float:
        return 0.0 if server.ledger.created else ahead_s

    monkeypatch.setattr(connection.Connection, "clock_offset_s", property(offset_s))
    with serving(server):
        said = [ask(format_, server, tmp_path / "run") for _ in range(4)]
        ledger = server.ledger
    assert said[-1] == ""
    assert len(ledger.created) == 1
    assert max((ledger.batched + ledger.singles).values()) == 1


def test_a_date_that_no_clock_has_is_not_believed() -> None:
    """The year 9999, from which no second can be counted."""
    one = connection.Connection("openai:m", "http://127.0.0.1:9/v1")
    one._dated = "Fri, 31 Dec 9999 23:59:59 GMT", time.time()
    assert one.clock_offset_s is None
