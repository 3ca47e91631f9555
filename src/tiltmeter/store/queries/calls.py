"""The calls to models and their cost: summed by model and purpose, or one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...records import ANSWER, REFUSAL, SUBJECT, Token
from .. import Store
from ..packing import id_number
from ..rows import StoredRequest, omitted_settings, unpack


class CallSums(NamedTuple):
    """Sums of one model's answered calls for one purpose, if the server reported the same about
    them. first, last: dates; uncounted: calls without token counts; cost: US dollars, if known.
    """

    model: str
    purpose: str
    served: str
    fingerprint: str
    omitted: tuple[str, ...]
    calls: int
    first: str
    last: str
    prompt_tokens: int
    completion_tokens: int
    uncounted: int
    cost: float
    unknown_cost: int
    revised: int


class StoredCall(NamedTuple):
    """One paid request and its reply; texts are cut to the requested length.

    outcome: "" until the reply comes; cost: US dollars, None if unknown.
    """

    purpose: str
    model: str
    outcome: str
    text: str
    raw: str
    revised: str
    served: str
    fingerprint: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    omitted: tuple[str, ...]
    date: str
    alternatives: tuple[tuple[Token, ...], ...]
    request: StoredRequest


class AnnotatorCalls(NamedTuple):
    """Counts for one annotator and one model that it asks: outputs asked about, turns about these
    outputs, and calls for these turns; outputs with the same question share a call.
    """

    annotator: str
    model: str
    purpose: str
    outputs: int
    turns: int
    calls: int


_OF_ANNOTATORS = f"c.purpose != '{SUBJECT}' AND (?1 = '' OR instr(c.request, ?1))"
# Before schema 5, a request itself said which output it is about.
_ABOUT = f"""
SELECT l.output AS output, c.n AS call FROM label_calls l JOIN calls c ON c.n = l.c
WHERE {_OF_ANNOTATORS}
UNION SELECT t.id, c.n FROM calls c JOIN trials t ON t.n = c.about WHERE {_OF_ANNOTATORS}
"""
_ANY_ANNOTATOR = (
    "SELECT 1 FROM calls WHERE purpose_0 NOT IN"
    f" (SELECT n FROM words WHERE text = '{SUBJECT}') LIMIT 1"
)
_SUMS = """
SELECT model, purpose, coalesce(served, ''), coalesce(fingerprint, ''), coalesce(omitted, ''),
  count(*), min(date), max(date), coalesce(sum(prompt_tokens), 0),
  coalesce(sum(completion_tokens), 0), sum(prompt_tokens IS NULL), coalesce(sum(cost), 0),
  sum(cost IS NULL), sum(coalesce(revised, '') <> '')
FROM calls WHERE outcome IS NOT NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY min(date), 1, 2
"""
_ONE = """
SELECT purpose, model, coalesce(outcome, ''), substr(coalesce(text, ''), 1, ?1),
  substr(coalesce(raw, ''), 1, ?1), coalesce(revised, ''), coalesce(served, ''),
  coalesce(fingerprint, ''), prompt_tokens, completion_tokens, cost, omitted, date, alternatives,
  request
FROM calls WHERE """


def sums(store: Store) -> Iterator[CallSums]:
    """Yields a row of sums per group of equal model, purpose and server facts, by first date."""
    for model, purpose, served, fingerprint, omitted, *rest in store.remembered_rows(_SUMS):
        yield CallSums(model, purpose, served, fingerprint, omitted_settings(omitted), *rest)


def by_server(store: Store) -> Iterator[tuple[str, str, int, int]]:
    """Yields (model, purpose, server from 1, number of calls) if several servers answered."""
    return store.rows(  # CROSS: few runs have servers, and all have calls
        "SELECT c.model, c.purpose, s.server, count(*) FROM call_servers s CROSS JOIN calls c"
        " ON c.n = s.c WHERE c.outcome IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 3"
    )


def first_key(store: Store) -> str:
    """Returns the key of the first stored call, which identifies a run; "" if none."""
    row = store.first("SELECT key FROM calls ORDER BY n LIMIT 1")
    return str(row[0]) if row else ""


def models(store: Store, purpose: str = "") -> list[str]:
    """Lists the models that were asked, for one purpose or for any, by name."""
    query = "SELECT DISTINCT model FROM calls WHERE ?1 IN ('', purpose) ORDER BY model"
    return [str(row[0]) for row in store.rows(query, (purpose,))]


def answered_requests(store: Store, model: str) -> Iterator[tuple[str, StoredRequest]]:
    """Yields (key, request) of every answered call to a model, by key."""
    query = "SELECT key, request FROM calls WHERE model=? AND outcome IS NOT NULL ORDER BY key"
    for key, request in store.rows(query, (model,)):
        yield key, StoredRequest.parse(request)


def judge_replies(store: Store, containing: str) -> Iterator[tuple[str, str]]:
    """Yields (outcome, text) of every judge's reply to a request that contains a text."""
    yield from store.rows(
        f"SELECT outcome, text FROM calls c WHERE {_OF_ANNOTATORS}", (containing,)
    )


def outputs_shown(store: Store, containing: str) -> set[str]:
    """Returns the outputs about which judges were asked in a request that contains a text."""
    return {row[0] for row in store.rows(f"SELECT DISTINCT output FROM ({_ABOUT})", (containing,))}


def annotator_calls(store: Store, output: str) -> list[int]:
    """Lists row ids of the calls that annotators made about an output: those recorded for its
    labels; if none is recorded, those found by a scan of all calls of annotators.
    """
    number, about = id_number(output), "SELECT n FROM calls WHERE about = ?2 AND purpose <> ?1"
    query = (
        "SELECT DISTINCT c.n FROM label_calls l JOIN calls c ON c.n = l.c"
        " WHERE l.n = ? AND c.purpose <> ? ORDER BY 1"
    )
    calls = [row[0] for row in store.rows(query, (number, SUBJECT))]
    if calls or not store.remembered_rows(_ANY_ANNOTATOR):
        return calls
    return [row[0] for row in store.rows(f"{about} ORDER BY 1", (SUBJECT, number))]


def by_annotator(store: Store) -> list[AnnotatorCalls]:
    """Counts each annotator's calls about outputs, sorted by name; recorded since schema 5."""
    query = (
        "SELECT l.annotator, c.model, min(c.purpose), count(DISTINCT l.n), count(*),"
        " count(DISTINCT l.c)"
        " FROM label_calls l JOIN calls c ON c.n = l.c GROUP BY 1, 2 ORDER BY 1, 2"
    )
    return [AnnotatorCalls(*row) for row in store.rows(query)]


def by_key(store: Store, key: str, most_characters: int) -> StoredCall | None:
    """Reads a call by its key; None if there is none."""
    row = store.first(f"{_ONE} key=?2", (most_characters, key))
    return None if row is None else _call(row)


def by_row(store: Store, row_id: int, most_characters: int) -> StoredCall:
    """Reads a call by its row id (from `annotator_calls`)."""
    return _call(store.first(f"{_ONE} n=?2", (most_characters, row_id)))


def _call(row: Sequence[Any]) -> StoredCall:
    omitted, date, alternatives, request = row[11:]
    stored = StoredRequest.parse(request)
    parsed = omitted_settings(omitted), date, unpack(alternatives), stored
    return StoredCall._make((*row[:11], *parsed))


def has_answered(store: Store, model: str) -> bool:
    """True if a model has sent a usable reply."""
    query = "SELECT 1 FROM calls WHERE model=? AND outcome IN (?,?) LIMIT 1"
    return store.first(query, (model, ANSWER, REFUSAL)) is not None


def number_answered(store: Store) -> int:
    """Counts the answered calls of subjects and judges."""
    return int(store.first("SELECT count(*) FROM calls WHERE outcome IS NOT NULL")[0])


class AnsweredCall(NamedTuple):
    """An answered call as stored, with the request and the reply's body as texts."""

    key: str
    purpose: str
    model: str
    request: str
    outcome: str
    text: str
    alternatives: str
    blob: str
    revised: str
    raw: str
    served: str
    prompt_tokens: int | None
    completion_tokens: int | None
    date: str


def iter_answered(store: Store) -> Iterator[AnsweredCall]:
    """Yields every answered call, by key."""
    query = f"SELECT {', '.join(AnsweredCall._fields)} FROM calls WHERE outcome IS NOT NULL"
    for row in store.rows(f"{query} ORDER BY key"):
        yield AnsweredCall(*row)


def subject_request(store: Store, key: str) -> StoredRequest | None:
    """Returns the request of an answered call; None if there is no such call."""
    row = store.first("SELECT request FROM calls WHERE key=? AND outcome IS NOT NULL", (key,))
    return None if row is None else StoredRequest.parse(row[0])


def without_output(store: Store) -> list[str]:
    """Lists the keys of subjects' answered calls that have no output."""
    query = (
        "SELECT key FROM calls WHERE outcome IS NOT NULL AND purpose=?"
        " AND n NOT IN (SELECT c FROM outputs) ORDER BY key"
    )
    return [row[0] for row in store.rows(query, (SUBJECT,))]
