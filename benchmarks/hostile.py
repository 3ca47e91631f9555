"""Every verb on runs and folders of strangers: no traceback, no hang, nothing done outside.

    python benchmarks/hostile.py [--runs 113] [--folders 60] [--each 38] [--only TEXT] [--seed 0]
                                 [--kept FILE]

The cases are made by hostile_cases.py and drawn with the seed. A verb runs in a process of its own
that is made by fork, with a limit of memory and of time. A hook on Python's audit events sees each
file that it opens, renames or removes, each connection, each program that it starts; what lies
outside the run, the folder to write to and Python itself is harm. So is an exception that the
command line turns into one line, if no value of the run explains it. Exits 1 where there was some.
--kept holds a line of JSON per case: what it holds is not typed again, so that the whole set can be
typed in parts and only the cases that a mend touches are typed anew.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import sysconfig
import tempfile
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import hostile_cases as cases

from tiltmeter import cli
from tiltmeter.cli import main as tiltmeter

_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT
LONGEST_CPU_S, LONGEST_S, MOST_BYTES = 60, 900, 4 * 2**30  # a wall of a hang that idles
TRACEBACK, OUTSIDE = 70, 71
VERBS = {
    "explore": "explore {run} --static {out}/pages",
    "export csv": "export {run} --format csv --out {out}/csv",
    "export jsonl": "export {run} --format jsonl --out {out}/jsonl",
    "export parquet": "export {run} --format parquet --out {out}/parquet",
    "export audit": "export {run} --format audit --out {out}/audit --with-texts",
    "export crate": "export {run} --format crate --out {out}/crate",
    "export replies": "export {run} --format replies --out {out}/replies",
    "export inspect": "export {run} --format inspect --out {out}/inspect",
    "export huggingface": "export {run} --format huggingface --out {out}/hf --with-texts",
    "export every-eval-ever": "export {run} --format every-eval-ever --out {out}/eee --with-texts",
    "verify": "export {run} --verify",
    "seal": "export {run} --seal",
    "against": "export {crate} --verify --against {run}",
    "report": "report {run}",
    "report md": "report {run} --out {out}/r.md",
    "report brief": "report {run} --brief --out {out}/b.html",
    "report two": "report {run} {whole} --out {out}/two.html",
    "annotate": "annotate {run} --annotator me --sample 3 --progress",
    "analyse": "analyse {run} --full",
    "analyse json": "analyse {run} --json",
    "gate": "analyse {run} --fail-on tilt --junit {out}/j.xml",
    "merge": "merge {run} {whole} --out {out}/merged",
    "label": "label {run}",
    "anew": "label {run} --anew",
    "judge": "label {run} --judge planted:accuracy=.8",
    "jobs": "jobs {run}",
    "money": "jobs {run} --money",
    "cancel": "jobs {run} --cancel",
    "compare": "compare {run} {copy} --full",
    "history": "history {run} {copy} --out {out}/h.html",
    "table": "table {run}",
    "figure": "figure {run} --out {out}/figures",
    "quote": "quote {run}",
    "validate": "validate {run}",
    "sheet": "validate {run} --sample 3 --sheet {out}/sheet.csv",
    "cite": "cite {run} --format cff",
    "log": "log {run}",
    "resume": "run roles --model planted:she=0.8 --language en --limit 3 --out {run}",
}
FOLDER_VERBS = {
    "verify": "export {run} --verify",
    "against": "export {run} --verify --against {whole}",
    "seal": "export {run} --seal",
    "explore": "explore {run}/run --static {out}/pages",
    "report": "report {run}/run --out {out}/r.html",
    "export": "export {run} --format crate --out {out}/crate",
    "annotate": "annotate {run} --question Who? --values a,b --annotator me --progress",
    "analyse": "analyse {run}",
    "run": "run roles --model folder:{run} --language en --limit 1 --samples 1 --out {out}/r",
}
_PYTHON = [Path(name) for name in (*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix)]
_HARMLESS = ("/proc", "/sys", "/dev/null", "/dev/urandom", "/etc", "/usr", "/lib", "/opt")
_WRITES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate")
_ASKS = ("socket.connect", "subprocess.Popen", "os.system", "os.posix_spawn", "os.exec")


class Watch:
    """Sees what is done outside. allowed: folders that may be read and written."""

    def __init__(self, allowed: list[Path], read_only: list[Path], log: Path) -> None:
        self.allowed = [os.path.realpath(one) for one in allowed]
        self.readable = [*self.allowed, *map(os.path.realpath, (*read_only, *_PYTHON)), *_HARMLESS]
        self.seen: list[str] = []
        self._log, self._busy, self.off = log, False, False

    def __call__(self, event: str, given: tuple[object, ...]) -> None:
        """An audit event."""
        if self._busy or self.off:
            return
        self._busy = True
        try:
            if event in _ASKS and given[0] != "ssh-keygen":  # which checks a signature
                self._note(event, given)
            elif event == "open":
                path, _, flags = given
                writes = isinstance(flags, int) and flags & _TO_WRITE
                no_link = isinstance(flags, int) and bool(flags & os.O_NOFOLLOW)
                self._path(event, path, bool(writes), links=no_link)
            elif event == "sqlite3.connect":
                self._path(event, given[0], False)
            elif event in _WRITES:
                for path in given[:2]:
                    self._path(event, path, True, links=event in ("os.remove", "os.rename"))
        finally:
            self._busy = False

    def _path(self, event: str, path: object, writes: bool, links: bool = False) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or path in ("", ":memory:") or "\0" in path:
            return
        path = path.removeprefix("file:").partition("?")[0] if event == "sqlite3.connect" else path
        real = os.path.realpath(path)
        if links:  # the link itself, and not what it names
            real = str(Path(os.path.realpath(Path(path).parent)) / Path(path).name)
        inside = self.allowed if writes else self.readable
        if not any(real == one or real.startswith(f"{one}/") for one in inside):
            self._note(f"{event}{' to write' if writes else ''}", real)

    def _note(self, event: str, what: object) -> None:
        line = f"{event}: {str(what)[:200]}"
        if line not in self.seen:
            self.seen.append(line)
            with open(self._log, "a") as file:  # noqa: PTH123
                file.write(f"{line}\n")


class Place(NamedTuple):
    """Where a case lies. allowed: that a verb may write to; readable: beside it."""

    case: Path
    whole: Path
    crate: Path
    home: Path


def show_faults() -> None:
    """Prints the traceback of each exception that the command line cannot explain."""
    explain = cli._unforeseen

    def show(error: Exception) -> str:
        explained = explain(error)
        if "bug of tiltmeter" in explained:
            traceback.print_exception(error)
        return explained

    cli._unforeseen = show


def child(typed: list[str], place: Place, log: Path) -> int:
    """The command in this process; its exit code, or TRACEBACK or OUTSIDE."""
    signal.alarm(LONGEST_S)
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU_S, LONGEST_CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.update(HOME=str(place.home), XDG_CACHE_HOME=str(place.home), TMPDIR=str(place.home))
    os.environ.update(OPENAI_API_KEY="sk-of-nobody-1234", TILTMETER_KEEP="0", COLUMNS="100")
    tempfile.tempdir = str(place.home)
    os.chdir(place.home)
    source = Path(cases.__file__).parents[1]
    may = [place.case / "it", place.case / "out", place.home, Path("/dev/null")]
    watch = Watch(may, [place.whole, place.crate, source], log.with_suffix(".seen"))
    sys.dont_write_bytecode = True  # it would lie beside the package, which is outside
    sys.addaudithook(watch)
    show_faults()
    try:
        code = tiltmeter(typed)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        code = TRACEBACK
    watch.off = True
    with open(log.with_suffix(".modules"), "w") as file:  # noqa: PTH123
        json.dump(sorted(sys.modules), file)
    return OUTSIDE if watch.seen and code != TRACEBACK else code


def run(typed: list[str], place: Place, log: Path) -> int:
    """The exit code of a command in a process of its own; minus the signal that ended it."""
    log.with_suffix(".seen").unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        code = 72
        try:
            code = child(typed, place, log)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def harm_of(code: int, log: Path) -> str:
    """What was wrong with a command; "" for nothing."""
    said = log.read_text("utf-8", "replace") if log.exists() else ""
    if code < 0:
        return f"ended by signal {-code}: {said[-200:]}"
    if code == TRACEBACK or "Traceback (most recent" in said:
        return f"traceback: {said[said.find('Traceback') :][-900:]}"
    if code == OUTSIDE:
        return f"outside: {log.with_suffix('.seen').read_text()[:500]}"
    if code not in range(6):
        return f"exit code {code}: {said[-300:]}"
    return ""


class Torture(NamedTuple):
    """Cases of a kind and what is typed on them. each: verbs of a case, drawn; base: what cases are
    made of; home: where all of it lies.
    """

    kind: str
    verbs: dict[str, str]
    base: cases.Base
    home: Path
    seed: int
    each: int

    def made(self) -> dict[str, tuple[str, cases.Change]]:
        """All cases by name."""
        make = cases.hostile_runs if self.kind == "run" else cases.hostile_folders
        return make(self.base)

    def run(self, names: list[str], kept: Path | None) -> int:
        """Types the verbs on some cases; the number of commands with harm."""
        results = kept_results(kept)
        commands = harmful = 0
        for name in names:
            case = f"{self.kind} {name}"
            if case not in results:
                print(f"{commands} {name}", file=sys.stderr, flush=True)
                results[case] = self._type(name)
                if kept is not None:
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"case": case, "harm": results[case]}) + "\n")
            commands += len(results[case])
            harm = {verb: harm for verb, harm in results[case].items() if harm}
            harmful += len(harm)
            for verb, text in harm.items():
                print(f"{name} / {verb}: {text}", flush=True)
        print(f"{self.kind}s: {len(names)} cases, {commands} commands, {harmful} with harm")
        return harmful

    def _type(self, name: str) -> dict[str, str]:
        """The harm of each verb on a case; "" for none."""
        chance = random.Random(f"{self.seed}/{name}")
        drawn = chance.sample(sorted(self.verbs), min(self.each, len(self.verbs)))
        made = self.made()[name]
        return {verb: self._harm(made, name, verb) for verb in drawn}

    def _harm(self, made: tuple[str, cases.Change], name: str, verb: str) -> str:
        of, change = made
        bases = self.base.runs if self.kind == "run" else self.base.folders
        place = new_case(self.home, bases[of], self.base)
        with suppress(sqlite3.IntegrityError):  # SQLite refuses it: the case is a whole run
            change(place.case / "it", random.Random(f"{self.seed}/{name}"))
        before = snapshot(place.case / "outside")
        code = type_verb(self.verbs[verb], place, self.home / "log")
        changed = before != snapshot(place.case / "outside")
        return "what lies outside was changed" if changed else harm_of(code, self.home / "log")


def kept_results(file: Path | None) -> dict[str, dict[str, str]]:
    """The harm of each verb by case, from the lines of a file."""
    if file is None or not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return {row["case"]: row["harm"] for row in rows}


def snapshot(folder: Path) -> list[tuple[str, bytes]]:
    """The files of a folder with their content: what SQLite writes no hook sees."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(str(path), path.read_bytes()) for path in found]


def new_case(home: Path, base: Path, bases: cases.Base) -> Place:
    """A copy of a base in a folder that is made anew."""
    case = home / "case"
    shutil.rmtree(case, ignore_errors=True)
    shutil.copytree(base, case / "it", symlinks=True)
    (case / "out").mkdir()
    return Place(case, bases.runs["judged"], bases.folders["crate"], home / "home")


def type_verb(words: str, place: Place, log: Path) -> int:
    """Types a verb on a case; its exit code."""
    case = place.case
    if "{copy}" in words:
        shutil.copytree(place.whole, case / "out" / "copy")
    where = {"run": case / "it", "out": case / "out", "copy": case / "out" / "copy"}
    more = {"whole": place.whole, "crate": place.crate}
    return run(words.format(**where, **more).split(), place, log)


def warm(base: cases.Base, home: Path) -> None:
    """Imports what the verbs import, so that a process that is made by fork need not."""
    folder_verbs = [(verb, words, base.folders["audit"]) for verb, words in FOLDER_VERBS.items()]
    run_verbs = [(verb, words, base.runs["judged"]) for verb, words in VERBS.items()]
    for verb, words, whole in (*run_verbs, *folder_verbs):
        place = new_case(home, whole, base)
        said = harm_of(type_verb(words, place, home / "log"), home / "log")
        if said:
            print(f"nothing changed / {verb}: {said}")
        for name in json.loads((home / "log.modules").read_text()):
            is_ours = name.startswith(("tiltmeter.", "numpy", "scipy", "rich."))
            if is_ours and not name.endswith("__main__"):
                with suppress(ImportError):
                    import_module(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=113)
    parser.add_argument("--folders", type=int, default=60)
    parser.add_argument("--each", type=int, default=len(VERBS), help="verbs of each case, drawn")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path, help="a line per case; what it has is not run again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in ("base", "home"):
            (home / name).mkdir()
        making = multiprocessing.get_context("spawn").Process(
            target=cases.make_base, args=(home / "base",)
        )  # in a process of its own: one that has threads is not to be forked
        making.start()
        making.join()
        base, chance = cases.base_at(home / "base"), random.Random(given.seed)
        warm(base, home)
        harmful = 0
        kinds = (("run", given.runs, VERBS), ("folder", given.folders, FOLDER_VERBS))
        for kind, number, verbs in kinds:
            one = Torture(kind, verbs, base, home, given.seed, given.each)
            names = [name for name in one.made() if given.only in name]
            drawn = chance.sample(names, min(number, len(names)))
            harmful += one.run(drawn, given.kept)
    return 1 if harmful else 0


if __name__ == "__main__":
    sys.exit(main())
