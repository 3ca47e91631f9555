"""SIGKILL at every step of runs by batch, against a local provider's own ledger, in every format.

    python benchmarks/batches.py [--kills 200] [--formats openai gemini …] [--lies] [--json]

A run (a subject and a judge, or two in one command) is made once without harm. Then it is made anew
and killed at one step: before a request reached the provider, when it was done and not answered
(the creation of a batch among them), when it was answered, before and after each commit. It is
typed again, in one of three cases killed again at another step, until it ends by itself. Then: what
was billed by batch was billed once (`twice`), no batch was made again (`created`), what was asked
singly was billed again only where the kill came while it was under way (`single`), every answer is
stored and all outputs and labels are those of the run without harm (`lost`), and the command ended
well (`stuck`). With --lies each round has another lie of tests/batches/lies.py as well, there are
as many rounds as kills at least, and commands may end with an error until it is told no more. Exits
1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tiltmeter.cli import main as tiltmeter
from tiltmeter.errors import TiltmeterError
from tiltmeter.records import Json
from tiltmeter.stages.batches import steps as batch_steps
from tiltmeter.store import Store

ROOT = Path(__file__).parents[1]
FORMATS = ("openai", "azure", "groq", "mistral", "together", "anthropic", "gemini")
SETTINGS = "she=.7"
WORDS = 3  # of the protocol
POLL_S = 0.01
LATER = 5  # the command left with batches out
FAILED = 1
AGAIN = 1 / 3  # of the rounds: a second kill, at another step
LONGEST_CPU_S, LONGEST_S = 120, 3600  # of a command; a hang is a fault of ours, a busy machine none
MOST_COMMANDS = 20  # until a run has ended
KEYS = ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "GEMINI", "GROQ", "MISTRAL", "TOGETHER")


class Point(NamedTuple):
    """Where a process is killed: the step of that number, and its phase."""

    step: int
    phase: str  # before, done or sent of a request; early or late of a commit


class Provider:
    """A local provider in a process of its own."""

    def __init__(self, url: str) -> None:
        self.host = "/".join(url.split("/")[:3])
        self.url = url

    def ask(self, path: str, body: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """Its JSON at a path."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.host}{path}", data) as reply:
            found: dict[str, Json] = json.load(reply)
            return found


@contextmanager
def provider(format_: str, oddities: Mapping[str, int]) -> Iterator[Provider]:
    """A provider that runs."""
    odd = ["--oddities", json.dumps(oddities), "--settings", SETTINGS]
    command = [sys.executable, "-m", "tests.batches", format_, *odd]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield Provider(process.stdout.readline().strip())
        finally:
            process.terminate()


# a command, in a process of its own that is made by fork: it has loaded all packages already


class Killed(sqlite3.Connection):
    """SQLite that counts commits, and kills this process at one of them."""

    commits = 0
    point = Point(0, "")

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        if not statement.startswith("COMMIT"):
            return super().execute(statement, *values)  # type: ignore[arg-type]
        Killed.commits += 1
        meets = Killed.commits == Killed.point.step
        if meets and Killed.point.phase == "early":
            os.kill(os.getpid(), signal.SIGKILL)
        cursor = super().execute(statement, *values)  # type: ignore[arg-type]
        if meets and Killed.point.phase == "late":
            os.kill(os.getpid(), signal.SIGKILL)
        return cursor


def child(typed: list[str], log: Path, place: Provider, point: Point | None) -> int:
    """Runs a command in this process, to be killed at a point; returns its exit code."""
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU_S, LONGEST_CPU_S))
    signal.alarm(LONGEST_S)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    connect = sqlite3.connect

    def counting(*given: object, **options: object) -> sqlite3.Connection:
        return connect(*given, **{"factory": Killed, **options})  # type: ignore[call-overload, no-any-return]

    sqlite3.connect = counting  # type: ignore[assignment]
    if point is not None and point.phase in ("early", "late"):
        Killed.point = point
    elif point is not None:
        place.ask("/arm", {"pid": os.getpid(), "step": point.step, "phase": point.phase})
    batch_steps.LATE_LIST_S = 0.0
    code = tiltmeter(typed)
    log.with_suffix(".json").write_text(json.dumps([Killed.commits, sorted(sys.modules)]))
    return code


def run(typed: list[str], log: Path, place: Provider, point: Point | None = None) -> int | None:
    """The exit code of a command in a process of its own, or None where it was killed."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            code = child(typed, log, place, point)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return None if os.WTERMSIG(status) == signal.SIGKILL else 71
    return os.WEXITSTATUS(status)


def command(format_: str, place: Provider, out: Path, *, wait: bool) -> list[str]:
    """A small run of a subject and a judge, by batch."""
    base = place.host if format_ == "azure" else place.url
    models = ["--model", f"{format_}:planted", "--judge", f"{format_}:judge"]
    plan = ["--language", "en", "--samples", "1", "--limit", str(WORDS), "--out", str(out)]
    more = ["--wait"] if wait else []
    reach = ["--base-url", f"{format_}={base}", "--batch", "--poll", str(POLL_S), *more]
    return ["run", "roles", *models, *plan, *reach]


# what must hold


class Whole(NamedTuple):
    """What a run ended with. rows: outputs and labels, as they are stored."""

    rows: frozenset[tuple[str, ...]]
    created: int
    steps: int
    commits: int


def rows(out: Path) -> frozenset[tuple[str, ...]]:
    """The outputs and labels of a run."""
    queries = (
        "SELECT 'output', trial, outcome, text FROM outputs",
        "SELECT 'label', output, annotator, attribute, position, value FROM labels",
    )
    try:
        with Store(out) as store:
            return frozenset(tuple(map(str, row)) for q in queries for row in store.rows(q))
    except TiltmeterError:
        return frozenset()


class Torture:
    """The kills of one format. found: kills by phase, and what did not hold."""

    def __init__(
        self, format_: str, place: Provider, folder: Path, seed: int, lies: list[str]
    ) -> None:
        self.format, self.place, self.folder, self.lies = format_, place, folder, lies
        self.chance = random.Random(seed)
        self.found: Counter[str] = Counter()
        self.said: list[str] = []

    def harm(self, kind: str, number: int, what: str) -> None:
        """Notes what does not hold."""
        if number > 0:
            self.found[kind] += number
            self.said.append(f"{self.format}: {kind}: {what}")

    def whole(self) -> Whole:
        """The run without harm."""
        out, log = self.folder / "whole", self.folder / "log"
        commits = steps = 0
        for _ in range(MOST_COMMANDS):
            code = run(command(self.format, self.place, out, wait=True), log, self.place)
            if code not in (0, LATER):
                raise SystemExit(f"{self.format}: ended with {code}: {log.read_text()[-2000:]}")
            made, modules = json.loads(log.with_suffix(".json").read_text())
            commits += made
            if code == 0:
                break
        load(modules)
        ledger = self.place.ask("/ledger")
        steps = len(listed(ledger, "steps"))
        complaints = listed(ledger, "complaints")
        self.harm("complaints", len(complaints), str(complaints[:3]))
        return Whole(rows(out), len(listed(ledger, "created")), steps, commits)

    def points(self, whole: Whole) -> list[Point]:
        """All steps that a process can be killed at."""
        asked = [Point(n + 1, p) for n in range(whole.steps) for p in ("before", "done", "sent")]
        stored = [Point(n + 1, p) for n in range(whole.commits) for p in ("early", "late")]
        return asked + stored

    def round(self, whole: Whole, points: list[Point], number: int) -> None:
        """A run that is killed at the first point, and typed again until it ends."""
        out, log = self.folder / str(number), self.folder / "log"
        lie = self.lies[number % len(self.lies)] if self.lies else ""
        self.found["lies"] = min(number + 1, len(self.lies))
        self.place.ask("/forget", {"lie": lie})
        kills: list[Point] = []
        under_way = 0
        wait = self.chance.random() < 0.5
        for turn in range(MOST_COMMANDS):
            point = points[turn] if turn < len(points) else None
            code = run(command(self.format, self.place, out, wait=wait), log, self.place, point)
            if code is None and point is not None:
                kills.append(point)
                self.found[f"kills: {point.phase}"] += 1
                under_way += single(self.place.ask("/ledger"))
            elif code == 0:
                break
            elif code != LATER and not (lie and code == FAILED):
                said = f"{lie} {kills} ended with {code}: {log.read_text()[-600:]}"
                return self.harm("stuck", 1, said)
        else:
            said = f"not ended after {MOST_COMMANDS} commands: {log.read_text()[-600:]}"
            return self.harm("stuck", 1, f"{lie} {kills}: {said}")
        self._check(whole, out, kills, under_way)
        return None

    def _check(self, whole: Whole, out: Path, kills: list[Point], under_way: int) -> None:
        ledger = self.place.ask("/ledger")
        batched, singles = counts(ledger, "batched"), counts(ledger, "singles")
        more = sum(batched.values()) - len(batched)
        self.harm("twice", more, f"{more} lines were billed twice after {kills}")
        again = (batched + singles).total() - len(batched | singles) - more
        self.harm("single", again - under_way, f"{again} single requests again after {kills}")
        created = len(listed(ledger, "created"))
        self.harm("created", created - whole.created, f"{created} batches after {kills}")
        lost = whole.rows - rows(out)
        if (
            lost and again and "seed" not in str(sorted(lost))
        ):  # another draw of what was paid again
            lost = lost if len(rows(out)) < len(whole.rows) else frozenset()
        self.harm("lost", len(lost), f"{sorted(lost)[:2]} after {kills}")
        complaints = listed(ledger, "complaints")
        self.harm("complaints", len(complaints), f"{complaints[:3]} after {kills}")


def listed(ledger: Mapping[str, Json], name: str) -> list[str]:
    """A list of texts of the ledger."""
    found = ledger[name]
    assert isinstance(found, list)
    return [str(each) for each in found]


def counts(ledger: Mapping[str, Json], name: str) -> Counter[str]:
    """Counts of the ledger."""
    found = ledger[name]
    assert isinstance(found, dict)
    return Counter({str(key): int(str(value)) for key, value in found.items()})


def single(ledger: Mapping[str, Json]) -> bool:
    """True if the last step was a request that is asked singly."""
    steps = listed(ledger, "steps")
    last = steps[-1] if steps else ""
    return last.endswith(("/completions", "/messages", ":generateContent"))


def load(names: list[str]) -> None:
    """Imports what a command imports, so that a process that is made by fork need not."""
    for name in names:
        if name.startswith(("tiltmeter.", "aiohttp", "polars.", "rich.")):
            import_module(name)


def torture(
    format_: str,
    kills: int,
    folder: Path,
    seed: int,
    oddities: Mapping[str, int],
    lies: bool,
) -> Torture:
    """So many kills of one format, spread over all its steps."""
    with provider(format_, oddities) as place:
        names = names_of_lies(format_) if lies else []
        made = Torture(format_, place, folder, seed, names)
        whole = made.whole()
        points = made.points(whole)
        made.chance.shuffle(points)
        made.chance.shuffle(made.lies)
        made.found["points"] = len(points)
        number = 0
        while total(made.found) < kills or made.found["lies"] < min(kills, len(names)):
            first = [points[number % len(points)]]
            second = [made.chance.choice(points)] if made.chance.random() < AGAIN else []
            made.round(whole, first + second, number)
            number += 1
            if number > 3 * kills:
                made.harm("stuck", 1, f"only {total(made.found)} kills in {number} rounds")
                break
    return made


def names_of_lies(format_: str) -> list[str]:
    """The lies that a provider of this format can tell."""
    sys.path.insert(0, str(ROOT))
    return [lie.name for lie in import_module("tests.batches.lies").LIES[format_]]


def total(found: Counter[str]) -> int:
    """All kills so far."""
    return sum(number for name, number in found.items() if name.startswith("kills"))


HARM = ("twice", "single", "created", "lost", "stuck", "complaints")


def measure(
    kills: int,
    formats: list[str],
    oddities: Mapping[str, int],
    say: Callable[[str], None] = lambda line: None,
    lies: bool = False,
) -> tuple[Counter[str], list[str]]:
    """The sums over all formats, and what did not hold."""
    for name in KEYS:
        os.environ[f"{name}_API_KEY"] = "key-of-no-provider"
    found: Counter[str] = Counter(dict.fromkeys(HARM, 0))
    said: list[str] = []
    for number, format_ in enumerate(formats):
        each = kills * (number + 1) // len(formats) - kills * number // len(formats)
        with tempfile.TemporaryDirectory() as place:
            one = torture(format_, each, Path(place), number, oddities, lies)
        say(f"{format_}: {dict(one.found)}")
        found += one.found
        said += one.said
    return found, said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--oddities", default="{}", help="JSON, as tests/batches has them")
    parser.add_argument("--lies", action="store_true", help="a lie in each round")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    say: Callable[[str], None] = (lambda line: None) if given.json else print
    found, said = measure(given.kills, given.formats, json.loads(given.oddities), say, given.lies)
    harm = {name: found[name] for name in HARM}
    if given.json:
        print(json.dumps({"kills": total(found), **harm, "all": found, "said": said}))
    else:
        print(*said, sep="\n")
        print(f"{total(found)} kills: {harm}")
    return 1 if any(harm.values()) or not total(found) else 0


if __name__ == "__main__":
    sys.exit(main())
