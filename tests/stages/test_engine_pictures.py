"""The engine with pictures and with work that is handed in and fetched, against models that run in this process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.drawing import opened, picture
from tiltmeter.errors import Incapable, TransientError, Unanswered
from tiltmeter.models import Model, Price, Queued
from tiltmeter.records import Message, Output, Reply, Request
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job
from tiltmeter.store import Store
from tiltmeter.store.queries import settings


class Painter(Model):
    """Draws the same picture, or what it is told to send."""

    makes = ("pictures",)

    def __init__(self, content: bytes, price: Price | None = None) -> None:
        self.name, self.content, self.price = "painter", content, price

    async def ask(self, request: Request) -> Reply:
        return Reply("", picture=self.content, revised="a photo of a guard")


class Studio(Queued):
    """Takes orders; each is ready after `polls` looks."""

    makes = ("pictures",)

    def __init__(self, polls: int = 1) -> None:
        self.name, self.polls, self.orders, self.looks = "studio", polls, 0, 0
        self.waiting = 0  # orders that never get ready, each look at one counted

    async def submit(self, request: Request) -> str:
        self.orders += 1
        return f"order-{request.nonce}"

    async def fetch(self, request: Request, remote: str) -> Reply:
        assert remote == f"order-{request.nonce}"
        self.looks += 1
        if self.looks < self.polls:
            raise TransientError("the connection was lost", 0.0)
        if self.polls < 0:
            self.waiting += 1
            await asyncio.sleep(3600)
        return Reply("", picture=picture())


def job(name: str) -> Job:
    request = Request("m", (Message("user", "a guard"),), nonce=name, size="64x48")
    (reply,) = yield [request]
    return [Output(name, reply.outcome, reply.text, request.key, reply.blob)]


def drive(
    store: Store, model: Model, names: str, stop: int = 0, limits: Limits | None = None
) -> Tally:
    """Runs a job per name; stop: the number of orders waited for at which the run is stopped."""

    async def work() -> Tally:
        async with Models(lambda name: model) as models:
            engine = Engine(store, models, limits or Limits())
            if isinstance(model, Studio) and stop:
                halting = asyncio.create_task(halt(engine, model, model.waiting + stop))
                try:
                    return await engine.drive(job(name) for name in names)
                finally:
                    halting.cancel()
            return await engine.drive(job(name) for name in names)

    async def halt(engine: Engine, studio: Studio, waiting: int) -> None:
        while studio.waiting < waiting:
            await asyncio.sleep(0.01)
        engine._halt(Unanswered("stopped"))

    return asyncio.run(work())


def test_a_picture_is_stored_once_with_what_it_is(tmp_path: Path) -> None:
    with Store(tmp_path, create=True, writing=True) as store:
        tally = drive(store, Painter(picture("JPEG", (64, 48)), Price(0, 0, picture=0.04)), "abc")
        outputs = list(store.rows("SELECT outcome, blob FROM outputs"))
        assert {outcome for outcome, _ in outputs} == {"answer"} and len(
            {blob for _, blob in outputs}
        ) == 1
        blob = outputs[0][1]
        assert opened(store.blob(blob)).size == (64, 48)
        assert json.loads(store.artefact("picture", blob) or "") == {
            "media_type": "image/jpeg",
            "suffix": ".jpg",
            "width": 64,
            "height": 48,
            "mode": "RGB",
            "bytes": len(store.blob(blob)),
        }
        assert list((tmp_path / "blobs").glob("*/*")) == [tmp_path / "blobs" / blob[:2] / blob]
        assert tally.spent == pytest.approx(0.12)  # three pictures at 4 cents
        assert {row[0] for row in store.rows("SELECT revised FROM calls")} == {"a photo of a guard"}


def test_a_model_that_writes_is_not_asked_for_a_picture(tmp_path: Path) -> None:
    writer = Painter(picture())
    writer.makes = ("text",)
    with (
        Store(tmp_path, create=True, writing=True) as store,
        pytest.raises(Incapable, match="Name a model that makes pictures"),
    ):
        drive(store, writer, "a")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"<html>no</html>", "web page"), (picture()[:60], "breaks off"), (b"", "is empty")],
)
def test_what_is_no_picture_is_an_outcome_and_kept(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with Store(tmp_path, create=True, writing=True) as store:
        drive(store, Painter(content), "a")
        ((outcome, text, blob),) = store.rows("SELECT outcome, text, blob FROM outputs")
        assert outcome == "error" and said in text
        assert (store.blob(blob) if content else b"") == content and (
            blob in text if content else blob == ""
        )


def test_work_is_handed_in_once_whatever_happens_while_it_is_fetched(tmp_path: Path) -> None:
    studio = Studio(polls=3)
    with Store(tmp_path, create=True, writing=True) as store:
        drive(store, studio, "a")
        assert (studio.orders, studio.looks) == (1, 3)
        assert list(store.rows("SELECT remote_id, outcome FROM calls")) == [("order-a", "answer")]


def test_what_work_may_cost_is_counted_once_until_it_is_fetched(tmp_path: Path) -> None:
    studio, limits = Studio(polls=-1), Limits(max_cost=0.05)
    studio.price = Price(0, 0, picture=0.04)
    with Store(tmp_path, create=True, writing=True) as store:
        for _ in range(2):  # stopped twice, and once more the cap has room for what is paid already
            with pytest.raises(Unanswered, match="stopped"):
                drive(store, studio, "a", 1, limits)
            assert settings.possibly_paid(store) == pytest.approx(0.04)
        studio.polls, studio.looks = 3, 0  # and two looks meet a lost connection
        tally = drive(store, studio, "a", limits=limits)
        assert (studio.orders, tally.done) == (1, 1)
        assert (tally.spent, tally.possibly_paid) == pytest.approx((0.04, 0.0))


def test_a_run_stopped_while_it_waits_goes_on_with_the_same_work(tmp_path: Path) -> None:
    studio = Studio(polls=-1)
    with (
        Store(tmp_path, create=True, writing=True) as store,
        pytest.raises(Unanswered, match="stopped"),
    ):
        drive(store, studio, "ab", stop=2)
    assert studio.orders == 2
    studio.polls = 1
    with Store(tmp_path, writing=True) as store:
        assert next(store.rows("SELECT count(*) FROM outputs"))[0] == 0
        drive(store, studio, "ab")
        assert studio.orders == 2 and list(store.rows("SELECT outcome FROM outputs")) == [
            ("answer",),
            ("answer",),
        ]
