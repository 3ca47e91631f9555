"""Work whose receipt did not come is found in Replicate's list of predictions, and only if it can be nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from tests.models.studios import KEY, ReplicateStudio
from tests.models.test_image_models import asked, draw, request
from tiltmeter.errors import ModelError, TransientError
from tiltmeter.models.http import lost_receipts, queue
from tiltmeter.records import Reply, Sampling

INPUT = {"prompt": "A photo of a guard", "aspect_ratio": "1:1", "seed": 7}
CUT = '{"id": "p1", "urls": {"get": "http'
LOSSES: dict[str, Callable[[], Any]] = {
    "gateway": lambda: (504, {"detail": "Gateway timeout"}),
    "web page": lambda: web.Response(status=201, text="<html>Created</html>"),
    "cut": lambda: web.Response(status=201, text=CUT, content_type="application/json"),
    "empty": lambda: web.Response(status=201),
    "no address": lambda: (201, {"id": "p1", "status": "starting"}),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", KEY)
    monkeypatch.setattr(queue, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(lost_receipts, "PAUSE_SECONDS", 0.01)


def studio(does: str = "", *lost: str, how: str = "gateway") -> ReplicateStudio:
    made = ReplicateStudio(does)
    made.loses = {name: LOSSES[how]() for name in lost or ("p1",)}
    return made


@pytest.mark.parametrize("how", LOSSES)
def test_work_whose_receipt_is_lost_is_found_and_made_once(how: str) -> None:
    server = studio(how=how)
    reply = draw("replicate", studio=server)
    assert reply.picture and len(server.submitted) == 1
    assert reply.omitted == ("width", "height")


def test_work_of_others_is_left_alone() -> None:
    """Older, with another prompt, of another model, or at another host; ours is on the second page."""
    server = studio()

    async def use(model: Any, wanted: Any) -> Reply:
        server.list("older", INPUT, ago_s=60)
        task = asyncio.create_task(asked(model, wanted))
        while not server.submitted:
            await asyncio.sleep(0.001)
        server.list("prompt", INPUT | {"prompt": "A cook"})
        server.list("model", INPUT, model="owner/other")
        server.list("host", INPUT, urls={"get": "https://elsewhere.example/v1/predictions/host"})
        server.list("none", INPUT, urls={"get": "http://[/"})
        return await task

    assert draw("replicate", studio=server, use=use).picture and len(server.submitted) == 1
    assert not {"older", "prompt", "model", "host", "none"} & set(server.looks)


def test_two_equal_requests_get_one_piece_of_work_each() -> None:
    """Samples of one prompt have the same input; the receipts of the first and the third of three are lost."""
    server = studio("", "p1", "p3")

    async def use(model: Any, wanted: Any) -> list[Any]:
        return await asyncio.gather(*(model.submit(wanted) for _ in range(3)))

    remotes = draw("replicate", studio=server, use=use, concurrency=3)
    assert sorted(remote.partition("#")[0][-2:] for remote in remotes) == ["p1", "p2", "p3"]
    assert len(server.submitted) == 3


@pytest.mark.parametrize(("does", "error"), [("no list", TransientError), ("", TransientError)])
def test_it_stays_possibly_paid_if_the_list_does_not_settle_it(does: str, error: type) -> None:
    """The list does not come; or it has two pieces of work for one request."""
    server = studio(does)

    async def use(model: Any, wanted: Any) -> Any:
        task = asyncio.create_task(asked(model, wanted))
        while not server.submitted:
            await asyncio.sleep(0.001)
        server.list("twin", INPUT)
        return await task

    with pytest.raises(error) as told:
        draw("replicate", studio=server, use=use)
    assert told.value.possibly_paid and len(server.submitted) == 1


def test_what_is_refused_is_not_looked_for() -> None:
    server = ReplicateStudio("credit")
    with pytest.raises(ModelError, match="no credit left"):
        draw("replicate", studio=server, wanted=request(sampling=Sampling(seed=7)))
    assert not server.looks
