"""One model on several servers."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from pathlib import Path

import pytest

import tiltmeter
from tests.serving import planted_server
from tiltmeter.cli import main
from tiltmeter.errors import ModelError, TransientError, UsageError
from tiltmeter.models import Model, Queued
from tiltmeter.models import servers as module
from tiltmeter.models.servers import Servers
from tiltmeter.records import Reply, Request
from tiltmeter.store import Store
from tiltmeter.store.queries import calls

ASKED = Request("openai:x", ())


class Stub(Model):
    """Answers after a while, or with the errors that it is given, one a call."""

    name = "openai:x"

    def __init__(
        self, *errors: Exception | None, seconds: float = 0.0, served: str = "x-1"
    ) -> None:
        self.errors, self.seconds, self.served = list(errors), seconds, served
        self.calls = 0

    async def ask(self, request: Request) -> Reply:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return Reply("he", served=self.served)


def made(*models: Model) -> Servers:
    return Servers(models, [f"http://node{n}/v1" for n in range(1, len(models) + 1)])


def ask(model: Servers, times: int) -> Counter[int]:
    """Server → replies, of so many requests one after another."""

    async def work() -> Counter[int]:
        return Counter([(await model.ask(ASKED)).server for _ in range(times)])

    return asyncio.run(work())


def test_the_one_with_the_fewest_in_flight_is_asked() -> None:
    quick, slow = Stub(seconds=0.002), Stub(seconds=0.05)
    model = made(quick, slow)

    async def work() -> None:
        places = asyncio.Semaphore(4)

        async def one() -> None:
            async with places:
                await model.ask(ASKED)

        await asyncio.gather(*(one() for _ in range(60)))

    asyncio.run(work())
    assert quick.calls + slow.calls == 60 and quick.calls > 4 * slow.calls
    assert ask(made(Stub(), Stub(), Stub()), 6) == {1: 2, 2: 2, 3: 2}


def test_one_that_fails_is_left_out_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    broken = Stub(TransientError("HTTP 503"), TransientError("HTTP 503", retry_after=7.0))
    model = made(broken, Stub())
    assert ask(model, 10) == {2: 10} and broken.calls == 1
    now[0] += 1.1  # the first pause is over; it fails again, and says for how long
    assert ask(model, 10) == {2: 10} and broken.calls == 2
    now[0] += 6.5
    assert ask(model, 3) == {2: 3}
    now[0] += 1.0
    assert ask(model, 4) == {1: 2, 2: 2}


def test_what_may_be_paid_for_is_left_to_the_engine() -> None:
    late = Stub(TransientError("did not answer", possibly_paid=True))
    other = Stub()
    model = made(late, other)
    with pytest.raises(TransientError):
        ask(model, 1)
    assert other.calls == 0 and ask(model, 1) == {2: 1}


def test_an_outage_is_one_failure_however_much_was_in_flight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    down = Stub(*[TransientError("HTTP 503")] * 8)
    model = made(down, Stub())

    async def work() -> None:
        await asyncio.gather(*(model.ask(ASKED) for _ in range(16)))

    asyncio.run(work())
    assert down.calls == 8
    now[0] += 1.1  # the first pause is a second, not the longest
    assert ask(model, 4) == {1: 2, 2: 2}


def test_the_error_that_passes_soonest_is_told_where_all_fail() -> None:
    wrong, soon = ModelError("key of the second"), TransientError("HTTP 429", retry_after=2.0)
    with pytest.raises(ModelError, match="key of the second"):
        ask(made(Stub(ModelError("no")), Stub(wrong)), 1)
    late = TransientError("HTTP 503", retry_after=60.0)
    for errors in ((soon, late), (late, soon), (soon, wrong), (wrong, soon)):
        with pytest.raises(TransientError) as caught:
            ask(made(*map(Stub, errors)), 1)
        assert caught.value.retry_after == 2.0


def test_servers_of_two_models_are_named() -> None:
    with pytest.raises(ModelError, match=r"http://node2/v1 serves openai:x as b and .* as a:"):
        ask(made(Stub(served="a"), Stub(served="b")), 2)
    model = made(Stub(served="a"), Stub(served="b"))
    ask(model, 1)
    for _ in range(2):  # each reply of the other one, not its first alone
        model._last = 1
        with pytest.raises(ModelError, match=r"as b and .* as a:"):
            ask(model, 1)


def test_work_that_is_handed_in_stays_with_one_server() -> None:
    class Handed(Queued):
        name = "bfl:flux"

    with pytest.raises(UsageError, match="once"):
        made(Handed(), Handed())


def test_a_run_is_shared_and_says_by_whom(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    with socket.socket() as reserved:  # nobody listens there
        reserved.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        with planted_server("latency=0.01") as one, planted_server("latency=0.01") as two:
            typed = ["run", "roles", "--language", "en", "--model", "openai:planted"]
            typed += ["--limit", "8", "--samples", "2", "--out", str(out)]
            for url in (one, dead, two, two):
                typed += ["--base-url", url]
            assert main(typed) == 0
    with Store(out) as store:
        shares = {server: number for *_, server, number in calls.by_server(store)}
        answers = len(list(store.iter_outputs()))
    assert set(shares) == {1, 3} and sum(shares.values()) == answers == 32
    assert min(shares.values()) > 8
    page = (out / "report.html").read_text("utf-8")
    assert f"server 1 ({shares[1]} calls), server 3 ({shares[3]} calls)" in page
    assert one not in (out / "run.sqlite").read_bytes().decode("latin-1")
    assert "unanswered" not in capsys.readouterr().err
    tiltmeter.merge([out], tmp_path / "all")
    with Store(tmp_path / "all") as store:
        assert {server: number for *_, server, number in calls.by_server(store)} == shares


def test_a_batch_goes_to_one_server(tmp_path: Path) -> None:
    urls = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    with pytest.raises(UsageError, match="A batch goes to one server"):
        tiltmeter.run("roles", "openai:x", tmp_path / "run", base_url=urls, batch=True)
