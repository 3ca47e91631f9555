"""Servers that are full, broken, away or closed to us, over HTTP: each goes on or ends as the docs say
(docs/explanation/how-it-works.md, the engine). Waits of our own are a 25th of the usual ones.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from aiohttp import web

import tiltmeter
from tests.serving import serving
from tiltmeter.errors import MissingKey, ModelError
from tiltmeter.stages.engine import retries
from tiltmeter.store import Store

GOOD = {
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "she"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 1},
}  # fmt: skip
Answer = Callable[[int, float], tuple[int, object, dict[str, str]] | None]
QUESTIONS = 4  # at most, that a server is asked about itself before the trials
FULL = {"error": {"message": "Too many requests."}}


class Scripted:
    """Answers as it is told: (number of the request, seconds since the first) → status, body and
    headers, or None for a good reply.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer, self.asked, self.good, self.begun, self.url = answer, 0, 0, 0.0, ""
        self.times: list[float] = []

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        self.begun = self.begun or time.monotonic()
        self.asked += 1
        self.times.append(time.monotonic())
        said = self.answer(self.asked, time.monotonic() - self.begun)
        await asyncio.sleep(0.005)
        if said is None:
            self.good += 1
            return web.json_response(GOOD)
        status, body, headers = said
        if not status:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(body, status=status or 500, headers=headers)

    async def __aenter__(self) -> Scripted:
        self.runner = web.ServerRunner(web.Server(self.handle, access_log=None))
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.runner.cleanup()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(retries, "LONGEST_WAIT_S", 1.2)


def run(folder: Path, *servers: Scripted, patience: float = 1800.0) -> int:
    """Answers stored by a run of 92 trials."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        urls = [stack.enter_context(serving(server)) for server in servers]
        tiltmeter.run(
            "roles", "openai:m", folder / "run", language="en", limit=23, samples=1,
            base_url=urls, patience=patience, pilot=False,
        )  # fmt: skip
    with Store(folder / "run") as store:
        return int(store.first("SELECT count(*) FROM outputs")[0])


def trials(folder: Path) -> int:
    with Store(folder / "run") as store:
        return int(store.first("SELECT count(*) FROM trials")[0])


@pytest.mark.parametrize("status", [0, 429, 500, 503, 529])
def test_a_server_that_is_away_for_a_while_is_waited_for(tmp_path: Path, status: int) -> None:
    server = Scripted(lambda n, s: (status, FULL, {}) if n > 10 and s < 0.5 else None)
    assert run(tmp_path, server) == trials(tmp_path) > 30
    assert server.good <= trials(tmp_path) + QUESTIONS


@pytest.mark.slow
def test_a_server_that_is_away_for_two_minutes_is_waited_for(tmp_path: Path) -> None:
    server = Scripted(lambda n, s: (0, FULL, {}) if n > 10 and s < 120 else None)
    assert run(tmp_path, server) == trials(tmp_path) > 30
    assert server.times[-1] - server.times[0] >= 119


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("header", "least_s"),
    [("1", 1.0), ("date", 0.5), ("-3", 0.0), ("nan", 0.0), ("past", 0.0), ("soon", 0.0)],
)
def test_what_a_full_server_names_is_kept_if_it_is_a_time(
    tmp_path: Path, header: str, least_s: float
) -> None:
    def answer(number: int, seconds: float) -> tuple[int, object, dict[str, str]] | None:
        if number != 12:
            return None
        value = {"date": in_seconds(2), "past": in_seconds(-60)}.get(header, header)
        return 429, FULL, {"Retry-After": value}

    server = Scripted(answer)
    assert run(tmp_path, server) == trials(tmp_path) >= server.good - QUESTIONS
    later = [t for t in server.times if t > server.times[11] + 0.1]
    assert later and min(later) - server.times[11] >= least_s  # nobody else was sent meanwhile


def test_one_that_asks_for_an_hour_ends_the_run_with_its_word(tmp_path: Path) -> None:
    server = Scripted(lambda n, s: (429, FULL, {"Retry-After": "3600"}) if n > 10 else None)
    with pytest.raises(ModelError, match="60 minutes"):
        run(tmp_path, server)
    assert server.asked < 60


def test_an_account_without_credit_ends_the_run_and_says_so(tmp_path: Path) -> None:
    body = {"error": {"message": "You have run out.", "code": "insufficient_quota"}}
    server = Scripted(lambda n, s: (429, body, {}) if n > 10 else None)
    with pytest.raises(ModelError, match="no credit left"):
        run(tmp_path, server)
    assert server.asked < 60


def test_a_wrong_key_ends_the_run_at_once(tmp_path: Path) -> None:
    server = Scripted(lambda n, s: (401, {"error": {"message": "wrong key"}}, {}))
    with pytest.raises(MissingKey):
        run(tmp_path, server)
    assert server.asked <= 16


def test_one_that_answers_500_to_everything_ends_the_run(tmp_path: Path) -> None:
    server = Scripted(
        lambda n, s: (500, {"error": {"message": "broken"}}, {}) if n > 5 + QUESTIONS else None
    )
    with pytest.raises(ModelError, match="5 calls in a row failed"):
        run(tmp_path, server, patience=0.0)
    with Store(tmp_path / "run") as store:
        assert store.first("SELECT count(*) FROM outputs")[0] >= server.good - QUESTIONS > 0


def test_one_that_stays_full_beyond_the_patience_ends_the_run(tmp_path: Path) -> None:
    server = Scripted(lambda n, s: (429, FULL, {}) if n > 5 + QUESTIONS else None)
    with pytest.raises(ModelError, match="when it has room"):
        run(tmp_path, server, patience=0.0)


@pytest.mark.parametrize("status", [0, 429, 500])
def test_one_dead_of_three_is_done_without(tmp_path: Path, status: int) -> None:
    dead = Scripted(lambda n, s: (status, FULL, {}))
    alive = Scripted(lambda n, s: None), Scripted(lambda n, s: None)
    assert run(tmp_path, alive[0], dead, alive[1]) == trials(tmp_path)
    assert all(server.good > 10 for server in alive)


def test_limits_in_headers_are_kept_as_rates(tmp_path: Path) -> None:
    """A bucket of ten that fills with 20 a second, which it says as OpenAI does."""
    left, then = 10.0, 0.0

    def answer(number: int, seconds: float) -> tuple[int, object, dict[str, str]] | None:
        nonlocal left, then
        left, then = min(10.0, left + 20 * (seconds - then)), seconds
        if left < 1:
            return 429, FULL, {"Retry-After": "1"}
        left -= 1
        headers = {
            "x-ratelimit-limit-requests": "10",
            "x-ratelimit-remaining-requests": f"{left:.0f}",
            "x-ratelimit-reset-requests": f"{1000 * (10 - left) / 20:.0f}ms",
        }
        return 200, GOOD, headers

    server = Scripted(answer)
    assert run(tmp_path, server) == trials(tmp_path)
    assert server.asked - trials(tmp_path) <= 8 + QUESTIONS  # those of the first moment
