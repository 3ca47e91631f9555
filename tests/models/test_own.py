"""One's own code as a model: functions, files, commands, answers that are there; what may execute, and Azure."""

from __future__ import annotations

import asyncio
import base64
import io
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest
from PIL import Image

import tiltmeter
from tests import forging
from tiltmeter.errors import MissingKey, ModelError, TiltmeterError, UsageError
from tiltmeter.models.kinds import full_name, make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.models.own.function import name_function
from tiltmeter.models.providers.azure import AzureChat, azure
from tiltmeter.records import Message, Reply, Request, Sampling
from tiltmeter.stages.steps.connect import Connect
from tiltmeter.store import Store

SMALL: dict[str, Any] = {"language": "en", "limit": 6, "samples": 2}
ASKED = Request("x", (Message("user", "she or he?"),), Sampling(seed=5), nonce="t/0")
BOT = """
import asyncio

def answer(prompt, system, seed):
    return "rude" if system else "She" if seed % 2 else "He"

async def chat(messages):
    await asyncio.sleep(0)
    return {"text": messages[-1]["content"][::-1], "model": "bot-7"}

def boom(prompt):
    raise ValueError("no " + prompt[:3])
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    path = tmp_path / "bot.py"
    path.write_text(BOT, "utf-8")
    return path


def ask(name: str, request: Request = ASKED) -> Reply:
    async def work() -> Reply:
        model = make_model(name, ModelOptions(timeout=20))
        await model.open()
        try:
            return await model.ask(request)
        finally:
            await model.close()

    return asyncio.run(work())


def of_file(bot: Path, function: str) -> str:
    return full_name(f"python:{bot}:{function}")


def test_a_file_s_function_is_asked_and_told_what_it_names(bot: Path) -> None:
    assert ask(of_file(bot, "answer")).text == "She"
    told = Request("x", (Message("system", "Be rude."), *ASKED.messages), Sampling(seed=5))
    assert ask(of_file(bot, "answer"), told).text == "rude"
    found = ask(of_file(bot, "chat"))
    assert (found.text, found.served) == ("?eh ro ehs", "bot-7")


def test_an_exception_is_an_outcome(bot: Path) -> None:
    found = ask(of_file(bot, "boom"))
    assert (found.outcome, found.text) == ("error", "ValueError: no she")


GUESTS = """
import os, sys, time

def leaves(prompt):
    sys.exit(3)

def dies(prompt, seed):
    if seed == 3:
        os._exit(3)
    time.sleep(.05)
    return "She"

def hangs(prompt, seed):
    time.sleep(3600 if seed == 3 else 0)
    return "She"

def prints(prompt):
    print("debug {")
    os.write(1, b"more\\n")
    return "She"

def reads(prompt):
    return input()

def huge(prompt):
    return "x" * 200_000_000

def odd(prompt):
    return 3.5
"""


def ask_many(name: str, seeds: int, timeout: float = 20) -> list[Reply]:
    """Asks once for each seed, all at once."""

    async def work() -> list[Reply]:
        model = make_model(name, ModelOptions(timeout=timeout))
        await model.open()
        try:
            one = [replace(ASKED, sampling=Sampling(seed=seed)) for seed in range(seeds)]
            return list(await asyncio.gather(*map(model.ask, one)))
        finally:
            await model.close()

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("function", "outcome", "text"),
    [
        ("leaves", "error", "SystemExit: 3"),
        ("prints", "answer", "She"),
        ("reads", "error", "EOFError"),
        (
            "huge",
            "error",
            "the function returned 200,000,000 characters; at most 8,388,608 are read",
        ),
        ("odd", "error", "the function returned float, not an answer"),
    ],
)
def test_a_guest_cannot_harm_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], function: str, outcome: str, text: str
) -> None:
    path = tmp_path / "guests.py"
    path.write_text(GUESTS, "utf-8")
    reply = ask(of_file(path, function))
    assert (reply.outcome, reply.text.partition(": EOF")[0]) == (outcome, text)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("function", "timeout", "text"),
    [
        ("dies", 300, "the function ended its process"),
        ("hangs", 10, "the function gave no answer in 10 s"),
    ],
)
def test_one_call_that_ends_or_hangs_costs_the_others_nothing(
    tmp_path: Path, function: str, timeout: float, text: str
) -> None:
    path = tmp_path / "guests.py"
    path.write_text(GUESTS, "utf-8")
    replies = ask_many(of_file(path, function), 6, timeout)
    assert [reply.text for reply in replies] == ["She"] * 3 + [text] + ["She"] * 2
    assert [reply.outcome for reply in replies].count("error") == 1


def test_a_function_in_python_that_hangs_is_abandoned() -> None:
    waits = Event()

    def hangs(prompt: str) -> str:
        return "She" if waits.wait(30) else ""

    try:
        reply = ask_many(name_function(hangs, "hangs"), 1, timeout=0.2)[0]
    finally:
        waits.set()
    assert (reply.outcome, reply.text) == ("error", "the function gave no answer in 0.2 s")


def test_changed_code_is_another_model(bot: Path) -> None:
    first = of_file(bot, "answer")
    bot.write_text(BOT.replace("She", "They"), "utf-8")
    assert of_file(bot, "answer") != first
    assert of_file(bot, "answer").startswith("python:bot.py:answer@")
    assert full_name(f"python:{bot}:answer?name=support bot") == "python:support bot"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("python:", "needs FILE.py:FUNCTION"),
        ("python:bot.py", "needs FILE.py:FUNCTION"),
        ("python:nowhere.py:answer", "There is no file nowhere.py"),
        ("cmd:", "Which command?"),
        ("cmd:a 'b", "No closing quotation"),
        ("answers:spring", "exist only in the process"),
    ],
)
def test_what_is_no_model_says_what_to_type(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_model(full_name(name))


def test_a_file_that_cannot_be_used(tmp_path: Path, bot: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'answer'"):
        ask(of_file(bot, "answr"))
    bot.write_text("def answer(prompt, colour): ...", "utf-8")
    with pytest.raises(UsageError, match="parameter 'colour' of answer"):
        ask(of_file(bot, "answer"))
    bot.write_text("import nonesuch_module", "utf-8")
    with pytest.raises(ModelError, match="ModuleNotFoundError: No module named 'nonesuch_module'"):
        ask(of_file(bot, "answer"))


def she(prompt: str) -> str:
    return "She is it."


def test_a_function_in_python(tmp_path: Path) -> None:
    run = tiltmeter.run("roles", she, tmp_path / "run", **SMALL)
    (name,) = set(run.trials["subject"])
    assert name.startswith("python:tests.models.test_own:she@")
    rows = run.estimates.filter(pl.col("measure") == "share_she")
    assert rows["value"][0] == 1.0
    again = tiltmeter.run("roles", {"bot 3": she}, tmp_path / "run", **SMALL)
    assert set(again.trials["subject"]) == {name, "python:bot 3"}


def test_a_lambda_and_what_has_no_source_are_refused() -> None:
    with pytest.raises(UsageError, match="or give the function a name: model="):
        name_function(lambda prompt: "she")
    with pytest.raises(UsageError, match="source code of len cannot be read"):
        name_function(len)
    assert name_function(lambda prompt: "she", "mine") == "python:mine"
    with pytest.raises(UsageError, match="int is not a model"):
        tiltmeter.plan("roles", 3)  # type: ignore[arg-type]


def test_a_function_that_lacks_the_conversation_is_refused() -> None:
    told = Request("x", (Message("system", "Be brief."), *ASKED.messages))
    with pytest.raises(UsageError, match=r"def answer\(prompt, system\)"):
        ask(name_function(she), told)


@pytest.mark.parametrize("make", [lambda image: image, lambda image: _png(image)])
def test_a_function_may_draw(make: Callable[[Image.Image], object]) -> None:
    def draw(prompt: str, size: str) -> Any:
        return make(Image.new("RGB", tuple(map(int, size.split("x"))), "red"))

    drawn = ask(name_function(draw), Request("x", ASKED.messages, size="64x48"))
    assert Image.open(io.BytesIO(drawn.picture)).size == (64, 48)
    assert ask(name_function(she), Request("x", ASKED.messages, size="64x48")).outcome == "error"


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("frame", [False, True])
def test_answers_that_are_there(frame: bool, tmp_path: Path) -> None:
    """Read by prompt; those of a data frame count as those of a list."""
    trials = tiltmeter.api.trials("roles", "planted", **SMALL)
    rows = [{"prompt": row["prompt"], "text": "he"} for row in trials]
    run = tiltmeter.run("roles", pl.DataFrame(rows) if frame else rows, tmp_path / "run", **SMALL)
    assert len(run.outputs) == 24 and set(run.labels["value"]) == {"he"}
    assert run.trials["subject"][0].startswith("answers:")


BODY = "import sys, json\nfor n, line in enumerate(sys.stdin):\n    q = json.loads(line)\n    {}\n"


def of_command(tmp_path: Path, body: str) -> str:
    path = tmp_path / "lines.py"
    path.write_text(BODY.format(body), "utf-8")
    return f"cmd:{sys.executable} {path}"


SAY = "print(json.dumps({}), flush=True)"


@pytest.mark.parametrize(
    ("reply", "outcome", "text"),
    [
        ("dict(id=q['id'], text=q['prompt'][:3])", "answer", "she"),
        ("dict(text='no id')", "answer", "no id"),
        ("dict(id=q['id'], refusal='I cannot')", "refusal", "I cannot"),
        ("dict(id=q['id'], error='down')", "error", "down"),
        ("dict(id=q['id'])", "error", "the command's line has no 'text'"),
    ],
)
def test_a_command_answers_in_lines(tmp_path: Path, reply: str, outcome: str, text: str) -> None:
    found = ask(of_command(tmp_path, SAY.format(reply)))
    assert (found.outcome, found.text) == (outcome, text)


def test_a_command_may_draw(tmp_path: Path) -> None:
    picture = base64.b64encode(b"pixels").decode()
    found = ask(of_command(tmp_path, SAY.format(f"dict(id=q['id'], picture='{picture}')")))
    assert found.picture == b"pixels"


def test_a_command_that_dies_is_started_again(tmp_path: Path) -> None:
    """It ends after every fifth line: 24 answers take five of them, and none is lost."""
    body = f"{SAY.format('dict(id=q[chr(105) + chr(100)], text=chr(104) + chr(101))')}\n    n == 4 and sys.exit(1)"
    name = of_command(tmp_path, body)
    run = tiltmeter.run("roles", name, tmp_path / "run", **SMALL, concurrency=1)
    assert len(run.outputs) == 24 and set(run.labels["value"]) == {"he"}


def test_a_command_that_answers_nothing_stops_the_run(tmp_path: Path) -> None:
    name = of_command(tmp_path, "sys.exit('no key')")
    with pytest.raises(ModelError, match=r"ended with code 1 and answered nothing \(no key\)"):
        tiltmeter.run("roles", name, tmp_path / "run", **SMALL)
    with pytest.raises(UsageError, match="'nonesuch' cannot be started"):
        ask("cmd:nonesuch")


def test_several_lines_are_under_way_at_once(tmp_path: Path) -> None:
    """It answers the sixth line first, then all before it."""
    body = (
        "held = globals().setdefault('held', []); held.append(q['id'])\n"
        "    [print(json.dumps(dict(id=i, text='she')), flush=True) for i in held[::-1] if len(held) == 6]"
    )
    options = {**SMALL, "limit": 3, "samples": 1}
    run = tiltmeter.run("roles", of_command(tmp_path, body), tmp_path / "run", **options)
    assert len(run.outputs) == 6


@pytest.mark.parametrize("name", ["python:bot.py:answer@0a1b2c3d", "cmd:rm -r /"])
def test_what_executes_is_made_only_where_it_was_named(name: str) -> None:
    with pytest.raises(TiltmeterError, match="would execute code that you did not name"):
        Connect().model(name, 1)


def test_a_run_of_somebody_else_executes_nothing(tmp_path: Path) -> None:
    """A run whose trials name a command: labelling it again, with a judge, does not start it."""
    witness = tmp_path / "witness"
    run = tiltmeter.run("roles", "planted:she=0.7", tmp_path / "run", **SMALL, mode="exact")
    with Store(run.folder, writing=True) as store:
        forging.allow_changes(store._db)
        store.write_one("UPDATE trials SET subject=?", (f"cmd:touch {witness}",))
        store.write_one("DELETE FROM labels", ())
    with suppress(TiltmeterError):
        tiltmeter.label(run.folder, judge="planted:accuracy=0.9")
    assert not witness.exists()


@pytest.mark.parametrize(
    ("base", "name", "path"),
    [
        (
            "https://r.openai.azure.com/",
            "gpt 4",
            "/openai/deployments/gpt%204/chat/completions?api-version=2024-10-21",
        ),
        (
            "https://r.openai.azure.com",
            "d?version=2025-01-01",
            "/openai/deployments/d/chat/completions?api-version=2025-01-01",
        ),
        ("https://r.openai.azure.com/openai/v1", "d", "/chat/completions"),
    ],
)
def test_azure_has_its_own_path_and_header(
    base: str, name: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "secret-key")
    model = azure(name, ModelOptions(base_url=base))
    dialect = model._dialects["text"]
    assert isinstance(dialect, AzureChat)
    sent = dialect.build(ASKED, frozenset())
    assert sent.path == path and sent.headers["api-key"] == "secret-key"
    assert "Authorization" not in sent.headers and "top_k" not in sent.body
    assert sent.body["model"] == name.partition("?")[0]


def test_azure_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="--base-url azure=https"):
        azure("d")
    with pytest.raises(MissingKey, match="export AZURE_OPENAI_API_KEY"):
        azure("d", ModelOptions(base_url="https://r.openai.azure.com"))
