"""Killed at any moment, the same command goes on where it was, and nothing that was paid for is asked again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import Scripted, chat
from tests.serving import planted_server, serving
from tiltmeter.errors import StoreError
from tiltmeter.store import Store

CONCURRENCY, KILLS = 8, 20


def command(url: str, out: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "tiltmeter",
        "run",
        "roles",
        "--no-pilot",
        "--language",
        "en",
        "--model",
        "openai:planted",
        "--judge",
        "openai:judge",
        "--base-url",
        url,
        "--concurrency",
        str(CONCURRENCY),
        "--out",
        str(out),
        *more,
    ]


def asked(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/count") as reply:
        found: dict[str, int] = json.load(reply)
        return found


def one(store: Store, query: str) -> int:
    return int(next(store.rows(query))[0])


def test_killed_twenty_times_nothing_is_lost_and_nothing_paid_twice(tmp_path: Path) -> None:
    out, moments = tmp_path / "run", random.Random(7)
    options = ("--samples", "2", "--limit", "30")
    stages = []
    with planted_server("latency=0.03") as url:
        for _ in range(KILLS):
            with subprocess.Popen(
                command(url, out, *options), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            ) as process:
                wait_for_requests(url, moments.randint(1, 35), process)
                process.send_signal(signal.SIGKILL)
            stages.append(stage(out))
        subprocess.run(command(url, out, *options), check=True, capture_output=True)
        count = asked(url)
    with Store(out) as store:
        trials = one(store, "SELECT count(*) FROM trials")
        assert (
            trials
            == one(store, "SELECT count(*) FROM outputs")
            == 30 * 2 * 2 + 2 * 2 * lexemes_with_two_words(store)
        )
        judged = one(store, "SELECT count(*) FROM labels WHERE annotator LIKE '%openai:judge%'")
        assert (
            judged
            == one(
                store,
                "SELECT count(DISTINCT output) FROM labels WHERE annotator LIKE '%openai:judge%'",
            )
            == trials
        )
        calls = one(store, "SELECT count(*) FROM calls")
        assert one(store, "SELECT count(*) FROM calls WHERE purpose = 'subject'") == trials
    assert calls <= count["total"] <= calls + KILLS * 2 * CONCURRENCY  # of each model
    assert stages.count("both") >= 3, f"no kill came while both were asked: {stages}"


def wait_for_requests(url: str, number: int, process: subprocess.Popen[Any]) -> None:
    """Until the server was asked so many times more, or the process has ended: a moment that does not depend on how busy the
    machine is. Fails where a process that lives asks nothing for minutes.
    """
    begun, until = asked(url)["total"], time.monotonic() + 300
    while asked(url)["total"] < begun + number and process.poll() is None:
        assert time.monotonic() < until, "the process neither asks nor ends"
        time.sleep(0.02)


def stage(out: Path) -> str:
    """Whom a killed run was asking: the subject, the judge, or both."""
    try:
        with Store(out) as store:
            if not one(store, "SELECT count(*) FROM calls WHERE purpose != 'subject'"):
                return "run"
            counts = "(SELECT count(*) FROM trials) - (SELECT count(*) FROM outputs)"
            return "both" if one(store, f"SELECT {counts}") else "label"
    except StoreError:
        return "nothing yet"


def lexemes_with_two_words(store: Store) -> int:
    rows = store.rows(
        "SELECT DISTINCT json_extract(factors, '$.lexeme'), json_extract(factors, '$.word') FROM trials"
    )
    words = [lexeme for lexeme, _ in rows]
    return len(words) - len(set(words))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stores_what_is_in_flight_and_says_how_to_go_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "run"
    with planted_server("latency=0.3") as url:
        process = subprocess.Popen(
            command(url, out, "--price=openai:planted=1/2", "--price=openai:judge=1/2"),
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        wait_for_requests(url, CONCURRENCY + 1, process)  # some were answered, some are in flight
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
        count = asked(url)["total"]
    assert process.returncode == 1
    assert "the same command goes on" in said
    assert "calls in flight are awaited 5 s" in said
    with Store(out) as store:
        assert one(store, "SELECT count(*) FROM calls") == count > 0


def test_calls_that_cost_nothing_are_dropped(tmp_path: Path) -> None:
    """On a server of an hour a call: the process ends with all its calls in flight."""
    out, few = tmp_path / "run", ("--samples", "1", "--limit", "10")
    server = Scripted(lambda body: chat("she"), delay=3600.0)
    with serving(server) as url:
        process = subprocess.Popen(
            command(url, out, *few), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        while len(server.seen) < CONCURRENCY and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    assert process.returncode == 1 and len(server.seen) == CONCURRENCY
    assert "To go on: tiltmeter run roles" in said
    assert "stopping: calls in flight are priced at 0 and are dropped" in said
    with planted_server("") as url:
        done = subprocess.run(command(url, out, *few), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cap", [0.02])
def test_a_cost_cap_holds_with_200_in_flight_judges_included(tmp_path: Path, cap: float) -> None:
    out = tmp_path / "run"
    prices = [f"--price=openai:{name}=1/2" for name in ("planted", "judge")]
    with planted_server("latency=0.002") as url:
        done = subprocess.run(
            [
                *command(
                    url, out, "--max-cost", str(cap), "--samples", "1", "--limit", "60", *prices
                ),
                "--concurrency",
                "200",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "Raise --max-cost" in done.stderr
    with Store(out) as store:
        assert 0.5 * cap < store.spent() <= cap
        assert one(store, "SELECT count(*) FROM calls WHERE purpose != 'subject'") > 0


def test_a_finished_run_asks_nothing_and_leaves_three_files(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with planted_server("she=0.6") as url:
        for _ in range(2):
            done = subprocess.run(
                command(url, out, "--samples", "1", "--limit", "5", "--json"),
                capture_output=True,
                text=True,
                check=True,
            )
            count = asked(url)["total"]
            assert json.loads(done.stdout)["schema"] == 1
        assert count == asked(url)["total"] == 20
    assert sorted(path.name for path in out.iterdir()) == [
        "judged.json",
        "report.html",
        "run.sqlite",
    ]
