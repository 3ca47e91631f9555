"""What every provider of batches does, whatever its format: takes requests, is looked at, ends, bills.

A batch goes on by being looked at, and not with time.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from hashlib import sha256
from itertools import count
from pathlib import Path

from tiltmeter.records import Json, canonical

DAY_S = 86_400
Answer = tuple[int, Json]  # status and body of the ordinary endpoint


@dataclass(frozen=True)
class Oddities:
    """What is odd of a provider. A number n of batches: the first n of the same kind."""

    looks: int = 2  # at a batch, until it ends
    page: int = 100  # batches that a page of a list has at most
    late: int = 0  # lists that do not show a new batch yet
    others: int = 0  # batches of somebody else that stand in the list
    mixed: bool = True  # results come in another order than requests
    missing: int = 0  # each n-th line of results does not come, the first time
    doubled: int = 0  # each n-th line of results comes twice
    failing: int = 0  # each n-th line ends with a status 5xx, the first time
    filtered: int = 0  # about each n-th request is refused by a content filter, always
    vanish: int = 0  # n batches are unknown from the second look on
    endless: int = 0  # n batches never end
    expired: int = 0  # n batches expire when half is done
    cancelled: int = 0  # n batches are cancelled by somebody when half is done
    invalid: int = 0  # n batches are refused whole
    queue_full: int = 0  # n batches are refused whole since too many tokens are queued
    lost_replies: int = 0  # the replies to n creations do not arrive


@dataclass
class Ledger:
    """What was billed, by the digest of a request's body; singles: by the ordinary endpoint."""

    batched: Counter[str] = field(default_factory=Counter)
    singles: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)  # names of lines that were billed
    created: list[str] = field(default_factory=list)  # batches
    uploads: int = 0
    complaints: list[str] = field(default_factory=list)  # what the client sent against the format
    steps: list[str] = field(default_factory=list)  # METHOD path, of all that came
    kills: list[str] = field(default_factory=list)  # the step and its phase

    def as_dict(self) -> dict[str, Json]:
        """As JSON; most: how often one body was billed at most, in all."""
        most = max((self.batched + self.singles).values(), default=0)
        sums: dict[str, Json] = {
            "most": most,
            "most_batched": max(self.batched.values(), default=0),
            "bodies": len(self.batched | self.singles),
        }
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)} | sums


@dataclass
class Batch:
    """Requests that were handed in together. number: from 0; named: what the format calls it by."""

    id: str
    number: int
    requests: Path
    total: int
    model: str
    named: dict[str, Json]
    looks: int = 0
    lists: int = 0
    state: str = "validating"
    problem: tuple[str, str] = ("", "")  # code and message, where it failed whole
    results: Path | None = None
    succeeded: int = 0
    errored: int = 0
    undone: int = 0
    gone: bool = False
    created: int = field(default_factory=lambda: int(time.time()))  # seconds since 1970

    @property
    def ended(self) -> bool:
        """True if it goes on no more."""
        return self.state in ("completed", "failed", "expired", "cancelled")


class Provider:
    """Batches and their files, in a folder. answer: what the ordinary endpoint says to a body."""

    def __init__(
        self, folder: Path, odd: Oddities, answer: Callable[[str, Json], Answer], mark: str
    ) -> None:
        self.folder, self.odd, self._answer, self._mark = folder, odd, answer, mark
        self._numbers = count()
        self.forget()

    def forget(self) -> None:
        """As if nothing had come yet."""
        self.ledger = Ledger()
        self.batches: dict[str, Batch] = {}
        self._spared: set[str] = set()  # digests that failed or were lost once
        self._met: Counter[str] = Counter()
        for _ in range(self.odd.others):
            self._other()

    def _other(self) -> None:
        batch = self.add(self.new_file(), 0, "another", {"another": True})
        batch.state, batch.results = "completed", batch.requests

    def new_id(self, kind: str) -> str:
        """An id that no other thing has."""
        return f"{kind}_{self._mark}{next(self._numbers):06d}"

    def new_file(self) -> Path:
        """An empty file."""
        path = self.folder / self.new_id("file")
        path.touch()
        return path

    def file(self, name: str) -> Path | None:
        """A file by its id; None where there is none."""
        path = self.folder / name
        return path if "/" not in name and path.is_file() else None

    def add(self, requests: Path, total: int, model: str, named: dict[str, Json]) -> Batch:
        """Takes a batch."""
        id_ = self.new_id("batch")
        batch = Batch(id_, len(self.batches), requests, total, model, named)
        self.batches[id_] = batch
        if "another" not in named:
            self.ledger.created.append(id_)
            self._refuse(batch)
        return batch

    def _refuse(self, batch: Batch) -> None:
        if self._first("invalid", self.odd.invalid):
            batch.problem = ("invalid_request", "The model does not know this parameter.")
        elif self._first("queue_full", self.odd.queue_full):
            said = f"Enqueued token limit reached for {batch.model} in organization org-x."
            batch.problem = ("token_limit_exceeded", said)

    def _first(self, oddity: str, number: int) -> bool:
        """True for the first `number` that ask for an oddity."""
        if self._met[oddity] >= number:
            return False
        self._met[oddity] += 1
        return True

    def loses_reply(self) -> bool:
        """True if the reply to this creation does not arrive."""
        return self._first("lost_replies", self.odd.lost_replies)

    def find(self, id_: str) -> Batch | None:
        """A batch, and no look at it."""
        batch = self.batches.get(id_)
        return None if batch is None or batch.gone else batch

    def look(self, id_: str) -> Batch | None:
        """A batch, which goes on by being looked at; None where there is none."""
        batch = self.find(id_)
        if batch is None or batch.ended or "another" in batch.named:
            return batch
        batch.looks += 1
        if batch.problem[0]:
            batch.state = "failed"
        elif batch.state == "cancelling":
            self._end(batch, "cancelled", batch.total // 2 if batch.looks > 2 else 0)
        elif batch.looks > 1 and self._first("vanish", self.odd.vanish):
            batch.gone = True
            return None
        elif batch.looks >= self.odd.looks:
            self._finish(batch)
        elif batch.looks > 1:
            last = batch.looks == self.odd.looks - 1 > 1
            batch.state = "finalizing" if last else "in_progress"
        return batch

    def _finish(self, batch: Batch) -> None:
        if batch.number in self._odd_numbers("endless", batch):
            batch.state = "in_progress"
        elif self._first("expired", self.odd.expired):
            self._end(batch, "expired", batch.total // 2)
        elif self._first("cancelled", self.odd.cancelled):
            self._end(batch, "cancelled", batch.total // 2)
        else:
            self._end(batch, "completed", batch.total)

    def _odd_numbers(self, oddity: str, batch: Batch) -> set[int]:
        """The first batches by number that an oddity holds for."""
        first = self.odd.others
        number: int = getattr(self.odd, oddity)
        return set(range(first, first + number))

    def cancel(self, id_: str) -> Batch | None:
        """Asks for the end of a batch; what is done stays done."""
        batch = self.find(id_)
        if batch is not None and not batch.ended:
            batch.state = "cancelling"
        return batch

    def listed(self) -> list[Batch]:
        """All batches that a list shows, the newest first; a list is a look at each."""
        shown = []
        for batch in self.batches.values():
            batch.lists += 1
            self.look(batch.id)
            if not batch.gone and ("another" in batch.named or batch.lists > self.odd.late):
                shown.append(batch)
        return shown[::-1]

    def _end(self, batch: Batch, state: str, done: int) -> None:
        """Answers the first `done` requests, and writes what came of all."""
        lines: list[str] = []
        for number, (name, body) in enumerate(read_requests(batch.requests)):
            if number >= done:
                batch.undone += 1
                lines.append(json.dumps({"name": name, "status": 0, "body": None}))
                continue
            result = self._result(name, body)
            if result is not None:
                lines += [result] * (2 if _each(self.odd.doubled, number) else 1)
        if self.odd.mixed:
            random.Random(batch.number).shuffle(lines)
        batch.results = self.new_file()
        batch.results.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        came = {name: status for name, status, _ in read_results(batch.results)}
        batch.succeeded = sum(status == 200 for status in came.values())
        batch.errored = sum(status not in (0, 200) for status in came.values())
        batch.state = state

    def _result(self, name: str, body: Json) -> str | None:
        """A line of results; None where it does not come."""
        key = digest(body)
        number = int(key[:8], 16)
        if key not in self._spared:
            if _each(self.odd.missing, number):
                self._spared.add(key)
                return None
            if _each(self.odd.failing, number + 1):
                self._spared.add(key)
                fault: Json = {"error": {"code": None, "message": "The server had an error."}}
                return json.dumps({"name": name, "status": 500, "body": fault})
        status, reply = self._answer(name, body)
        if status == 200:
            self.ledger.batched[key] += 1
            self.ledger.names[name] += 1
        return json.dumps({"name": name, "status": status, "body": reply})

    def single(self, body: Json) -> Answer:
        """What the ordinary endpoint says; billed when it is good."""
        status, reply = self._answer("", body)
        if status == 200:
            self.ledger.singles[digest(body)] += 1
        return status, reply


def _plain(kept: Json | Counter[str]) -> Json:
    return dict(kept) if isinstance(kept, Counter) else kept


def _each(every: int, number: int) -> bool:
    return bool(every) and number % every == 0


def digest(body: Json) -> str:
    """What a body is known by in the ledger."""
    return sha256(canonical(body).encode()).hexdigest()[:16]


def write_requests(path: Path, requests: Iterable[tuple[str, Json]]) -> int:
    """Name and body of each request, as the provider keeps them; returns how many."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        for name, body in requests:
            file.write(json.dumps([name, body]) + "\n")
            number += 1
    return number


def read_requests(path: Path) -> Iterator[tuple[str, Json]]:
    """What write_requests wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            name, body = json.loads(line)
            yield name, body


def read_results(path: Path) -> Iterator[tuple[str, int, Json]]:
    """Name, status (0: not done) and body of each line of results."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            found = json.loads(line)
            yield found["name"], found["status"], found["body"]
