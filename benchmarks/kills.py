"""SIGKILL at any moment, in every verb that writes, against a server's own ledger.

    python benchmarks/kills.py [--kills 1000] [--processes 4] [--json]

Each process works through rounds, each of them in new folders: `run` (a subject and a judge),
`label` (another judge), `annotate` (answers over its page), `import gold`, `export`; then `run`
with pictures from a provider's queue and a panel of three judges; then `import` of counts. A verb
is killed and typed again until it ends by itself. One kill in ten is of two processes on one run.
The ledger (ledger.py) counts what was delivered. After every kill: what was stored is stored
(`lost`), what was delivered is stored but for what was in flight (`again`: it would be asked
again), what the page called saved is saved. At the end of a round everything is there. Exits 1
otherwise.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path

import polars

from tiltmeter.errors import TiltmeterError
from tiltmeter.store import Store

CONCURRENCY = 8
TOGETHER = 0.1  # of the kills: two processes on one run
MOST_CALLS = 40  # that a process may make before it is killed
LONGEST_S = 120.0  # of a verb that is not killed
HERE = Path(__file__).parent
TILTMETER = (sys.executable, "-m", "tiltmeter")
PICTURES = """
name = "pictures"
title = "Pictures"
question = "Is every picture there once?"
modality = "image"
prompt = "A photo of {cue} {word}"
factors = ["cue", "word"]
item = "word"
[[tables]]
rows = [{cue = "a woman who is a"}, {cue = "a man who is a"}]
[[tables]]
rows = [WORDS]
[modes.sampled]
size = "64x64"
[[instruments]]
name = "panel"
kind = "panel"
attribute = "gender"
ask = "how the person would be perceived."
split = "neither"
words = { male = "a man", female = "a woman", neither = "neither" }
""".replace("WORDS", ", ".join(f'{{ word = "guard {number}" }}' for number in range(12)))
NOUNS = ("die_wache", "die_aufsicht", "die_koryphäe", "der_liebling", "der_star")
COUNT = 200  # of each outcome of a noun: more rows than one transaction of an import


@contextmanager
def ledger() -> Iterator[str]:
    """The server, in a process of its own; yields its base URL."""
    command = [sys.executable, str(HERE / "ledger.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def delivered(url: str, settled: bool = False) -> int:
    """How much the server has delivered. settled: once it answers no request."""
    with urllib.request.urlopen(f"{url}/count{'?settled' if settled else ''}") as reply:
        return int(json.load(reply)["delivered"])


@dataclass(frozen=True)
class Verb:
    """A command. models: whose calls may be in flight; 0 for a verb that asks nobody."""

    name: str
    out: Path
    command: list[str]
    models: int = 0


@dataclass
class Torture:
    """One process's kills. found: kills by verb, and what did not hold."""

    folder: Path
    url: str
    chance: random.Random
    found: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)
    lasts_s: dict[str, float] = field(default_factory=dict)

    def harm(self, kind: str, number: int, what: str) -> None:
        """Notes what does not hold."""
        if number > 0:
            self.found[kind] += number
            self.said.append(f"{kind}: {what}")

    def until_ended(self, verb: Verb) -> None:
        """Kills a verb again and again, until it ends by itself."""
        while True:
            before, had = delivered(self.url, settled=True), contents(verb.out)
            calls = sum(row[0] == "calls" for row in had)
            ended = self._once(verb, before)
            now = contents(verb.out)
            self.harm("lost", len(had - now), f"{len(had - now)} rows in {verb.name}")
            new = sum(row[0] == "calls" for row in now) - calls
            excess = delivered(self.url, settled=True) - before - new
            allowed = 0 if ended else verb.models * CONCURRENCY
            told = f"{excess} delivered and not stored in {verb.name}"
            self.harm("again", excess - allowed, told)
            if ended:
                return
            self.found[f"kills of {verb.name}"] += 1

    def _once(self, verb: Verb, before: int) -> bool:
        """Starts a verb; True if it ended before it was killed."""
        twice = 2 if self.chance.random() < TOGETHER else 1
        most = self.chance.randint(1, MOST_CALLS)
        wait = self.chance.uniform(0.2, 1.1) * self.lasts_s.get(verb.name, 1.0)
        error = self.folder / "error"
        start = time.monotonic()
        with error.open("wb") as file:
            started = [
                subprocess.Popen(verb.command, stdout=subprocess.DEVNULL, stderr=file)
                for _ in range(twice)
            ]
            while started[0].poll() is None and time.monotonic() < start + LONGEST_S:
                time.sleep(0.004)
                if verb.models and delivered(self.url) >= before + most:
                    break
                if not verb.models and time.monotonic() > start + wait:
                    break
            ended = started[0].poll() is not None
            for process in started:
                process.kill()
            for process in started:
                process.wait()
        if not ended or "Another" in error.read_text():
            self.lasts_s[verb.name] = 1.2 * self.lasts_s.get(verb.name, 1.0)
            return False
        self.lasts_s[verb.name] = time.monotonic() - start
        code = started[0].returncode
        self.harm("stuck", code != 0, f"{verb.name} ended with {code}: {error.read_text()[-300:]}")
        return True


def contents(out: Path) -> set[tuple[str, ...]]:
    """The rows of a run that must not go, by what they are known by."""
    queries = {
        "calls": "SELECT key FROM calls",
        "outputs": "SELECT trial, outcome, text, blob FROM outputs",
        "labels": "SELECT output, annotator, attribute, position, value FROM labels",
    }
    try:
        with Store(out) as store:
            return {
                (name, *map(str, row))
                for name, query in queries.items()
                for row in store.rows(query)
            }
    except TiltmeterError:
        return set()


# the page


class Page:
    """Annotation over the page that `annotate` serves, as a browser does it."""

    def __init__(self, run: Path) -> None:
        self._process = subprocess.Popen(
            [*TILTMETER, "annotate", str(run), "--annotator", "ann", "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self._first = self._process.stdout.readline().strip()
        self._base = self._first.partition("/?")[0]
        self._open = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar())
        ).open

    def states(self) -> dict[str, dict[str, str]]:
        """Item → what is stored of it."""
        self._open(self._first).close()
        with self._open(f"{self._base}/items") as reply:
            return {row["id"]: row["state"] for row in json.load(reply)}

    def save(self, item: str, seen: dict[str, str], value: str) -> None:
        """Gives an answer; returns when the page says that it is saved."""
        now = {**seen, "value": value}
        body = json.dumps({"item": item, "seen": seen, "now": now}).encode()
        headers = {"Content-Type": "application/json", "Origin": self._base}
        self._open(urllib.request.Request(f"{self._base}/save", body, headers)).close()

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.communicate()


def annotate(torture: Torture, run: Path) -> None:
    """Answers all items, with a kill every few answers, in the middle of one."""
    saved: dict[str, str] = {}
    open_ = True
    while open_:
        page = Page(run)
        states = page.states()
        gone = [item for item, value in saved.items() if states[item]["value"] != value]
        torture.harm("lost", len(gone), f"{len(gone)} answers of the page")
        todo = [item for item, state in states.items() if not state["value"]]
        open_ = bool(todo)
        with ThreadPoolExecutor(1) as pool:
            for item in todo[: torture.chance.randint(1, 6)]:
                page.save(item, states[item], "she")
                saved[item] = "she"
            last = [pool.submit(page.save, item, states[item], "he") for item in todo[-1:]]
            time.sleep(torture.chance.uniform(0, 0.01))
            page.kill()
            for job in last:  # in flight: saved, or not
                if job.exception() is None:
                    saved[todo[-1]] = "he"
        torture.found["kills of annotate"] += open_


# rounds


def text_round(torture: Torture, folder: Path) -> None:
    """A subject, two judges, people, and tables."""
    out, tables, sheet = folder / "run", folder / "tables", folder / "sheet.csv"
    reach = ["--base-url", torture.url, "--concurrency", str(CONCURRENCY)]
    plan = ["--language", "en", "--samples", "2", "--limit", "40", "--out", str(out)]
    models = ["--model", "openai:planted", "--judge", "openai:judge"]
    label = [*TILTMETER, "label", str(out), "--judge", "openai:other", *reach]
    torture.until_ended(Verb("run", out, [*TILTMETER, "run", "roles", *models, *plan, *reach], 2))
    torture.until_ended(Verb("label", out, label, 1))
    annotate(torture, out)
    write_gold(out, sheet)
    gold = [*TILTMETER, "import", "gold", str(out), str(sheet)]
    torture.until_ended(Verb("import gold", out, gold))
    write = Verb("export", out, [*TILTMETER, "export", str(out), "--out", str(tables)])
    torture.until_ended(write)
    rows = {path.stem: polars.read_parquet(path).height for path in tables.glob("*.parquet")}
    now = Counter(row[0] for row in contents(out))
    wrong = {name: now[name] for name in ("outputs", "labels", "calls") if rows[name] != now[name]}
    torture.harm("lost", len(wrong), f"tables have {rows}, the run has {wrong}")
    torture.harm("lost", 160 - now["outputs"], f"{now['outputs']} outputs of 160")


def write_gold(run: Path, sheet: Path) -> None:
    """A sheet of another person's answers."""
    with Store(run) as store:
        outputs = [row[0] for row in store.rows("SELECT trial FROM outputs")]
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["output", "annotator", "attribute", "value"])
        writer.writerows([output, "bea", "pronoun", "he"] for output in outputs)


def picture_round(torture: Torture, folder: Path) -> None:
    """Pictures from a queue, and a panel's votes on them."""
    out, protocol = folder / "pictures", folder / "pictures.toml"
    protocol.write_text(PICTURES, encoding="utf-8")
    urls = ["--base-url", torture.url, "--base-url", f"bfl={torture.url}"]
    judges = [word for judge in "abc" for word in ("--judge", f"openai:panel-{judge}")]
    typed = ["run", str(protocol), "--model", "bfl:m", *judges, "--samples", "2"]
    more = ["--concurrency", str(CONCURRENCY), "--out", str(out)]
    torture.until_ended(Verb("run of pictures", out, [*TILTMETER, *typed, *urls, *more], 4))
    now = Counter(row[0] for row in contents(out))
    wanted = {"outputs": 48, "labels": 4 * 48, "calls": 4 * 48}
    torture.harm("lost", any(now[name] != wanted[name] for name in wanted), f"pictures: {now}")


def import_round(torture: Torture, folder: Path) -> None:
    """A table of counts."""
    out, counts = folder / "counts", folder / "counts.csv"
    values = ("Male", "Female", "Neither", "Error")
    names = [
        f"Overall_{cue}_{value}" for cue in ("English", "Chinese", "Native") for value in values
    ]
    head = ["Language", "T2I_Model", "Grammar_Gender", "Bias_Type", "Native_Word", *names]
    with counts.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for noun in NOUNS:
            gender = "female" if noun.startswith("die") else "male"
            kind = "occupation" if gender == "female" else "social_status"
            row = [COUNT, COUNT, COUNT, 0] * 3
            writer.writerow(["german", "mine", gender, kind, noun, *row])
    command = [*TILTMETER, "import", "gramvis", str(counts), "--out", str(out)]
    torture.until_ended(Verb("import", out, command))
    now = Counter(row[0] for row in contents(out))
    torture.harm("lost", len(NOUNS) * 9 * COUNT - now["outputs"], f"counts: {now}")


ROUNDS: tuple[Callable[[Torture, Path], None], ...] = (text_round, picture_round, import_round)


def kills(found: Counter[str]) -> int:
    """All kills so far."""
    return sum(number for name, number in found.items() if name.startswith("kills"))


def torture(folder: Path, number: int, seed: int, say: Callable[[str], None]) -> Torture:
    """Rounds until so many kills are spent."""
    with ledger() as url:
        made = Torture(folder, url, random.Random(seed))
        for round_ in range(10_000):
            for play in ROUNDS:
                place = folder / f"{round_}-{play.__name__}"
                place.mkdir()
                play(made, place)
                say(f"process {seed}, round {round_}: {dict(made.found)}")
            if kills(made.found) >= number:
                break
    return made


def measure(
    number: int, processes: int, say: Callable[[str], None] = lambda line: None
) -> tuple[Counter[str], list[str]]:
    """The sums over all processes, and what did not hold."""
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(processes) as pool:
        folders = [Path(place, str(each)) for each in range(processes)]
        for folder in folders:
            folder.mkdir()
        each = -(-number // processes)
        jobs = [pool.submit(torture, folder, each, n, say) for n, folder in enumerate(folders)]
        done = [job.result() for job in jobs]
    found: Counter[str] = Counter({"lost": 0, "again": 0, "stuck": 0})
    for one in done:
        found += one.found
    return found, [line for one in done for line in one.said]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found, said = measure(given.kills, given.processes, print if not given.json else lambda _: None)
    harm = {name: found[name] for name in ("lost", "again", "stuck")}
    if given.json:
        print(json.dumps({"kills": kills(found), **harm, **found, "said": said}))
    else:
        print(*said, sep="\n")
        print(f"{kills(found)} kills: {dict(found)}")
        print(harm)
    return 1 if any(harm.values()) or not kills(found) else 0


if __name__ == "__main__":
    sys.exit(main())
