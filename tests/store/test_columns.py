"""Rows read by columns are the rows of the views, of runs of every schema and of odd values."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tiltmeter.records import Label, LabelCall, Message, Output, Reply, Request, Sampling, Trial
from tiltmeter.store import Store, columns
from tiltmeter.store.queries import tables
from tiltmeter.store.views import public_columns

RUNS = Path(__file__).parent / "runs"
TABLES = ("trials", "calls", "outputs", "labels", "label_calls", "trial_looks")


def as_text(value: object) -> object:
    """A date as the view has it, of milliseconds."""
    if not isinstance(value, int):
        return value
    return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="milliseconds")


def of_view(store: Store, table: str) -> list[tuple[object, ...]]:
    names = [f"r.{name}" for name in public_columns(table, "r")]
    listed, order = ", ".join(names), ", ".join(names[:3])
    return list(store.rows(f"SELECT {listed} FROM {table} r ORDER BY {order}"))


def by_columns(store: Store, table: str) -> list[tuple[object, ...]]:
    asked = public_columns(table, "r")
    order = ", ".join(f"r.{name}" for name in [*asked][:3])
    found: list[tuple[object, ...]] = []
    for piece in columns.read(store, asked, f"FROM {table} r ORDER BY {order}"):
        if "date" in piece:
            piece["date"] = [as_text(value) for value in piece["date"]]
        found += zip(*piece.values(), strict=True)
    return found


@pytest.mark.parametrize("name", sorted(path.name for path in RUNS.iterdir() if path.is_dir()))
def test_kept_runs_are_read_alike(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "PIECE_ROWS", 7)
    shutil.copytree(RUNS / name, tmp_path / "run")
    with Store(tmp_path / "run") as store:
        for table in TABLES:
            assert by_columns(store, table) == of_view(store, table)
        assert len(by_columns(store, "calls")) > 5


def test_odd_values_are_read_alike(tmp_path: Path) -> None:
    """Pictures, a context, no seed, text that JSON escapes, a shared call, a call that is gone."""
    odd = 'a "b"\n\x00\u2028 善 \\ \x1e'
    asked = [
        Request("m", (Message("user", odd),), Sampling(None, 0.5, 7, 3), nonce="t1/0"),
        Request("m", (Message("user", "?", ("ab.png",)),), nonce=f"/{odd}", purpose="j"),
        Request(
            "m", (Message("system", "be"), Message("user", "?" * 300)), schema="{}", size="1x1"
        ),
        Request("m", (Message("user", "x" * 400),), Sampling(1.0, 1.0, 1, 2**53), stop=("a",)),
    ]
    trial = Trial("t1", "s", "m", {"a": odd}, 0, odd, "b", Sampling(1.0, None, 5, None))
    with Store(tmp_path / "run", create=True, writing=True) as store:
        list(store.iter_unanswered([trial, trial._replace(id="t2", sampling=Sampling(seed=4))]))
        raw = json.dumps({"text": odd * 30})
        store.write(
            [(one, Reply(odd, raw=raw, omitted=("seed",), cost=0.5)) for one in asked],
            [Output("t1", "answer", odd, asked[0].key), Output("t2", "error", "other", "gone")],
            [Label("t1", "j", "a", odd, 2, 0.25), Label("t2", "j", "a", "b")],
            [LabelCall("t1", "j", 0, asked[1].key), LabelCall("t2", "j", 1, "gone too")],
        )
        for table in TABLES[:-1]:
            assert by_columns(store, table) == of_view(store, table)
        requests = {row[0]: row[3] for row in by_columns(store, "calls")}
        assert requests == {one.key: one.text for one in asked}
        (piece,) = tables.pieces(store, "outputs")
        assert [piece[name] for name in ("trial", "text", "call")] == [
            ["t1", "t2"],
            [odd, "other"],
            [asked[0].key, "gone"],
        ]
