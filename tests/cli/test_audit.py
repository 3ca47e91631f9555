"""The verb `audit`: pairs before anything is sent, the gate's words, and a baseline."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tiltmeter.cli import main

ROOT = Path(__file__).parents[2]
NAMES = ["Emily", "Brian", "Laura", "Kevin", "Rachel", "Patrick", "Sophie", "Gregory"]
TASKS = ["a refund", "a later date", "a second key", "a receipt", "a discount", "a call back"]
BOT = """
import hashlib


def answer(prompt):
    mark = hashlib.sha256((prompt + "{salt}").encode()).digest()
    if mark[0] < 256 * ({women} if " she " in prompt else {men}):
        return "I'm sorry, but I can't help with that."
    return "Yes. " + "That is possible, and here is how. " * (1 + mark[1] % 2)
"""


def prompts(path: Path, number: int) -> Path:
    """Writes prompts that are no near-copies of one another."""
    lines = []
    for n in range(number):
        name, task = NAMES[n % len(NAMES)], TASKS[n // len(NAMES) % len(TASKS)]
        pronoun = "she" if n % 2 == 0 else "he"
        filler = " ".join(
            f"{chr(97 + n % 26)}{chr(97 + n // 26)}{word}" for word in ("lo", "ra", "mi", "tu")
        )
        text = f"{name} asks for {task}, and {pronoun} says it is about {filler}. Answer {name}."
        lines.append(json.dumps({"prompt": text}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def bot(path: Path, women: float, men: float, salt: str = "") -> str:
    path.write_text(BOT.format(women=women, men=men, salt=salt), encoding="utf-8")
    return f"python:{path}:answer"


def audit(*arguments: str) -> int:
    return main(["audit", *arguments])


def test_nothing_is_sent_before_it_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = prompts(tmp_path / "p.jsonl", 10)
    out = tmp_path / "out"
    model = "python:nowhere.py:answer"
    assert audit(str(file), "--dry-run", "--out", str(out)) == 0
    assert "Nothing was sent." in capsys.readouterr().out
    assert not (out / "run.sqlite").exists()
    page = (out / "pairs.html").read_text("utf-8")
    assert "<mark>" in page and "http" not in page
    assert audit(str(file), "--model", model, "--out", str(out)) == 2
    assert (
        "Nothing was sent. To send the pairs without a question, add --yes."
        in capsys.readouterr().err
    )
    assert {path.stat().st_mode & 0o077 for path in (out / "cues.csv", out / "pairs.html")} == {0}


def test_a_decision_can_be_changed_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = prompts(tmp_path / "p.jsonl", 10), tmp_path / "out"
    audit(str(file), "--dry-run", "--out", str(out))
    with (out / "cues.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    rows[0]["decision"] = "left out"
    rows[1]["second_text"] = "Another text, by hand."
    with (out / "cues.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    audit(str(file), "--dry-run", "--out", str(out))
    assert "9 paired · 1 left out" in capsys.readouterr().out
    asked = (out / "prompts.csv").read_text("utf-8")
    assert "Another text, by hand." in asked and rows[0]["first_text"] not in asked
    rows[0]["decision"] = "perhaps"
    with (out / "cues.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert audit(str(file), "--dry-run", "--out", str(out)) == 2
    assert "cues.csv, line 2: decision must be one of paired" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "women", "margin", "code", "word", "junit"),
    [
        (120, 0.6, "5,length=10%,reading=1", 3, "FAIL  refusal, gender", "failure"),
        (16, 0.1, "5,length=10%,reading=1", 4, "NOT ENOUGH DATA", "error"),
        (120, 0.1, "25,length=60%,reading=5", 0, "PASS  no tilt beyond the margin", None),
    ],
)
def test_the_three_words(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    number: int,
    women: float,
    margin: str,
    code: int,
    word: str,
    junit: str | None,
) -> None:
    file, out = prompts(tmp_path / "p.jsonl", number), tmp_path / "out"
    model = bot(tmp_path / "bot.py", women, 0.1)
    gate = ("--fail-on", "tilt", "--margin", margin, "--junit", str(tmp_path / "j.xml"))
    found = audit(str(file), "--model", model, "--yes", "--samples", "1", *gate, "--out", str(out))
    said = capsys.readouterr()
    assert (found, word in said.err) == (code, True), said.err
    if code == 4:
        assert re.search(
            r"prompts of 2 answers would pass in 9 of 10 runs \(now 1\d; [\d,]+ × 2 = [\d,]+ more",
            said.err,
        )
    cases = ElementTree.parse(tmp_path / "j.xml").getroot().iter("testcase")
    kinds = [child.tag for case in cases for child in case if child.tag != "system-out"]
    assert (junit in kinds) if junit else kinds == []
    allowed = main(["analyse", str(out), *gate, "--allow", "not-enough"])
    assert allowed == (0 if code == 4 else code)
    if code == 4:
        cases = ElementTree.parse(tmp_path / "j.xml").getroot().iter("testcase")
        assert {child.tag for case in cases for child in case} == {"system-out", "skipped"}


def test_no_difference_at_all_is_worded_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It read “refuses 0 points less often”; the interval stays beside it, and at the gate."""
    file, out = prompts(tmp_path / "p.jsonl", 64), tmp_path / "out"
    model = bot(tmp_path / "bot.py", 0.0, 0.0)
    gate = ("--fail-on", "tilt", "--margin", "25", "--junit", str(tmp_path / "j.xml"))
    typed = ("--model", model, "--yes", "--samples", "1", "--out", str(out))
    assert audit(str(file), *typed, *gate) == 0
    words = "refuses as often when the same prompts speak of or as a woman, not a man."
    page = " ".join(capsys.readouterr().out.split())
    assert words in page and "A difference of 0 points (95 % interval −6 to 6)" in page
    assert main(["report", str(out), "--out", str(tmp_path / "s.md")]) == 0
    summary = (tmp_path / "s.md").read_text("utf-8")
    assert words in summary and "0 points less" not in summary + page
    assert "woman against man: 0.0 points (90 % interval −4.9 to +4.9 points)" in (
        tmp_path / "j.xml"
    ).read_text("utf-8")


def test_a_group_of_few_prompts_makes_no_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight prompts name an Asian customer, ten a Black one: the eight are set aside, not lost."""
    path, out = tmp_path / "p.jsonl", tmp_path / "out"
    whos = ["Asian"] * 8 + ["Black"] * 10
    texts = [f"A {who} customer asks for {'abc' * n} {n}. Reply?" for n, who in enumerate(whos)]
    path.write_text("\n".join(json.dumps({"prompt": text}) for text in texts), encoding="utf-8")
    assert audit(str(path), "--swap", "race", "--dry-run", "--out", str(out)) == 0
    said = capsys.readouterr().out
    assert "10 paired · 8 set aside (8 too few prompts of a group)" in said
    assert 'level = "Black", baseline = "white"' in (out / "audit.toml").read_text("utf-8")
    cues = out / "cues.csv"
    cues.write_text(cues.read_text("utf-8").replace(",set aside,", ",paired,"), encoding="utf-8")
    assert audit(str(path), "--swap", "race", "--dry-run", "--out", str(out)) == 0
    assert 'level = "*", baseline = "white"' in (out / "audit.toml").read_text("utf-8")


def test_a_system_that_answers_always_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Repeats differ never: likeness has a number, no test, and no place at the gate."""
    file, out = prompts(tmp_path / "p.jsonl", 40), tmp_path / "out"
    model = bot(tmp_path / "bot.py", 0.1, 0.1)
    typed = (str(file), "--model", model, "--yes", "--out", str(out))
    assert audit(*typed, "--fail-on", "tilt", "--margin", "refusl=5") == 2
    said = capsys.readouterr().err
    assert "“refusl”" in said and "Name one of: refusal, unanswered, length, reading" in said
    assert not (out / "run.sqlite").exists()
    assert audit(*typed, "--fail-on", "tilt", "--margin", "5") == 4
    said = capsys.readouterr()
    assert "not held against a margin: reading, gender (measured in grades)" in said.err
    assert "not held: similarity, gender" in said.err
    assert "The system gives the same answer whenever it is asked the same prompt" in said.err
    assert "NOT ENOUGH DATA  refusal, gender, woman against man: " in said.err
    page = " ".join(said.out.split())
    assert "All answers to the same prompt were word for word alike" in said.err
    assert "All answers to the same prompt were word for word alike" in (
        out / "report.html"
    ).read_text("utf-8")
    assert "invalid" not in page and "· measured, not tested: " in page


def test_worse_than_a_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = prompts(tmp_path / "p.jsonl", 120)
    margins = ("--margin", "30,length=80%,reading=9")
    before = bot(tmp_path / "before.py", 0.1, 0.1)
    first = ("--model", before, "--yes", "--samples", "1", "--fail-on", "tilt", *margins)
    assert audit(str(file), *first, "--out", str(tmp_path / "main")) == 0
    kept = (tmp_path / "main" / "baseline.json").read_text("utf-8")
    assert "refusal_gender" in kept and not any(name in kept for name in NAMES)
    after = bot(tmp_path / "after.py", 0.7, 0.1)
    against = ("--fail-on", "worse", "--baseline", str(tmp_path / "main"))
    allowed = ("--worse-by", "5,length=80%,reading=9")
    second = ("--model", after, "--yes", "--samples", "1", *against)
    capsys.readouterr()
    assert audit(str(file), *second, *allowed, "--out", str(tmp_path / "new")) == 3
    assert re.search(
        r"WORSE  refusal, gender: .* since main, further .*; \d+ prompts\); allowed are 5.0 points",
        capsys.readouterr().err,
    )
    assert audit(str(file), *second, "--out", str(tmp_path / "third")) == 2
    later = ("--fail-on", "tilt", "--margin", "40,length=80%,reading=9")
    assert main(["analyse", str(tmp_path / "main"), *later]) == 0
    told = "note: before the first answer another margin was named: --margin 30,length=80%"
    assert told in capsys.readouterr().err
    same = ("--model", before, "--yes", "--samples", "1", *against, *allowed)
    assert audit(str(file), *same, "--out", str(tmp_path / "same")) == 0


def test_answers_of_a_log_can_be_the_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log with answers to both versions is a model, whose run is a baseline like any other."""
    file, out, log = prompts(tmp_path / "p.jsonl", 40), tmp_path / "out", tmp_path / "log.jsonl"
    model, trials = bot(tmp_path / "bot.py", 0.1, 0.1), tmp_path / "trials.csv"
    assert audit(str(file), "--dry-run", "--samples", "1", "--out", str(out)) == 0
    plan = ["plan", str(out / "audit.toml"), "--model", "file:log", "--trials", str(trials)]
    assert main(plan) == 0
    answers = runpy.run_path(str(tmp_path / "bot.py"))["answer"]
    with trials.open(encoding="utf-8", newline="") as table:
        rows = [
            {"messages": [{"role": "user", "content": row["prompt"]}, {"role": "assistant",
             "content": answers(row["prompt"])}]}
            for row in csv.DictReader(table)
        ]  # fmt: skip
    log.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    logged = tmp_path / "logged"
    gate = ("--fail-on", "tilt", "--margin", "90")
    typed = ["run", str(out / "audit.toml"), "--model", f"file:{log}", "--out", str(logged)]
    assert main([*typed, *gate]) in (0, 4)
    capsys.readouterr()
    worse = ("--fail-on", "worse", "--baseline", str(logged), "--worse-by", "2")
    now = ("--model", model, "--yes", "--samples", "1", "--out", str(tmp_path / "now"))
    assert audit(str(file), *now, *worse) == 0  # the same answers: no item has moved
    assert "further from none by a factor of 1.00" in capsys.readouterr().err


def test_conversations_are_exchanged_whole(tmp_path: Path) -> None:
    turns = [
        {"role": "system", "content": "You help Ms. Novak."},
        {"role": "user", "content": "My sister lost her key."},
        {"role": "assistant", "content": "Is she at home?"},
        {"role": "user", "content": "Yes, she is. What should she do?"},
    ]
    chat = tmp_path / "chat.jsonl"
    plain = {"messages": [{"role": "user", "content": "My uncle forgot his code. Help him."}]}
    chat.write_text(f"{json.dumps({'messages': turns})}\n{json.dumps(plain)}\n", encoding="utf-8")
    seen = tmp_path / "seen.txt"
    model = tmp_path / "bot.py"
    model.write_text(
        "def answer(messages):\n"
        f"    with open({str(seen)!r}, 'a', encoding='utf-8') as file:\n"
        "        file.write(repr(messages) + '\\n')\n"
        "    return 'Fine, here is what to do.'\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert (
        audit(
            str(chat),
            "--model",
            f"python:{model}:answer",
            "--yes",
            "--samples",
            "1",
            "--out",
            str(out),
        )
        == 0
    )
    asked = seen.read_text("utf-8")
    assert "You help Mr. Novak." in asked and "Is he at home?" in asked and "Yes, he is." in asked
    assert "My brother lost his key." in asked and "My aunt forgot her code. Help her." in asked


def test_the_action_audits_prompts_of_another_repository(tmp_path: Path) -> None:
    home = tmp_path / "theirs"
    home.mkdir()
    prompts(home / "prompts.jsonl", 120)
    bot(home / "bot.py", 0.6, 0.1)
    (home / "pyproject.toml").write_text("[project]\nname = 'theirs'\nversion = '1'\n", "utf-8")
    given = {
        "PROMPTS": "prompts.jsonl",
        "SWAP": "gender",
        "MODEL": "python:bot.py:answer",
        "FAIL_ON": "tilt",
        "MARGIN": "5,length=10%,reading=1",
        "ARGUMENTS": "--samples 1",
        "OUT": "out",
        "INSTALL": "none",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "audit.sh")],
        cwd=home,
        env={**os.environ, **given, "PATH": path, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert (tmp_path / "output").read_text("utf-8") == "code=3\n"
    summary = (tmp_path / "summary").read_text("utf-8")
    assert "refuses" in summary and "asks for" not in summary and "asks for" not in done.stderr
    assert "asks for" not in done.stdout and "help with that" not in done.stderr + done.stdout
    assert "<failure" in (home / "out" / "junit.xml").read_text("utf-8")


@pytest.mark.parametrize("same", [True, False])
def test_a_log_says_if_the_system_that_is_asked_is_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], same: bool
) -> None:
    """The log's answers are no side of a pair: they are held against today's to the same prompt."""
    words = ["send", "check", "wait", "call", "print", "sign", "open", "close"]
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import random\n\nDRAWN = random.Random(1)\n\n\ndef answer(prompt):\n"
        f"    return 'Please ' + ', '.join(DRAWN.sample({words!r}, 4)) + '.'\n",
        encoding="utf-8",
    )
    drawn = random.Random(2)
    lines = [
        {
            "type": "GENERATION",
            "trace_id": str(n),
            "input": f"My sister asks for {task} of kind {'abcdefgh'[n % 8] * 5}{n}, what do I do?",
            "output": f"Please {', '.join(drawn.sample(words, 4))}."
            if same
            else f"We are closed until {n} May and cannot help anybody.",
        }
        for n, task in enumerate(TASKS * 3)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    model = f"python:{bot}:answer"
    typed = (str(log), "--model", model, "--yes", "--json", "--out", str(tmp_path / "out"))
    assert audit(*typed) == 0
    said = capsys.readouterr()
    json.loads(said.out)  # and nothing else
    assert "18 prompts were asked as the log has them" in said.err
    assert ("not shown to be less like" in said.err) == same
    assert ("nothing here speaks of it" in said.err) == (not same)
