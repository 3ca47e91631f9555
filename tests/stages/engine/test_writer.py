"""What cannot be written takes nothing else along, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stages.engine.test_engine import Counting, ask, count, drive, fill_disk, job
from tiltmeter import system
from tiltmeter.errors import ModelError, StoreError
from tiltmeter.records import ERROR, Output, Reply
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job
from tiltmeter.store import Store

HALF = "\ud83d"  # the first half of an emoji: no file can hold it


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run", create=True, writing=True) as made:
        yield made


@pytest.mark.parametrize("name", ["text", "served", "fingerprint", "revised", "raw"])
def test_half_an_emoji_is_made_whole_wherever_it_stands(store: Store, name: str) -> None:
    model = Counting(reply=lambda n: replace(Reply("she"), **{name: f"a{HALF}b"}))
    drive(store, model, (job(str(n)) for n in range(16)), Limits(concurrency=16))
    replies = [store.reply(ask(str(n)).key) for n in range(16)]
    assert {getattr(reply, name) for reply in replies} == {"a\ufffdb"}
    assert count(store, "outputs") == 16


class Misfit(Reply):
    """A reply with what no column can hold, as a package of somebody else might make it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fingerprint", {"not": "text"})


def test_a_reply_that_cannot_be_stored_costs_its_neighbours_nothing(store: Store) -> None:
    model = Counting(reply=lambda n: (Misfit if n == 5 else Reply)("she", cost=0.25))
    tally = drive(store, model, (job(str(n)) for n in range(16)), Limits(concurrency=16))
    assert (tally.done, tally.failed, count(store, "outputs")) == (15, 1, 15)
    assert "cannot be stored" in tally.last_failure
    bad = [store.reply(ask(str(n)).key) for n in range(16)]
    assert [reply.cost for reply in bad if reply and reply.outcome == ERROR] == [0.25]
    again = drive(store, model, iter([job("4")]), Limits())  # trial 4 got the fifth reply
    assert (model.asked, again.reused) == (16, 1)
    assert dict(store.rows("SELECT trial, outcome FROM outputs"))["4"] == ERROR


def test_a_full_disk_stops_the_run_and_leaves_nobody_waiting(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(store, monkeypatch)
    with pytest.raises(StoreError, match="full"):
        drive(store, Counting(), (job(str(n)) for n in range(40)), Limits(concurrency=8))


def test_an_instrument_that_breaks_loses_no_reply(store: Store) -> None:
    def broken(name: str) -> Job:
        yield [ask(name)]
        raise RecursionError("too deep")

    jobs = (broken(str(n)) if n == 2 else job(str(n)) for n in range(8))
    with pytest.raises(RecursionError):
        drive(store, Counting(latency=0.01), jobs, Limits(concurrency=8))
    assert (count(store, "calls"), count(store, "outputs")) == (8, 7)


def test_a_panels_votes_are_stored_while_the_slowest_is_awaited(store: Store) -> None:
    class Slow(Counting):
        async def ask(self, request):  # type: ignore[no-untyped-def]
            if request.nonce == "c":
                await asyncio.sleep(0.05)
                assert count(store, "calls") == 2  # a and b are there, long before the panel ends
                raise ModelError("no")
            return Reply("yes")

    def panel() -> Job:
        yield [ask("a"), ask("b"), ask("c")]
        return [Output("o", "answer", "", "")]

    with pytest.raises(ModelError, match="no"):
        drive(store, Slow(), iter([panel()]), Limits())
    assert count(store, "calls") == 2


def test_a_job_that_goes_away_hinders_no_writing(store: Store) -> None:
    """A worker that was cancelled while it waited: the transaction is made all the same."""

    async def main() -> Tally:
        async with Models(lambda name: Counting(latency=0.01)) as models:
            engine = Engine(store, models, Limits(concurrency=4))
            task = asyncio.ensure_future(engine.drive(job(str(n)) for n in range(100)))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)
            return engine.tally

    tally = asyncio.run(main())
    assert count(store, "outputs") >= tally.done > 0


@pytest.mark.parametrize("durable", [True, False])
def test_a_power_cut_after_the_run_leaves_what_was_brought_to_the_disk(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    """The copy has of the journal only what was synced; the file itself is synced by SQLite."""
    journal, synced, write = store.folder / "run.sqlite-wal", [0], system.sync_file

    def sync(file: int) -> None:
        write(file)
        if os.path.sameopenfile(file, reading.fileno()):
            synced.append(os.fstat(file).st_size)

    store.put("begun", True)  # so that the journal is there
    with journal.open("rb") as reading:
        monkeypatch.setattr(system, "sync_file", sync)
        allowed = Limits(concurrency=16, durable=durable)
        drive(store, Counting(), (job(str(n)) for n in range(16)), allowed)
        monkeypatch.undo()
        copy = tmp_path / "copy"
        copy.mkdir()
        shutil.copy(store.path, copy)
        (copy / journal.name).write_bytes(reading.read()[: synced[-1]])
    assert count(store, "outputs") == 16
    if durable:
        with Store(copy) as found:
            assert count(found, "outputs") == 16
    else:
        assert synced == [0]


def test_a_disk_that_does_not_sync_stops_a_durable_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr("tiltmeter.stages.engine.writer.SYNC_S", 0.0)
    monkeypatch.setattr(system, "sync_file", fail)
    with pytest.raises(StoreError, match="cannot be written"):
        drive(store, Counting(), (job(str(n)) for n in range(64)), Limits(2, durable=True))
