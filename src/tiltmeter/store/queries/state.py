"""The state of a run as a short text that changes whenever results could change."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .. import Store
from ..columns import read
from ..database import Files, State
from ..packing import FIRST
from ..views import public_columns

PIECE_ROWS = 20_000  # that are put together at a time
# What is short is read whole. Trials and calls are added and never changed: their number says all.
# Labels are added and withdrawn, which the sums tell; whoever changes one by hand changes the date
# of the file.
_LABELLED = (
    "SELECT count(*) FROM packed_trials",
    "SELECT count(*), max(id), total(id * position), total(id * current) FROM packed_labels",
)
_WHOLE = (
    "SELECT key, value FROM meta ORDER BY key",
    "SELECT kind, group_concat(name || char(31) || content, char(30)) FROM artefacts"
    " GROUP BY kind ORDER BY kind",
    "SELECT count(*), max(n), total(cost) FROM packed_calls",
    *_LABELLED,
)
_OUTPUTS = (
    "SELECT max(n), group_concat(n || ' ' || outcome_0 || blob || ' ' || c || char(31)"
    " || coalesce(length(text_0), ''), char(30)) FROM (SELECT n, outcome_0, blob, c, text_0"
    " FROM outputs WHERE n >= ? ORDER BY n LIMIT ?)"
)
# Of every row that a result rests on, by key and without dates and row ids: runs that were put
# together of parts have the rows of these parts.
_ROWS = (
    ("trials", "id subject mode factors sample prompt begin sampling", "ORDER BY n"),
    (
        "calls",
        "key purpose model request outcome text alternatives blob raw served ended thought",
        "WHERE outcome_0 IS NOT NULL ORDER BY key",
    ),
    ("outputs", "trial outcome text call blob ended thought", "ORDER BY n"),
    (
        "labels",
        "output annotator attribute position value weight",
        "WHERE current ORDER BY n, annotator, attribute, position, value",
    ),
    ("trial_looks", "trial look", "ORDER BY n"),
)
# What a report prints beside: the design, what calls used, the looks of a run that stops early, the
# sheets of people. A shipped protocol keeps no more of its texts than a part asked.
_BESIDE = (
    "SELECT value FROM meta WHERE key = 'frozen'",
    "SELECT value FROM meta WHERE key = 'definition' AND EXISTS"
    " (SELECT 1 FROM meta WHERE key = 'source' AND (value = '\"\"' OR value LIKE '%.toml\"'))",
    "SELECT kind, name, content FROM artefacts WHERE kind IN ('stopping plan', 'look', 'gold')"
    " ORDER BY kind, name",
    "SELECT key, revised, fingerprint, prompt_tokens, completion_tokens, cost, omitted FROM calls"
    " WHERE outcome IS NOT NULL ORDER BY key",
)
_KNOWN: dict[Path, tuple[State, str]] = {}  # of this process, the last of each run


def fingerprint(store: Store) -> str:
    """Returns a 128-bit hash of labels, gold, outputs, artefacts, settings, file size and date. A
    million labels take .25 CPU s; the hash is cached until something is written.
    """
    state = store.state()
    cached = _KNOWN.get(store.path)
    if cached is None or cached[0] != state:
        cached = _KNOWN[store.path] = state, _compute(store, state[0])
    return cached[1]


def _compute(store: Store, files: Files) -> str:
    digest = hashlib.blake2b(repr(files).encode(), digest_size=16)
    for query in _WHOLE:
        for row in store.rows(query):
            digest.update(repr(row).encode())
    first: int | None = FIRST
    while first is not None:
        last, text = store.first(_OUTPUTS, (first, PIECE_ROWS))
        digest.update((text or "").encode())
        first = None if last is None else last + 1
    return digest.hexdigest()


def digest(store: Store) -> str:
    """Computes the SHA-256 of all rows that a result rests on, sorted by key: a run and a run
    merged from the same parts have equal digests.
    """
    sha256 = hashlib.sha256()
    encode = json.JSONEncoder(ensure_ascii=False).encode
    for table, names, order in _ROWS:
        columns = public_columns(table, "r")
        chosen = {name: columns[name] for name in names.split()}
        for piece in read(store, chosen, f"FROM {table} r {order}"):
            rows = zip(*piece.values(), strict=True)
            sha256.update("".join(map(encode, rows)).encode("utf-8", "surrogatepass"))
    return sha256.hexdigest()


def digest_beside(store: Store) -> str:
    """Computes the SHA-256 of the facts that a report prints but `digest` leaves out: the design,
    costs and tokens, the looks, the sheets for people.
    """
    sha256, encode = hashlib.sha256(), json.JSONEncoder(ensure_ascii=False).encode
    for query in _BESIDE:
        for row in store.rows(query):
            sha256.update(encode(row).encode("utf-8", "surrogatepass"))
    return sha256.hexdigest()


def labels_mark(store: Store) -> str:
    """Hashes the labels and the number of trials (12 hexadecimal digits), not the run's path."""
    rows = [row for query in _LABELLED for row in store.rows(query)]
    return hashlib.blake2b(repr(rows).encode(), digest_size=6).hexdigest()
