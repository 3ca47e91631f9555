"""The envelopes of logs: the JSON structures in which tools wrap the records of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .messages import parsed

# As JSON has the names of OTLP, and as Python prints its messages.
_OTLP = (
    ("resourceSpans", "scopeSpans", "spans"),
    ("resourceLogs", "scopeLogs", "logRecords"),
    ("resource_spans", "scope_spans", "spans"),
    ("resource_logs", "scope_logs", "log_records"),
)
_LISTS = ("data", "runs", "events", "calls")  # a list under one name, beside a cursor or a count
_WHOSE = ("userId", "sessionId")  # of a trace, which its observations do not repeat


def records_of(document: Any) -> Iterator[Any]:
    """Yields the records of a parsed file, unwrapped from the envelopes of some tools."""
    if isinstance(document, list):
        for one in document:
            yield from _spans_of_trace(one) or [one]
        return
    if not isinstance(document, Mapping):
        yield document
        return
    for resources, scopes, records in _OTLP:
        if isinstance(document.get(resources), list):
            for resource in document[resources]:
                for scope in list_of(resource, scopes):
                    yield from list_of(scope, records)
            return
    results = document.get("results")
    nested = document.get("data")
    if spans := _spans_of_trace(document):
        yield from spans
    elif isinstance(document.get("traces"), list):
        yield from records_of(document["traces"])
    elif isinstance(nested, Mapping) and "results" in nested:  # promptfoo, as it was shared
        yield from records_of(nested)
    elif outputs := list_of(results, "outputs"):  # promptfoo, as its documentation has it
        yield from (_cell(one) for one in outputs if isinstance(one, Mapping))
    elif isinstance(results, list) and results:
        yield from results
    elif isinstance(document.get("observations"), list):  # Langfuse, one trace with its parts
        trace = document.get("trace", document)
        whose = {key: trace[key] for key in _WHOSE if key in trace} if trace else {}
        yield from ({**whose, **one} for one in document["observations"])
    elif isinstance(results, Mapping) and isinstance(results.get("results"), list):
        yield from results["results"]
    elif listed := next((items for key in _LISTS if (items := list_of(document, key))), []):
        yield from (_event(one) for one in listed)
    else:
        yield document


def _spans_of_trace(document: Any) -> list[Any]:
    """Returns the spans of an MLflow trace; [] for anything else."""
    return list_of(document.get("data"), "spans") if isinstance(document, Mapping) else []


def _cell(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Converts a cell of a promptfoo table into a result, whose prompt is an object."""
    prompt = one.get("prompt")
    raw = prompt if isinstance(prompt, Mapping) else {"raw": prompt}
    return {**one, "prompt": raw, "response": one.get("response") or {"output": one.get("text")}}


def list_of(value: Any, name: str) -> list[Any]:
    """Returns an object's list under the key `name`, or []."""
    items = value.get(name) if isinstance(value, Mapping) else None
    return items if isinstance(items, list) else []


def _event(one: Any) -> Any:
    """Returns the record inside the message of a CloudWatch event; anything else unchanged."""
    message = (
        parsed(one.get("message")) if isinstance(one, Mapping) and "timestamp" in one else None
    )
    return message if isinstance(message, Mapping) else one
