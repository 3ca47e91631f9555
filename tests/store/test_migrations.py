"""Runs outlive versions: a kept run of each schema is read, extended, reported and exported.

tests/store/runs has a run folder `schemaN-PROTOCOL` of each schema, made with the code of its time,
and beside it what that code estimated from it (point estimates and counts: how intervals are made
may change with a version, what was measured may not).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from tiltmeter import api
from tiltmeter.errors import StoreError
from tiltmeter.records import Label
from tiltmeter.store import Store, migrations
from tiltmeter.store.migrations import MigrationStep
from tiltmeter.store.queries import batches
from tiltmeter.store.queries.state import digest

pytestmark = pytest.mark.usefixtures("computed_once")

RUNS = Path(__file__).parent / "runs"
LATER = (
    MigrationStep(
        "who was asked when", "CREATE TABLE later (x TEXT NOT NULL); CREATE INDEX l ON later (x);"
    ),
    MigrationStep(
        "a column",
        "ALTER TABLE packed_labels ADD COLUMN reason TEXT NOT NULL DEFAULT 'none; said';",
    ),
)
NEWEST = migrations.newest() + len(LATER)


class Kept(NamedTuple):
    """A kept run: its folder's name, models to extend it with."""

    name: str
    model: str
    judge: str


KEPT = (
    Kept("schema1-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept("schema2-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept("schema3-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept("schema4-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept("schema5-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept("schema6-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept("schema7-roles", "planted:she=0.2,seed=9", "planted:accuracy=0.9,seed=4"),
    Kept(
        "schema1-gramvis", "planted:protocol=gramvis,male=.9,female=.1", "planted:protocol=gramvis"
    ),
)


@pytest.fixture(params=KEPT, ids=lambda kept: kept.name)
def kept(request: pytest.FixtureRequest) -> Kept:
    return request.param  # type: ignore[no-any-return]


def copy(kept: str, folder: Path) -> Path:
    return Path(shutil.copytree(RUNS / kept, folder / kept))


def version(run: Path) -> int:
    db = sqlite3.connect(run / "run.sqlite")
    try:
        return migrations.schema(db)
    finally:
        db.close()


def test_each_schema_before_has_a_kept_run() -> None:
    kept = {path.name.partition("-")[0] for path in RUNS.iterdir() if path.is_dir()}
    assert kept >= {f"schema{n}" for n in range(1, migrations.newest())} and "schema1" in kept


def test_its_estimates_are_those_of_the_code_that_made_it(kept: Kept, tmp_path: Path) -> None:
    then = json.loads((RUNS / f"{kept.name}.json").read_text("utf-8"))
    run = api.open_run(copy(kept.name, tmp_path))
    assert {name: getattr(run, name).height for name in then["tables"]} == then["tables"]
    measures = {row["measure"] for row in then["estimates"]}  # others are newer than the run
    now = [estimate.as_dict() for estimate in run.analyse() if estimate.measure in measures]
    assert len(now) == len(then["estimates"])
    for estimate, before in zip(now, then["estimates"], strict=True):
        for name, value in before.items():
            assert estimate[name] == (
                pytest.approx(value, rel=1e-8) if isinstance(value, int | float) else value
            ), name


def test_it_is_extended_reported_and_exported(kept: Kept, tmp_path: Path) -> None:
    folder = copy(kept.name, tmp_path)
    before = api.open_run(folder)
    trials, outputs = before.trials, before.outputs
    language = trials["factors"][0]["language"]
    found = api.run(
        before.protocol, kept.model, folder, judge=kept.judge, language=language, limit=1, samples=1
    )
    assert found.outputs.height > outputs.height
    assert set(outputs["trial"]) < set(found.outputs["trial"])
    assert {kept.model, *trials["subject"]} <= {e.subject for e in found.analyse()}
    page = found.report(tmp_path / "report.html").read_text("utf-8")
    assert kept.model in page and trials["subject"][0] in page
    paths = api.export(folder, tmp_path / "tables", format="csv")
    assert all(path.stat().st_size > 100 for path in paths)


def test_every_row_is_as_it_was_before_rows_were_packed(tmp_path: Path) -> None:
    """The digest was computed by the code that made the run."""
    then = json.loads((RUNS / "schema7-roles.json").read_text("utf-8"))["digest"]
    run = copy("schema7-roles", tmp_path)
    with Store(run) as read, Store(run, writing=True) as written:
        assert digest(read) == digest(written) == then
        assert dict(written.rows("SELECT server, count(*) FROM call_servers GROUP BY 1")) == {
            1: 24,
            2: 24,
        }


def test_why_replies_ended_is_read_from_the_bodies_of_an_older_run(tmp_path: Path) -> None:
    with Store(copy("schema5-roles", tmp_path)) as store:
        calls = "SELECT ended, thought, count(*) FROM calls GROUP BY 1, 2 ORDER BY 1"
        counted = [("cut", None, 2), ("cut", 64, 2), ("filter", None, 2), ("stop", None, 6)]
        assert list(store.rows(calls)) == counted
        assert list(store.rows(calls.replace("calls", "outputs"))) == counted
    with Store(copy("schema4-roles", tmp_path)) as store:  # its model was in the same process
        assert {row[0] for row in store.rows("SELECT ended FROM calls")} == {"unknown"}


def test_the_batches_of_an_older_run_are_as_far_as_they_were(tmp_path: Path) -> None:
    """One was lost and two were read; of a third, made here by hand, one result of three is stored."""
    run = copy("schema6-roles", tmp_path)
    db = sqlite3.connect(run / "run.sqlite")
    with db:
        db.execute(
            "INSERT INTO batches VALUES ('"
            + "a" * 32
            + "', 'openai:m', '/x', 'open', 'b1', 'f1', '[]', 3, 30, .5,"
            " 'in_progress', '2026-11-01T00:00:00+00:00', '2026-11-01T00:00:00+00:00')"
        )
        for key in ("1", "2"):
            db.execute(
                "INSERT INTO batch_requests VALUES (?, ?, 'm', 'text', ?, '')",
                (int(key), key, "a" * 32),
            )
    db.close()
    states = [(job.state, job.requests, job.waiting) for job in api.jobs(run)]
    expected = [("accepted", 3, 2), ("written off", 11, 0), ("collected", 10, 0)]
    assert states[:3] == expected and {state for state, *_ in states[3:]} <= {"collected"}
    with Store(run) as store:
        assert batches.rows(store)[0].billed == 1 and batches.reserved_dollars(store) == 0.5
        assert batches.keys_in(store, batches.UNFINISHED) == {"1", "2"}


def test_an_older_run_that_is_only_read_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copy("schema1-roles", tmp_path)
    before = (run / "run.sqlite").read_bytes()
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *LATER))
    with Store(run) as store:
        assert list(store.rows("SELECT * FROM later")) == []
        assert {row[0] for row in store.rows("SELECT reason FROM packed_labels")} == {"none; said"}
        assert len(list(store.iter_labels())) > 20
    assert (run / "run.sqlite").read_bytes() == before and version(run) == 1


def test_an_older_run_is_migrated_when_it_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a run (`writing`), and by what is kept without its lock, as a person's label."""
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *LATER))
    written, labelled = copy("schema1-roles", tmp_path), copy("schema1-gramvis", tmp_path)
    with Store(written, writing=True) as store:
        number = len(list(store.iter_labels()))
    assert version(written) == NEWEST
    with Store(labelled) as store:
        (output, *_), *_ = store.iter_trials()
        assert version(labelled) == 1
        store.supersede([Label(output, "human:ann", "gender", "male")])
        store.keep("note", "a", "b")
        assert version(labelled) == NEWEST
    with Store(labelled) as store:
        assert (output, "human:ann", "gender", "male", 1.0) in set(store.iter_labels())
        assert store.artefact("note", "a") == "b"
    with Store(written) as store:
        assert len(list(store.iter_labels())) == number


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = copy("schema1-roles", tmp_path)
    wrong = MigrationStep("wrong", "CREATE TABLE other (x TEXT); INSERT INTO nowhere VALUES (1);")
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, LATER[0], wrong))
    with pytest.raises(StoreError, match="nowhere"):
        Store(run, writing=True)
    monkeypatch.undo()
    assert version(run) == 1
    with Store(run, writing=True) as store:
        tables = {row[0] for row in store.rows("SELECT name FROM sqlite_master")}
    assert not tables & {"later", "other"}


def test_a_new_run_has_the_newest_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *LATER))
    with Store(tmp_path / "run", create=True, writing=True) as store:
        assert list(store.rows("SELECT * FROM later")) == []
    assert version(tmp_path / "run") == NEWEST


def test_a_run_in_a_folder_that_cannot_be_written_to_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copy("schema1-roles", tmp_path)
    monkeypatch.setattr("tiltmeter.store.database.os.access", lambda path, mode: False)
    with Store(run) as store:
        assert len(list(store.iter_labels())) > 20
        assert [path.name for path in run.iterdir()] == ["run.sqlite"]
        with pytest.raises(StoreError, match="readonly"):
            store.put("x", 1)
