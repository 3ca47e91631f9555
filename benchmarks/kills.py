"""SIGKILL at any moment, in every verb that writes, against a server's own ledger.

    python benchmarks/kills.py [--kills 1000] [--processes 4] [--json]

Each process has a run of its own and is killed at random moments of `run` (a subject and a judge),
`label` (another judge) and `export`, again and again, until the kills are
spent; then it ends in peace. The ledger counts what the server was asked. Nothing may be lost, and
nothing may be asked again beyond what was in flight at a kill. Exits 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tiltmeter.errors import TiltmeterError
from tiltmeter.store import Store

CONCURRENCY = 8
LONGEST_S = 0.9  # of a process before it is killed
TILTMETER = (sys.executable, "-m", "tiltmeter")


@contextmanager
def ledger() -> Iterator[str]:
    """A planted server in a process of its own; yields its base URL."""
    command = [sys.executable, "-m", "tiltmeter.planted.server", "latency=0.01", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def asked(url: str) -> int:
    """How many requests the server had."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/count") as reply:
        return int(json.load(reply)["total"])


def verbs(url: str, out: Path) -> list[list[str]]:
    """What is typed, in this order."""
    reach = ["--base-url", url, "--concurrency", str(CONCURRENCY)]
    plan = ["--language", "en", "--samples", "2", "--limit", "40", "--out", str(out)]
    model, judge = ["--model", "openai:planted"], ["--judge", "openai:judge"]
    return [
        [*TILTMETER, "run", "roles", *model, *judge, *plan, *reach],
        [*TILTMETER, "label", str(out), "--judge", "openai:other", *reach],
        [*TILTMETER, "export", str(out), "--out", str(out.with_name("tables"))],
    ]


def kill_one(command: list[str], after_s: float) -> bool:
    """Starts a verb and kills it; False where it had ended before."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:  # type: ignore[call-overload]
        try:
            process.wait(after_s)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            return True


def torture(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """One run, killed so often. lost: outputs or calls that were there and are no longer."""
    chance = random.Random(seed)
    out = folder / "run"
    lost, spent, before = 0, 0, 0
    with ledger() as url:
        commands = verbs(url, out)
        stage = 0
        until = time.monotonic() + 5.0 * kills + 60
        while spent < kills and time.monotonic() < until:
            if kill_one(commands[stage], chance.uniform(0.3, LONGEST_S)):
                spent += 1
            else:
                stage = (stage + 1) % len(commands)
            now = stored_calls(out)
            lost += max(0, before - now)
            before = max(before, now)
        for command in commands:
            subprocess.run(command, check=True, capture_output=True)
        calls = stored_calls(out)
        again = max(0, asked(url) - calls - spent * CONCURRENCY)
    with Store(out) as store:
        trials, outputs = (
            store.first(f"SELECT count(*) FROM {table}")[0] for table in ("trials", "outputs")
        )
    return {"kills": spent, "lost": lost + trials - outputs, "again": again, "calls": calls}


def stored_calls(out: Path) -> int:
    """How many calls a run holds; 0 where it holds nothing yet."""
    try:
        with Store(out) as store:
            return int(store.first("SELECT count(*) FROM calls")[0])
    except TiltmeterError:
        return 0


def measure(kills: int, processes: int) -> dict[str, int]:
    """The sums over all processes."""
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(processes) as pool:
        folders = [Path(place, str(number)) for number in range(processes)]
        for folder in folders:
            folder.mkdir()
        each = -(-kills // processes)
        rows = list(pool.map(torture, folders, [each] * processes, range(processes)))
    return {name: sum(row[name] for row in rows) for name in rows[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.kills, given.processes)
    print(json.dumps(found) if given.json else found)
    return 1 if found["lost"] or found["again"] or not found["kills"] else 0


if __name__ == "__main__":
    sys.exit(main())
