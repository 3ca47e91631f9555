"""The engine: limits, budget, retries, interruption, resume; against models that run in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tiltmeter.errors import BudgetError, ModelError, StoreError, TiltmeterError, TransientError
from tiltmeter.models import FREE, Model, Price
from tiltmeter.records import Label, Message, Output, Reply, Request, Sampling
from tiltmeter.stages.engine import retries
from tiltmeter.stages.engine.engine import FAILURES_IN_A_ROW, Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import WAITING, Job
from tiltmeter.store import Store


class Counting(Model):
    """Answers "she"; counts what it was asked and how much at once."""

    def __init__(
        self,
        price: Price | None = FREE,
        latency: float = 0.0,
        reply: Callable[[int], Reply | TiltmeterError] | None = None,
    ) -> None:
        self.name, self.price, self.parallel = "m", price, 1000
        self.latency, self.reply = latency, reply
        self.asked, self.now, self.most, self.opened, self.closed = 0, 0, 0, 0, 0
        self.times: list[float] = []

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        self.times.append(time.monotonic())
        number = self.asked
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.latency)
        self.now -= 1
        found = self.reply(number) if self.reply else Reply("she", usage=(10, 5))
        if isinstance(found, TiltmeterError):
            raise found
        return found


def ask(name: str, turn: str = "") -> Request:
    return Request("m", (Message("user", "Who?" + turn),), Sampling(max_tokens=100), nonce=name)


def job(name: str) -> Job:
    request = ask(name)
    (reply,) = yield [request]
    return [Output(name, reply.outcome, reply.text, request.key)]


def fill_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written from now on finds no room."""

    def write(*_: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store, "write", write)


def drive(store: Store, model: Model, jobs: Iterator[Job], limits: Limits) -> Tally:
    async def work() -> Tally:
        async with Models(lambda name: model) as models:
            return await Engine(store, models, limits).drive(jobs)

    return asyncio.run(work())


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.001)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run", create=True, writing=True) as made:
        yield made


def count(store: Store, table: str) -> int:
    return int(next(store.rows(f"SELECT count(*) FROM {table}"))[0])


def test_everything_is_asked_once_and_stored(store: Store) -> None:
    model = Counting()
    tally = drive(store, model, (job(str(n)) for n in range(500)), Limits(concurrency=50))
    assert (tally.done, tally.calls, model.asked, model.opened, model.closed) == (
        500,
        500,
        500,
        1,
        1,
    )
    assert count(store, "calls") == count(store, "outputs") == 500


@pytest.mark.parametrize("of_run", [True, False])
def test_every_model_is_closed_though_one_cannot_be(store: Store, of_run: bool) -> None:
    class Broken(Counting):
        async def close(self) -> None:
            raise OSError("no such process")

    models = {"a": Broken(), "b": Counting(), "c": Broken(), "d": Counting()}

    async def work() -> None:
        async with Models(models.__getitem__) as opened:
            for name in models:
                await opened.get(name)
            if of_run:
                raise StoreError("The disk is full.")

    with pytest.raises(StoreError if of_run else OSError) as caught:
        asyncio.run(work())
    assert models["b"].closed == models["d"].closed == 1
    assert of_run == ("no such process" in "".join(getattr(caught.value, "__notes__", ())))


def test_no_model_is_opened_when_nothing_is_asked(store: Store) -> None:
    model = Counting()
    drive(store, model, iter(()), Limits())
    assert model.opened == model.closed == 0


def test_concurrency_is_a_bound_and_is_used(store: Store) -> None:
    model = Counting(latency=0.01)
    drive(store, model, (job(str(n)) for n in range(60)), Limits(concurrency=7))
    assert model.most == 7


def test_a_models_own_bound_holds(store: Store) -> None:
    model = Counting(latency=0.005)
    model.parallel = 2
    drive(store, model, (job(str(n)) for n in range(20)), Limits(concurrency=9))
    assert model.most == 2


def test_the_rate_is_kept(store: Store) -> None:
    model = Counting()
    drive(store, model, (job(str(n)) for n in range(10)), Limits(concurrency=10, rate=3000))
    assert all(
        time - model.times[0] >= number * 0.02 * 0.95 for number, time in enumerate(model.times)
    )  # none is early


def test_what_was_answered_is_not_asked_again(store: Store) -> None:
    store.write([(ask("1"), Reply("he"))], [], [])
    model = Counting()
    tally = drive(store, model, (job(str(n)) for n in range(3)), Limits())
    assert (model.asked, tally.reused) == (2, 1)
    assert dict(store.rows("SELECT trial, text FROM outputs"))["1"] == "he"


def test_a_job_of_many_turns_resumes_in_the_middle(store: Store) -> None:
    def talk(name: str) -> Job:
        said = []
        for turn in range(4):
            (reply,) = yield [ask(name, str(turn))]
            said.append(reply.text)
        return [Label(name, "a", "x", "".join(said))]

    failing = Counting(reply=lambda n: ModelError("no") if n == 3 else Reply(str(n)))
    with pytest.raises(ModelError):
        drive(store, failing, iter([talk("t")]), Limits())
    assert count(store, "calls") == 2
    again = Counting(reply=lambda n: Reply(f"+{n}"))
    drive(store, again, iter([talk("t")]), Limits())
    assert again.asked == 2
    assert next(store.rows("SELECT value FROM labels"))[0] == "12+1+2"


def test_a_panel_keeps_the_votes_that_came_when_one_fails(store: Store) -> None:
    def panel() -> Job:
        replies = yield [ask("a"), ask("b"), ask("c")]
        return [Label("o", "p", "x", reply.text, at) for at, reply in enumerate(replies)]

    failing = Counting(latency=0.01, reply=lambda n: ModelError("no") if n == 2 else Reply("yes"))
    with pytest.raises(ModelError):
        drive(store, failing, iter([panel()]), Limits())
    again = Counting(reply=lambda n: Reply("yes"))
    drive(store, again, iter([panel()]), Limits())
    assert (count(store, "labels"), again.asked) == (3, 1)


def test_transient_errors_are_tried_again(store: Store) -> None:
    model = Counting(
        reply=lambda n: TransientError("503", retry_after=0.01) if n <= 3 else Reply("she")
    )
    tally = drive(store, model, iter([job("1")]), Limits())
    assert (tally.done, tally.retries, model.asked) == (1, 3, 4)


def test_retry_after_is_honoured(store: Store) -> None:
    model = Counting(
        reply=lambda n: TransientError("429", retry_after=0.3) if n == 1 else Reply("she")
    )
    drive(store, model, iter([job("1")]), Limits())
    assert model.times[1] - model.times[0] >= 0.29


def test_a_server_that_never_recovers_stops_the_run(store: Store) -> None:
    model = Counting(reply=lambda n: TransientError("503", retry_after=0.0))
    with pytest.raises(ModelError, match="in a row failed"):
        drive(store, model, (job(str(n)) for n in range(100)), Limits(concurrency=1, patience=0))
    assert FAILURES_IN_A_ROW * 7 <= model.asked <= (WAITING + 4) * 7  # those that wait are tried


def test_a_permanent_error_stops_at_once_and_keeps_what_was_in_flight(store: Store) -> None:
    model = Counting(
        latency=0.02, reply=lambda n: ModelError("no such model") if n == 1 else Reply("she")
    )
    with pytest.raises(ModelError, match="no such model"):
        drive(store, model, (job(str(n)) for n in range(1000)), Limits(concurrency=10))
    assert model.asked == 10
    assert count(store, "outputs") == 9


class TestBudget:
    """A call is 4 + 16 bytes at most in and 100 tokens out: worst case 20 + 100 = 120 units, real cost 15."""

    price = Price(1e6, 1e6)  # one dollar a token

    def test_the_cap_holds_with_many_in_flight(self, store: Store) -> None:
        model = Counting(self.price, latency=0.002)
        with pytest.raises(BudgetError, match="Raise --max-cost"):
            drive(
                store,
                model,
                (job(str(n)) for n in range(5000)),
                Limits(concurrency=200, max_cost=3000),
            )
        spent = store.spent()
        assert spent == 15 * count(store, "calls") <= 3000
        assert spent > 3000 - 121 - 15  # and it is used

    def test_what_waits_for_the_budget_is_not_sent_once_the_run_stops(self, store: Store) -> None:
        answer = Reply("she", usage=(10, 5))
        model = Counting(self.price, 0.002, lambda n: ModelError("no") if n == 1 else answer)
        with pytest.raises(ModelError, match="no"):
            drive(store, model, map(job, "abcd"), Limits(concurrency=4, max_cost=250))
        assert model.asked == 2  # the cap has room for two at once

    def test_the_cap_counts_what_the_run_cost_before(self, store: Store) -> None:
        drive(store, Counting(self.price), (job(str(n)) for n in range(10)), Limits())
        with pytest.raises(BudgetError, match=r"\$150\.0000 of \$200\.0000"):
            drive(
                store,
                Counting(self.price),
                (job(str(n)) for n in range(10, 20)),
                Limits(max_cost=200),
            )
        assert count(store, "calls") == 10

    def test_an_unknown_price_under_a_cap_is_refused_before_anything_is_sent(
        self, store: Store
    ) -> None:
        model = Counting(None)
        with pytest.raises(BudgetError, match="--price m="):
            drive(store, model, iter([job("1")]), Limits(max_cost=5))
        assert model.asked == 0

    def test_without_usage_the_worst_case_is_counted_and_said(self, store: Store) -> None:
        model = Counting(self.price, reply=lambda n: Reply("she"))
        tally = drive(store, model, iter([job("1")]), Limits())
        assert store.spent() == tally.spent == 120
        assert any("worst case" in warning for warning in tally.warnings)

    def test_a_failed_call_gives_its_reservation_back(self, store: Store) -> None:
        model = Counting(
            self.price,
            reply=lambda n: TransientError("x", 0.0) if n % 2 else Reply("she", usage=(10, 5)),
        )
        tally = drive(
            store, model, (job(str(n)) for n in range(20)), Limits(concurrency=4, max_cost=500)
        )
        assert (tally.done, store.spent()) == (20, 300)
