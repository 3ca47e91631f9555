"""Batches end to end, against local providers of each format (tests/batches)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from math import inf
from pathlib import Path

import pytest

from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import BatchesOut, MissingKey
from tiltmeter.models import Price
from tiltmeter.models.batch.format import BatchLine, Bounds, Seen
from tiltmeter.models.batch.openai import OpenAIBatches
from tiltmeter.models.batch.wire import Wire
from tiltmeter.records import DRAWN, Message, Request
from tiltmeter.stages.batches import results as batch_results
from tiltmeter.stages.batches.lines import BatchRoom
from tiltmeter.store import Store

SETTINGS = "she=.7,seed=3"
KEYS = ("OPENAI", "AZURE_OPENAI", "GROQ", "MISTRAL", "TOGETHER", "ANTHROPIC", "GEMINI")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(f"{name}_API_KEY", "k1234567890")


def audit(kind: str, url: str, out: Path, **options: object) -> api.Run:
    given = {"limit": 3, "samples": 2, "language": "en", "base_urls": {kind: url}, "poll": 0.01}
    return api.run("roles", f"{kind}:planted", out, **{**given, **options})  # type: ignore[arg-type]


def test_stage_follows_stage_with_no_hand_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers, then a judge of them; the same command each time, and exit code 5 until all is
    there.
    """
    server = BatchServer("openai", SETTINGS, Oddities(looks=1))
    with serving(server) as url:
        run, codes = tmp_path / "run", []
        typed = (
            f"run roles --model openai:planted --judge openai:judge --base-url {url} --out {run}"
        )
        for _ in range(4):
            limits = ["--language", "en", "--limit", "2", "--samples", "2", "--poll", "0.01"]
            codes.append(main([*typed.split(), *limits, "--batch"]))
            capsys.readouterr()
        assert codes == [5, 5, 0, 0]
        assert [job.model for job in api.jobs(run)] == ["openai:planted", "openai:judge"]
        assert not (run / "batches").exists()


def test_a_file_is_run_by_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written in OpenAI's format; the results are read in any order, with what belongs to nobody.
    That more come first than are stored at once and all of these are faulty loses none of the rest.
    """
    monkeypatch.setattr(batch_results, "COMMIT_REPLIES", 5)
    work = tmp_path / "work.jsonl"
    url = "http://127.0.0.1:9/v1"  # nothing is asked there
    with pytest.raises(BatchesOut, match=r"work\.out\.jsonl|written to"):
        audit("openai", url, tmp_path / "run", batch_file=work)
    lines = [json.loads(line) for line in work.read_text("utf-8").splitlines()]
    assert len(lines) == 12 and {line["url"] for line in lines} == {"/v1/chat/completions"}
    message = {"choices": [{"message": {"role": "assistant", "content": "she"}}], "model": "m"}
    results = [
        {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": message}}
        for line in reversed(lines)
    ]
    for result in results[:6]:
        result["response"] = {"status_code": 400, "body": {"error": {"message": "faulty"}}}
    out = tmp_path / "work.out.jsonl"
    out.write_text("".join(json.dumps(one) + "\n" for one in [*results[:5], {}]), "utf-8")
    with Store(tmp_path / "run", writing=True) as store:  # as if it had been written long ago
        store.write_one("UPDATE batches SET since='2026-01-01T00:00:00.000+00:00'", ())
    with pytest.raises(BatchesOut, match="has 5 of 12") as told:
        audit("openai", url, tmp_path / "run")
    assert "--cancel" not in str(told.value)  # nobody but who runs it knows when it ends
    out.write_text("".join(json.dumps(one) + "\n" for one in results * 2), "utf-8")
    run = audit("openai", url, tmp_path / "run", batch_file=work)
    assert sorted(run.outputs["outcome"]) == ["answer"] * 6 + ["error"] * 6
    assert [job.state for job in api.jobs(tmp_path / "run")] == ["collected"]


def test_what_is_out_is_asked_in_no_other_way(tmp_path: Path) -> None:
    """A command without --batch waits for it; what was cancelled is then asked singly."""
    server = BatchServer("anthropic", SETTINGS, Oddities(looks=10**6))
    with serving(server) as url:
        run = tmp_path / "run"
        for options in ({"batch": True}, {}, {"batch": True}):
            with pytest.raises(BatchesOut, match="1 batch with 11 requests"):
                audit("anthropic", url, run, **options)
        assert server.ledger.singles.total() == 1
        with Store(run, writing=True) as store:  # as if it had been handed in long ago
            store.write_one("UPDATE batches SET since='2026-01-01T00:00:00.000+00:00'", ())
        with pytest.raises(BatchesOut, match="should have ended long ago"):
            audit("anthropic", url, run, wait=True)
        api.cancel_jobs(run, base_urls={"anthropic": url})
        made = audit("anthropic", url, run)
        assert made.outputs.height == 12
        assert server.ledger.singles.total() + server.ledger.batched.total() == 12


def test_results_that_cannot_be_read_now_are_read_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is refused, or results that break off: the batch stays, and nothing is paid twice."""
    server = BatchServer("openai", SETTINGS, Oddities(looks=1))
    whole = OpenAIBatches.lines

    async def broken(self: OpenAIBatches, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        async for line in whole(self, wire, seen):
            yield line
            raise MissingKey("the key is refused")

    with serving(server) as url, monkeypatch.context() as patched:
        patched.setattr(OpenAIBatches, "lines", broken)
        with pytest.raises(MissingKey):
            audit("openai", url, tmp_path / "run", batch=True, wait=True)
        assert [job.state for job in api.jobs(tmp_path / "run")] == ["accepted"]
        assert "in batches" in api.open_run(tmp_path / "run").warnings()[0]
        patched.undo()
        assert audit("openai", url, tmp_path / "run", batch=True).outputs.height == 12
    assert max(server.ledger.names.values()) == 1


def test_a_batch_that_has_ended_is_taken_in_and_not_cancelled(tmp_path: Path) -> None:
    """A provider refuses to cancel one (OpenAI: HTTP 409), and nothing would be taken in."""
    server = BatchServer("openai", SETTINGS, Oddities(looks=1))
    with serving(server) as url:
        with pytest.raises(BatchesOut):
            audit("openai", url, tmp_path / "run", batch=True)
        jobs = api.cancel_jobs(tmp_path / "run", base_urls={"openai": url})
    assert [(job.state, job.waiting) for job in jobs] == [("collected", 0)]
    assert not any("cancel" in step for step in server.ledger.steps)


def test_a_cap_is_kept_when_a_batch_is_handed_in(tmp_path: Path) -> None:
    """A request costs 64 tokens of an answer at the most, at 1,000 dollars a million .064, and .001
    in fact. One is asked singly before each batch: under .1285 two would fit but for its .001.
    """
    server = BatchServer("openai", SETTINGS, Oddities(looks=1))
    with serving(server) as url:
        price = {"openai:planted": Price(0, 1000)}
        limited = {"prices": price, "max_cost": 0.1285, "samples": 1, "limit": 3}
        run = audit("openai", url, tmp_path / "run", batch=True, wait=True, **limited)
    assert run.outputs.height == 6
    assert [job.requests for job in api.jobs(tmp_path / "run")] == [1, 1, 1]


def test_a_plan_knows_the_price_of_a_batch() -> None:
    models = ["openai:gpt-4.1-mini", "groq:x"]
    full, half = (
        api.plan("roles", models, language="en", prices={"groq:x": Price(1, 1)}, batch=batch)
        for batch in (False, True)
    )
    costs = {name: [line.cost for line in full.calls if line.model == name] for name in models}
    assert [line.cost for line in half.calls if line.model == models[0]] == [
        pytest.approx(cost / 2) for cost in costs[models[0]] if cost
    ]
    assert [line.cost for line in half.calls if line.model == models[1]] == costs[models[1]]
    said = {model["name"]: model["batch"] for model in half.models}
    assert "50% of the price as of 2026" in said[models[0]] and "full price" in said[models[1]]


def test_a_batch_holds_what_its_bounds_allow_in_order() -> None:
    """By hand: lines of 10 bytes; prompts of 40 ASCII characters are 10 tokens, and 8 a message."""
    request = Request("openai:m", (Message("user", "x" * 40),), DRAWN._replace(max_tokens=100))
    line = b"0123456789"
    cases = [
        (Bounds(3, 10**6, 24), inf, inf, 3),
        (Bounds(9, 45, 24), inf, inf, 4),
        (Bounds(9, 10**6, 24), 40, inf, 2),  # of 18 tokens each
        (Bounds(9, 10**6, 24), 1, inf, 1),  # one always goes
        (Bounds(9, 10**6, 24), inf, 0.00025, 2),  # of 100 tokens at 1 dollar a million
    ]
    for bounds, tokens, dollars, expected in cases:
        room = BatchRoom(bounds, tokens, dollars, Price(0, 1))
        assert sum(room.takes(request, line) for _ in range(9)) == expected == room.requests


def test_a_run_that_stops_early_hands_in_a_look_at_a_time(tmp_path: Path) -> None:
    """What is decided at the first look is in no batch, and nothing is handed in twice."""
    server = BatchServer("openai", "she=.97", Oddities(looks=1))
    with serving(server) as url:
        rounds, outs = 0, tmp_path / "run"
        while rounds < 9:
            rounds += 1
            try:
                run = audit("openai", url, outs, batch=True, stop=True, limit=8, samples=4)
                break
            except BatchesOut:
                continue
        jobs = api.jobs(outs)
    assert len(jobs) == rounds - 1 and len(run.calls) == run.outputs.height
    assert all(job.state == "collected" for job in jobs)
    assert [one.word.value for one in run.verdicts()] == ["tilt"]
    assert run.outputs.height < 8 * 2 * 4
