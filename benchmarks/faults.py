"""A fault at every write, commit, sync, rename and socket read of one small run, by count.

    python benchmarks/faults.py [--trials 12] [--every 1] [--json]

The run has a subject, a panel of three judges and a queue that draws pictures, over real sockets.
For n = 1, 2, … the n-th operation of a kind fails (disk full, input/output error, a lost
connection), the run is made again without a fault, and four things must hold at every n:
what was delivered is stored, but for what the failing operation itself had in its hands; nothing
that is stored is asked again; no work is handed in twice, but where the failing operation was to
store its receipt; and the second run ends with all that the plan has. Exits 1 where one does not.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tiltmeter.errors import TiltmeterError, TransientError
from tiltmeter.images import Picture
from tiltmeter.models import FREE, Model, Queued
from tiltmeter.models.http.connection import Connection
from tiltmeter.records import SUBJECT, Label, LabelCall, Message, Output, Reply, Request, Sampling
from tiltmeter.stages.engine import retries
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job
from tiltmeter.stages.engine.writer import Call
from tiltmeter.store import Store

if TYPE_CHECKING:
    from aiohttp import StreamReader

CONCURRENCY = 4
KINDS = ("write", "commit", "sync", "rename", "read")
HANDED = "handed "  # begins what the ledger says of work that was taken
LONGEST_S = 60.0  # that a run may take; a hang is a fault of ours
GREY_DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c6360000000020001e221bc33"
    "0000000049454e44ae426082"
)


class Fault:
    """Lets the n-th operation of one kind fail; counts those that there are."""

    def __init__(self, kind: str = "", number: int = 0) -> None:
        self.kind, self.number = kind, number
        self.count = dict.fromkeys(KINDS, 0)
        self.came = False
        self.struck: set[str] = (
            set()
        )  # prompts whose replies the failing operation had in its hands

    def meets(self, kind: str) -> bool:
        """True if this operation is the one that fails."""
        self.count[kind] += 1
        now = kind == self.kind and self.count[kind] == self.number
        self.came = self.came or now
        return now

    @contextmanager
    def holding(self, prompts: Iterable[str]) -> Iterator[None]:
        """What is done with the replies to some prompts."""
        before = self.came
        try:
            yield
        finally:
            if self.came and not before:
                self.struck |= set(prompts)


class Faulty(sqlite3.Connection):
    """SQLite that fails when it is told to."""

    fault: Fault

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        verb = statement.split(None, 1)[0]
        if verb in ("INSERT", "UPDATE", "BEGIN") and self.fault.meets("write"):
            raise sqlite3.OperationalError("database or disk is full")
        if verb == "COMMIT" and self.fault.meets("commit"):
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(statement, *values)  # type: ignore[arg-type]

    def executemany(self, statement: str, rows: object) -> sqlite3.Cursor:
        if self.fault.meets("write"):
            raise sqlite3.OperationalError("database or disk is full")
        return super().executemany(statement, rows)  # type: ignore[arg-type]


@contextmanager
def injected(fault: Fault) -> Iterator[None]:
    """All that a run does to disks and sockets passes the fault."""
    connect, fsync, replace = sqlite3.connect, os.fsync, Path.replace
    content, write = Connection._content, Store.write
    put_blob, describe = Store.put_blob, Store.describe_picture
    drawn: dict[str, str] = {}  # file → prompt

    class Connected(Faulty):
        pass

    Connected.fault = fault

    def sync(number: int) -> None:
        if fault.meets("sync"):
            raise OSError(errno.EIO, "Input/output error")
        fsync(number)

    def rename(path: Path, target: Path) -> Path:
        if fault.meets("rename"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(path, target)

    async def read(self: Connection, stream: StreamReader, most: int) -> bytes:
        if fault.meets("read"):
            raise ConnectionResetError("Connection lost")
        return await content(self, stream, most)

    def written(
        self: Store,
        calls: Sequence[Call],
        outputs: Sequence[Output],
        labels: Sequence[Label],
        label_calls: Sequence[LabelCall] = (),
    ) -> None:
        with fault.holding(request.messages[0].content for request, _ in calls):
            write(self, calls, outputs, labels, label_calls)

    def put(self: Store, content: bytes, suffix: str) -> str:
        prompt = content.removeprefix(GREY_DOT).decode()
        with fault.holding([prompt]):
            name = put_blob(self, content, suffix)
        drawn[name] = prompt
        return name

    def described(self: Store, name: str, picture: Picture, size_bytes: int) -> None:
        with fault.holding([drawn[name]]):
            describe(self, name, picture, size_bytes)

    def faulty(*given: object, **options: object) -> sqlite3.Connection:
        return connect(*given, **{"factory": Connected, **options})  # type: ignore[call-overload, no-any-return]

    sqlite3.connect = faulty  # type: ignore[assignment]
    os.fsync, Path.replace = sync, rename  # type: ignore[assignment, method-assign]
    Connection._content = read  # type: ignore[method-assign]
    Store.write, Store.put_blob = written, put  # type: ignore[method-assign]
    Store.describe_picture = described  # type: ignore[method-assign]
    try:
        yield
    finally:
        sqlite3.connect = connect
        os.fsync, Path.replace = fsync, replace  # type: ignore[method-assign]
        Connection._content = content  # type: ignore[method-assign]
        Store.write, Store.put_blob = write, put_blob  # type: ignore[method-assign]
        Store.describe_picture = describe  # type: ignore[method-assign]


class Server:
    """A chat server that keeps a ledger: what it delivered, by prompt."""

    def __init__(self) -> None:
        self.delivered: list[str] = []

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        prompt = json.loads(await reader.readexactly(length))["messages"][0]["content"]
        body = json.dumps(
            {
                "choices": [{"message": {"content": "yes"}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 1},
            }
        ).encode()
        self.delivered.append(prompt)
        writer.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
            % (len(body), body)
        )
        await writer.drain()
        writer.close()


class Studio(Queued):
    """Draws in this process, behind a queue. ledger: what was handed in, and what was delivered."""

    makes = ("pictures",)

    def __init__(self, ledger: list[str]) -> None:
        self.name, self.price, self.parallel, self._ledger = "studio:x", FREE, 16, ledger

    async def submit(self, request: Request) -> str:
        await asyncio.sleep(0)
        self._ledger.append(HANDED + request.messages[0].content)
        return f"/work/{request.nonce}"

    async def fetch(self, request: Request, remote: str) -> Reply:
        await asyncio.sleep(0.001)
        self._ledger.append(request.messages[0].content)
        return Reply("", picture=GREY_DOT + request.nonce.encode())


def request(
    prompt: str, model: str = "openai:m", size: str = "", purpose: str = SUBJECT
) -> Request:
    messages = (Message("user", prompt),)
    return Request(model, messages, Sampling(), nonce=prompt, size=size, purpose=purpose)


def subject(name: str) -> Job:
    """One trial of a subject."""
    asked = request(f"subject {name}")
    (reply,) = yield [asked]
    return [Output(name, reply.outcome, reply.text, asked.key)]


def panel(name: str) -> Job:
    """Three judges at once, and one more turn."""
    votes = yield [request(f"vote {name} {judge}", purpose="panel") for judge in range(3)]
    (last,) = yield [request(f"word {name}", purpose="panel")]
    replies = (*votes, last)
    return [Label(name, "panel", "vote", reply.text, at) for at, reply in enumerate(replies)]


def picture(name: str) -> Job:
    """One picture from the queue."""
    asked = request(f"draw {name}", "studio:x", "8x8")
    (reply,) = yield [asked]
    return [Output(f"p{name}", reply.outcome, reply.text, asked.key, reply.blob)]


def jobs(store: Store, trials: int) -> Iterator[Job]:
    """What has no rows yet, as the stages of a run look for it."""
    answered = {row[0] for row in store.rows("SELECT trial FROM outputs")}
    labelled = {row[0] for row in store.rows("SELECT DISTINCT output FROM labels")}
    for number in map(str, range(trials)):
        if number not in answered:
            yield subject(number)
        if number not in labelled:
            yield panel(number)
        if f"p{number}" not in answered:
            yield picture(number)


class Outcome(NamedTuple):
    """One run. delivered: what servers gave; stored: prompts whose replies the run has."""

    error: str
    delivered: list[str]
    stored: set[str]
    outputs: int
    labels: int


def run(folder: Path, trials: int, fault: Fault) -> Outcome:
    """Makes a run, or goes on with it, with a fault in it."""
    drawn: list[str] = []

    async def main() -> list[str]:
        from tiltmeter.models.options import ModelOptions
        from tiltmeter.models.providers.openai import openai

        async with Server() as server:

            def make(name: str) -> Model:
                if name == "studio:x":
                    return Studio(drawn)
                return openai("m", ModelOptions(base_url=server.url, price=FREE))

            try:
                with injected(fault), Store(folder, create=True, writing=True) as store:
                    async with Models(make) as models:
                        limits = Limits(CONCURRENCY, patience=0.0)
                        work = Engine(store, models, limits).drive(jobs(store, trials))
                        await asyncio.wait_for(work, LONGEST_S)
            except (TiltmeterError, TransientError) as problem:
                errors.append(str(problem))
            return server.delivered

    errors: list[str] = []
    delivered = [*asyncio.run(main()), *drawn]
    try:
        with Store(folder) as store:
            query = "SELECT json_extract(request, '$[1][0][1]') FROM calls WHERE outcome='answer'"
            stored = {row[0] for row in store.rows(query)}
            outputs, labels = (
                store.first(f"SELECT count(*) FROM {name}")[0] for name in ("outputs", "labels")
            )
    except TiltmeterError as problem:  # the fault came before there were tables
        return Outcome(str(problem), delivered, set(), 0, 0)
    return Outcome(errors[0] if errors else "", delivered, stored, outputs, labels)


def check(folder: Path, trials: int, kind: str, number: int) -> list[str]:
    """What does not hold after a fault, a sentence each."""
    fault = Fault(kind, number)
    first = run(folder, trials, fault)
    handed = {prompt for prompt in first.delivered if prompt.startswith(HANDED)}
    lost = set(first.delivered) - handed - first.stored - fault.struck
    wrong = []
    if lost:
        wrong.append(f"{len(lost)} delivered replies are lost: {sorted(lost)[:5]}")
    second = run(folder, trials, Fault())
    again = first.stored & set(second.delivered)
    if again:
        wrong.append(f"asked again though stored: {sorted(again)[:5]}")
    twice = handed & set(second.delivered) - {HANDED + prompt for prompt in fault.struck}
    if twice:
        wrong.append(f"handed in twice: {sorted(twice)[:5]}")
    if (second.outputs, second.labels) != (2 * trials, 4 * trials):
        found = f"{second.outputs} outputs and {second.labels} labels"
        wrong.append(f"the second run has {found}: {second.error}")
    return [f"{kind} {number}: {sentence}" for sentence in wrong]


def operations(place: Path, trials: int) -> dict[str, int]:
    """How many operations of each kind a run without a fault has."""
    fault = Fault()
    run(place / "count", trials, fault)
    return fault.count


def measure(
    trials: int, every: int, say: Callable[[str], None] = lambda line: None
) -> tuple[int, list[str]]:
    """Faults that were tried, and what did not hold."""
    retries.FIRST_WAIT_S = 0.001
    tried = 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        counts = operations(Path(place), trials)
        wrong += [f"no {kind} was seen" for kind in KINDS if not counts.get(kind)]
        for kind, count in counts.items():
            for number in range(1, count + 1, every):
                found = check(Path(place, f"{kind}{number}"), trials, kind, number)
                tried, wrong = tried + 1, wrong + found
            say(f"{kind:8} {count} operations")
    return tried, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--every", type=int, default=1, help="only each so-many-th operation")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    say = (lambda line: None) if given.json else print
    tried, wrong = measure(given.trials, given.every, say)
    if given.json:
        print(json.dumps({"faults": tried, "wrong": wrong}))
    else:
        print(*wrong, sep="\n")
        print(f"{tried} faults, {len(wrong)} of them did harm")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
