"""Equal questions of a judge who draws nothing are one call: at once, after a fault, over a kill, in batches, and for
each judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tests.stages.engine.test_engine import Counting, count, drive, fill_disk
from tiltmeter import api, registry
from tiltmeter.errors import ModelError, StoreError, TransientError
from tiltmeter.records import Label, Message, Reply, Request, Sampling
from tiltmeter.stages.engine import retries
from tiltmeter.stages.engine.limits import Limits
from tiltmeter.stages.engine.sources import Job
from tiltmeter.stages.planning import plan
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.store import Store
from tiltmeter.store.queries import calls, outputs


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run", create=True, writing=True) as made:
        yield made


def question(text: str, nonce: str = "/1") -> Request:
    return Request(
        "m", (Message("user", text),), Sampling(0.0, 1.0, 100), "", purpose="j", nonce=nonce
    )


def job(output: str, *texts: str) -> Job:
    said = []
    for turn, text in enumerate(texts, 1):
        (reply,) = yield [question(text, f"/{turn}")]
        said.append(reply.text)
    return [Label(output, "j", "x", "".join(said))]


def jobs(number: int, different: int) -> Iterator[Job]:
    return (job(str(n), f"q{n % different}") for n in range(number))


def test_questions_that_are_equal_and_asked_at_once_are_one_call(store: Store) -> None:
    model = Counting(latency=0.001, reply=lambda n: Reply(str(n)))
    tally = drive(store, model, jobs(400, 40), Limits(concurrency=50))
    assert (model.asked, tally.calls, tally.done) == (40, 40, 400)
    assert count(store, "calls") == 40 and count(store, "labels") == 400
    same = "SELECT count(*) FROM (SELECT DISTINCT output % 40, value FROM labels)"
    assert next(store.rows(same))[0] == 40  # each output has the reply to its own question


def test_where_the_first_fails_the_next_is_asked_in_its_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.0001)
    broken = retries.TRIES  # the first call uses up its tries, the second gets through
    model = Counting(
        latency=0.001, reply=lambda n: TransientError("503") if n <= broken else Reply("x")
    )
    limits = Limits(concurrency=8, patience=0.0)
    tally = drive(store, model, jobs(8, 1), limits)
    assert (tally.failed, tally.done, model.asked) == (1, 7, broken + 1)
    assert (
        drive(store, model, iter([job("0", "q0")]), limits).done == 1 and model.asked == broken + 1
    )


def test_a_fault_of_one_question_loses_no_other_and_the_same_command_asks_it_again(
    store: Store,
) -> None:
    model = Counting(latency=0.001, reply=lambda n: ModelError("no") if n == 3 else Reply("x"))
    with pytest.raises(ModelError):
        drive(store, model, jobs(40, 5), Limits(concurrency=8))
    paid = count(store, "calls")
    again = Counting(reply=lambda n: Reply("x"))
    drive(store, again, jobs(40, 5), Limits(concurrency=8))
    assert paid + again.asked == 5


def test_a_second_turn_is_shared_where_the_first_was_answered_alike(store: Store) -> None:
    model = Counting(reply=lambda n: Reply(str(n)))
    drive(store, model, (job(str(n), "a", "b") for n in range(6)), Limits(concurrency=3))
    assert model.asked == 2
    assert {row[0] for row in store.rows("SELECT value FROM labels")} == {"12"}


def test_a_full_disk_is_said_also_where_a_further_turn_would_follow(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(store, monkeypatch)
    with pytest.raises(StoreError, match="full"):
        drive(store, Counting(), iter([job("0", "a", "b")]), Limits())


def test_a_reply_that_is_drawn_is_nobody_elses(store: Store) -> None:
    def drawn(output: str) -> Job:
        (reply,) = yield [question("q", f"{output}/1")]
        return [Label(output, "j", "x", reply.text)]

    model = Counting(reply=lambda n: Reply("x"))
    drive(store, model, (drawn(str(n)) for n in range(5)), Limits())
    assert model.asked == 5


class Killed(BaseException):
    """Not one that a program handles."""


def test_what_a_killed_run_was_paid_for_is_found_by_the_next(store: Store) -> None:
    """A process that ends at once, with calls in flight and others waiting for them."""

    def killed(number: int) -> Reply:
        if number == 12:
            raise Killed
        return Reply("x")

    first = Counting(latency=0.001, reply=killed)
    with pytest.raises(BaseExceptionGroup):
        drive(store, first, jobs(400, 40), Limits(concurrency=4))
    paid = count(store, "calls")
    again = Counting(reply=lambda n: Reply("x"))
    drive(store, again, jobs(400, 40), Limits(concurrency=4))
    assert 8 <= paid <= 15 and again.asked == 40 - paid and count(store, "calls") == 40


def answers(path: Path) -> str:
    """400 answers to 20 prompts, two different ones to each: 40 pairs of task and answer."""
    choices = Choices(("file:x",), ("en",), samples=20, limit=10)
    trials = list(plan.trials(registry.protocol("roles"), choices))
    lines = [
        {"prompt": trial.prompt, "sample": trial.sample, "text": ("she", "he")[trial.sample % 2]}
        for trial in trials
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return f"file:{path}"


def test_400_answers_of_40_pairs_are_40_calls_of_each_judge_also_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1234567890")
    server = BatchServer("openai", "fast=1", Oddities(looks=1))
    with serving(server) as url:

        def label(*judges: str, **options: bool) -> api.Run:
            return api.run(
                "roles",
                answers(tmp_path / "answers.jsonl"),
                tmp_path / "run",
                judge=judges,
                base_urls={"openai": url},
                language="en",
                samples=20,
                limit=10,
                poll=0.01,
                **options,
            )

        planned = api.plan("roles", "file:x", judge="openai:a", language="en", samples=20, limit=10)
        assert [(one.questions, one.calls) for one in planned.calls] == [(400, 400), (400, 40)]
        label("openai:a", "openai:b")
        assert server.ledger.singles.total() == 80
        run = label("openai:a", "openai:b", "openai:c", batch=True, wait=True)
        assert server.ledger.singles.total() + server.ledger.batched.total() == 120
    with Store(tmp_path / "run") as store:
        assert [(one.outputs, one.turns, one.calls) for one in calls.by_annotator(store)] == [
            (400, 400, 40)
        ] * 3
        assert all(len(calls.annotator_calls(store, one)) == 3 for one in outputs.ids(store))
        assert len(outputs.ids(store)) == 400
    rested = run.labels.group_by("annotator").agg(pl.col("call").n_unique())
    assert sorted(rested["call"]) == [1, 40, 40, 40]  # the parser asks nobody
