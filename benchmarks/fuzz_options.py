"""Every option of every verb, and settings of tiltmeter.toml, with values that hurt.

    python benchmarks/fuzz_options.py [--seconds 60] [--seed 0]

A command has one to three options drawn at random, and one in four a tiltmeter.toml with two keys.
It is typed in this process, in a folder with a small run, a pipe, garbage and the like. Harm is a
traceback, an exception that the command line cannot explain, an exit code that there is not, JSON
that is none, or a hang. Exits 1 where there was some.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import click

from tiltmeter import api, cli

LONGEST_S = 100
NUMBERS = (
    *("", "0", "-1", "1", "5", "0.5", "nan", "inf", "-inf", "1e999", "1e-320", "9" * 20, "9" * 400),
    *(
        "1/2",
        "0/0",
        "-1/2",
        "3/2",
        "1/0",
        "50^8",
        "5%",
        "101%",
        "1,2,3",
        "2026-01-01",
        "9999-99-99",
    ),
)
MODELS = (
    *("openai:", "openai:m", "planted:", "planted:she=nan", "planted:she=9", "planted:she=.5"),
    *(
        "file:",
        "file:empty",
        "file:pipe",
        "python:",
        "python:x",
        "python:os:system",
        "cmd:",
        "cmd:'",
    ),
    *("folder:", "folder:folder", "nothing:x", ":", "::"),
)
PLACES = (
    *("base", "empty", "folder", "garbage", "table.csv", "x.toml", "deep.toml", "lines.jsonl"),
    *(
        "nothing",
        "..",
        "../..",
        "/",
        "~",
        "x" * 5000,
        "http://",
        "http://[",
        "http://127.0.0.1:9/v1",
    ),
)
WORDS = (
    *("x", "a=b", "=", "a=", "=b", "a=1/2", "a=nan/1", "*", "en", "en,de", "en,xx", "she_first"),
    *("she×he", "a×", "×", "[", "{}", "{x}", "null", "None", "true", "%", "%s", "\\", "-", "--"),
    *("tilt", "median", "a\nb", "\x1b[31m", "é", "\u202e", "🙂" * 50),
)
VALUES = (*NUMBERS, *MODELS, *PLACES, *WORDS)
GIVEN: dict[str, list[str]] = {
    "run": ["roles", "--limit=1", "--samples=1", "--model=planted:she=.8", "--out=o"],
    "plan": ["roles"],
    "merge": ["base", "base"],
    "compare": ["base", "base"],
    "history": ["base", "base"],
    "import": ["roles", "table.csv"],
    "show": ["roles"],
    "language": ["en"],
    "audit": ["table.csv"],
    "init": ["mine.toml"],
    "ls": [],
    "doctor": [],
    "completion": [],
}
LEFT_OUT = ("explore", "serve", "annotate", "selftest")  # they wait for a browser, or take minutes


def make_run(folder: Path) -> None:
    """A small run."""
    api.run("roles", "planted:she=.8", folder, language="en", limit=1, samples=1)


def make_place(place: Path) -> None:
    """A folder with what options may name."""
    make_run(place / "base")
    (place / "empty").touch()
    (place / "folder").mkdir()
    (place / "garbage").write_bytes(bytes(range(256)) * 20)
    os.mkfifo(place / "pipe")
    (place / "table.csv").write_text("a,b\n1,2\n", "utf-8")
    (place / "x.toml").write_text("a = 1\n", "utf-8")
    (place / "deep.toml").write_text("a = " + "[" * 3000 + "]" * 3000, "utf-8")
    (place / "lines.jsonl").write_text('{"a": 1}\n', "utf-8")


def verbs() -> dict[str, list[click.Option]]:
    """The options of every verb."""
    context = click.Context(cli.group)
    found = {}
    for name in cli.group.list_commands(context):
        command = cli.group.get_command(context, name)
        if command is not None and name not in LEFT_OUT:
            found[name] = [one for one in command.params if isinstance(one, click.Option)]
    return found


def drawn(verb: str, options: list[click.Option], chance: random.Random) -> Iterator[str]:
    """What is typed."""
    yield verb
    for word in GIVEN.get(verb, ["base"]):
        yield word if chance.random() < 0.95 else chance.choice(VALUES)
    for option in chance.sample(options, min(len(options), chance.choice((1, 1, 1, 2, 3)))):
        yield chance.choice(option.opts)
        if not option.is_flag:
            choices = getattr(option.type, "choices", None)
            yield str(chance.choice(list(choices) if choices and chance.random() < 0.6 else VALUES))


def setting(options: list[click.Option], chance: random.Random) -> str:
    """A tiltmeter.toml with keys of a verb's options."""
    lines = []
    for option in chance.sample(options, min(len(options), 2)):
        name = max(option.opts, key=len).lstrip("-").replace("-", chance.choice("-_"))
        value = chance.choice(VALUES)
        texts = (json.dumps(value), f"[{json.dumps(value)}]", value, "{a = 1}", "true", "[[]]")
        lines.append(f"{name} = {chance.choice(texts)}\n")
    return "".join(dict.fromkeys(lines))


def harm_of(typed: list[str], unexplained: list[str]) -> str:
    """What was wrong with a command; "" for nothing."""
    out, err = io.StringIO(), io.StringIO()
    unexplained.clear()
    signal.alarm(LONGEST_S)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(typed)
    except BaseException as error:  # noqa: BLE001
        return f"{type(error).__name__}: {traceback.format_tb(error.__traceback__)[-1]}"
    finally:
        signal.alarm(0)
    if unexplained:
        return unexplained[0]
    if code not in range(6):
        return f"exit code {code}"
    if "--json" in typed and code in (0, 3, 4) and out.getvalue().strip():
        try:
            json.loads(out.getvalue())
        except ValueError:
            return f"no JSON: {out.getvalue()[:100]!r}"
    return ""


def watch_faults() -> list[str]:
    """Filled with the place of each exception that the command line cannot explain."""
    unexplained: list[str] = []
    explain = cli._unforeseen

    def show(error: Exception) -> str:
        explained = explain(error)
        if "bug of tiltmeter" in explained:
            last = traceback.format_tb(error.__traceback__)[-1]
            unexplained.append(f"{type(error).__name__}: {error} {last}")
        return explained

    cli._unforeseen = show
    return unexplained


def stop(*_: object) -> None:
    raise TimeoutError(f"no end after {LONGEST_S} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60, help="of CPU")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance, harms, number = random.Random(given.seed), dict[str, list[str]](), 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.chdir(place)
        os.environ.update(HOME=folder, XDG_CACHE_HOME=f"{folder}/cache", TILTMETER_KEEP="0")
        make_place(place)
        signal.signal(signal.SIGALRM, stop)
        unexplained, known = watch_faults(), verbs()
        end = time.process_time() + given.seconds
        while time.process_time() < end:
            verb = chance.choice(sorted(known))
            typed = list(drawn(verb, known[verb], chance))
            (place / "tiltmeter.toml").unlink(missing_ok=True)
            if chance.random() < 0.25:
                (place / "tiltmeter.toml").write_text(setting(known[verb], chance), "utf-8")
            if not (place / "base" / "run.sqlite").exists():
                shutil.rmtree(place / "base", ignore_errors=True)
                api.run(
                    "roles", "planted:she=.8", place / "base", language="en", limit=1, samples=1
                )
            shutil.rmtree(place / "o", ignore_errors=True)
            number += 1
            harm = harm_of(typed, unexplained)
            if harm and harm not in harms:
                harms[harm] = typed
                print(harm, [word[:60] for word in typed], flush=True)
        os.chdir("/")
    print(f"{number} commands, {len(harms)} kinds of harm")
    return 1 if harms else 0


if __name__ == "__main__":
    sys.exit(main())
