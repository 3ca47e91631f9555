"""The tables of a run's file as steps: schema n is the result of the first n steps.

A new run takes all steps; an older run takes its missing steps when it is opened. A change to the
tables is a new step at the end of `STEPS`, in one transaction with `PRAGMA user_version`; a step
that was released is never edited. Each step is tested on a run of the schema before it, kept in
tests/store/runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from .packer import Packer
from .packing import id_number
from .rows import CALL_COLUMNS, TRIAL_COLUMNS


class MigrationStep(NamedTuple):
    """A step from one schema to the next. sql: statements with semicolons; move: copies rows."""

    what: str
    sql: str
    move: Callable[[sqlite3.Connection], None] | None = None


# calls keeps its row ids: its rows are long, and are appended in place of being sorted in by a
# random key.
_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
  id TEXT PRIMARY KEY, subject TEXT NOT NULL, mode TEXT NOT NULL, factors TEXT NOT NULL,
  sample INTEGER NOT NULL, prompt TEXT NOT NULL, begin TEXT NOT NULL, sampling TEXT NOT NULL)
  WITHOUT ROWID;
CREATE TABLE calls (
  key TEXT PRIMARY KEY, purpose TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL,
  remote_id TEXT, outcome TEXT, text TEXT, alternatives TEXT, blob TEXT, revised TEXT, raw TEXT,
  served TEXT, fingerprint TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL,
  omitted TEXT, date TEXT NOT NULL);
CREATE TABLE outputs (
  trial TEXT PRIMARY KEY, outcome TEXT NOT NULL, text TEXT NOT NULL, call TEXT NOT NULL,
  blob TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE labels (
  id INTEGER PRIMARY KEY, output TEXT NOT NULL, annotator TEXT NOT NULL, attribute TEXT NOT NULL,
  value TEXT NOT NULL, position INTEGER NOT NULL, weight REAL NOT NULL,
  current INTEGER NOT NULL DEFAULT 1, date TEXT NOT NULL);
CREATE INDEX labels_by_output ON labels (output, annotator, attribute, value, weight) WHERE current;
CREATE TABLE artefacts (
  kind TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, date TEXT NOT NULL,
  PRIMARY KEY (kind, name));
"""
# A request stands in batch_requests from when it is put aside for a batch until its reply stands in
# calls. batch: the key of the batch that it was handed in with; "" while it waits for one.
_BATCHES = """
CREATE TABLE batches (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, path TEXT NOT NULL, state TEXT NOT NULL,
  remote_id TEXT NOT NULL, file_id TEXT NOT NULL, omitted TEXT NOT NULL, requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL, reserved REAL NOT NULL, told TEXT NOT NULL, since TEXT NOT NULL,
  changed TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE batch_requests (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, makes TEXT NOT NULL,
  batch TEXT NOT NULL, request TEXT NOT NULL);
CREATE INDEX batch_requests_by_batch ON batch_requests (batch, model, makes, id);
"""
# Of a run that stops when it knows (docs/how-to/stopping.md). look: the look that uses a trial
# first, counted from 1; 0 of what is drawn for discovery.
_LOOKS = """
CREATE TABLE trial_looks (trial TEXT PRIMARY KEY, look INTEGER NOT NULL) WITHOUT ROWID;
"""
_SERVERS = """
CREATE TABLE call_servers (call TEXT PRIMARY KEY, server INTEGER NOT NULL) WITHOUT ROWID;
"""
# Which call each turn of an annotator about an output was. Until then it stood in the nonce of the
# request; outputs with the same question share a call, which names none of them.
_LABEL_CALLS = """
CREATE TABLE label_calls (
  output TEXT NOT NULL, annotator TEXT NOT NULL, turn INTEGER NOT NULL, call TEXT NOT NULL,
  PRIMARY KEY (output, annotator, turn)) WITHOUT ROWID;
"""
# Of earlier calls, as far as their bodies say it: the reasons as OpenAI, Anthropic and Google name
# them, in lower case.
_REASON = """lower(coalesce(
  json_extract(raw, '$.choices[0].finish_reason'), json_extract(raw, '$.stop_reason'),
  json_extract(raw, '$.candidates[0].finishReason'), ''))"""
_THOUGHT = """coalesce(
  json_extract(raw, '$.usage.completion_tokens_details.reasoning_tokens'),
  json_extract(raw, '$.usage.output_tokens_details.thinking_tokens'),
  json_extract(raw, '$.usageMetadata.thoughtsTokenCount'))"""
_ENDINGS = f"""
ALTER TABLE calls ADD COLUMN ended TEXT NOT NULL DEFAULT 'unknown';
ALTER TABLE calls ADD COLUMN thought INTEGER;
ALTER TABLE outputs ADD COLUMN ended TEXT NOT NULL DEFAULT 'unknown';
ALTER TABLE outputs ADD COLUMN thought INTEGER;
UPDATE calls SET thought = {_THOUGHT}, ended = CASE
  WHEN {_REASON} IN ('stop', 'end_turn', 'stop_sequence') THEN 'stop'
  WHEN {_REASON} IN ('length', 'max_tokens', 'model_length', 'model_context_window_exceeded')
    THEN 'cut'
  WHEN {_REASON} IN ('content_filter', 'safety', 'recitation', 'blocklist', 'prohibited_content',
    'spii') THEN 'filter'
  WHEN {_REASON} = 'refusal' THEN 'refusal'
  WHEN {_REASON} IN ('tool_calls', 'function_call', 'tool_use') THEN 'tool'
  ELSE 'unknown' END
WHERE json_valid(raw);
UPDATE outputs SET (ended, thought) = (SELECT ended, thought FROM calls WHERE key = outputs.call)
WHERE call IN (SELECT key FROM calls WHERE coalesce(alternatives, '') = ''
  AND (ended <> 'unknown' OR thought IS NOT NULL));
"""
# A batch as a state machine of money (queries/batches.py). sent: the provider's time when it was
# last asked to make the batch; billed: results that were read and that the provider charges for;
# lost: US dollars at the most that were written off.
_MONEY = """
ALTER TABLE batches ADD COLUMN sent TEXT NOT NULL DEFAULT '';
ALTER TABLE batches ADD COLUMN billed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN lost REAL NOT NULL DEFAULT 0;
UPDATE batches SET state = CASE state
  WHEN 'intended' THEN 'reserved' WHEN 'uploaded' THEN 'sent' WHEN 'open' THEN 'accepted'
  WHEN 'ended' THEN 'collected' ELSE 'written off' END,
  billed = requests - (SELECT count(*) FROM batch_requests WHERE batch = batches.key);
"""
# Nobody says the same of the same place twice; what two processes did without working locks counts
# once. An annotator may give several values with weights to one position.
_ONCE = """
UPDATE labels SET current = 0 WHERE current AND id NOT IN (
  SELECT min(id) FROM labels WHERE current
  GROUP BY output, annotator, attribute, value, weight, position);
DROP INDEX labels_by_output;
CREATE UNIQUE INDEX labels_by_output
  ON labels (output, annotator, attribute, value, weight, position) WHERE current;
"""
# What a run holds once: short texts in `words`, long ones in `texts` (packing.py), and integers in
# their places. n of a trial: the integer of its id; calls are appended, since their rows are long.
_PACKED = """
CREATE TABLE words (n INTEGER PRIMARY KEY, text NOT NULL UNIQUE);
CREATE TABLE texts (n INTEGER PRIMARY KEY, mark BLOB UNIQUE, base INTEGER, body NOT NULL);
CREATE TABLE bases (
  shape INTEGER NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (shape, kind))
  WITHOUT ROWID;
CREATE TABLE packed_trials (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, subject INTEGER NOT NULL, mode INTEGER NOT NULL,
  factors INTEGER NOT NULL, sample INTEGER NOT NULL, prompt INTEGER NOT NULL,
  begin INTEGER NOT NULL, sampling INTEGER NOT NULL, seed INTEGER);
CREATE TABLE packed_calls (
  n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, purpose INTEGER NOT NULL,
  model INTEGER NOT NULL, shape INTEGER, turn INTEGER NOT NULL, outcome INTEGER, served INTEGER,
  fingerprint INTEGER, omitted INTEGER, ended INTEGER NOT NULL, about INTEGER, context INTEGER,
  prompt INTEGER NOT NULL, pictures TEXT, seed INTEGER, base INTEGER, raw, remote_id TEXT,
  text TEXT, alternatives, blob TEXT, revised TEXT, prompt_tokens INTEGER,
  completion_tokens INTEGER, cost REAL, thought INTEGER, server INTEGER, date INTEGER NOT NULL);
CREATE TABLE packed_outputs (
  n INTEGER PRIMARY KEY, outcome INTEGER NOT NULL, text TEXT, call NOT NULL, blob TEXT NOT NULL,
  ended INTEGER NOT NULL, thought INTEGER);
CREATE TABLE packed_labels (
  id INTEGER PRIMARY KEY, output INTEGER NOT NULL, annotator INTEGER NOT NULL,
  attribute INTEGER NOT NULL, value INTEGER NOT NULL, position INTEGER NOT NULL,
  weight REAL NOT NULL, current INTEGER NOT NULL DEFAULT 1, date INTEGER NOT NULL);
CREATE UNIQUE INDEX packed_labels_by_output
  ON packed_labels (output, annotator, attribute, value, weight, position) WHERE current;
CREATE TABLE packed_label_calls (
  output INTEGER NOT NULL, annotator INTEGER NOT NULL, turn INTEGER NOT NULL, call NOT NULL,
  PRIMARY KEY (output, annotator, turn)) WITHOUT ROWID;
CREATE TABLE packed_trial_looks (n INTEGER PRIMARY KEY, look INTEGER NOT NULL);
"""
_LABEL_COLUMNS = "id, output, annotator, attribute, value, position, weight, current, date"


def _pack_rows(db: sqlite3.Connection) -> None:
    """Moves all rows into the packed tables with the code that writes a new run's rows."""
    db.create_function("id_number", 1, id_number, deterministic=True)
    packer = Packer(db)
    packer.add_trial_rows(db.execute(f"SELECT {TRIAL_COLUMNS} FROM trials ORDER BY id"))
    calls = db.execute(f"SELECT {CALL_COLUMNS} FROM calls ORDER BY rowid")
    packer.add_calls((row, None) for row in calls)
    packer.add_servers(db.execute("SELECT call, server FROM call_servers"))
    packer.add_outputs(
        db.execute("SELECT trial, outcome, text, call, blob, ended, thought FROM outputs")
    )
    packer.add_label_rows(db.execute(f"SELECT {_LABEL_COLUMNS} FROM labels ORDER BY id"))
    packer.add_label_calls(db.execute("SELECT output, annotator, turn, call FROM label_calls"))
    db.execute("INSERT INTO packed_trial_looks SELECT id_number(trial), look FROM trial_looks")
    tables = ("trials", "calls", "call_servers", "outputs", "labels", "label_calls", "trial_looks")
    for table in tables:
        db.execute(f"DROP TABLE {table}")


STEPS: tuple[MigrationStep, ...] = (
    MigrationStep("trials, calls, outputs, labels, artefacts and settings of a run", _FIRST),
    MigrationStep("batches that were handed in, and the requests that wait for them", _BATCHES),
    MigrationStep("which look of a run that stops early uses a trial first", _LOOKS),
    MigrationStep("which of several servers answered a call", _SERVERS),
    MigrationStep("the calls that labels rest on", _LABEL_CALLS),
    MigrationStep("why replies ended, and how many of their tokens went into reasoning", _ENDINGS),
    MigrationStep("the money of batches, and labels that count once", _MONEY + _ONCE),
    MigrationStep("each text once, and integers in its places", _PACKED, _pack_rows),
)


def newest() -> int:
    """Returns the schema that this version of tiltmeter writes."""
    return len(STEPS)


def schema(db: sqlite3.Connection) -> int:
    """Returns the schema of an open file; 0 if it has none yet."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection) -> None:
    """Runs the missing steps, all or none; other processes may have run some before the lock."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[schema(db) : newest()]:
            for statement in _statements(step.sql):
                db.execute(statement)
            if step.move:
                step.move(db)
        db.execute(f"PRAGMA user_version={newest()}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")


def _statements(sql: str) -> list[str]:
    """Splits a step into statements; executescript would commit the open transaction."""
    statements: list[str] = []
    begun = ""
    for piece in sql.split(";"):
        begun += piece + ";"
        if sqlite3.complete_statement(begun):
            statements.append(begun)
            begun = ""
    return [statement for statement in statements if statement.strip(" \n;")]
