"""The run: a folder with `run.sqlite` and `blobs/`.

`trials` are the planned requests; `calls` the paid requests with their unchanged replies; `outputs`
what the subjects returned; `labels` the annotators' labels of outputs (append-only: an annotator's
earlier labels are kept but no longer `current`); `label_calls` names the calls that labels were
read from; `artefacts` are files by name (estimates, taxonomies, gold samples); `meta` is a table of
JSON values.

All results that arrive in a few turns of the event loop are committed together, so a killed process
loses at most the calls in flight. One process writes at a time (lock.py). Closing a run checkpoints
it back into one file. All SQL is in this package: statements that write are here, queries that
serve one purpose in queries/.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import RunMismatch, StoreError, TiltmeterError
from ..images import Picture
from ..records import SUBJECT, Json, Label, LabelCall, Output, Reply, Request, Trial
from ..secret_filter import environment_secrets, without
from . import blobs, damage, rows
from .cleaning import clean_reply, clean_rows
from .columns import Unpacker
from .database import Database
from .packing import FIRST, id_number, split_request
from .views import number_of, public_columns

PICTURE = "picture"  # kind of the artefacts that say what a picture of `blobs/` is
CHUNK_ROWS = 500  # that are read at a time
# Trials that are added at a time: their ids are hashes, so a commit writes a page for each of them
# until it has written all; but nothing else is done meanwhile, for 20 ms.
PLANNED_ROWS = 2000
_ASKED = (
    *map(public_columns("trials", "t").__getitem__, rows.TRIAL_COLUMNS.split(", ")),
    *map(public_columns("outputs", "o").__getitem__, Output._fields[1:]),
)
_OUTPUTS = f"""
SELECT {", ".join(part for column in _ASKED for part in column.parts)}
FROM outputs o JOIN trials t ON t.n = o.n WHERE o.n >= ?"""
_UNLABELLED_BY = f""" AND NOT EXISTS (
  SELECT 1 FROM labels l WHERE l.current AND l.n = o.n AND l.annotator_0 = {number_of("?")})"""


def now() -> str:
    """Returns the time in UTC, to the millisecond, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store(Database):
    """An open run folder. Reading needs no lock; `writing=True` takes the run's lock."""

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        try:
            damage = self.damaged(error) if isinstance(error, Exception) else None
        finally:
            self.close()
        if damage is not None:
            raise damage from None

    def copy_to(self, folder: Path) -> None:
        """Copies the run as it is now, with its stored files, into a new folder. Raises StoreError
        if a file's content has changed since it was stored.
        """
        folder.mkdir(parents=True)
        self.backup(folder)
        for name in blobs.names(self.folder):
            blobs.write_blob(folder, blobs.read_blob(self.folder, name), Path(name).suffix)

    # keys of the environment, which no run holds

    @cached_property
    def secrets(self) -> list[str]:
        """The API keys and other secrets that the environment holds."""
        return environment_secrets()

    def clean(self, text: str) -> str:
        """Removes the environment's keys from a text."""
        return without(self.secrets, text) if self.secrets else text

    def cleaned(self, reply: Reply) -> Reply:
        """Removes the environment's keys from a reply."""
        return clean_reply(self.secrets, reply) if self.secrets else reply

    # settings (`meta`) and artefacts

    def get(self, key: str) -> Any:
        """Returns a setting parsed from JSON, or None; queries/settings.py types them."""
        row = self.first("SELECT value FROM meta WHERE key=?", (key,))
        return None if row is None else json.loads(row[0])

    def put(self, key: str, value: Json) -> None:
        """Stores a setting; replaces its earlier value."""
        text = self.clean(json.dumps(value, ensure_ascii=False))
        self.write_one("INSERT OR REPLACE INTO meta (key, value) VALUES (?,?)", (key, text))

    def freeze(self, frozen: Mapping[str, Json]) -> None:
        """Fixes settings that may not change. Raises RunMismatch, naming the first difference."""
        before = self.get("frozen")
        if before is None:
            self.put("frozen", frozen)
            return
        for key, value in frozen.items():
            if before.get(key) != value:
                noun = "the protocol's file or data" if key == "digest" else key
                raise RunMismatch(
                    f"{self.folder} holds a run of {before['protocol']} with another {noun} "
                    f"({_short(before.get(key))}, now {_short(value)}). Take another --out, or "
                    f"keep {noun} as before."
                )

    def artefact(self, kind: str, name: str) -> str | None:
        """Returns the content of an artefact, or None if there is none."""
        row = self.first("SELECT content FROM artefacts WHERE kind=? AND name=?", (kind, name))
        return None if row is None else str(row[0])

    def keep(self, kind: str, name: str, content: str) -> None:
        """Stores an artefact; replaces an earlier one of the same kind and name."""
        self.write_one(rows.INSERT_ARTEFACT, (kind, name, self.clean(content), now()))

    # trials and outputs

    def iter_unanswered(
        self, trials: Iterable[Trial], skip: Callable[[int], object] = lambda number: None
    ) -> Iterator[Trial]:
        """Adds the trials to the run and yields those without an output. skip: called per batch
        with the number of its trials that have an output.
        """
        remaining = iter(trials)
        while batch := list(islice(remaining, PLANNED_ROWS)):
            rest = self._add_trials(batch)
            skip(len(batch) - len(rest))
            yield from rest

    def _add_trials(self, batch: Sequence[Trial]) -> list[Trial]:
        # one variable: SQLite before 3.32 takes 999
        query = "SELECT n FROM outputs WHERE n IN (SELECT value FROM json_each(?))"
        numbers = [id_number(trial.id) for trial in batch]
        answered = {row[0] for row in self.rows(query, (json.dumps(numbers),))}
        rest = [one for one, n in zip(batch, numbers, strict=True) if n not in answered]
        if rest:
            with self.transaction():
                self.packer.add_trials(rest)
        return rest

    def factors(self, trial: str) -> dict[str, str]:
        """Returns the mode and factors of a trial; empty if there is no such trial."""
        row = self.first("SELECT mode, factors FROM trials WHERE n = ?", (id_number(trial),))
        return {"mode": row[0], **rows.levels(row[1])} if row else {}

    def iter_unlabelled(self, annotator: str) -> Iterator[tuple[Trial, Output]]:
        """Yields outputs that an annotator has not labelled, sorted by id, read in chunks."""
        return self._read_outputs(_UNLABELLED_BY, (annotator,), CHUNK_ROWS)

    def iter_outputs(self, chunk: int = CHUNK_ROWS) -> Iterator[tuple[Trial, Output]]:
        """Yields every output with its trial, sorted by id, read in chunks of `chunk` rows."""
        return self._read_outputs("", (), chunk)

    def _read_outputs(
        self, where: str, values: Sequence[str], chunk: int
    ) -> Iterator[tuple[Trial, Output]]:
        first = FIRST
        query = f"{_OUTPUTS}{where} ORDER BY o.n LIMIT ?"
        unpacker = Unpacker(self)
        while True:
            piece = list(self.rows(query, (first, *values, chunk)))
            for row in unpacker.rows(_ASKED, piece):
                yield rows.trial_of(row[:8]), Output(row[0], *row[8:])
            if len(piece) < chunk:
                return
            first = id_number(piece[-1][0]) + 1

    # calls

    def answered_keys(self, purpose: str) -> set[str]:
        """Returns keys of answered calls for a purpose; for subjects, those without an output."""
        query = "SELECT key FROM calls WHERE purpose=? AND outcome IS NOT NULL"
        if purpose == SUBJECT:
            query += " AND n NOT IN (SELECT c FROM outputs)"
        return {row[0] for row in self.rows(query, (purpose,))}

    def reply(self, key: str) -> Reply | None:
        """Returns the stored reply to a request, or None if it is not answered yet."""
        row = self.first(
            f"SELECT {rows.REPLY_COLUMNS} FROM calls WHERE key=? AND outcome IS NOT NULL", (key,)
        )
        return None if row is None else rows.reply_of(row)

    def remote_id(self, key: str) -> str:
        """Returns the provider's id of a submitted request without a reply; "" if there is none."""
        row = self.first("SELECT remote_id FROM calls WHERE key=? AND outcome IS NULL", (key,))
        return str(row[0]) if row else ""

    def write_remote_id(self, request: Request, remote: str) -> None:
        """Stores the provider's id of a submitted request, before its reply is waited for."""
        self.write([(request, Reply("", "", remote=remote))], (), ())
        self.sync()

    def spent(self) -> float:
        """Returns the known cost of all calls of this run in US dollars."""
        return float(self.first("SELECT coalesce(sum(cost), 0) FROM calls")[0])

    # writing rows

    def write(
        self,
        calls: Sequence[tuple[Request, Reply]],
        outputs: Sequence[Output],
        labels: Sequence[Label],
        label_calls: Sequence[LabelCall] = (),
    ) -> None:
        """Writes calls, outputs and labels in one transaction, without the environment's keys."""
        date = now()
        if self.secrets:
            calls, outputs, labels = clean_rows(self.secrets, calls, outputs, labels)
        calls_cleaned = [
            (rows.call_row(request, reply, date), split_request(request))
            for request, reply in calls
        ]
        with self.transaction():
            self.packer.add_calls(calls_cleaned)
            self.packer.add_outputs(outputs)
            self.packer.add_labels(labels, date)
            self.packer.add_servers((a.key, reply.server) for a, reply in calls if reply.server)
            self.packer.add_label_calls(label_calls)

    def supersede(self, labels: Sequence[Label]) -> None:
        """Replaces labels of the same annotator, output and attribute; they stay in the history."""
        date = now()
        with self.transaction():
            self.withdraw([row[:3] for row in labels])
            self.packer.add_labels(labels, date)

    def withdraw(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """Marks stored labels as no longer current. keys: (output, annotator, attribute)."""
        update = (
            "UPDATE packed_labels SET current = 0 WHERE current AND output = ? AND annotator = ?"
            " AND attribute = ?"
        )
        with self.transaction():
            word = self.packer.word
            packed = ((id_number(a), word(b), word(c)) for a, b, c in keys)
            self._db.executemany(update, packed)

    # reading all for analysis, as plain tuples: a class for each row would take longer than SQLite

    def iter_trials(self) -> Iterator[tuple[str, str, str, str]]:
        """Yields every trial as (id, subject, mode, factors as JSON), sorted by id."""
        return self.rows("SELECT id, subject, mode, factors FROM trials ORDER BY n")

    def iter_labels(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Yields each current label as (output, annotator, attribute, value, weight), sorted by
        output. It reads a covering index alone, without the trials: 1,000,000 labels in 1.3 CPU s.
        """
        return self.rows(
            "SELECT output, annotator, attribute, value, weight FROM labels WHERE current"
            " ORDER BY n, annotator, attribute, value, weight"
        )

    # files

    def blob(self, name: str) -> bytes:
        """Reads a file of `blobs/` by its name."""
        return blobs.read_blob(self.folder, name)

    def blob_path(self, name: str) -> str:
        """Returns the path of a stored file (blob), relative to the run's folder."""
        return blobs.place_of(self.folder, name).relative_to(self.folder).as_posix()

    def put_blob(self, content: bytes, suffix: str) -> str:
        """Stores a file once, under its hash; returns its name."""
        return blobs.write_blob(self.folder, content, suffix)

    def describe_picture(self, name: str, picture: Picture, size_bytes: int) -> None:
        """Stores a picture's format and size as an artefact."""
        self.keep(PICTURE, name, json.dumps({**picture._asdict(), "bytes": size_bytes}))


def _short(value: Json) -> str:
    return "none" if value is None else str(value)[:40]


def find_damage_of_opened() -> StoreError | None:
    """Looks for damage in the runs that this process opened; None if all are intact."""
    for folder in tuple(damage.OPENED):
        try:
            with Store(folder) as store:
                first_damage = store.look_for_damage()
        except StoreError as error:
            first_damage = error
        except TiltmeterError:
            continue
        if first_damage is not None:
            return first_damage
    return None
