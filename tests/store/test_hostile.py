"""Runs, protocols and files of strangers: each is read, or refused in a line; none does harm.

A run is changed in one value of one column, as somebody with an SQLite client might, and all that
reads runs is done with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import tiltmeter
from tests import forging
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import ProtocolError, StoreError, TiltmeterError
from tiltmeter.explore.selection import thumbnails
from tiltmeter.models.kinds import make_model
from tiltmeter.protocol.reading.load import load
from tiltmeter.store import Store, damage, views
from tiltmeter.store.blobs import place_of
from tiltmeter.store.queries import calls, outputs, tables
from tiltmeter.system import intake

DEEP = "[" * 5000 + "]" * 5000
POISON: dict[str, object] = {
    "a blob": b"\xff\x00",
    "an integer": 7,
    "a huge integer": 2**62,
    "no JSON": "{",
    "a list": "[1]",
    "an object": '{"a": {"b": 1}}',
    "deep JSON": DEEP,
    "a path": "../../../etc/passwd",
}
COLUMNS = {
    "meta": ("value",),
    "trials": ("subject", "mode", "factors", "sample", "prompt", "sampling"),
    "calls": ("model", "request", "outcome", "alternatives", "blob", "prompt_tokens", "cost"),
    "outputs": ("outcome", "text", "blob"),
    "labels": ("annotator", "attribute", "value", "weight"),
}
TAMPERED = [
    (table, column, name)
    for table, columns in COLUMNS.items()
    for column in columns
    for name in POISON
]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    tiltmeter.run("roles", "planted:she=.7", folder, language="en", limit=2, samples=1)
    return folder


@pytest.fixture(scope="module")
def stopped_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped") / "run"
    tiltmeter.run("roles", "planted:she=.9", folder, language="en", limit=12, samples=8, stop=True)
    return folder


@pytest.fixture
def run(whole_run: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole_run, tmp_path / "run")
    return tmp_path / "run"


def change(run: Path, statement: str, *values: object) -> None:
    with forging.changing(run) as db:
        db.execute(statement, values)


def read_all(folder: Path) -> None:
    """All that reads a run, but for pages that need a browser."""
    found = tiltmeter.open_run(folder)
    found.warnings(estimates=found.analyse())
    repr(found)
    with Store(folder) as store:
        for trial, output in store.iter_outputs():
            store.reply(output.call)
            store.factors(trial.id)
            if output.blob:
                store.blob(output.blob)
        list(store.iter_labels())
        calls.models(store)
        list(outputs.texts(store))
        for name in ("trials", "calls", "outputs", "labels"):
            assert all(tables.pieces(store, name))
    tiltmeter.label(folder)


@pytest.mark.parametrize(("table", "column", "name"), TAMPERED)
def test_a_changed_value_is_read_or_refused_by_its_place(
    run: Path, table: str, column: str, name: str
) -> None:
    change(run, f"UPDATE {table} SET {column} = ?", POISON[name])
    try:
        read_all(run)
    except TiltmeterError as error:
        assert str(error).count("\n") <= 1
        assert "cannot be used" not in str(error)  # which names no place


@pytest.mark.parametrize("column", ["factors", "mode"])
def test_the_place_is_named(run: Path, column: str) -> None:
    change(run, f"UPDATE trials SET {column} = '[{{}}]'")
    with pytest.raises(StoreError, match=rf"damaged at trials\.{column}"):
        read_all(run)


def test_a_question_whose_text_is_gone_is_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(run, "UPDATE packed_calls SET prompt = ''")
    assert main(["export", str(run), "--format", "inspect", "--out", str(tmp_path / "out")]) == 1
    assert "damaged at calls.request" in capsys.readouterr().err


def test_settings_that_were_left_out_are_texts(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(run, "INSERT INTO words (text) VALUES ('[[1]]')")
    change(run, "UPDATE packed_calls SET omitted = (SELECT n FROM words WHERE text = '[[1]]')")
    assert main(["analyse", str(run), "--json"]) == 1
    assert "damaged at calls.omitted" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["frozen", "source", "definition", "given"])
@pytest.mark.parametrize("value", ["7", '"x"', "[[]]", DEEP, "{}"])
def test_a_changed_setting_is_refused(run: Path, key: str, value: str) -> None:
    change(run, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)
    try:
        read_all(run)
    except TiltmeterError as error:
        assert str(error).count("\n") <= 1


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM words; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
    ],
)
def test_what_acts_by_itself_is_not_read(run: Path, statement: str) -> None:
    change(run, statement)
    with pytest.raises(StoreError, match="tiltmeter did not make its"):
        read_all(run)


def test_a_schema_that_is_no_text_is_damage(run: Path) -> None:
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    db.execute("PRAGMA writable_schema=1")
    garbled = "CAST(x'b7ff' AS TEXT)"
    db.execute(
        f"UPDATE sqlite_master SET name = {garbled}, sql = {garbled} WHERE name = 'packed_labels'"
    )
    db.close()
    with pytest.raises(StoreError, match="not a run file or is damaged"):
        read_all(run)


@pytest.mark.parametrize("table", [*views.PACKED[:5], "artefacts", "meta"])
def test_a_missing_table_is_named(run: Path, table: str) -> None:
    change(run, f"DROP TABLE {table}")
    with pytest.raises(StoreError):
        read_all(run)


@pytest.mark.parametrize(
    "name",
    ["../secret", "/etc/passwd", "..\\secret", "a/../../secret", "x", "", ".", "0" * 32, "\0"],
)
def test_a_blob_lies_in_blobs(run: Path, name: str) -> None:
    (run.parent / "secret").write_bytes(b"mine")
    with Store(run) as store, pytest.raises(StoreError, match=r"outputs\.blob"):
        store.blob(name)


def stored(run: Path, content: bytes = b"content") -> Path:
    with Store(run, writing=True) as store:
        return place_of(run, store.put_blob(content, ".bin"))


def test_content_that_was_changed_is_noticed(run: Path) -> None:
    path = stored(run)
    path.write_bytes(b"contend")
    with Store(run) as store, pytest.raises(StoreError, match="not what was stored"):
        store.blob(path.name)
    path.write_bytes(b"cut")
    assert stored(run).read_bytes() == b"content"  # a file that is cut is written anew


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link"])
def test_what_is_no_file_is_no_picture(run: Path, kind: str) -> None:
    path = stored(run)
    place(path, kind)
    with Store(run) as store, pytest.raises(StoreError):
        store.blob(path.name)


def place(path: Path, kind: str) -> None:
    """Puts something else where a file was."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/etc/passwd")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_no_run_is_anything_but_a_file(tmp_path: Path, kind: str) -> None:
    place(tmp_path / "run.sqlite", kind)
    with pytest.raises(StoreError, match="not an ordinary file"):
        Store(tmp_path)


READERS: dict[str, Callable[[Path], object]] = {
    "protocol": load,
    "answers": lambda path: asyncio.run(make_model(f"file:{path}").open()),
    "taxonomy": lambda path: tiltmeter.run(
        "roles", "planted:she=.7", path.parent / "r", taxonomy=path
    ),
    "gold": lambda path: tiltmeter.import_gold(path.parent / "run", path),
}


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_hangs_or_fills_the_memory(run: Path, reader: str, kind: str) -> None:
    path = run.parent / "x.toml"
    place(path, kind)
    with pytest.raises(TiltmeterError) as caught:
        READERS[reader](path)
    assert str(caught.value).count("\n") <= 1


PROTOCOL = """
name = "mine"
version = "1"
item = "word"
prompt = "Say {{word}}."
[[tables]]
file = "{file}"
[[instruments]]
name = "length"
kind = "length"
attribute = "length"
"""


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd.csv",
        "../secret.csv",
        "a/../../secret.csv",
        "C:/secret.csv",
        "link.csv",
        "pipe.csv",
    ],
)
def test_a_protocol_reads_beside_itself_only(tmp_path: Path, name: str) -> None:
    home = tmp_path / "protocol"
    home.mkdir()
    (tmp_path / "secret.csv").write_text("word\nsecret\n")
    (home / "link.csv").symlink_to(tmp_path / "secret.csv")
    os.mkfifo(home / "pipe.csv")
    path = home / "protocol.toml"
    path.write_text(PROTOCOL.format(file=name))
    with pytest.raises(ProtocolError) as caught:
        load(path)
    assert "secret\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line", ['base_url = "http://evil"', 'model = "cmd:rm"', 'judge = "python:x"']
)
def test_a_protocol_names_no_server_and_runs_nothing(tmp_path: Path, line: str) -> None:
    path = tmp_path / "protocol.toml"
    path.write_text(f"{line}\n{PROTOCOL.format(file='a.csv')}")
    with pytest.raises(ProtocolError, match=line.split()[0]):
        load(path)


def test_the_source_of_a_run_opens_no_other_file(run: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "x.toml"
    os.mkfifo(pipe)
    change(run, "UPDATE meta SET value = ? WHERE key = 'source'", f'"{pipe}"')
    with pytest.raises(StoreError, match=r"damaged at meta\.source"):
        tiltmeter.open_run(run)


def test_a_file_that_grows_or_lies_about_its_size_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 1000)
    assert intake.read_bytes(tmp_path / "large", 1000) == b"x" * 1000
    with pytest.raises(OSError, match="more than"):
        intake.read_bytes(tmp_path / "large", 999)
    assert intake.read_bytes("/proc/self/status", 10**6)  # a size of 0 and something in it
    with pytest.raises(OSError, match="more than"):
        intake.read_bytes("/proc/self/status", 10)


@pytest.mark.parametrize("name", ["a", "a/b", "ä b.csv", "a..b"])
def test_names_inside(tmp_path: Path, name: str) -> None:
    assert intake.inside(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("planned", '{"m": {"sampled": {"x": "y"}}}'),
        ("planned", '{"m": {"sampled": 7}}'),
        ("planned", '{"m": [1]}'),
        ("last_run", '{"failed": "x"}'),
        ("versions", "[7]"),
    ],
)
def test_a_setting_that_is_not_whole_inside_is_named(key: str, value: str, run: Path) -> None:
    with forging.changing(run) as db:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    with Store(run) as store:
        assert damage.find_damage(store._db) == f"meta.{key}"


def test_a_reply_without_a_fingerprint_is_named(run: Path) -> None:
    """Its number names no word."""
    with forging.changing(run) as db:
        db.execute("UPDATE packed_calls SET fingerprint = 10 << 40")
    with Store(run) as store:
        assert damage.find_damage(store._db) == "calls.fingerprint"


def test_a_whole_run_has_no_damage(run: Path) -> None:
    with Store(run) as store:
        assert damage.find_damage(store._db) == ""


def test_a_link_that_leads_to_itself_is_refused_at_each_door(run: Path, tmp_path: Path) -> None:
    """Path.resolve raises RuntimeError for it before Python 3.13."""
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(OSError):
        intake.read_text(intake.inside(tmp_path, loop.name))
    assert not intake.is_inside(tmp_path, Path("a\0b"))
    protocol = tmp_path / "mine.toml"
    protocol.write_text('name = "mine"\nprompt = "{a}"\n[[tables]]\nfile = "loop.csv"\n', "utf-8")
    with pytest.raises(ProtocolError):
        load(protocol)
    (tmp_path / "loop.png").symlink_to(tmp_path / "loop.png")
    (tmp_path / "manifest.csv").write_text("prompt,file\nx,loop.png\n", "utf-8")
    asyncio.run(make_model(f"folder:{tmp_path}").open())  # it reads a picture when it is asked
    api.export_crate(run, tmp_path / "crate")
    for name in ("report.html", "run/blobs/00.png"):
        path = tmp_path / "crate" / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(path)
    name = f"{'0' * 32}.png"
    (run / "blobs").mkdir()
    (run / "blobs" / name).symlink_to(run / "blobs" / name)
    with pytest.raises(TiltmeterError):
        thumbnails.content(run, name)
    findings, _ = api.verify(tmp_path / "crate")
    assert "a file is a link" in [one.what for one in findings.contradictions]


@pytest.mark.parametrize(
    "hits",
    ["x", None, [], [[1.0]], [["x"]], [{"a": 1}], [[1.0]] * 11 + [[1.0, 2.0]], [[1.0] * 9] * 12],
)
def test_the_sums_of_a_look_are_of_their_kind_and_shape(
    hits: object, stopped_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(stopped_run, tmp_path / "run"))
    with forging.changing(run) as db:
        look = json.loads(
            db.execute("SELECT content FROM artefacts WHERE kind='look'").fetchone()[0]
        )
        for sums in look["sums"].values():
            sums["hits"] = hits
        db.execute("UPDATE artefacts SET content=? WHERE kind='look'", (json.dumps(look),))
    with pytest.raises(StoreError, match=r"damaged at artefacts\.content: look 1 "):
        tiltmeter.open_run(run).analyse()
