"""Judges that label while subjects are asked: at once, within one budget, and with the same result."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tiltmeter
from tests.serving import planted_server
from tests.stages.engine.test_engine import Counting, ask, job
from tiltmeter.cli import main
from tiltmeter.errors import BudgetError
from tiltmeter.models import Price
from tiltmeter.records import Label
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits, Tally
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job, JobSource
from tiltmeter.stages.steps import pipeline
from tiltmeter.store import Store

RUN = [
    "run",
    "roles",
    "--model",
    "openai:planted",
    "--language",
    "en",
    "--limit",
    "6",
    "--no-pilot",
]
JUDGES = ["--judge", "openai:judge", "--judge", "openai:other"]
MASKED = ("date", "created", "time")


def tables(run: Path, out: Path) -> dict[str, list[dict[str, str]]]:
    """The rows of the exported tables without dates and row numbers, by file."""
    assert main(["export", str(run), "--format", "csv", "--out", str(out)]) == 0
    found = {}
    for path in sorted(out.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        drop = [name for name in rows[0] if any(word in name for word in MASKED)]
        drop += ["id"] if path.name == "labels.csv" else []  # a row number
        kept = [{name: row[name] for name in row if name not in drop} for row in rows]
        found[path.name] = sorted(kept, key=lambda row: list(row.values()))
    return found


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize("most", [1, pipeline.MOST_WAITING])
def test_a_run_exports_the_same_as_one_stage_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(pipeline, "MOST_WAITING", most)
    settings, serial = "she=.6,both=.1,latency=.01", tmp_path / "serial"
    with planted_server(settings) as url, planted_server(settings) as second:
        at = ["--base-url", url, "--base-url", f"openai:other={second}", "--samples", "3"]
        assert main([*RUN, *at, *JUDGES, "--out", str(tmp_path / "at_once")]) == 0
    # what a planted server says depends on how often it was asked the same
    with planted_server(settings) as url, planted_server(settings) as second:
        at = ["--base-url", url, "--base-url", f"openai:other={second}", "--concurrency", "1"]
        assert main([*RUN, *at, "--samples", "3", "--out", str(serial)]) == 0
        for judge in ("openai:judge", "openai:other"):
            assert main(["label", str(serial), "--judge", judge, *at]) == 0
    at_once, one_by_one = (
        tables(tmp_path / name, tmp_path / f"{name}.csv") for name in ("at_once", "serial")
    )
    assert at_once.keys() == one_by_one.keys() and len(at_once) > 2
    for name, rows in at_once.items():
        assert rows == one_by_one[name], name


def test_judges_begin_with_the_first_answer(tmp_path: Path) -> None:
    """Three models with a latency take as long as one, not as three."""
    stages: list[str] = []

    def watch(stage: str, total: int | None, tally: Tally) -> None:
        stages.append(stage)

    with planted_server("she=.6,latency=.05") as url:
        tiltmeter.run(
            "roles", "openai:planted", tmp_path / "run", language="en", limit=8, samples=3,
            judge=["openai:judge", "openai:other"], base_url=url, concurrency=4, watch=watch, pilot=False,
        )  # fmt: skip
    with Store(tmp_path / "run") as store:
        first, last, judged, number = store.first(
            "SELECT min(date), max(CASE WHEN purpose='subject' THEN date END), "
            "min(CASE WHEN purpose<>'subject' THEN date END), count(*) FROM calls"
        )
    assert first < judged < last and number > 20
    assert stages.index("label") < len(stages) - 1 - stages[::-1].index("run")


def judged(name: str) -> Job:
    request = replace(ask(name), model="judge")
    (reply,) = yield [request]
    return [Label(name, "a", "x", reply.text)]


def test_the_cap_holds_over_all_models_at_once(tmp_path: Path) -> None:
    """A call is 120 units at most and costs 15, of two models: never more than the cap reserved."""
    price = Price(1e6, 1e6)
    models = {name: Counting(price, latency=0.002) for name in ("m", "judge")}

    async def work(store: Store) -> None:
        async with Models(models.__getitem__) as opened:
            engine = Engine(store, opened, Limits(concurrency=50, max_cost=1000))
            jobs: list[Iterator[Job]] = [
                (job(str(n)) for n in range(500)),
                (judged(f"j{n}") for n in range(500)),
            ]
            await engine.drive_all([JobSource(one, Tally()) for one in jobs])

    with Store(tmp_path / "run", create=True, writing=True) as store:
        with pytest.raises(BudgetError, match="Raise --max-cost"):
            asyncio.run(work(store))
        assert 1000 - 121 - 15 < store.spent() <= 1000
    assert models["m"].most + models["judge"].most <= 1000 // 120 + 1
    assert models["m"].asked and models["judge"].asked


def test_a_judge_that_is_slow_holds_subjects_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "MOST_WAITING", 3)
    with planted_server("she=.6,latency=.03") as slow, planted_server("she=.6") as quick:
        servers = ["--base-url", f"openai:judge={slow}", "--base-url", f"openai:planted={quick}"]
        out = tmp_path / "run"
        assert (
            main([*RUN, *servers, "--judge", "openai:judge", "--samples", "2", "--out", str(out)])
            == 0
        )
    with Store(out) as store:
        trials, labelled = store.first(
            "SELECT (SELECT count(*) FROM trials), (SELECT count(DISTINCT output) FROM labels "
            "WHERE annotator LIKE '%judge%')"
        )
    assert trials == labelled > 20


def test_what_a_judge_was_asked_in_vain_is_not_asked_again_in_the_same_command(
    tmp_path: Path,
) -> None:
    made = pipeline.Pipeline.__new__(pipeline.Pipeline)
    made.in_vain = set()

    def endless() -> Job:
        yield []
        return []

    noted = made._note(endless(), ("a", "o"))
    next(noted)
    noted.close()
    assert made.in_vain == {("a", "o")}
