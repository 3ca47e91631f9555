"""Compares stored replies with their requests and with the received bodies. A body is parsed again
by the provider's dialect or, without a dialect, searched for the reply's text and numbers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from ... import images
from ...errors import TiltmeterError
from ...models.http import Dialect
from ...models.http.body import parse, word_at
from ...models.kinds import known_kind
from ...records import ANSWER, Json, Reply, Token, digest
from ...store import PICTURE, Store
from ...store.queries import calls
from ...store.queries.calls import AnsweredCall
from ...store.rows import StoredRequest, request_of
from .findings import Findings, first_difference

_SPACE = re.compile(r"\s+")
_FIELDS = ("text", "outcome", "served", "fingerprint", "ended", "thought", "revised")
_RESERVE = 10**6  # tokens that a model may have been given to think, by a setting of that day


def check_calls(store: Store, findings: Findings) -> None:
    """Checks each call's key against its request, and its reply against the stored body; notes
    models of which only some answers have a body.
    """
    answers, without = Counter[str](), Counter[str]()
    for call in calls.iter_answered(store):
        findings.count("calls")
        if call.outcome == ANSWER and not call.blob:
            answers[call.model] += 1
            without[call.model] += not call.raw
        if digest(call.request) != call.key:
            findings.add("a request is not the one that its key names", call.key)
            continue
        request = StoredRequest.parse(call.request)
        if (request.model, request.purpose) != (call.model, call.purpose):
            findings.add("a call names another model or purpose than its request", call.key)
        for what, example in _reply_faults(store, call):
            findings.add(what, example)
        if call.blob:
            _check_blob(store, call.blob, findings)
    for model, number in without.items():
        if 0 < number < answers[model]:
            findings.note(
                f"{number:,} of {answers[model]:,} answers of {model} have no stored body, though "
                "the others have one: their texts rest on the word of whoever made the run"
            )


def _reply_faults(store: Store, call: AnsweredCall) -> Iterator[tuple[str, str]]:
    body = _body_of(call)
    model_kind = known_kind(call.model)
    if call.blob:
        if body is not None and call.revised and call.revised not in _texts_in(body):
            yield "a prompt was revised otherwise in the body that came", call.key
    elif model_kind is not None and model_kind.dialect is not None:
        dialect = model_kind.dialect(call.model.partition(":")[2])
        if body is not None:
            yield from _differences(store, call, dialect, body)
        elif call.outcome == ANSWER:
            yield "an answer is not in the body that came", call.key
    elif body is not None:
        if call.outcome == ANSWER and not _holds(call, body):
            yield "an answer is not in the body that came", call.key
        if not call.served.startswith(word_at(body, "model")):
            yield "another model served than the body that came names", call.key


def _differences(
    store: Store, call: AnsweredCall, dialect: Dialect, body: Json
) -> Iterator[tuple[str, str]]:
    """Yields a line per field of a reply that differs when the stored body is parsed again."""
    stored, request = store.reply(call.key), request_of(call.request)
    assert stored is not None
    try:
        new_reply = dialect.parse(request, body)
    except ValueError:
        if call.outcome == ANSWER:
            yield "an answer is not in the body that came", call.key
        return
    if not isinstance(new_reply, Reply):
        return
    for name in _FIELDS:
        before, after = getattr(stored, name), getattr(new_reply, name)
        if before != after:
            difference = first_difference([before], [after])
            yield (
                f"a reply has another '{name}' than the body that came",
                f"{call.key}: {difference}",
            )
    if _rounded(stored) != _rounded(new_reply):
        yield "a reply has other probabilities than the body that came", call.key
    if stored.usage != new_reply.usage:
        dialect.reserve = _RESERVE  # type: ignore[attr-defined]
        again = dialect.parse(request, body)
        if isinstance(again, Reply) and stored.usage != again.usage:
            yield "a call has other tokens than the body that came", call.key


def _rounded(reply: Reply) -> list[list[Token]]:
    return [
        [token._replace(logprob=round(token.logprob, 6)) for token in place]
        for place in reply.alternatives
    ]


def _check_blob(store: Store, name: str, findings: Findings) -> None:
    """Checks a picture against its name and against the facts that the run stores about it."""
    findings.count("pictures")
    try:
        content = store.blob(name)
        facts = {**images.check_picture(content)._asdict(), "bytes": len(content)}
    except (TiltmeterError, images.Unusable):
        findings.add("a picture is not what was stored", name)
        return
    described = store.artefact(PICTURE, name)
    if described and json.loads(described) != facts:
        findings.add("a picture is not as the run describes it", name)


def _body_of(call: AnsweredCall) -> Json:
    """Parses the received body; None if it is not JSON, as for a model in tiltmeter's process."""
    body = parse(call.raw.encode("utf-8", "surrogatepass")).body
    return body if isinstance(body, dict | list) else None


def _holds(call: AnsweredCall, body: Json) -> bool:
    """True if the received body contains the text and the probabilities of a call."""
    texts, numbers = _texts_in(body), set(_numbers_in(body))
    joined = _SPACE.sub("", "".join(texts))
    if _SPACE.sub("", call.text) not in joined and call.text not in texts:
        return False
    places = json.loads(call.alternatives) if call.alternatives else []
    return all(round(p, 6) in numbers for place in places for _, p in place)


def _leaves(body: Json) -> Iterator[Json]:
    if isinstance(body, dict | list):
        for value in body.values() if isinstance(body, dict) else body:
            yield from _leaves(value)
    else:
        yield body


def _texts_in(body: Json) -> list[str]:
    return [leaf for leaf in _leaves(body) if isinstance(leaf, str)]


def _numbers_in(body: Json) -> Iterator[float]:
    for leaf in _leaves(body):
        if isinstance(leaf, float | int) and not isinstance(leaf, bool):
            yield round(leaf, 6)
