"""How records lie in the columns of a run's file: the tables of store.py, and rows for them and out
of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..records import Reply, Request, Sampling, Token, Trial

# calls keeps its row ids: its rows are long, and are appended in place of being sorted in by a
# random key.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
  id TEXT PRIMARY KEY, subject TEXT NOT NULL, mode TEXT NOT NULL, factors TEXT NOT NULL, sample INTEGER NOT NULL,
  prompt TEXT NOT NULL, begin TEXT NOT NULL, sampling TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE calls (
  key TEXT PRIMARY KEY, purpose TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL, remote_id TEXT,
  outcome TEXT, text TEXT, alternatives TEXT, blob TEXT, revised TEXT, raw TEXT, served TEXT, fingerprint TEXT,
  prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, omitted TEXT, date TEXT NOT NULL);
CREATE TABLE outputs (
  trial TEXT PRIMARY KEY, outcome TEXT NOT NULL, text TEXT NOT NULL, call TEXT NOT NULL, blob TEXT NOT NULL)
  WITHOUT ROWID;
CREATE TABLE labels (
  id INTEGER PRIMARY KEY, output TEXT NOT NULL, annotator TEXT NOT NULL, attribute TEXT NOT NULL, value TEXT NOT NULL,
  position INTEGER NOT NULL, weight REAL NOT NULL, current INTEGER NOT NULL DEFAULT 1, date TEXT NOT NULL);
CREATE INDEX labels_by_output ON labels (output, annotator, attribute, value, weight) WHERE current;
CREATE TABLE artefacts (
  kind TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, date TEXT NOT NULL, PRIMARY KEY (kind, name));
"""


def trial_of(row: Sequence[Any]) -> Trial:
    return Trial(
        row[0],
        row[1],
        row[2],
        json.loads(row[3]),
        row[4],
        row[5],
        row[6],
        Sampling(*json.loads(row[7])),
    )


def call_row(request: Request, reply: Reply, date: str) -> tuple[Any, ...]:
    prompt, completion = reply.usage or (None, None)
    omitted = json.dumps(reply.omitted) if reply.omitted else ""
    return (
        request.key,
        request.purpose,
        request.model,
        request.text,
        reply.remote or None,
        reply.outcome or None,
        reply.text,
        pack(reply.alternatives),
        reply.blob,
        reply.revised,
        reply.raw,
        reply.served,
        reply.fingerprint,
        prompt,
        completion,
        reply.cost,
        omitted,
        date,
    )


def pack(alternatives: Sequence[Sequence[Token]]) -> str:
    """Alternatives as JSON; bytes as hexadecimal, since a token need not be whole characters."""
    return (
        json.dumps(
            [[(t.bytes.hex(), round(t.logprob, 6)) for t in place] for place in alternatives]
        )
        if alternatives
        else ""
    )


def unpack(text: str | None) -> tuple[tuple[Token, ...], ...]:
    if not text:
        return ()
    return tuple(tuple(Token(bytes.fromhex(b), p) for b, p in place) for place in json.loads(text))
