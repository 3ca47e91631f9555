"""A model in many processes: with workers in this process, and with Ray where it is installed."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import tiltmeter
from tests.stages.planning.test_shards import rows
from tiltmeter.errors import (
    Incapable,
    MissingExtra,
    ModelError,
    TransientError,
    Unanswered,
    UsageError,
)
from tiltmeter.models import FREE, Model
from tiltmeter.models.workers import WorkerLost, Workers, ray_cluster
from tiltmeter.models.workers.pool import WorkerPool
from tiltmeter.models.workers.worker import Refusal, ShownPictures, Started, Worker
from tiltmeter.records import Message, Reply, Request

ASKED = Request("own:x", ())


class Own(Model):
    """Answers with the number of its worker; shows what pictures it was given."""

    name, price, parallel = "own:x", FREE, 1
    prints: tuple[str, ...] = ("weights-1",)

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault, self.read, self.number, self.most, self.now = fault, None, 0, 0, 0

    @property
    def fingerprint(self) -> str:
        return self.prints[self.number % len(self.prints)]

    async def ask(self, request: Request) -> Reply:
        if self.fault:
            raise self.fault
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        shown = [self.read(name) for m in request.messages for name in m.pictures]  # type: ignore[misc]
        return Reply(f"{self.number} {shown}", served="own")


class Local:
    """A worker of this process. lives: requests until it dies; comes: whether it is ever ready."""

    def __init__(self, payload: bytes, number: int, lives: float, comes: asyncio.Event) -> None:
        self.worker = Worker(payload)
        self.model = self.worker._model
        self.model.number = number  # type: ignore[attr-defined]
        self.lives, self.comes, self.busy, self.most, self.stopped = lives, comes, 0, 0, False

    async def start(self) -> Started | Refusal:
        await self.comes.wait()
        if self.lives <= -1:
            raise WorkerLost("it ended")
        return await self.worker.start()

    async def ask(self, request: Request, pictures: dict[str, bytes]) -> Reply | Refusal:
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            if self.lives <= 0:
                await asyncio.sleep(0)
                raise WorkerLost("it is gone")
            self.lives -= 1
            return await self.worker.ask(request, pictures)
        finally:
            self.busy -= 1

    async def stop(self) -> None:
        self.stopped = True


class Here:
    """A cluster of this process. lives: of each worker in turn, then for ever; late: how many
    workers are not ready at once."""

    def __init__(self, lives: tuple[float, ...] = (), late: int = 0) -> None:
        self.lives, self.late = list(lives), late
        self.made: list[Local] = []
        self.left = False
        self.later = asyncio.Event()

    def pack(self, model: object) -> bytes:
        return pickle.dumps(model)

    def start_worker(self, payload: bytes, gpus: float) -> Local:
        lives = self.lives.pop(0) if self.lives else float("inf")
        comes = asyncio.Event() if len(self.made) >= self.late else self.later
        if comes is not self.later:
            comes.set()
        self.made.append(Local(payload, len(self.made), lives, comes))
        return self.made[-1]

    def leave(self) -> None:
        self.left = True


def asked(
    cluster: Callable[[], Here], requests: int, model: Own | None = None, number: int = 3
) -> tuple[Here, list[Reply], WorkerPool]:
    """The replies to so many requests at once."""
    own, shown = model or Own(), ShownPictures({})
    own.read = shown  # type: ignore[assignment]

    async def work() -> tuple[Here, list[Reply], WorkerPool]:
        here = cluster()
        pool = WorkerPool(
            own, Own, shown, Workers(number), lambda _: here, lambda name: name.encode()
        )
        await pool.open()
        try:
            messages = (Message("user", "?", ("a.png",)),)
            requests_ = [Request("own:x", messages, nonce=str(n)) for n in range(requests)]
            replies = await asyncio.gather(*map(pool.ask, requests_))
        finally:
            here.later.set()
            await pool.close()
        return here, replies, pool

    return asyncio.run(work())


def test_work_is_shared_evenly_two_in_flight_and_pictures_go_along() -> None:
    here, replies, pool = asked(Here, 60)
    assert [w.most for w in here.made] == [2, 2, 2]
    assert [w.model.most for w in here.made] == [1, 1, 1]  # type: ignore[attr-defined]
    counts = [sum(r.text.startswith(str(n)) for r in replies) for n in range(3)]
    assert sum(counts) == 60 and min(counts) >= 15
    assert replies[0].text.endswith("[b'a.png']") and not here.made[0].worker._shown.contents
    assert here.left and all(w.stopped for w in here.made)
    assert pool.name == "own:x" and pool.parallel == 6 and pool.price == FREE


def test_a_dead_workers_requests_are_asked_elsewhere() -> None:
    here, replies, _ = asked(lambda: Here((5, float("inf"), 7)), 60)
    assert len(replies) == 60 and len(here.made) == 5
    assert sum(w.stopped for w in here.made) == 5


def test_what_may_be_paid_for_is_not_asked_elsewhere() -> None:
    own = Own()
    own.price = None  # type: ignore[assignment]
    with pytest.raises(Unanswered, match="own:x: it is gone") as told:
        asked(lambda: Here((0,)), 1, own, number=1)
    assert told.value.possibly_paid


def test_a_request_that_kills_every_worker_stays_open() -> None:
    with pytest.raises(Unanswered, match="3 workers of own:x died"):
        asked(lambda: Here((0,) * 9), 1, number=1)


def test_a_late_worker_is_used_and_none_is_waited_for() -> None:
    _, replies, _ = asked(lambda: Here(late=1), 40)
    assert len(replies) == 40 and not any(r.text.startswith("0") for r in replies)


def test_workers_that_never_come_up_are_told() -> None:
    with pytest.raises(ModelError, match="No worker of own:x starts"):
        asked(lambda: Here((-1,) * 30), 1, number=1)


def test_what_a_model_raises_as_it_is_loaded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def out_of_memory(own: Own) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(Own, "open", out_of_memory)
    with pytest.raises(ModelError, match="A worker of own:x ended: CUDA out of memory"):
        asked(Here, 1)


def test_workers_with_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Own, "prints", ("weights-1", "weights-2"))
    with pytest.raises(ModelError, match=r"Workers of own:x differ: weights-1 on .* weights-2 on"):
        asked(Here, 6)


@pytest.mark.parametrize(
    "error",
    [
        TransientError("busy", 3.0, True),
        Unanswered("gap", True),
        Incapable("no log-probabilities", "raw"),
        ModelError("broken", None, True),
    ],
)
def test_errors_cross_processes(error: ModelError) -> None:
    with pytest.raises(type(error)) as told:
        asked(Here, 1, Own(error))
    for name in ("args", "raw", "retry_after", "possibly_paid"):
        assert getattr(told.value, name, None) == getattr(error, name, None)


@pytest.mark.parametrize("text", ["0", "8@", "many", "8?gpus=", "8@auto?cpus=1"])
def test_what_is_no_number_of_workers_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--workers 8"):
        Workers.parse(text)


def test_what_is_typed() -> None:
    assert Workers.parse("8@auto?gpus=0.5") == Workers(8, "auto", 0.5)
    assert Workers.parse("2@10.0.0.1:6379") == Workers(2, "10.0.0.1:6379", 0.0)
    with pytest.raises(UsageError, match="not for openai:x"):
        tiltmeter.run("roles", "openai:x", "out", workers=2)


def test_without_ray_the_install_line_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="ray"):
        tiltmeter.run("roles", "planted:she=0.7", tmp_path / "run", limit=2, workers=2)


needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed: pip install '.[ray]'"
)
OWN = """
import os, pathlib, time
def answer(prompt, seed):
    folder = pathlib.Path(os.environ["SEEN"])
    with (folder / str(os.getpid())).open("a") as file:
        file.write("x")
    time.sleep(0.02)
    if os.environ.get("DEADLY") and len(list(folder.iterdir())) < 4:
        if (folder / str(os.getpid())).stat().st_size > 9:
            os.kill(os.getpid(), 9)
    return "she" if (seed + len(prompt)) % 3 else "he"
"""


def run_own(tmp_path: Path, out: str, *more: str, **variables: str) -> str:
    """A run of a function of a file, in a process of its own."""
    seen = tmp_path / f"{out}-seen"
    seen.mkdir()
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "home").mkdir(exist_ok=True)
    typed = [sys.executable, "-m", "tiltmeter", "run", "roles", "--language", "en"]
    typed += ["--model", "python:own.py:answer", "--limit", "8", "--samples", "3", "--out", out]
    env = {**os.environ, "SEEN": str(seen), "HOME": str(tmp_path / "home"), **variables}
    done = subprocess.run(
        [*typed, *more], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


@needs_ray
def test_ray_gives_the_run_that_one_process_gives_also_where_workers_die(tmp_path: Path) -> None:
    run_own(tmp_path, "alone")
    run_own(tmp_path, "shared", "--workers", "2", DEADLY="yes")
    assert rows(tmp_path / "shared") == rows(tmp_path / "alone")
    seen = [path.stat().st_size for path in (tmp_path / "shared-seen").iterdir()]
    answers = len(rows(tmp_path / "alone")["outputs"])
    assert len(seen) >= 4 and answers < sum(seen) <= answers + 2 * (len(seen) - 2)
    assert list((tmp_path / "home").rglob("*token*")) == []
    left = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    assert str(tmp_path) not in left.stdout


@needs_ray
def test_ray_ends_with_a_run_that_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    (tmp_path / "own.py").write_text(OWN.replace("0.02", "0.5"))
    typed = [sys.executable, "-m", "tiltmeter", "run", "roles", "--language", "en", "--model"]
    typed += ["python:own.py:answer", "--out", "out", "--workers", "2"]
    env = {**os.environ, "SEEN": str(tmp_path / "seen")}
    with subprocess.Popen(
        typed, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True
    ) as process:
        while not list((tmp_path / "seen").iterdir()):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    assert "the same command goes on from here" in said
    workers = [int(path.name) for path in (tmp_path / "seen").iterdir()]
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
