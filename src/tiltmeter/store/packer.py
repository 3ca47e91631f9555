"""Writes rows into a run's file: short texts become numbers of `words`, long ones of `texts`.

The caches hold what was committed or is in the open transaction; call `forget` after a rollback.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

from ..records import Label, LabelCall, Output, Sampling, Trial, canonical
from . import rows
from .packing import (
    Packed,
    PackedRequest,
    id_number,
    mark_of,
    pack,
    pack_date,
    split_text,
    unpack,
)
from .rows import Value

_Base: TypeAlias = tuple[int, str]  # number and body of a text
CallRow: TypeAlias = Sequence[Any]  # in the order of rows.CALL_COLUMNS
_MOST_CACHED = 50_000
_TOGETHER = 500  # calls whose new texts are one statement
_SEEDS = 10**18  # a larger one is kept in the text of its settings
_WORDS = "purpose, model, shape, turn, outcome, served, fingerprint, omitted, ended"
_CALL = (
    f"key, {_WORDS}, about, context, prompt, pictures, seed, base, raw, remote_id, text,"
    " alternatives, blob, revised, prompt_tokens, completion_tokens, cost, thought, date"
)
_CALL_NAMES = _CALL.split(", ")
_SET = ", ".join(f"{name} = excluded.{name}" for name in _CALL_NAMES[1:])
_KEY = "(SELECT n FROM packed_calls WHERE key = ?)"
_INSERT_TEXT = "INSERT OR IGNORE INTO texts (n, mark, base, body) VALUES (?,?,?,?)"
_INSERT_CALL = (
    f"INSERT INTO packed_calls ({_CALL}) VALUES ({', '.join('?' * len(_CALL_NAMES))})"
    " ON CONFLICT (key) DO "
)
_INSERT_TRIAL = (
    "INSERT INTO packed_trials (n, id, subject, mode, factors, sample, prompt, begin, sampling,"
    " seed) VALUES (?,?,?,?,?,?,?,?,?,?)"
    # the numbers of two ids are equal once in a thousand billion runs: better no run than a wrong
    " ON CONFLICT (n) DO UPDATE SET id = NULL WHERE id <> excluded.id"
)
_INSERT_OUTPUT = (
    "INSERT OR REPLACE INTO packed_outputs (n, outcome, text, call, blob, ended, thought)"
    f" VALUES (?1, ?2, nullif(?3, (SELECT text FROM packed_calls WHERE key = ?4)),"
    f" coalesce({_KEY.replace('?', '?4')}, ?4), ?5, ?6, ?7)"
)
_INSERT_LABEL = (
    "INSERT OR IGNORE INTO packed_labels (id, output, annotator, attribute, value, position,"
    " weight, current, date) VALUES (?,?,?,?,?,?,?,?,?)"
)
_INSERT_LABEL_CALL = (
    "INSERT OR REPLACE INTO packed_label_calls (output, annotator, turn, call)"
    f" VALUES (?1, ?2, ?3, coalesce({_KEY.replace('?', '?4')}, ?4))"
)


class Packer:
    """Writes rows of one open file, inside transactions that the caller opens."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._words: dict[Value, int] = {}
        self._tuples: dict[tuple[Value, ...], tuple[int | None, ...]] = {}  # of words
        self._texts: dict[str, int] = {}
        self._bases: dict[tuple[int | None, str], _Base | None] = {}
        self._trials: set[str] = set()

    def forget(self) -> None:
        """Empties the caches."""
        self._words.clear()
        self._tuples.clear()
        self._texts.clear()
        self._bases.clear()
        self._trials.clear()

    def word(self, text: Value) -> int | None:
        """Returns the number of a short text; adds the text if it is new."""
        if text is None:
            return None
        number = self._words.get(text)
        if number is None:
            query = "SELECT n FROM words WHERE text = ?"
            row = self._db.execute(query, (text,)).fetchone()
            if row is None:
                number = self._db.execute("INSERT INTO words (text) VALUES (?)", (text,)).lastrowid
            else:
                number = row[0]
            if len(self._words) >= _MOST_CACHED:
                self._words.clear()
            self._words[text] = number = int(number or 0)
        return number

    def words(self, *texts: Value) -> tuple[int | None, ...]:
        """Returns the number of each short text; caches the tuple for this combination of texts."""
        numbers = self._tuples.get(texts)
        if numbers is None:
            numbers = tuple(map(self.word, texts))
            if len(self._tuples) >= _MOST_CACHED:
                self._tuples.clear()
            self._tuples[texts] = numbers
        return numbers

    def text(self, text: Any, base: _Base | None = None) -> int:
        """Returns a long text's number; adds a new text. base: (number, body) of a similar text."""
        if not isinstance(text, str):  # nothing that tiltmeter wrote, and it stays what it is
            added = self._db.execute("INSERT INTO texts (body) VALUES (?)", (text,))
            return int(added.lastrowid or 0)
        number = self._texts.get(text)
        if number is None:
            mark = mark_of(text)
            row = self._db.execute("SELECT n FROM texts WHERE mark = ?", (mark,)).fetchone()
            if row is None:
                packed = (None, mark, *_pack_text(text, base))
                number = self._db.execute(_INSERT_TEXT, packed).lastrowid
            else:
                number = row[0]
            if len(self._texts) >= _MOST_CACHED:
                self._texts.clear()
            self._texts[text] = number = int(number or 0)
        return number

    def _add_texts(self, texts: Mapping[str, _Base | None]) -> None:
        """Adds mostly new texts with one statement and caches their numbers; if the file had any of
        them, caches none, and `text` looks the numbers up.
        """
        last: int = self._db.execute("SELECT coalesce(max(n), 0) FROM texts").fetchone()[0]
        old_changes = self._db.total_changes
        numbers = {text: number for number, text in enumerate(texts, last + 1)}
        rows = ((n, mark_of(text), *_pack_text(text, texts[text])) for text, n in numbers.items())
        self._db.executemany(_INSERT_TEXT, rows)
        if self._db.total_changes - old_changes == len(numbers):
            if len(self._texts) >= _MOST_CACHED:
                self._texts.clear()
            self._texts |= numbers

    def _base(self, shape: int | None, kind: str, text: Any) -> _Base | None:
        """Returns (number, body) of a shape's first text, the base for compressing the others."""
        base = self._bases.get((shape, kind))
        if base is None and isinstance(text, str) and shape is not None:
            query = (
                "SELECT b.n, t.body FROM bases b JOIN texts t USING (n)"
                " WHERE b.shape = ? AND b.kind = ?"
            )
            row = self._db.execute(query, (shape, kind)).fetchone()
            if row is None:
                row = self._found_base(text)
                insert = "INSERT INTO bases (shape, kind, n) VALUES (?,?,?)"
                self._db.execute(insert, (shape, kind, row[0]))
            base = row[0], unpack(row[1]) or ""
            self._bases[shape, kind] = base
        return base

    def _found_base(self, text: str) -> tuple[int, Any]:
        """Returns number and body of a text, or of the base that it is compressed against."""
        query = (
            "SELECT b.n, b.body FROM texts t JOIN texts b ON b.n = coalesce(t.base, t.n)"
            " WHERE t.n = ?"
        )
        number, body = self._db.execute(query, (self.text(text),)).fetchone()
        return number, body

    # rows

    def add_trials(self, trials: Iterable[Trial]) -> None:
        """Adds trials; keeps those that exist."""
        self.add_trial_rows(map(rows.trial_row, trials))

    def add_trial_rows(self, rows: Iterable[Sequence[Any]]) -> None:
        """Adds trials given as rows (rows.TRIAL_COLUMNS); sampling as text or as `Sampling`."""
        self._db.executemany(_INSERT_TRIAL, map(self._trial, rows))

    def _trial(self, row: Sequence[Any]) -> tuple[Value, ...]:
        key, subject, mode, factors, sample, prompt, begin, sampling = row
        head, seed = _split_seed(sampling)
        word = self.word
        if len(self._trials) >= _MOST_CACHED:
            self._trials.clear()
        self._trials.add(key)
        return (
            *(id_number(key), key, word(subject), word(mode), self.text(factors), sample),
            *(self.text(prompt), word(begin), word(head), seed),
        )

    def add_calls(
        self, calls: Iterable[tuple[CallRow, PackedRequest | None]], *, keep: bool = False
    ) -> None:
        """Adds calls given as rows (rows.CALL_COLUMNS), with the parts of their requests if these
        are known. keep: True to leave existing calls unchanged.
        """
        insert = _INSERT_CALL + ("NOTHING" if keep else f"UPDATE SET {_SET}")
        remaining = iter(calls)
        while piece := list(islice(remaining, _TOGETHER)):
            split = [(row, parts or split_text(row[3])) for row, parts in piece]
            self._add_prompts([parts for _, parts in split])
            self._db.executemany(insert, (self._call(row, parts) for row, parts in split))

    def _add_prompts(self, requests: Sequence[PackedRequest]) -> None:
        added = {
            request.prompt: self._base(self.word(request.shape or None), "prompt", request.prompt)
            for request in requests
            if isinstance(request.prompt, str) and request.prompt not in self._texts
        }
        if len(added) > 1:
            # without those that have become a base
            self._add_texts({text: added[text] for text in added if text not in self._texts})

    def _call(self, row: CallRow, parts: PackedRequest) -> tuple[Value | bytes, ...]:
        key, purpose, model, _, remote, outcome, text, alternatives, blob, *rest = row
        revised, raw, served, fingerprint, prompt_tokens, completion_tokens, cost, *rest = rest
        omitted, ended, thought, date = rest
        about = self._about(parts.about)
        turn = parts.turn if about or not parts.about else f"{parts.about}/{parts.turn}"
        words = self.words(
            *(purpose, model, parts.shape or None, turn, outcome, served, fingerprint, omitted),
            ended,
        )
        shape = words[2]
        base = self._base(shape, "raw", raw) if raw and outcome == "answer" else None
        packed = pack(raw, base[1] if base else "") if isinstance(raw, str) else raw
        return (
            *(key, *words, about),
            self.text(parts.context) if parts.context else None,
            self.text(parts.prompt, self._base(shape, "prompt", parts.prompt)),
            *(parts.pictures or None, parts.seed),
            base[0] if base and isinstance(packed, bytes) else None,
            *(packed, remote, text),
            pack(alternatives) if isinstance(alternatives, str) else alternatives,
            *(blob, revised, prompt_tokens, completion_tokens, cost, thought, pack_date(date)),
        )

    def _about(self, trial: str) -> int | None:
        if not trial:
            return None
        number = id_number(trial)
        if trial not in self._trials:
            query = "SELECT 1 FROM packed_trials WHERE n = ? AND id = ?"
            if self._db.execute(query, (number, trial)).fetchone() is None:
                return None
        return number

    def add_servers(self, servers: Iterable[tuple[str, int]]) -> None:
        """Records which of several servers answered each call: (key, server)."""
        update = "UPDATE packed_calls SET server = ?2 WHERE key = ?1"
        self._db.executemany(update, servers)

    def add_outputs(self, outputs: Iterable[Output]) -> None:
        """Adds outputs; replaces existing ones."""
        word = self.word
        self._db.executemany(
            _INSERT_OUTPUT,
            (
                (id_number(trial), word(outcome), text, call, blob, word(ended), thought)
                for trial, outcome, text, call, blob, ended, thought in outputs
            ),
        )

    def add_labels(self, labels: Iterable[Label], date: str) -> None:
        """Adds current labels; keeps those that exist."""
        self.add_label_rows((None, *label, 1, date) for label in labels)

    def add_label_rows(self, rows: Iterable[Sequence[Any]]) -> None:
        """Adds labels as rows: id or None, the fields of Label, 1 if current, and the date."""
        self._db.executemany(_INSERT_LABEL, map(self._label, rows))

    def _label(self, row: Sequence[Any]) -> tuple[Value, ...]:
        key, output, annotator, attribute, value, position, weight, current, date = row
        word = self.word
        return (
            *(key, id_number(output), word(annotator), word(attribute), word(value)),
            *(position, weight, current, pack_date(date)),
        )

    def add_label_calls(self, rows: Iterable[LabelCall]) -> None:
        """Records the calls that labels were read from."""
        self._db.executemany(
            _INSERT_LABEL_CALL,
            (
                (id_number(output), self.word(annotator), turn, call)
                for output, annotator, turn, call in rows
            ),
        )


def _pack_text(text: str, base: _Base | None) -> tuple[int | None, Packed]:
    """Returns the columns `base` and `body` of a text."""
    body = pack(text, base[1] if base else "")
    return (base[0] if base and isinstance(body, bytes) else None), body


@lru_cache(maxsize=1000, typed=True)  # 1 and 1.0 are written differently
def _write_shared(*settings: float | None) -> str:
    return canonical(settings)[:-1] + ","


def _split_seed(sampling: Any) -> tuple[Any, int | None]:
    """Returns (the part that trials share, the seed) of `sampling`, split at its last comma."""
    if isinstance(sampling, Sampling):
        *shared, seed = sampling
        if seed is None or (type(seed) is int and 0 <= seed < _SEEDS):
            return _write_shared(*shared), seed
        sampling = canonical(sampling)
    if not isinstance(sampling, str):
        return sampling, None
    head, comma, last = sampling.rpartition(",")
    if comma and last == "null]":
        return f"{head},", None
    if comma and rows.SEED(last):
        return f"{head},", int(last[:-1])
    return sampling, None
