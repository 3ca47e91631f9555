"""Runs and folders of strangers, made by mechanism (hostile.py types every verb on them).

A run is whole until one thing is changed: a value of the wrong kind in a column of a table, a node
of the JSON that a column holds, a file that is a link, a pipe, a device or a folder, a setting that
names what lies outside. The same of folders that were exported, by their manifests and files.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tiltmeter import api
from tiltmeter.analyse.whole_run.signature import RULES
from tiltmeter.api.runs.earlier_rules import FILE as JUDGED
from tiltmeter.records import Json
from tiltmeter.store import Store
from tiltmeter.store.queries.state import labels_mark

Change = Callable[[Path, random.Random], None]
HUGE = "9" * 400
DEEP = "[" * 5000 + "]" * 5000
WIDE = '{"a":' * 3000 + "1" + "}" * 3000
VALUES: dict[str, object] = {
    "null": None,
    "a blob": b"\xff\x00",
    "bytes of SQLite's text": b"\xed\xa0\x80",
    "5": 5,
    "-1": -1,
    "2^62": 2**62,
    "inf": float("inf"),
    "-inf": float("-inf"),
    "1e300": 1e300,
    "0.5": 0.5,
    "x": "x",
    "empty": "",
    "no JSON": "{",
    "a list": "[1]",
    "an object": '{"a": {"b": 1}}',
    "a number": "7",
    "a huge number": HUGE,
    "NaN": "NaN",
    "deep": DEEP,
    "a path": "../../outside/secret.txt",
    "a NUL": "a\0b",
    "a surrogate": '"\\ud83d"',
    "a formula": '=HYPERLINK("http://127.0.0.1:9/","x")',
    "long": "x" * 2_000_000,
}
NODES: dict[str, Json] = {
    "null": None,
    "true": True,
    "7": 7,
    "-1": -1,
    "1e300": 1e300,
    "2^62": 2**62,
    "text": "x",
    "a path": "../../outside/secret.toml",
    "a list": [1],
    "an empty list": [],
    "an object": {"a": {"b": 1}},
    "an empty object": {},
    "NaN": float("nan"),
    "inf": float("inf"),
}


class Base(NamedTuple):
    """Folders that are right. runs: name → run; folders: name → what was exported."""

    runs: dict[str, Path]
    folders: dict[str, Path]


_JOBS = (
    '[[tables]]\nrows = [{ job = "nurse" }, { job = "smith" }, { job = "cook" }, { job = "clerk" }]'
)
PROTOCOL = (  # whose jobs lie in a file
    (Path(__file__).parents[1] / "tests" / "two_names.toml")
    .read_text("utf-8")
    .replace(_JOBS, '[[tables]]\nfile = "jobs.csv"')
)


def base_at(place: Path) -> Base:
    """Where make_base writes."""
    runs, folders = ("judged", "stopped", "pictures", "own"), ("crate", "audit", "sealed")
    return Base({name: place / name for name in runs}, {name: place / name for name in folders})


def make_base(place: Path) -> None:
    """A run with a judge and a batch that is out, one that stopped early, one of pictures, one
    whose protocol is a file; a crate, an audit folder, and one that was sealed.
    """
    judged, stopped = place / "judged", place / "stopped"
    pictures, own = place / "pictures", place / "own"
    few = {"language": "en", "samples": 2}
    subject = "planted:she=0.8,refuses=.1"
    api.run("roles", subject, judged, judge="planted:accuracy=0.9,seed=4", limit=3, **few)  # type: ignore[arg-type]
    api.run("roles", "planted:she=0.9", stopped, language="en", limit=12, samples=8, stop=True)
    api.run("soda", "planted:protocol=soda", pictures, limit=1, samples=1)
    (place / "protocol").mkdir()
    (place / "protocol" / "jobs.csv").write_text("job\nnurse\nsmith\ncook\n", "utf-8")
    (place / "protocol" / "mine.toml").write_text(PROTOCOL, "utf-8")
    mine = place / "protocol" / "mine.toml"
    api.run(mine, f"planted:protocol={mine}", own, samples=2)
    _add_batch(judged)
    for run in (judged, stopped, pictures, own):
        _add_verdicts(run)
    change_rows(own, "UPDATE meta SET value='\"0\"' WHERE key='origin'")
    crate, audit, sealed = place / "crate", place / "audit", place / "sealed"
    api.export_crate(judged, crate)
    api.export_audit(judged, audit)
    shutil.copytree(audit, sealed)
    page = sealed / "evidence.md"
    blank = "suit the use of the system: **to be filled in**"
    filled = page.read_text("utf-8").replace(blank, "suit the use of the system: they do", 1)
    page.write_text(filled, "utf-8")
    api.seal_folder(sealed)


def _add_verdicts(run: Path) -> None:
    """The verdicts that earlier rules gave, and the answer of a gate."""
    with Store(run) as store:
        labels, now = labels_mark(store), RULES
    rows = [
        {
            "rules": rules,
            "date": "2026-11-01",
            "labels": labels,
            "words": {"choice · planted": "tilt"},
            "answers": {"--fail-on tilt": 4},
        }
        for rules in (now - 1, now)
    ]
    (run / JUDGED).write_text(json.dumps(rows), "utf-8")


def _add_batch(run: Path) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        db.execute(
            "INSERT INTO batches (key, model, path, state, remote_id, file_id, omitted, requests,"
            " tokens, reserved, told, since, changed) VALUES (?, 'openai:m',"
            " '/v1/chat/completions', 'written off', 'b1', 'f1', '[]', 1, 9, .1, 'x',"
            " '2026-11-01T00:00:00+00:00', '2026-11-01T00:00:00+00:00')",
            ("a" * 32,),
        )


# a run's file


def change_rows(run: Path, statement: str, *values: object) -> None:
    """One statement, as somebody with a client of SQLite types it."""
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        db.execute("PRAGMA ignore_check_constraints=ON")
        for (index,) in db.execute("SELECT name FROM sqlite_master WHERE type='index'").fetchall():
            if not index.startswith("sqlite_"):
                db.execute(f"DROP INDEX {index}")
        db.execute(statement, values)


def columns(run: Path) -> Iterator[tuple[str, str]]:
    """(table, column) of all."""
    with closing(sqlite3.connect(run / "run.sqlite")) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for table in sorted(tables):
            for row in db.execute(f"PRAGMA table_info({table})"):
                yield table, row[1]


def _set(table: str, column: str, value: object, run: Path, chance: random.Random) -> None:
    where = ""
    if chance.random() < 0.5:  # one row alone
        with closing(sqlite3.connect(run / "run.sqlite")) as db:
            number = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            first = db.execute(f"PRAGMA table_info({table})").fetchone()[1]
        at = chance.randrange(max(1, number))
        where = f" WHERE {first} = (SELECT {first} FROM {table} LIMIT 1 OFFSET {at})"
    try:
        change_rows(run, f"UPDATE {table} SET {column} = ?{where}", value)
    except sqlite3.IntegrityError:  # NULL, or equal keys: in one row, if at all
        change_rows(run, f"UPDATE OR IGNORE {table} SET {column} = ?", value)


def _mutate(table: str, column: str, kind: str, run: Path, chance: random.Random) -> None:
    """One node of the JSON that some row of a column holds is put another way, or taken out."""
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        keys = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
        rows = db.execute(f"SELECT {', '.join((*keys, column))} FROM {table}").fetchall()
        held = [row for row in rows if isinstance(row[-1], str) and row[-1][:1] in '[{"']
        if not held:
            return
        row = chance.choice(held)
        try:
            whole = json.loads(row[-1])
        except ValueError:
            return
        changed = json.dumps(mutated(whole, kind, chance))
        where = " AND ".join(f"{key} = ?" for key in keys)
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (changed, *row[:-1]))


def mutated(whole: Json, kind: str, chance: random.Random) -> Json:
    """JSON with one of its nodes changed."""
    places: list[tuple[dict[str, Json] | list[Json], str | int]] = []

    def walk(node: Json) -> None:
        if isinstance(node, dict | list):
            names = list(node) if isinstance(node, dict) else range(len(node))
            for name in names:
                places.append((node, name))
                walk(node[name])

    walk(whole)
    if not places:
        return NODES.get(kind)
    node, name = chance.choice(places)
    if kind == "gone":
        del node[name]  # type: ignore[arg-type]
    else:
        node[name] = NODES[kind]  # type: ignore[index]
    return whole


# files and links


def outside(case: Path) -> Path:
    """What lies beside the run, and is none of its business."""
    place = case / "outside"
    place.mkdir(exist_ok=True)
    for name in ("secret.txt", "secret.toml", "mine.jsonl", "mine.html", "secret.sqlite"):
        (place / name).write_text(f'name = "mine"  # CANARY of {name}\n', "utf-8")
    if not (place / "pipe").exists():
        os.mkfifo(place / "pipe")
    (place / "folder").mkdir(exist_ok=True)
    return place


def _replace(name: str, kind: str, folder: Path, chance: random.Random) -> None:
    """A file or folder of this name, which may hold `*`, becomes something else."""
    there = sorted(folder.glob(name)) if "*" in name else [folder / name]
    if not there:
        return
    path, away = chance.choice(there), outside(folder.parent)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "empty":
        path.touch()
    elif kind == "garbage":
        path.write_bytes(bytes(chance.randrange(256) for _ in range(5000)))
    elif kind == "a bomb":
        path.write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 1000)
    elif kind != "gone":
        target = {
            "/dev/zero": Path("/dev/zero"),
            "a link": away / "mine.html",
            "a link to a folder": away / "folder",
            "a link to itself": path,
            "a link to a pipe": away / "pipe",
            "a link to nothing": away / "new",
        }[kind]
        path.symlink_to(target)


KINDS_OF_FILE = (
    *("a pipe", "a folder", "empty", "garbage", "/dev/zero", "a link", "a link to a folder"),
    *("a link to itself", "a link to a pipe", "a link to nothing", "gone"),
)
RUN_FILES = (
    *("run.sqlite", "run.sqlite-wal", "run.sqlite-shm", ".lease", ".writer", "report.html"),
    *("report.md", "blobs", "blobs/*/*", "batches", "annotations.csv", "look.log"),
    *("judged.json", "baseline.json", "taxonomy.toml"),
)
FOLDER_FILES = (
    *("ro-crate-metadata.json", "ro-crate-metadata.json.sig", "evidence.md", "report.html"),
    *("run", "run/run.sqlite", "*"),
)
SOURCES = (
    *("{outside}/secret.toml", "{outside}/pipe", "/dev/zero", "../outside/secret.toml", "~/x.toml"),
    *("{outside}/mine.toml", "python:os:system", "x" * 300 + ".toml", "{outside}/folder"),
)
PROTOCOL_OUTSIDE = PROTOCOL.replace('"jobs.csv"', '"secret.txt"')


def _source(name: str, run: Path, chance: random.Random) -> None:
    """The run names a protocol outside its folder."""
    away = outside(run.parent)
    (away / "mine.toml").write_text(PROTOCOL_OUTSIDE, "utf-8")
    value = json.dumps(name.format(outside=away))
    change_rows(run, "INSERT OR REPLACE INTO meta VALUES ('source', ?)", value)


def _rename(name: str, run: Path, chance: random.Random) -> None:
    """What the protocol, the trials and the labels call so leads out of the folder."""
    away = f"../../{outside(run.parent).name}/x"
    for table, column in (("meta", "value"), ("words", "text"), ("texts", "body")):
        change = f"UPDATE OR IGNORE {table} SET {column} = replace({column}, ?, ?)"
        change_rows(run, change, f'"{name}"', f'"{away}"')
    change_rows(run, "UPDATE OR IGNORE words SET text = ? WHERE text = ?", away, name)


REMOTES = (
    *("file:{outside}/mine.jsonl#{a}#1", "file:{outside}/pipe#{a}#1", "file:/dev/zero#{a}#1"),
    *("file:{outside}#{a}#1", "file:{outside}/mine.jsonl", "b1", "file:\0#{a}#1", "../../x"),
    "file:{run}/link.jsonl#{a}#1",
)
MODELS = ("openai:m", "python:evil.py:ask", "cmd:touch outside/touched", "", "planted:x", "nothing")
STATES = ("reserved", "sent", "accepted", "answered", "unclear", "possibly paid", "x")


def _batch(remote: str, run: Path, chance: random.Random) -> None:
    """A batch is out, says the run, and lies in a file of somebody else or at a model."""
    away = outside(run.parent)
    named = remote.format(outside=away, a="a" * 24, run=run)
    (run / "link.jsonl").symlink_to(away / "mine.jsonl")
    model, state = chance.choice(MODELS), chance.choice(STATES)
    file_id = chance.choice(("file:", "f1", "../../outside/mine.jsonl"))
    key = chance.choice(("a" * 32, "../../outside/mine", "/dev/null", "a\0b"))
    change = "UPDATE batches SET remote_id=?, model=?, state=?, file_id=?, key=?"
    change_rows(run, change, named, model, state, file_id, key)
    row = (1, "k", model, "text", key, "[]")
    change_rows(run, "INSERT OR REPLACE INTO batch_requests VALUES (?,?,?,?,?,?)", *row)


# folders that were exported

MANIFEST = "ro-crate-metadata.json"
IDS = (
    *(
        "../outside/secret.txt",
        "/etc/passwd",
        "/dev/zero",
        "C:/x",
        "a\0b",
        "",
        ".",
        "..",
        "x" * 5000,
    ),
)


JSON_TEXTS = (
    *(DEEP, WIDE, HUGE, "", "null", "[]", '"x"', '{"@graph": 5}', '{"@graph": [5]}', "{}"),
    "\ufeff{}",
)


def _node(name: str, kind: str, folder: Path, chance: random.Random) -> None:
    """One node of a file of JSON is put another way, or taken out."""
    path = folder / name
    whole = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(mutated(whole, kind, chance)), "utf-8")


def _manifest_id(name: str, folder: Path, chance: random.Random) -> None:
    path = folder / MANIFEST
    whole = json.loads(path.read_text("utf-8"))
    files = [one for one in whole["@graph"] if one.get("@type") == "File"]
    chance.choice(files)["@id"] = name
    path.write_text(json.dumps(whole), "utf-8")


def _text(name: str, text: str, folder: Path, chance: random.Random) -> None:
    (folder / name).write_text(text, "utf-8", errors="surrogatepass")


def hostile_runs(base: Base) -> dict[str, tuple[str, Change]]:
    """Name → (the base, how it is changed)."""
    made: dict[str, tuple[str, Change]] = {}
    for of in base.runs:
        for table, column in columns(base.runs[of]):
            for kind, value in VALUES.items():
                made[f"{of}: {table}.{column} = {kind}"] = of, partial(_set, table, column, value)
            for kind in (*NODES, "gone"):
                change = partial(_mutate, table, column, kind)
                made[f"{of}: {table}.{column}, a node {kind}"] = of, change
        for name in RUN_FILES:
            for kind in KINDS_OF_FILE:
                made[f"{of}: {name} is {kind}"] = of, partial(_replace, name, kind)
        for source in SOURCES:
            made[f"{of}: source {source[:40]}"] = of, partial(_source, source)
        for text in JSON_TEXTS:
            made[f"{of}: {JUDGED} {text[:20]!r}"] = of, partial(_text, JUDGED, text)
        for kind in (*NODES, "gone"):
            for number in range(4):
                made[f"{of}: {JUDGED}, a node {kind} {number}"] = of, partial(_node, JUDGED, kind)
    for name in ("accepted", "decision", "choice", "mine", "group", "women", "nurse"):
        made[f"own: {name} leads outside"] = "own", partial(_rename, name)
    for remote in REMOTES:
        for number in range(6):
            made[f"judged: batch {remote!r} {number}"] = "judged", partial(_batch, remote)
    return made


def hostile_folders(base: Base) -> dict[str, tuple[str, Change]]:
    """Name → (the base, how it is changed)."""
    made: dict[str, tuple[str, Change]] = {}
    for of in base.folders:
        for name in FOLDER_FILES:
            for kind in KINDS_OF_FILE:
                made[f"{of}: {name} is {kind}"] = of, partial(_replace, name, kind)
        for kind in (*NODES, "gone"):
            for number in range(4):
                made[f"{of}: manifest, a node {kind} {number}"] = of, partial(_node, MANIFEST, kind)
        for name in IDS:
            made[f"{of}: manifest names {name[:30]!r}"] = of, partial(_manifest_id, name)
        for text in JSON_TEXTS:
            made[f"{of}: manifest {text[:20]!r}"] = of, partial(_text, MANIFEST, text)
    return made
