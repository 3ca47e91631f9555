"""The run folder: what is kept, what is refused."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from tiltmeter.errors import RunBusy, RunMismatch, StoreError
from tiltmeter.records import Label, Message, Output, Reply, Request, Sampling, Token, Trial
from tiltmeter.store import PLANNED_ROWS, Store, blobs, packing
from tiltmeter.store.database import FILE
from tiltmeter.store.queries import label_sets
from tiltmeter.store.queries.state import fingerprint

TRIAL = Trial("t1", "m", "sampled", {"word": "wise"}, 0, "Who?", "", Sampling(seed=3))
REQUEST = Request("m", (Message("user", "Who?"),), nonce="t1")
REPLY = Reply(
    "she",
    alternatives=((Token(b"\xe5", -0.25), Token(b"he", -1.5)),),
    served="m-1",
    usage=(9, 1),
    cost=0.5,
    omitted=("seed",),
    raw="{}",
)


def made(folder: Path) -> Store:
    return Store(folder / "run", create=True, writing=True)


def plan(store: Store, *ids: str) -> None:
    list(store.iter_unanswered([TRIAL._replace(id=one) for one in ids]))


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        assert list(store.iter_unanswered([TRIAL])) == [TRIAL]
        output = Output("t1", "answer", "she", REQUEST.key)
        store.write([(REQUEST, REPLY)], [output], [])
        assert store.reply(REQUEST.key) == REPLY
        assert list(store.iter_unanswered([TRIAL])) == []
        assert list(store.iter_unlabelled("a")) == [(TRIAL, output)]
        store.write([], [], [Label("t1", "a", "pronoun", "she")])
        assert list(store.iter_unlabelled("a")) == []
        assert list(store.iter_unlabelled("b")) == [(TRIAL, output)]
        assert store.spent() == 0.5


def test_trials_are_added_where_sqlite_takes_few_variables(tmp_path: Path) -> None:
    trials = [TRIAL._replace(id=f"t{number}", sample=number) for number in range(PLANNED_ROWS)]
    with made(tmp_path) as store:
        store._db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)  # as before version 3.32
        assert list(store.iter_unanswered(trials)) == trials
        store.write([], [Output("t7", "answer", "she", "")], [])
        assert list(store.iter_unanswered(trials)) == [one for one in trials if one.id != "t7"]


def test_remembered_rows_are_read_again_once_somebody_wrote(tmp_path: Path) -> None:
    query = "SELECT count(*) FROM outputs"
    output = Output("t1", "answer", "she", "")
    with made(tmp_path) as store, Store(store.folder) as reader:
        assert [list(one.remembered_rows(query)) for one in (store, reader)] == [[(0,)], [(0,)]]
        store.write([], [output], [])
        assert [list(one.remembered_rows(query)) for one in (store, reader)] == [[(1,)], [(1,)]]
        assert reader.remembered_rows(query) is reader.remembered_rows(query)


def test_remembered_rows_are_none_that_were_taken_back(tmp_path: Path) -> None:
    query = "SELECT count(*) FROM outputs"
    with made(tmp_path) as store:
        with pytest.raises(RuntimeError), store.transaction():
            store.write([], [Output("t1", "answer", "she", "")], [])
            assert list(store.remembered_rows(query)) == [(1,)]
            raise RuntimeError
        assert list(store.remembered_rows(query)) == [(0,)]


def test_what_another_opening_wrote_is_seen_where_dates_are_whole_seconds(tmp_path: Path) -> None:
    made(tmp_path).close()
    path = tmp_path / "run" / FILE
    date, query = path.stat().st_mtime_ns, "SELECT count(*) FROM outputs"
    found = []
    for text in ("she", "he"):
        with Store(path.parent) as reader:
            found.append((reader.remembered_rows(query), fingerprint(reader)))
        with Store(path.parent, writing=True) as store:
            store.write([], [Output(text, "answer", text, "")], [])
        os.utime(path, ns=(date, date))  # as a file system has it that knows no parts of a second
    with Store(path.parent) as reader:
        assert [rows for rows, _ in found] == [[(0,)], [(1,)]]
        assert list(reader.remembered_rows(query)) == [(2,)]
        assert len({fingerprint(reader), *(one for _, one in found)}) == 3


def test_a_closed_run_is_one_file(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        store.put("x", 1)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.sqlite"]


def test_pieces_are_read_past_their_border(tmp_path: Path) -> None:
    trials = [TRIAL._replace(id=f"t{n:04}") for n in range(1201)]
    with made(tmp_path) as store:
        assert len(list(store.iter_unanswered(trials))) == 1201
        store.write([], [Output(t.id, "answer", "", "") for t in trials], [])
        assert [t.id for t, _ in store.iter_unlabelled("a")] == [t.id for t in trials]
        store.write([], [], [Label("t0000", "a", "pronoun", "she")])
        assert [t.id for t, _ in store.iter_outputs()] == [t.id for t in trials] and len(
            list(store.iter_unlabelled("a"))
        ) == 1200


def test_labels_of_one_output_come_together_unless_they_weigh(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        plan(store, "t1", "t2")
        store.write(
            [],
            [],
            [
                Label("t2", "plain", "word", "wise"),
                Label("t1", "plain", "word", "kind, warm"),
                Label("t1", "plain", "length", "2"),
                Label("t1", "plain", "word", "wise", 1),
                Label("t1", "read", "pronoun", "she", weight=0.1),
                Label("t1", "read", "pronoun", "he", weight=1),
                Label("t1", "odd", "text", 'a "b"\n\x1e\x1f[善]'),
            ],
        )
        store.supersede([Label("t2", "plain", "word", "kind")])
        words = store.words()
        found = [
            (
                packing.number_text(n),
                sorted(zip(*([words[n] for n in json.loads(one)] for one in lists), strict=True)),
                weight,
            )
            for n, *lists, weight in chain(label_sets.by_output(store), label_sets.weighted(store))
        ]
        assert sorted(found) == [
            (
                "t1",
                [
                    ("odd", "text", 'a "b"\n\x1e\x1f[善]'),
                    ("plain", "length", "2"),
                    ("plain", "word", "kind, warm"),
                    ("plain", "word", "wise"),
                ],
                1.0,
            ),
            ("t1", [("read", "pronoun", "he")], 1.0),
            ("t1", [("read", "pronoun", "she")], 0.1),
            ("t2", [("plain", "word", "kind")], 1.0),
        ]


def test_changed_choices_are_refused_by_name(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        store.freeze({"protocol": "roles", "seed": 0})
        store.freeze({"protocol": "roles", "seed": 0})
        with pytest.raises(RunMismatch, match=r"another seed \(0, now 1\)"):
            store.freeze({"protocol": "roles", "seed": 1})
        with pytest.raises(RunMismatch, match="another protocol"):
            store.freeze({"protocol": "words", "seed": 0})


def test_one_writer_at_a_time_also_across_processes(tmp_path: Path) -> None:
    again = "import sys; from tiltmeter.store import Store; Store(sys.argv[1], create=True, writing=True)"
    command = [sys.executable, "-c", again, str(tmp_path / "run")]
    with made(tmp_path):
        busy = subprocess.run(command, capture_output=True, text=True, check=False)
        with pytest.raises(RunBusy):
            made(tmp_path)
    assert "RunBusy" in busy.stderr
    assert subprocess.run(command, check=False).returncode == 0


def test_what_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a run"):
        Store(tmp_path)
    (tmp_path / "run.sqlite").write_bytes(b"hello, this is text and no database" * 100)
    with pytest.raises(StoreError, match="damaged"):
        Store(tmp_path)
    (tmp_path / "run.sqlite").write_bytes(b"")
    with pytest.raises(StoreError, match="or is incomplete"):
        Store(tmp_path)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    made(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as db, db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StoreError, match="newer tiltmeter"):
        Store(tmp_path / "run")


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        plan(store, "t1")
        store.write([], [Output("t1", "answer", "she", "")], [])
        store._db.execute(
            f"PRAGMA max_page_count={store._db.execute('PRAGMA page_count').fetchone()[0]}"
        )
        with pytest.raises(StoreError, match=r"disk .* is full.*run the same command again"):
            store.write([], [Output(f"x{n}", "answer", "y" * 4000, "") for n in range(50)], [])
        assert [row[0] for row in store.rows("SELECT trial FROM outputs")] == ["t1"]


def test_an_unwritable_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        made(tmp_path)


def test_a_blob_is_stored_once(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        assert (
            store.put_blob(b"x", ".png")
            == store.put_blob(b"x", ".png")
            != store.put_blob(b"y", ".png")
        )
        assert len(blobs.names(store.folder)) == 2


def test_files_of_an_older_run_are_read_where_they_lie(tmp_path: Path) -> None:
    with made(tmp_path) as store:
        name = store.put_blob(b"old", ".png")
        beside = store.folder / "blobs" / name
        (store.folder / "blobs" / name[:2] / name).rename(beside)
        assert store.blob(name) == b"old" and store.blob_path(name) == f"blobs/{name}"
        assert store.put_blob(b"old", ".png") == name
        new = store.put_blob(b"new", ".png")
        assert store.blob_path(new) == f"blobs/{new[:2]}/{new}"
        files = {path for path in (store.folder / "blobs").rglob("*") if path.is_file()}
        assert files == {beside, store.folder / "blobs" / new[:2] / new}
        assert blobs.names(store.folder) == sorted([name, new])
