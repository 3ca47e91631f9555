"""The SQLite file of a run, open: its schema brought up to date, its errors in plain words.

Journal mode WAL. Reading needs no lock. A run of an older schema that is only read stays as it is:
it is copied into a temporary database, which is migrated; the first write migrates the run itself.
A run in a folder without write permission is opened as `immutable`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from .. import system
from ..errors import RunBusy, StoreError, TiltmeterError
from . import damage, migrations, views
from .damage import translate_errors
from .lock import WriterLock
from .packer import Packer
from .rows import Value

FILE = "run.sqlite"
_NO_LINKS = (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", "blobs", "batches")
PATIENCE_S = 20.0  # that a statement waits for another process's transaction
CHECKPOINT_PAGES = 8000  # 32 MB of journal before it is folded back
CACHE_KIB = 8000
# What a statement raises for values that no column can hold; the file is not to blame.
UNSTORABLE = (sqlite3.Error, ValueError, TypeError, OverflowError, AttributeError)
Files: TypeAlias = tuple[tuple[int, int], ...]  # (bytes, date) of each
State: TypeAlias = tuple[Files, int, int, int]  # of a run, as an open file has it
# Of this process, by a run's file, what of it is read, and query: the file's state and rows then.
_REMEMBERED: dict[tuple[Path, str, str], tuple[State, list[Any]]] = {}
# Transactions of this process: the dates of some file systems are whole seconds.
_TRANSACTIONS: Counter[Path] = Counter()


class Database:
    """The open file of a run. Reading needs no lock; `writing=True` takes the run's lock."""

    part = ""  # names what its reading finds, where that is not all of the run

    def __init__(self, folder: Path | str, *, create: bool = False, writing: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        damage.OPENED[self.folder] = None
        self._journal = self.path.with_name(f"{FILE}-wal")
        self._lock: WriterLock | None = None
        self._is_copy = False
        if not create and not self.path.exists():
            inside = self.folder / "run"  # of an export to deposit
            raise StoreError(
                f"{self.folder} is not a run. Did you mean {inside}?"
                if (inside / FILE).is_file()
                else f"{self.folder} is not a run. A run is made by: tiltmeter run PROTOCOL "
                "--model M --out DIR"
            )
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path} is not an ordinary file, so this folder is not a run.")
        for name in _NO_LINKS:  # which would be written through
            if (self.folder / name).is_symlink():
                raise StoreError(
                    f"{self.folder / name} was not read, because it is a symbolic link. Put the "
                    "file itself in its place."
                )
        with translate_errors(self.path):
            if create:
                self.folder.mkdir(parents=True, exist_ok=True)
            if writing:
                self._lock = WriterLock(self.folder)
            try:
                self._db = _connect(self.path)
            except BaseException:
                self._unlock()
                raise
            try:
                self._prepare(create, writing)
            except BaseException:
                self.close()
                raise

    def _prepare(self, create: bool, writing: bool) -> None:
        """Creates the tables, or migrates them to the newest schema."""
        version = migrations.schema(self._db)
        name = damage.foreign_object(self._db, version == migrations.newest())
        if name:
            raise StoreError(f"{self.folder} was not read: tiltmeter did not make its {name}.")
        if version > migrations.newest():
            raise StoreError(
                f"{self.folder} was written by a newer tiltmeter (schema {version}; this one "
                f"reads {migrations.newest()}). Type: pip install --upgrade tiltmeter"
            )
        if writing and version:
            self._leave_wal()
        if version == 0:
            if not create or self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise StoreError(
                    f"{self.path} is not a run file, or is incomplete. Remove the folder and type "
                    "the command again."
                )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._leave_wal()
            migrations.migrate(self._db)
        elif version < migrations.newest():
            if writing:
                migrations.migrate(self._db)
            else:
                self._db, self._is_copy = _migrated_copy(self._db), True
        self._prepare_rows()

    def _prepare_rows(self) -> None:
        """Creates the views that queries read, and the packer that writes rows."""
        views.add_functions(self._db)
        views.create_views(self._db)
        self.packer = Packer(self._db)

    def _leave_wal(self) -> None:
        """Turns WAL off if locks do not work: two processes would corrupt each other's journal."""
        if self._lock and not self._lock.works:
            self._db.execute("PRAGMA journal_mode=DELETE")

    def _migrate_for_writing(self) -> None:
        """Migrates an older run before the first write; until then its migrated copy was read."""
        if self._is_copy:
            self._db.close()
            self._db, self._is_copy = _connect(self.path), False
            migrations.migrate(self._db)
            self._prepare_rows()

    def backup(self, folder: Path) -> None:
        """Copies all rows into the run file of another folder."""
        path = folder / FILE
        with translate_errors(path), closing(sqlite3.connect(path)) as copy:
            self._db.backup(copy)

    @contextmanager
    def attached(self, source: Database, name: str) -> Iterator[None]:
        """Attaches another run's tables under the schema `name` inside a `with` block."""
        with TemporaryDirectory() as folder:
            path = source.path
            if source._is_copy or not os.access(source.folder, os.W_OK):
                source.backup(Path(folder))
                path = Path(folder) / FILE
            with translate_errors(path):
                self._migrate_for_writing()
                self._db.execute(f"ATTACH DATABASE ? AS {name}", (str(path),))
                views.create_views(self._db, name, f"{name}_")
            try:
                yield
            finally:
                views.drop_views(self._db, f"{name}_")
                self._db.execute(f"DETACH DATABASE {name}")

    def close(self) -> None:
        """Checkpoints the journal into the run's file, closes it and gives up the lock."""
        if self._lock:
            with suppress(sqlite3.Error):
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with suppress(sqlite3.Error):
            self._db.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock:
            self._lock.release()
            self._lock = None

    def damaged(self, error: Exception) -> StoreError | None:
        """Returns the damage to the file after an unexpected error while reading it; None if the
        file is intact.
        """
        return None if isinstance(error, TiltmeterError) else self.look_for_damage()

    def look_for_damage(self) -> StoreError | None:
        """Returns an error that names contents no run can have; None if there are none."""
        with translate_errors(self.path):
            place = damage.find_damage(self._db)
        if not place:
            return None
        return StoreError(
            f"{self.folder} is damaged at {place}: no run can hold this value. Restore it from "
            "a copy, or start a new run with another --out."
        )

    def rows(self, query: str, values: Sequence[Value] = ()) -> Iterator[Any]:
        """Yields the rows of a query one by one; the functions in queries/ type them."""
        with translate_errors(self.path):
            # chain: a cursor that was not read to its end cannot be closed after its file
            yield from chain(self._db.execute(query, values))

    def pieces(self, query: str, values: Sequence[Value], most: int) -> Iterator[list[Any]]:
        """Yields the rows of a query in lists of `most`, then a shorter list (maybe empty)."""
        with translate_errors(self.path):
            cursor = self._db.execute(query, values)
            while len(piece := cursor.fetchmany(most)) == most:
                yield piece
            yield piece

    def words(self) -> dict[int | None, Any]:
        """Returns {number: short text}; columns of views with names in `_0` hold such numbers."""
        return {None: None, **dict(self.rows("SELECT n, text FROM words"))}

    def texts(self, numbers: Sequence[int | None]) -> Iterator[tuple[int, Any]]:
        """Yields (number, text) of the long texts with these numbers."""
        return self.rows(views.SOME_TEXTS, (json.dumps(numbers),))

    def remembered_rows(self, query: str) -> Sequence[Any]:
        """Returns the few rows of a query that scans a table; caches them until the run changes."""
        state = self.state()
        cached = _REMEMBERED.get((self.path, self.part, query))
        if cached is None or cached[0] != state:
            cached = state, list(self.rows(query))
            _REMEMBERED[self.path, self.part, query] = cached
        return cached[1]

    def remember(self, query: str, rows: list[Any], state: State) -> None:
        """Caches rows that other code computed as the result of a query in the given state."""
        _REMEMBERED[self.path, self.part, query] = state, rows

    def state(self) -> State:
        """Returns a value that changes whenever any process writes to the run."""
        changes = _TRANSACTIONS[self.path], self._db.total_changes
        return self.files(), *changes, self.data_version()

    def files(self) -> Files:
        """Returns size and date of the run's file, and of its journal if that is not empty."""
        stats = [path.stat() for path in (self.path, self._journal) if path.exists()]
        return tuple((one.st_size, one.st_mtime_ns) for one in stats if one.st_size)

    def first(self, query: str, values: Sequence[Value] = ()) -> Any:
        """Returns the first row of a query, or None."""
        with translate_errors(self.path):
            return self._db.execute(query, values).fetchone()

    def columns(self, query: str) -> list[str]:
        """Returns the column names of a query."""
        with translate_errors(self.path):
            described = self._db.execute(f"SELECT * FROM ({query}) LIMIT 0").description
            return [column[0] for column in described]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits all that is written inside the `with` block, or nothing; other writers have to
        wait. A nested block joins the outer transaction.

        `writing=True` is not needed: that lock keeps two processes from paying twice, as long as a
        run is open; the lock of a transaction is SQLite's and held only for moments.
        """
        inside = self._db.in_transaction
        if inside:
            yield
            return
        with translate_errors(self.path):
            self._migrate_for_writing()
            if self._lock and self._lock.lost:
                raise RunBusy(
                    f"Another tiltmeter has taken over {self.folder}. Wait until it ends."
                )
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self.packer.forget()
                    with suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")
                _TRANSACTIONS[self.path] += 1  # also where what was read inside will not have been

    def write_one(self, statement: str, values: Sequence[Value]) -> None:
        """Executes one statement that changes the run."""
        with translate_errors(self.path):
            self._migrate_for_writing()
            self._db.execute(statement, values)
        _TRANSACTIONS[self.path] += 1

    def write_many(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """Executes a statement once per row, all in one transaction."""
        with self.transaction():
            self._db.executemany(statement, rows)

    def sync(self) -> None:
        """Syncs all commits to the disk, so that even a power cut does not lose them."""
        with translate_errors(self.path):
            path = self._journal if self._journal.exists() else self.path
            with path.open("r+b") as file:
                system.sync_file(file.fileno())
            system.sync_folder(self.folder)

    def wait_for_others(self, milliseconds: int) -> None:
        """Sets how long a statement waits for another process's transaction."""
        self._db.execute(f"PRAGMA busy_timeout={int(milliseconds)}")

    def data_version(self) -> int:
        """Returns a number that changes when another process writes to the run."""
        return int(self.first("PRAGMA data_version")[0])


def is_begun(folder: Path) -> bool:
    """True if a folder holds a run. False also if creating the run stopped before its tables
    existed (a full disk); the same command then starts again.
    """
    path = folder / FILE
    if not path.is_file():
        return path.exists()
    with translate_errors(path), closing(_connect(path)) as db:
        tables: int = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables > 0


def _open(name: str | Path, *, uri: bool = False) -> sqlite3.Connection:
    """Opens a file for use in any thread: polars reads a table from a thread of its own."""
    return sqlite3.connect(name, PATIENCE_S, isolation_level=None, check_same_thread=False, uri=uri)


def _connect(path: Path) -> sqlite3.Connection:
    """Opens a run in WAL mode; as immutable if a journal neither exists nor can be created."""
    journal = path.with_name(f"{path.name}-wal")
    if path.exists() and not journal.exists() and not os.access(path.parent, os.W_OK):
        return _open(f"{path.absolute().as_uri()}?immutable=1", uri=True)
    db = _open(path)
    try:
        db.execute("PRAGMA trusted_schema=OFF")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
        db.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
    except BaseException:
        db.close()
        raise
    return db


def _migrated_copy(db: sqlite3.Connection) -> sqlite3.Connection:
    """Copies an older run into a private temporary database with the newest schema."""
    copy = _open("")
    try:
        db.backup(copy)
        db.close()
        migrations.migrate(copy)
    except BaseException:
        copy.close()
        raise
    return copy
