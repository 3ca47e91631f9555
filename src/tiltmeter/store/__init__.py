"""The run: a folder with `run.sqlite` and `blobs/`.

`trials` are what was planned; `calls` is everything that was paid for, as it came; `outputs` are
what the subjects returned; `labels` what annotators said of them (append-only: what an annotator
said before is kept and no longer `current`); `artefacts` are files by name (estimates, taxonomies,
gold samples); `meta` is a table of JSON values.

Journal mode WAL and a commit for each batch that one turn of the event loop brings, so a killed
process loses at most
what was in flight. One process writes at a time: it holds an exclusive lock on `.writer`, which the
system drops when the process dies. A run is checkpointed back to one file when it is closed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import RunBusy, RunMismatch, StoreError
from ..images import Picture
from ..records import SUBJECT, Label, Output, Reply, Request, Trial, canonical
from .rows import TABLES, call_row, trial_of, unpack

SCHEMA = 1
PICTURE = "picture"  # kind of the artefacts that say what a picture of `blobs/` is
_LABEL = (
    "INSERT INTO labels (output, annotator, attribute, value, position, weight, date) "
    "VALUES (?,?,?,?,?,?,?)"
)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """SQLite's and the system's errors as one line that says what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise RunBusy(
                f"Another process is in the middle of writing to {path}. Try again in a moment."
            ) from None
        if "full" in str(error):
            raise StoreError(
                f"The disk that holds {path} is full. Free space and run the same command again; "
                "everything received before is stored."
            ) from None
        raise StoreError(f"{path} cannot be used: {error}.") from None
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is not a run file or is damaged ({error}). Restore it from a copy, or start "
            "a new run with another --out."
        ) from None
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}. Free space or choose another "
            "--out, and run the same command again."
        ) from None


class Store:
    """One run folder, open. Reading needs no lock; `writing=True` takes it."""

    def __init__(self, folder: Path | str, *, create: bool = False, writing: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "run.sqlite"
        self._lock: sqlite3.Connection | None = None
        if not create and not self.path.exists():
            raise StoreError(
                f"{self.folder} is not a run. A run is made by: tiltmeter run PROTOCOL --model M "
                "--out DIR"
            )
        with _said(self.path):
            if create:
                self.folder.mkdir(parents=True, exist_ok=True)
            if writing:
                self._take_lock()
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=20)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "PRAGMA wal_autocheckpoint=8000"
            )  # pages: 32 MB of journal before it is folded back
            self._db.execute("PRAGMA cache_size=-8000")  # KiB
            self._prepare(create)

    def _take_lock(self) -> None:
        lock = sqlite3.connect(self.folder / ".writer", isolation_level=None, timeout=0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            lock.close()
            raise RunBusy(
                f"Another tiltmeter is writing to {self.folder}. Wait for it, or stop it."
            ) from None
        self._lock = lock

    def _prepare(self, create: bool) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise StoreError(
                f"{self.folder} was written by a newer tiltmeter (schema {version}; this one "
                f"reads {SCHEMA}). Type: pip install --upgrade tiltmeter"
            )
        if version == 0:
            if not create or self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise StoreError(
                    f"{self.path} is not a run file, or only the beginning of one. Remove the "
                    "folder and run again."
                )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(f"BEGIN; {TABLES} PRAGMA user_version={SCHEMA}; COMMIT;")

    def close(self) -> None:
        """Back to one file, and the lock given up."""
        with suppress(sqlite3.Error):
            if self._lock:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()
        if self._lock:
            self._lock.close()
            (self.folder / ".writer").unlink(missing_ok=True)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # meta and artefacts

    def get(self, key: str, default: Any = None) -> Any:
        with _said(self.path):
            row = self._db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return default if row is None else json.loads(row[0])

    def put(self, key: str, value: Any) -> None:
        with _said(self.path):
            self._db.execute(
                "INSERT OR REPLACE INTO meta VALUES (?,?)",
                (key, json.dumps(value, ensure_ascii=False)),
            )

    def freeze(self, frozen: dict[str, Any]) -> None:
        """Fixes what may not change, or refuses, naming the first difference."""
        before = self.get("frozen")
        if before is None:
            self.put("frozen", frozen)
            return
        for key, value in frozen.items():
            if before.get(key) != value:
                what = "the protocol's file or data" if key == "digest" else key
                raise RunMismatch(
                    f"{self.folder} holds a run of {before['protocol']} with another {what} "
                    f"({_short(before.get(key))}, now {_short(value)}). Take another --out, or "
                    f"{key} as before."
                )

    def artefact(self, kind: str, name: str) -> str | None:
        with _said(self.path):
            row = self._db.execute(
                "SELECT content FROM artefacts WHERE kind=? AND name=?", (kind, name)
            ).fetchone()
        return None if row is None else str(row[0])

    def keep(self, kind: str, name: str, content: str) -> None:
        with _said(self.path):
            self._db.execute(
                "INSERT OR REPLACE INTO artefacts VALUES (?,?,?,?)", (kind, name, content, now())
            )

    # trials and outputs

    def unanswered(self, trials: Iterable[Trial], chunk: int = 500) -> Iterator[Trial]:
        """Adds the trials to the run and yields those without an output."""
        batch: list[Trial] = []
        for trial in trials:
            batch.append(trial)
            if len(batch) == chunk:
                yield from self._open_trials(batch)
                batch = []
        yield from self._open_trials(batch)

    def _open_trials(self, batch: Sequence[Trial]) -> list[Trial]:
        marks = ",".join("?" * len(batch))
        ids = [trial.id for trial in batch]
        with _said(self.path):
            done = {
                row[0]
                for row in self._db.execute(
                    f"SELECT trial FROM outputs WHERE trial IN ({marks})", ids
                )
            }
            rest = [trial for trial in batch if trial.id not in done]
            rows = [(*t[:3], canonical(t.factors), *t[4:7], canonical(t.sampling)) for t in rest]
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR IGNORE INTO trials VALUES (?,?,?,?,?,?,?,?)", rows)
            self._db.execute("COMMIT")
        return rest

    def unlabelled(self, annotator: str, chunk: int = 500) -> Iterator[tuple[Trial, Output]]:
        """Outputs that an annotator has not labelled, in the order of their ids, read in pieces."""
        without = (
            " AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.current AND l.output = "
            "o.trial AND l.annotator = ?)"
        )
        return self._outputs(without, (annotator,), chunk)

    def outputs(self, chunk: int = 500) -> Iterator[tuple[Trial, Output]]:
        """Every output, in the order of their ids, read in pieces."""
        return self._outputs("", (), chunk)

    def _outputs(
        self, where: str, values: Sequence[str], chunk: int
    ) -> Iterator[tuple[Trial, Output]]:
        last = ""
        query = (
            "SELECT t.id, t.subject, t.mode, t.factors, t.sample, t.prompt, t.begin, t.sampling,"
            " o.outcome, o.text, o.call, o.blob FROM outputs o JOIN trials t ON t.id = o.trial"
            f" WHERE o.trial > ?{where} ORDER BY o.trial LIMIT ?"
        )
        while True:
            with _said(self.path):
                rows = self._db.execute(query, (last, *values, chunk)).fetchall()
            for row in rows:
                yield trial_of(row[:8]), Output(row[0], *row[8:])
            if len(rows) < chunk:
                return
            last = rows[-1][0]

    # calls

    def answered(self, purpose: str) -> set[str]:
        """Keys of the calls of one purpose that may be asked again; a subject's call with an output
        never is.
        """
        query = "SELECT key FROM calls WHERE purpose=? AND outcome IS NOT NULL"
        if purpose == SUBJECT:
            query += " AND key NOT IN (SELECT call FROM outputs)"
        return {row[0] for row in self.rows(query, (purpose,))}

    def reply(self, key: str) -> Reply | None:
        """The stored reply to a request, or None where it was not answered yet."""
        with _said(self.path):
            row = self._db.execute(
                "SELECT text, outcome, alternatives, served, fingerprint, prompt_tokens, "
                "completion_tokens, cost,"
                " omitted, revised, raw, blob FROM calls WHERE key=? AND outcome IS NOT NULL",
                (key,),
            ).fetchone()
        if row is None:
            return None
        usage = None if row[5] is None else (row[5], row[6])
        omitted = tuple(json.loads(row[8])) if row[8] else ()
        return Reply(
            row[0],
            row[1],
            unpack(row[2]),
            row[3],
            row[4],
            usage,
            row[7],
            omitted,
            row[9],
            raw=row[10],
            blob=row[11],
        )

    def remote(self, key: str) -> str:
        """The provider's id of a request that was submitted and has no reply yet, or ""."""
        found = next(
            self.rows("SELECT remote_id FROM calls WHERE key=? AND outcome IS NULL", (key,)), None
        )
        return str(found[0]) if found else ""

    def submitted(self, request: Request, remote: str) -> None:
        """Keeps the provider's id of a request before its reply is waited for."""
        self.write([(request, Reply("", "", remote=remote))], (), ())

    def write(
        self,
        calls: Sequence[tuple[Request, Reply]],
        outputs: Sequence[Output],
        labels: Sequence[Label],
    ) -> None:
        """All rows in one transaction."""
        date = now()
        with self.transaction():
            self._db.executemany(
                f"INSERT OR REPLACE INTO calls VALUES ({','.join('?' * 18)})",
                [call_row(request, reply, date) for request, reply in calls],
            )
            self._db.executemany("INSERT OR REPLACE INTO outputs VALUES (?,?,?,?,?)", outputs)
            self._db.executemany(_LABEL, [(*label, date) for label in labels])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of what is written inside, or nothing of it; nobody else writes meanwhile. Inside
        another one it is its part.

        It needs no `writing=True`: that lock keeps two runs from paying twice, this one is SQLite's
        and is held for moments.
        """
        inside = self._db.in_transaction
        if inside:
            yield
            return
        with _said(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    with suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")

    def supersede(self, labels: Sequence[Label]) -> None:
        """Writes labels in place of what the same annotators said of the same outputs before, which
        is kept.
        """
        date = now()
        with self.transaction():
            self.withdraw([row[:3] for row in labels])
            self._db.executemany(_LABEL, [(*label, date) for label in labels])

    def withdraw(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """What annotators said before is kept and no longer current. keys: (output, annotator,
        attribute).
        """
        with self.transaction():
            self._db.executemany(
                "UPDATE labels SET current=0 WHERE current AND output=? AND annotator=? AND "
                "attribute=?",
                keys,
            )

    # reading for analysis

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Rows of a query over the tables, as they come."""
        with _said(self.path):
            yield from self._db.execute(query, values)

    def factors(self, trial: str) -> dict[str, str]:
        """The factors of a trial, with its mode; empty where there is no such trial."""
        found = next(self.rows("SELECT mode, factors FROM trials WHERE id=?", (trial,)), None)
        return {"mode": found[0], **json.loads(found[1])} if found else {}

    def asked(self) -> Iterator[tuple[str, str, str, str]]:
        """Every trial as (id, subject, mode, factors), by id."""
        return self.rows("SELECT id, subject, mode, factors FROM trials ORDER BY id")

    def labelled(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Every current label as (output, annotator, attribute, value, weight), by output.

        Read from an index that covers them, and without what their trials have in common: 1,000,000
        in 1.3 CPU s.
        """
        return self.rows(
            "SELECT output, annotator, attribute, value, weight FROM labels WHERE current"
            " ORDER BY output, annotator, attribute, value, weight"
        )

    def label_sets(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Every current label as (output, annotator, attributes, values, the weight that each of
        them has), by output.

        attributes, values: JSON arrays of one length. SQLite puts the labels of an output together,
        since a row costs more in Python than a label does. An annotator with weights of its own has
        a row a label.
        """
        single = [
            row[0]
            for row in self.rows(
                "SELECT DISTINCT annotator FROM labels WHERE current AND weight <> 1"
            )
        ]
        marks = ",".join("?" * len(single))
        yield from self.rows(
            "SELECT output, annotator, json_group_array(attribute), json_group_array(value), 1.0 "
            f"FROM labels WHERE current AND annotator NOT IN ({marks}) GROUP BY output, annotator",
            single,
        )
        yield from self.rows(
            "SELECT output, annotator, json_array(attribute), json_array(value), weight FROM labels"
            f" WHERE current AND annotator IN ({marks}) ORDER BY output, annotator, attribute, "
            "value, weight",
            single,
        )

    def columns(self, query: str) -> list[str]:
        with _said(self.path):
            return [
                column[0]
                for column in self._db.execute(f"SELECT * FROM ({query}) LIMIT 0").description
            ]

    def spent(self) -> float:
        """US dollars of all calls of this run whose cost is known."""
        return float(next(self.rows("SELECT coalesce(sum(cost), 0) FROM calls"))[0])

    def blob(self, name: str) -> bytes:
        """A file of `blobs/` by its name."""
        path = self.folder / "blobs" / name
        with _said(path):
            return path.read_bytes()

    def put_blob(self, content: bytes, suffix: str) -> str:
        """Stores a file once, under its hash; returns its name."""
        name = sha256(content).hexdigest()[:32] + suffix
        path = self.folder / "blobs" / name
        if not path.exists():
            with _said(path):
                path.parent.mkdir(exist_ok=True)
                part = path.with_name(f"{name}.{os.getpid()}.part")
                part.write_bytes(content)
                part.replace(path)
        return name

    def put_picture(self, content: bytes, found: Picture) -> str:
        """Stores a picture once, and what was found out about it; returns its name."""
        name = self.put_blob(content, found.suffix)
        self.keep(PICTURE, name, json.dumps({**found._asdict(), "bytes": len(content)}))
        return name

    def picture(self, name: str) -> dict[str, Any]:
        """What is known of a stored picture (media_type, width, height, mode, bytes); empty where
        it is none.
        """
        found: dict[str, Any] = json.loads(self.artefact(PICTURE, name) or "{}")
        return found


def _short(value: Any) -> str:
    return "none" if value is None else str(value)[:40]
