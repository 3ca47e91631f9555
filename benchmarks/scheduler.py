"""How long a run waits for servers that have limits, against the time that they need at best.

    python benchmarks/scheduler.py [--seconds 25] [--only NAME] [--json]

Servers on loopback with a latency, on a fixed seed:
    rate        40 calls/s (a bucket), else 429 without Retry-After; --concurrency 256
    pause       50 calls/s in any second, else 429 with Retry-After: 1; --concurrency 64
    judges      answers and two judges of 1 s each; --concurrency 64
    eight       eight servers, each slower in proportion beyond 32 calls in flight; defaults
--seconds: that the servers need at best. Each ratio is of one run to that time, on one machine.
Exits 1 when a promise is broken: exit 0 and all answered; at most 1.15 × the ideal wall time and
3 % of requests refused; with two judges and with eight servers at most 1.2 × the ideal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

REPLY_S = 0.3  # of a call, uniform between half and one and a half times that
REFUSAL_S = 0.02
PROMISED_WALL = {"rate": 1.15, "pause": 1.15, "judges": 1.2, "eight": 1.2}
PROMISED_REFUSED = 0.03


class Setting(NamedTuple):
    """A server's limits. per_second: calls, 0 for no limit; burst: that a bucket holds, 0 for so
    many in any second; retry_after: header of a refusal, "" for none; knee: calls in flight beyond
    which it slows down, 0 for never; reply_s: of a call.
    """

    per_second: float = 0.0
    burst: float = 0.0
    retry_after: str = ""
    knee: int = 0
    reply_s: float = REPLY_S


SETTINGS = {
    "rate": Setting(40, burst=40),
    "pause": Setting(50, retry_after="1"),
    "judges": Setting(reply_s=1.0),
    "eight": Setting(knee=32, reply_s=1.0),  # 256 calls/s: eight servers share two cores
}


class Limiter:
    """Says whether a call is taken now."""

    def __init__(self, setting: Setting) -> None:
        self._setting, self._tokens, self._then = setting, setting.burst, time.monotonic()
        self._taken: deque[float] = deque()

    def takes(self) -> bool:
        now, setting = time.monotonic(), self._setting
        if not setting.per_second:
            return True
        if setting.burst:
            filled = self._tokens + (now - self._then) * setting.per_second
            self._tokens, self._then = min(setting.burst, filled), now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True
        while self._taken and self._taken[0] <= now - 1:
            self._taken.popleft()
        if len(self._taken) >= setting.per_second:
            return False
        self._taken.append(now)
        return True


async def serve(setting: Setting) -> None:
    """A server of OpenAI's chat format; prints its base URL, and answers GET /count."""
    from aiohttp import web

    limiter, chance = Limiter(setting), random.Random(1)
    count = {"total": 0, "refused": 0, "answered": 0}
    in_flight = 0

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal in_flight
        if request.method == "GET":
            return web.json_response(count)
        body = await request.json()
        count["total"] += 1
        if not limiter.takes():
            count["refused"] += 1
            await asyncio.sleep(REFUSAL_S)
            headers = {"Retry-After": setting.retry_after} if setting.retry_after else {}
            return web.json_response(
                {"error": {"message": "slow down"}}, status=429, headers=headers
            )
        in_flight += 1
        slower = max(1.0, in_flight / setting.knee) if setting.knee else 1.0
        spread = 1.0 if setting.reply_s >= 1 else chance.uniform(0.5, 1.5)
        await asyncio.sleep(setting.reply_s * spread * slower)
        in_flight -= 1
        count["answered"] += 1
        said = "she" if "<" not in str(body["messages"]) else "female"
        message = {"role": "assistant", "content": said}
        usage = {"prompt_tokens": 20, "completion_tokens": 1}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"model": "m", "choices": [choice], "usage": usage})

    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=2048).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


@contextmanager
def server(name: str) -> Iterator[str]:
    """A server in a process of its own; yields its base URL."""
    command = [sys.executable, __file__, "--serve", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def counts(url: str) -> dict[str, int]:
    """What a server was asked."""
    import urllib.request

    with urllib.request.urlopen(f"{url}/count") as reply:
        found: dict[str, int] = json.load(reply)
    return found


class Outcome(NamedTuple):
    """wall_s: of the asking; ideal_s: that the servers need; refused: share of requests; exit:
    code; open: trials without an answer.
    """

    wall_s: float
    ideal_s: float
    refused: float
    exit: int
    open: int

    def is_kept(self, name: str) -> bool:
        wall = self.wall_s <= PROMISED_WALL[name] * self.ideal_s
        return wall and self.refused <= PROMISED_REFUSED and not self.exit and not self.open


def typed(urls: list[str], trials: int, folder: Path, more: list[str]) -> tuple[float, int, int]:
    """Wall time of the calls of `tiltmeter run`, its exit code, and what is left open."""
    command = [sys.executable, "-m", "tiltmeter", "run", "roles", "--language", "en"]
    command += ["--model", "openai:m", "--no-pilot", "--samples", str(max(1, round(trials / 196)))]
    command += [part for url in urls for part in ("--base-url", url)]
    environment = {n: v for n, v in os.environ.items() if n != "OPENAI_API_KEY"}
    done = subprocess.run(
        [*command, *more, "--out", str(folder)], capture_output=True, text=True, env=environment
    )
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    from datetime import datetime

    from tiltmeter.store import Store

    with Store(folder) as store:
        first, last = store.first("SELECT min(date), max(date) FROM calls")
        left = store.first("SELECT (SELECT count(*) FROM trials) - (SELECT count(*) FROM outputs)")
    wall = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    return wall, done.returncode, int(left[0])


def measure(name: str, seconds: float) -> Outcome:
    """One row. What the first answer takes is added: the wall time begins with it."""
    setting = SETTINGS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "run")
        if name == "eight":
            from contextlib import ExitStack

            with ExitStack() as stack:
                urls = [stack.enter_context(server(name)) for _ in range(8)]
                rate = 8 * setting.knee / setting.reply_s
                samples = max(1, round(rate * seconds / 196))
                wall, code, left = typed(urls, 196 * samples, folder, [])
                found = [counts(url) for url in urls]
            ideal = 196 * samples / rate
        else:
            rate = setting.per_second or 64 / setting.reply_s
            samples = max(1, round(rate * seconds / 196))
            with server(name) as url:
                more = ["--concurrency", "256" if name == "rate" else "64"]
                if name == "judges":
                    judges = [part for n in (1, 2) for part in ("--judge", f"openai:judge{n}")]
                    more += judges
                wall, code, left = typed([url], 196 * samples, folder, more)
                found = [counts(url)]
            ideal = (196 * samples - setting.burst) / rate
    total = sum(one["total"] for one in found)
    refused = sum(one["refused"] for one in found) / total
    return Outcome(wall + setting.reply_s, ideal + setting.reply_s, refused, code, left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--only", choices=SETTINGS, action="append")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", choices=SETTINGS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(SETTINGS[given.serve]))
        return 0
    found = {name: measure(name, given.seconds) for name in given.only or SETTINGS}
    if given.json:
        print(json.dumps({name: one._asdict() for name, one in found.items()}))
    else:
        for name, one in found.items():
            kept = "" if one.is_kept(name) else "   BROKEN"
            print(
                f"{name:8}{one.wall_s:7.1f} s of {one.ideal_s:5.1f} at best: "
                f"{one.wall_s / one.ideal_s:.2f} (at most {PROMISED_WALL[name]}), "
                f"{one.refused:.1%} refused, {one.open} open, exit {one.exit}{kept}"
            )
    return 0 if all(one.is_kept(name) for name, one in found.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
