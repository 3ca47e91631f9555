"""The state of a run as one short text: another one where anything that is analysed was added,
changed or withdrawn.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .. import Store
from ..database import Files, State
from ..packing import FIRST

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
    "SELECT max(n), group_concat(n || outcome || char(31) || blob || length(text), char(30))"
    " FROM (SELECT * FROM outputs WHERE n >= ? ORDER BY n LIMIT ?)"
)
# Of every row that a result rests on, by key and without dates and row ids: runs that were put
# together of parts have the rows of these parts.
_ROWS = (
    "SELECT id, subject, mode, factors, sample, prompt, begin, sampling FROM trials ORDER BY n",
    "SELECT key, purpose, model, request, outcome, text, alternatives, blob, raw, served, ended,"
    " thought FROM calls WHERE outcome IS NOT NULL ORDER BY key",
    "SELECT trial, outcome, text, call, blob, ended, thought FROM outputs ORDER BY n",
    "SELECT output, annotator, attribute, position, value, weight FROM labels WHERE current"
    " ORDER BY n, annotator, attribute, position, value",
    "SELECT trial, look FROM trial_looks ORDER BY n",
)
_KNOWN: dict[Path, tuple[State, str]] = {}  # of this process, the last of each run


def fingerprint(store: Store) -> str:
    """32 hexadecimal digits over labels, gold, outputs, artefacts, settings, and the size and date
    of the file: a million labels in .25 CPU s, and nothing where nothing was written since the last
    time.
    """
    state = store.state()
    known = _KNOWN.get(store.path)
    if known is None or known[0] != state:
        known = _KNOWN[store.path] = state, _compute(store, state[0])
    return known[1]


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
    """The SHA-256 of all rows that a result rests on, sorted by key: the same for a run and for one
    that was merged of the same parts.
    """
    found = hashlib.sha256()
    for query in _ROWS:
        for row in store.rows(query):
            found.update(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def labels_mark(store: Store) -> str:
    """12 hexadecimal digits over the labels and the number of trials, wherever the file lies."""
    rows = [row for query in _LABELLED for row in store.rows(query)]
    return hashlib.blake2b(repr(rows).encode(), digest_size=6).hexdigest()
