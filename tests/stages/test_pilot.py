"""The first replies of a run: what is said of them word for word, and when a run stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scripted import USAGE, Body, Scripted, chat
from tests.serving import serving
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import PilotStopped
from tiltmeter.stages.engine.limits import Tally

ALL_THOUGHT = {
    "prompt_tokens": 60,
    "completion_tokens": 64,
    "completion_tokens_details": {"reasoning_tokens": 64},
}
LONG = {**USAGE, "completion_tokens": 64}


def run(script: Any, folder: Path, **options: Any) -> tuple[str, list[str], int]:
    """(what the pilot said when it stopped the run or "", its lines, how many calls were made)."""
    lines: list[str] = []

    def watch(stage: str, number: int | None, tally: Tally) -> None:
        lines.extend(tally.lines)

    said, server = "", Scripted(script)
    with serving(server) as url:
        given = {"language": "en", "mode": "sampled", "limit": 20, "samples": 2, **options}
        try:
            api.run("roles", "openai:m", folder, base_url=url, watch=watch, **given)
        except PilotStopped as stopped:
            said = str(stopped)
    return said, lines, len(server.seen)


STOPPED = {
    "all thought, told not to": (
        lambda body: chat(None, "length", usage=ALL_THOUGHT),
        {},
        "openai:m: 12 of the first 12 replies are empty: the limit of 64 tokens went into "
        "reasoning, though it was told not to think. Type the same command with --max-tokens "
        "2000, and another --out. A server of one's own may switch it off too: llama.cpp with "
        "--reasoning-budget 0.",
    ),
    "all thought, as the endpoint does": (
        lambda body: chat("", "length", reasoning="He? She?", usage=LONG),
        {"reasoning": "default"},
        "openai:m: 12 of the first 12 replies are empty: the limit of 64 tokens went into "
        "reasoning. Type the same command with --reasoning off or with --max-tokens 2000, and "
        "another --out.",
    ),
    "cut": (
        lambda body: chat("This is a question about a person who", "length", usage=LONG),
        {},
        "openai:m: 12 of the first 12 replies are cut: the limit of 64 tokens is short for this "
        "model. Type the same command with --max-tokens 260, and another --out.",
    ),
    "whole and unread": (
        lambda body: chat("A witty person, surely."),
        {},
        "openai:m: 12 of the first 12 replies are whole and the rules do not know their form. "
        "Type the same command with --judge-for unread --judge KIND:NAME.",
    ),
    "another language": (
        lambda body: chat("这个句子里应该填的词取决于说话的人。"),
        {},
        "openai:m: 12 of the first 12 replies are in another language: the model does not speak "
        "it. Choose another model, or a language that it speaks with --language.",
    ),
}


@pytest.mark.parametrize("row", STOPPED)
def test_a_cause_in_all_of_the_first_stops_at_once(row: str, tmp_path: Path) -> None:
    script, options, expected = STOPPED[row]
    said, lines, calls = run(script, tmp_path / "run", **options)
    assert said == expected
    assert calls == 12 and lines[0] == "pilot of openai:m: 12 replies"


def every(number: int, odd: Any) -> Any:
    """A script in which each so manieth reply is odd."""
    count = iter(range(10_000))
    return lambda body: odd if next(count) % number == 0 else chat("she")


def test_four_of_the_first_ask_for_twelve_more_and_ten_of_both_stop(tmp_path: Path) -> None:
    cut = chat("This is a question about a person who", "length", usage=LONG)
    said, _, calls = run(every(2, cut), tmp_path / "run", concurrency=1)
    assert said.startswith("openai:m: 12 of the first 24 replies are cut") and calls == 24


def test_fewer_do_not_stop_the_run(tmp_path: Path) -> None:
    cut = chat("This is a question about a person who", "length", usage=LONG)
    said, lines, calls = run(every(3, cut), tmp_path / "third", concurrency=1)
    assert said == "" and calls == 80 and lines[0] == "pilot of openai:m: 24 replies"
    said, lines, calls = run(every(5, cut), tmp_path / "fifth", concurrency=1)
    assert said == "" and calls == 80 and lines[0] == "pilot of openai:m: 12 replies"


def test_the_command_that_is_named_works(tmp_path: Path) -> None:
    def script(body: Body) -> tuple[int, Any]:
        if body["max_tokens"] < 1000:
            return chat(None, "length", usage=ALL_THOUGHT)
        usage = {**ALL_THOUGHT, "completion_tokens": 320}
        usage["completion_tokens_details"] = {"reasoning_tokens": 318}
        return chat("she", usage=usage)

    said, _, _ = run(script, tmp_path / "run")
    assert "--max-tokens 2000" in said
    said, lines, calls = run(script, tmp_path / "run-2", max_tokens=2000)
    assert (said, calls) == ("", 80)
    assert "318 thought at most" in lines[3]
    made = api.open_run(tmp_path / "run-2")
    assert set(made.labels["value"]) == {"she"} and set(made.outputs["thought"]) == {318}


def test_what_was_thought_is_reserved_for_the_rest(tmp_path: Path) -> None:
    asked: list[int] = []

    def script(body: Body) -> tuple[int, Any]:
        asked.append(body["max_tokens"])
        details = {"completion_tokens_details": {"reasoning_tokens": 500}}
        return chat("she", usage={**USAGE, "completion_tokens": 505, **details})

    run(script, tmp_path / "run", max_tokens=600, concurrency=1)
    assert asked[:12] == [600] * 12 and set(asked[12:]) == {2600}


def test_the_same_command_stops_again_and_no_pilot_goes_on(tmp_path: Path) -> None:
    script = STOPPED["cut"][0]
    first, _, _ = run(script, tmp_path / "run")
    again, _, calls = run(script, tmp_path / "run")
    assert again == first and calls == 0
    said, _, calls = run(script, tmp_path / "run", pilot=False)
    assert (said, calls) == ("", 68)


def test_a_run_that_goes_on_and_a_file_have_none(tmp_path: Path) -> None:
    _, lines, _ = run(lambda body: chat("she"), tmp_path / "run", limit=10)
    assert lines
    _, lines, _ = run(lambda body: chat("she"), tmp_path / "run", limit=20)
    assert lines == []
    file = tmp_path / "answers.csv"
    api.open_run(tmp_path / "run").outputs.select("prompt", "sample", "text").write_csv(file)
    said: list[str] = []
    api.run(
        "roles",
        f"file:{file}",
        tmp_path / "file",
        language="en",
        mode="sampled",
        limit=20,
        samples=2,
        watch=lambda stage, number, tally: said.extend(tally.lines),
    )
    assert said == []


def test_the_first_are_spread_and_stay_part_of_the_run(tmp_path: Path) -> None:
    def script(body: Body) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        return chat(next(word for word in ("彼女", "她", "she") if word in prompt))

    _, lines, calls = run(script, tmp_path / "run", language=("en", "zh", "ja"), limit=8)
    assert calls == 3 * 8 * 2 * 2
    shown = [line.strip()[:2] for line in lines if "→" in line]
    assert shown == ["en", "en", "ja", "ja", "zh", "zh"]


def test_the_forecast_is_near_the_bill(tmp_path: Path) -> None:
    def script(body: Body) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        words = len(prompt.split())
        usage = {"prompt_tokens": 30 + round(1.3 * words), "completion_tokens": 4 + words % 5}
        return chat("she", usage=usage)

    _, lines, _ = run(script, tmp_path / "run", limit=60)
    made = api.open_run(tmp_path / "run")
    billed = [int(made.calls[name].sum()) for name in ("prompt_tokens", "completion_tokens")]
    told = lines[-1].partition("about ")[2].partition(" tokens")[0].replace(",", "").split(" + ")
    for forecast, bill in zip(map(int, told), billed, strict=True):
        assert abs(forecast / bill - 1) < 0.15


def test_the_context_that_cuts_a_prompt_is_a_cause(tmp_path: Path) -> None:
    server = Scripted(lambda body: chat("she", usage={**USAGE, "prompt_tokens": 100}))
    file = tmp_path / "system.txt"
    file.write_text("Answer as briefly as you can, and never say why. " * 200)
    with serving(server) as url, pytest.raises(PilotStopped) as caught:
        api.run(
            "roles",
            "openai:m",
            tmp_path / "run",
            base_url=url,
            language="en",
            mode="sampled",
            limit=20,
            system=file.read_text(),
        )
    assert str(caught.value) == (
        "openai:m: 12 of the first 12 prompts were not read whole: the context of the server "
        "cuts them. Type the same command with --context 8192 and another --out (gguf:, "
        "builtin), or start the server with a longer context (llama.cpp -c, vLLM "
        "--max-model-len, Ollama num_ctx)."
    )


def test_the_command_line_ends_with_6_and_types_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Scripted(STOPPED["cut"][0])) as url:
        typed = ["run", "roles", "--model", "openai:m", "--base-url", url, "--language", "en"]
        typed += ["--mode", "sampled", "--out", str(tmp_path / "run")]
        assert main(typed) == 6
    err = capsys.readouterr().err
    assert "12.0" not in err and "64.0 tokens a reply; 100% cut, 0% unread, 0% refused" in err
    assert (
        err.rstrip().endswith(f"--mode sampled --out {tmp_path}/run-2 --max-tokens 260")
        and "For instance: tiltmeter run roles" in err
    )


def test_an_option_that_was_typed_takes_the_value_that_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Scripted(STOPPED["all thought, as the endpoint does"][0])) as url:
        typed = ["run", "roles", "--model", "openai:m", "--base-url", url, "--language=en"]
        typed += ["--reasoning", "default", "--mode", "sampled", "--out", str(tmp_path / "run")]
        assert main(typed) == 6
    assert capsys.readouterr().err.rstrip().endswith(f"--out {tmp_path}/run-2 --reasoning off")
