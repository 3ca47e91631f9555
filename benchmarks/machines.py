"""A model on workers of Ray: how much faster, and what is lost where workers are killed.

    python benchmarks/machines.py [--seconds 0.2] [--kill-every 10] [--json]

Needs the extra `ray`. A function that takes so many seconds a call is asked by 1, 2 and 4 workers:
calls a second over the middle half of the replies, against linear. Then four workers, one of which
is killed every ten seconds: answers without a trial, trials without an answer, calls that were made
and not stored. Every run is held row by row against one without workers, but for row ids and times.
Exits 1 where a rate is below .9 of linear, or a row differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from threading import Event, Thread

from tiltmeter.store import Store

LINEAR = 0.9
OWN = """
import os, pathlib, time
FOLDER = pathlib.Path(os.environ["SEEN"])
def answer(prompt, seed):
    time.sleep({seconds})
    with (FOLDER / str(os.getpid())).open("a") as file:
        file.write("x")
    return "she" if (seed + len(prompt)) % 3 else "he"
"""
_ROWS = {
    "trials": "SELECT * FROM trials ORDER BY id",
    "calls": "SELECT key, purpose, model, request, outcome, text, raw, cost FROM calls ORDER BY 1",
    "outputs": "SELECT * FROM outputs ORDER BY trial",
    "labels": "SELECT output, annotator, attribute, value, position, weight, current FROM labels"
    " ORDER BY 1, 2, 3, 4, 5",
}


@dataclass(frozen=True)
class Result:
    """One run. rate: calls a second; linear: the share of linear; made: calls that the function
    was asked for; killed: workers; same: True if its rows are those of the run without workers.
    """

    workers: int
    killed: int
    answers: int
    made: int
    rate: float
    linear: float
    same: bool


def rows(run: Path) -> list[list[tuple[object, ...]]]:
    """Every row but for row ids and times."""
    with Store(run) as store:
        return [list(store.rows(query)) for query in _ROWS.values()]


def rate(run: Path) -> float:
    """Calls a second over the middle half of the replies: workers come one after another, and the
    last replies leave some idle.
    """
    with Store(run) as store:
        dates = [str(row[0]) for row in store.rows("SELECT date FROM calls ORDER BY date")]
    middle = dates[len(dates) // 4 : 3 * len(dates) // 4]
    took = datetime.fromisoformat(middle[-1]) - datetime.fromisoformat(middle[0])
    return (len(middle) - 1) / took.total_seconds()


@contextmanager
def killing(seen: Path, every_s: float) -> Iterator[list[int]]:
    """Kills a worker that has answered, every so many seconds; 0 for never."""
    killed: list[int] = []
    ended = Event()

    def kill() -> None:
        while not ended.wait(every_s):
            there = [int(path.name) for path in seen.iterdir()]
            alive = [pid for pid in there if Path(f"/proc/{pid}").exists()]
            if alive:
                killed.append(random.choice(alive))
                os.kill(killed[-1], signal.SIGKILL)

    thread = Thread(target=kill)
    if every_s:
        thread.start()
    try:
        yield killed
    finally:
        ended.set()
        if every_s:
            thread.join()


def ask(folder: Path, name: str, workers: int, samples: int, every_s: float) -> Result:
    """A run of the function; without workers it is asked in threads of one process."""
    seen = folder / f"{name}-seen"
    seen.mkdir()
    command = [sys.executable, "-m", "tiltmeter", "run", "roles", "--language", "en", "--model"]
    command += ["python:own.py:answer", "--mode", "sampled", "--samples", str(samples)]
    command += ["--out", name, *(["--workers", str(workers)] if workers else [])]
    command += [] if workers else ["--concurrency", "64"]
    env = {**os.environ, "SEEN": str(seen)}
    with killing(seen, every_s) as killed:
        subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    run = folder / name
    with Store(run) as store:
        answers = len(list(store.iter_outputs()))
    made = sum(path.stat().st_size for path in seen.iterdir())
    return Result(workers, len(killed), answers, made, rate(run), 1.0, True)


def measure(folder: Path, seconds: float, every_s: float) -> Iterator[Result]:
    """The runs, one after another."""
    (folder / "own.py").write_text(OWN.format(seconds=seconds), encoding="utf-8")
    alone = {}
    for samples in (1, 4):
        ask(folder, f"alone-{samples}", 0, samples, 0)
        alone[samples] = rows(folder / f"alone-{samples}")
    base = 0.0
    for workers in (1, 2, 4):
        samples = 4 if workers > 1 else 1
        found = ask(folder, f"workers-{workers}", workers, samples, 0)
        base = base or found.rate
        yield judged(found, base, rows(folder / f"workers-{workers}") == alone[samples])
    killed = ask(folder, "killed", 4, 4, every_s)
    yield judged(killed, base, rows(folder / "killed") == alone[4])


def judged(found: Result, base: float, same: bool) -> Result:
    """With its share of linear, and whether its rows are those of the run without workers."""
    told = asdict(found) | {"linear": found.rate / (found.workers * base), "same": same}
    return Result(**told)


def main() -> int:
    """Measures and prints; 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--kill-every", type=float, default=10.0)
    parser.add_argument("--json", action="store_true")
    typed = parser.parse_args()
    began, ok = time.monotonic(), True
    with tempfile.TemporaryDirectory() as folder:
        for one in measure(Path(folder), typed.seconds, typed.kill_every):
            ok &= one.same and (one.killed > 0 or one.linear >= LINEAR)
            print(json.dumps(asdict(one)) if typed.json else one, flush=True)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
