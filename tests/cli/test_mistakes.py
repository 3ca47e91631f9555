"""The mistakes of a first hour: each is one line that says what to type, never a traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.cli import main

AUDIT = Path(__file__).parents[2] / "src" / "tiltmeter" / "api" / "starts" / "text.toml"
P = "planted:she=0.7"
SMALL = "--language en --limit 2 --samples 1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a folder looks like after an hour: a run, an audit, files of other kinds."""
    home = tmp_path_factory.mktemp("hour")
    tiltmeter.run("roles", P, home / "run", language="en", limit=2, samples=1)
    text = AUDIT.read_text("utf-8")
    (home / "audit.toml").write_text(text, "utf-8")
    (home / "typo.toml").write_text(text.replace("question =", "qestion =", 1), "utf-8")
    (home / "broken.toml").write_text("name = audit\n", "utf-8")
    (home / "slot.toml").write_text(text.replace("{job}", "{jop}"), "utf-8")
    (home / "latin.toml").write_bytes("title = 'é'".encode("latin-1"))
    (home / "notes.txt").write_text("a note", "utf-8")
    (home / "empty.csv").write_text("", "utf-8")
    (home / "other.csv").write_text("question,response\nwhat?,that\n", "utf-8")
    (home / "strange.csv").write_text("prompt,text\nWhat is 2 + 2?,4\n", "utf-8")
    (home / "prompts.csv").write_text("prompt,group,job\na,b,c\nd,e,c\n", "utf-8")
    (home / "same.csv").write_text("prompt,a,b\nx,1,2\ny,3,4\nz,5,6\n", "utf-8")
    (home / "answers.jsonl").write_text(json.dumps({"prompt": "x"}), "utf-8")
    (home / "bot.py").write_text("def answer(prompt):\n    return 'He'\n", "utf-8")
    (home / "bad.py").write_text("def answer(prompt:\n", "utf-8")
    (home / "model.gguf").write_bytes(b"")
    (home / "pictures").mkdir()
    (home / "damaged").mkdir()
    (home / "damaged" / "run.sqlite").write_bytes(b"SQLite format 3\0 but not really")
    (home / "gold.csv").write_text("output,value\nnone,she\n", "utf-8")
    return home


# what is typed, what must be said (a pattern)
MISTAKES = [
    # verbs and options
    ("rnu roles", r"No verb 'rnu'\. Did you mean 'run'"),
    ("rolse", r"No verb 'rolse'"),
    ("run", r"Missing argument 'PROTOCOL'.*run --help"),
    ("run roles", r"Missing option '--model'"),
    (f"run roles --model {P}", r"Missing option '--out'"),
    (f"run roles --modle {P} --out r", r"No such option.*--modle.*--model"),
    (f"run roles --model {P} --out r --samples none", r"--samples.*not a valid integer"),
    (f"run roles --model {P} --out r --samples 0", r"--samples.*0 is not in the range"),
    (f"run roles --model {P} --out r --temperature 7", r"--temperature.*range"),
    (f"run roles {P} --out r", r"unexpected extra argument|Missing option '--model'"),
    (f"run roles --model {P} --out r --max-cost cheap", r"--max-cost.*not a valid float"),
    (f"run roles --model {P} --out r --price openai:x=3", r"--price.*openai:gpt-4\.1-mini=0\.40"),
    (f"run roles --model {P} --out r --where word", r"--where.*prompt=P1,P2"),
    (f"run roles --model {P} --out r --column text", r"--column.*text=response"),
    ("compare", r"Missing argument"),
    ("completion tcsh", r"'tcsh' is not one of"),
    ("run roles --model planted --out r --lang en", r"'--language' or '--label'\? Type"),
    ("import roles", r"tiltmeter import \[OPTIONS\] PROTOCOL\|gold PATH"),
    ("verify run", r"No verb 'verify'\. Type: tiltmeter export FOLDER --verify"),
    # protocols
    (f"run other.csv --model {P} --out r", r"tiltmeter init other\.toml --from other\.csv"),
    ("show run", r"run is a run, not a protocol"),
    ("init m.toml --from other.csv", r"needs a header, two rows"),
    ("init m.toml --from prompts.csv --cue jub", r"Did you mean 'job'"),
    ("init m.toml --from same.csv", r"type: --cue COLUMN --item COLUMN"),
    ("init m.toml --cue job", r"Add --from"),
    (f"run rolse --model {P} --out r", r"No protocol 'rolse'\. Did you mean 'roles'"),
    (f"run gender --model {P} --out r", r"No protocol 'gender'.*tiltmeter ls"),
    (f"run nowhere.toml --model {P} --out r", r"no protocol file nowhere\.toml.*tiltmeter init"),
    (f"run typo.toml --model {P} --out r", r"No key 'qestion'\. Did you mean 'question'"),
    (f"run broken.toml --model {P} --out r", r"not a protocol file.*line 1"),
    (f"run slot.toml --model {P} --out r", r"slot {jop}.*Did you mean 'job'"),
    (f"run latin.toml --model {P} --out r", r"UTF-8"),
    (f"run notes.txt --model {P} --out r", r"No protocol 'notes\.txt'"),
    (f"run pictures --model {P} --out r", r"No protocol 'pictures'"),
    ("show rolls", r"Did you mean 'roles'"),
    ("init audit.toml", r"audit\.toml is there already"),
    ("init audit", r"ends in \.toml.*tiltmeter init audit\.toml"),
    ("init new.toml --example leters", r"Did you mean 'letters'"),
    # languages, modes, factors
    (f"run roles --model {P} --language de --out r", r"It has: en, zh, ja"),
    (f"run roles --model {P} --language English --out r", r"It has: en, zh, ja"),
    (f"run audit.toml --model {P} --language en --out r", r"leave --language out"),
    (f"run roles --model {P} --mode exat --out r", r"Did you mean 'exact'"),
    (f"run roles --model {P} --where clas=communal --out r", r"Did you mean 'class'"),
    (f"run roles --model {P} --where class=comunal --out r", r"Did you mean 'communal'"),
    (f"run roles --model {P} --cross a×b --out r", r"No intersection"),
    # models
    ("run roles --model gpt-4o-mini --out r", r"Did you mean 'openai:gpt-4o-mini'"),
    ("run roles --model claude-haiku-4-5 --out r", r"Did you mean 'anthropic:claude-haiku-4-5'"),
    ("run roles --model gemini-9-pro --out r", r"Did you mean 'gemini:"),
    ("run roles --model opnai:gpt-4.1-mini --out r", r"Did you mean 'openai'"),
    ("run roles --model other.csv --out r", r"Did you mean 'file:other\.csv'"),
    ("run roles --model bot.py --out r", r"Did you mean 'python:bot\.py:FUNCTION'"),
    ("run roles --model model.gguf --out r", r"Did you mean 'gguf:model\.gguf'"),
    ("run roles --model run --out r", r"Did you mean 'replay:run'"),
    ("run roles --model pictures --out r", r"Did you mean 'folder:pictures'"),
    ("run roles --model nowhere.csv --out r", r"There is no file nowhere\.csv"),
    ("run roles --model openai: --out r", r"Which model\?"),
    ("run roles --model openai:gpt-4.1-mini --out r", r"export OPENAI_API_KEY="),
    ("run roles --model anthropic:claude-haiku-4-5 --out r", r"export ANTHROPIC_API_KEY="),
    ("run roles --model azure:d --out r", r"--base-url azure=https"),
    ("run roles --model openai:m --base-url localhost:8000 --out r", r"http://localhost:8000/v1"),
    (f"run roles -m {P} --base-url http://a --base-url http://b --out r", r"needs none\. Leave"),
    ("run roles --model openai:dall-e-3 --out r", r"was retired on"),
    ("run roles --model planted:shee=0.7 --out r", r"Did you mean 'she'"),
    ("run roles --model planted:she=7 --out r", r"she"),
    ("run roles --model python:bot.py --out r", r"FILE\.py:FUNCTION"),
    ("run roles --model python:bot.py:answr --out r", r"Did you mean 'answer'"),
    ("run roles --model python:bad.py:answer --out r", r"bad\.py cannot be imported: SyntaxError"),
    ("run roles --model python:nowhere.py:answer --out r", r"There is no file nowhere\.py"),
    ("run roles --model cmd:nonesuch-command --out r", r"cannot be started"),
    ("run roles --model file: --out r", r"Which file\?"),
    ("run roles --model file:nowhere.csv --out r", r"no file nowhere\.csv"),
    ("run roles --model file:empty.csv --out r", r"holds no answers|has no column"),
    ("run roles --model file:other.csv --out r", r"--column text=response"),
    ("run roles --model file:strange.csv --out r", r"None of the answers in file:strange\.csv"),
    ("run roles --model file:answers.jsonl --out r", r"'text' is missing"),
    ("run roles --model file:pictures --out r", r"cannot be read|is not an ordinary file"),
    ("run occupations --model folder:pictures --out r", r"has no manifest\.csv"),
    ("run occupations --model folder:nowhere --out r", r"no folder nowhere"),
    ("run roles --model replay:nowhere --out r", r"nowhere"),
    (
        f"run roles --model {P} --system nowhere.txt --out r",
        r"--system nowhere\.txt cannot be read",
    ),
    (f"run roles --model {P} --judge gpt-4o --out r", r"Did you mean 'openai:gpt-4o'"),
    (f"run occupations --model planted {SMALL} --system notes.txt --out r", r"language|system"),
    # runs
    ("analyse nowhere", r"no run in nowhere|nowhere"),
    ("analyse pictures", r"pictures"),
    ("analyse damaged", r"is not a run file or is damaged"),
    ("report run --out r.pdf", r"HTML or Markdown, not \.pdf"),
    (
        "validate run --sample 5",
        r"--sample .*--sheet .*must be given together.*--sample 5 --sheet sheet\.csv",
    ),
    ("report audit.toml", r"audit\.toml"),
    ("explore nowhere", r"nowhere"),
    ("label nowhere --judge planted", r"nowhere"),
    ("compare run nowhere", r"nowhere"),
    ("compare run run", r"named twice"),
    ("compare run", r"has only one model"),
    ("export run --format xlsx --out t", r"no format 'xlsx'.*parquet, csv, jsonl"),
    ("analyse run --variant publshed", r"Did you mean 'published'"),
    ('report run --fail-if "gapp > 0.1"', r"gapp"),
    ('report run --fail-if "share_she is high"', r"share_she"),
    ("annotate run", r"--annotator"),
    ("validate run --sample 10", r"--sheet sheet\.csv"),
    ("import gold run", r"tiltmeter import gold RUN FILE"),
    ("import gold run gold.csv", r"none"),
    ("import roles other.csv --out r2", r"importer"),
    ("serve openai:x", r"No model that can be served"),
    ("selftest rolse", r"Did you mean 'roles'"),
    (f"run roles --model {P} {SMALL} --seed 3 --out run", r"another seed .* --out"),
    (f"run roles --model {P} {SMALL} --out audit.toml", r"audit\.toml"),
]


@pytest.mark.parametrize(("typed", "said"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_one_line_that_says_what_to_type(
    typed: str,
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', typed)]
    assert main(arguments) in (1, 2)
    shown = capsys.readouterr()
    lines = [shown.err.strip()]
    shutil.rmtree(folder / "r", ignore_errors=True)
    assert shown.err.startswith("error: ") and shown.err.count("\n") <= 2, shown.err
    assert re.search(said, lines[-1]), lines[-1]


RUN = f"run roles --model {P} --language en --limit 2 --samples 1"
NO_ROOM = [  # what is typed, to how many bytes a file may grow, what must be said
    ("init own.toml", 100, r"File too large\. Free space"),
    (f"plan roles --model {P} --language en --trials t.csv", 100, r"Free space"),
    (f"{RUN} --out r", 100, r"run\.sqlite.*(full|disk).* same command again"),
    (f"{RUN} --out r", 40_000, r"run\.sqlite.*(full|disk).* same command again"),
    (
        "report run --out page.html",
        40_000,
        r"page\.html cannot be written: File too large.*--out FILE",
    ),
    ("analyse run", 100, r"run\.sqlite.*(full|disk).* same command again"),
]


@pytest.mark.parametrize(("typed", "room", "said"), NO_ROOM)
def test_a_disk_without_room_is_one_line(
    typed: str,
    room: int,
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The system lets no file grow further, as a full disk or a quota does."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python 3.11 would leave half a module
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        code = main(typed.split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    shown = capsys.readouterr().err.splitlines()
    shutil.rmtree(folder / "r", ignore_errors=True)
    assert code in (1, 2) and [line.startswith("error: ") for line in shown] == [True], shown
    assert re.search(said, shown[0]), shown[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_reader_that_goes_away_is_no_error() -> None:
    """As `tiltmeter ls | head -1` ends."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tiltmeter", "ls"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_narrow_terminal_breaks_no_error_and_no_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """40 columns. What is typed in the end of a line stays whole, so that it can be copied."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["run", "rolse", "--model", P, "--out", "r"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["analyse", "run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 40 for line in lines if not line.startswith("S1 ")), lines
    assert any("[22, 100]" in line for line in lines)  # an interval in one piece


def test_there_are_at_least_sixty() -> None:
    assert len({typed for typed, _ in MISTAKES}) >= 60
