"""The shapes of logs: one function each, which says whether a record is of it and reads it.

OpenTelemetry (GenAI semantic conventions, and the older attributes), OpenInference (calls and
chains), Langfuse, LangSmith, promptfoo, batches of OpenAI (in and out), chats as JSON lines, and
plain columns. In November 2026 fields of Langfuse (blob exports observations_v2, API v2, traces and
sessions as downloaded), LangSmith (runs, messages, threads), OpenTelemetry (spans and the event
gen_ai.client.inference.operation.details) and OpenInference (messages and their contents) were
checked against their documentation; of OpenAI the names of keys alone; promptfoo against a results
file of versions 3 and 4. None was tried on a log of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .messages import ASSISTANT, SYSTEM, Turn, answer, parsed, text_of, turns

Record = Mapping[str, Any]
_ASKING = ("GENERATION", "SPAN", "AGENT", "CHAIN")  # observations of Langfuse that ask something
_USERS = ("user.id", "user_id", "userId", "user", "enduser.id")
_SESSIONS = (
    "session.id",
    "session_id",
    "sessionId",
    "thread_id",
    "conversation_id",
    "gen_ai.conversation.id",
    "trace_id",
    "traceId",
)
_OTLP = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))
_THREADS = ("thread_id", "session_id", "conversation_id")  # metadata of LangSmith


class Exchange(NamedTuple):
    """A conversation up to its last question, and the answer that was given ("" if none)."""

    turns: list[Turn]
    answer: str


def _attributes(record: Record) -> Mapping[str, Any]:
    found = record.get("attributes")
    if isinstance(found, list):  # OTLP: [{key, value: {stringValue}}]
        return _pairs(found)
    return found if isinstance(found, Mapping) else record


def _pairs(listed: list[Any]) -> dict[str, Any]:
    pairs = [one for one in listed if isinstance(one, Mapping) and "key" in one]
    return {str(one["key"]): _any_value(one.get("value")) for one in pairs}


def _any_value(value: Any) -> Any:
    """Returns a value of OTLP, {stringValue: …} or a structure of such values, as what it is."""
    if not isinstance(value, Mapping):
        return value
    kind, inner = next(iter(value.items()), ("", None))
    listed = inner.get("values") if isinstance(inner, Mapping) else None
    if kind == "arrayValue":
        return [_any_value(one) for one in listed or []]
    return _pairs(listed or []) if kind == "kvlistValue" else inner


def _numbered(attributes: Mapping[str, Any], name: str) -> list[Turn]:
    found = []
    for number in range(1000):
        at = f"{name}.{number}"
        at = f"{at}.message" if f"{at}.message.role" in attributes else at
        if f"{at}.role" not in attributes:
            break
        content = attributes.get(f"{at}.content")
        if content is None:
            parts = sorted(key for key in attributes if key.startswith(f"{at}.contents."))
            content = [attributes[key] for key in parts if key.endswith("message_content.text")]
        found.append(Turn(str(attributes[f"{at}.role"]), text_of(content)))
    return found


def _last_answer(found: list[Turn]) -> str:
    return found[-1].text if found else ""


def opentelemetry(record: Record) -> Exchange | None:
    """GenAI semantic conventions: messages in attributes of a span, its event or a log record."""
    events = (_attributes(one) for one in _list(record, "events"))
    told_by = (_attributes(record), *events)
    a = next((one for one in told_by if "gen_ai.input.messages" in one), None)
    if a is None:
        return None
    told = text_of(parsed(a.get("gen_ai.system_instructions") or ""))
    asked = turns(a["gen_ai.input.messages"])
    system = [Turn(SYSTEM, told)] if told else []
    return Exchange([*system, *asked], _last_answer(turns(a.get("gen_ai.output.messages") or [])))


def opentelemetry_older(record: Record) -> Exchange | None:
    """Returns the attributes gen_ai.prompt.N and gen_ai.completion.N."""
    a = _attributes(record)
    asked = _numbered(a, "gen_ai.prompt")
    if not asked:
        return None
    said = _numbered(a, "gen_ai.completion")
    return Exchange(asked, _last_answer(said) or str(a.get("gen_ai.completion.0.content") or ""))


def openinference(record: Record) -> Exchange | None:
    """Calls, as Phoenix has them."""
    a = _attributes(record)
    asked = _numbered(a, "llm.input_messages")
    if not asked:
        return None
    said = _last_answer(_numbered(a, "llm.output_messages"))
    return Exchange(asked, said or answer(a.get("output.value")))


def openinference_chain(record: Record) -> Exchange | None:
    """Chains and agents, whose input is one value."""
    a = _attributes(record)
    if "input.value" not in a:
        return None
    return Exchange(turns(a["input.value"]), answer(a.get("output.value")))


def langsmith(record: Record) -> Exchange | None:
    """Runs, with inputs and outputs."""
    if "run_type" not in record or "inputs" not in record:
        return None
    return Exchange(turns(parsed(record["inputs"])), answer(record.get("outputs")))


def openai_batch(record: Record) -> Exchange | None:
    """Requests of a batch."""
    body = record.get("body")
    if "custom_id" not in record or not isinstance(body, Mapping):
        return None
    told = [Turn(SYSTEM, text)] if (text := text_of(body.get("instructions") or "")) else []
    return Exchange([*told, *turns(body.get("messages") or body.get("input"))], "")


def openai_batch_result(record: Record) -> Exchange | None:
    """Results of a batch: an answer whose prompt is in the file of requests."""
    reply = record.get("response")
    if "custom_id" not in record or not isinstance(reply, Mapping):
        return None
    return Exchange([], answer(reply.get("body")))


def promptfoo(record: Record) -> Exchange | None:
    """Results of an evaluation."""
    prompt = record.get("prompt")
    if not isinstance(prompt, Mapping) or "raw" not in prompt:
        return None
    reply = record.get("response") or record.get("providerResponse")
    return Exchange(
        turns(prompt["raw"]), answer(reply.get("output")) if isinstance(reply, Mapping) else ""
    )


def langfuse(record: Record) -> Exchange | None:
    """Observations and traces; not those of tools, searches, checks and judges."""
    named = "trace_id" in record or "traceId" in record
    kind = str(record.get("type") or "").upper()
    if "input" not in record or not (named or kind in _ASKING):
        return None
    if kind and kind not in _ASKING:
        return Exchange([], "")
    return Exchange(turns(record["input"]), answer(record.get("output")))


def chat(record: Record) -> Exchange | None:
    """Messages of a chat: asked up to the last answer."""
    if not isinstance(parsed(record.get("messages")), list):
        return None
    found = turns(record["messages"])
    last = max((n for n, one in enumerate(found) if one.role == ASSISTANT), default=-1)
    if last == len(found) - 1 and found:
        return Exchange(found[:-1], found[-1].text)
    return Exchange(found, "")


SHAPES: Mapping[str, Callable[[Record], Exchange | None]] = {
    "OpenTelemetry": opentelemetry,
    "OpenTelemetry (older)": opentelemetry_older,
    "OpenInference": openinference,
    "OpenInference (chain)": openinference_chain,
    "LangSmith": langsmith,
    "OpenAI batch": openai_batch,
    "OpenAI batch, results": openai_batch_result,
    "promptfoo": promptfoo,
    "Langfuse": langfuse,
    "chat": chat,
}


def records_of(document: Any) -> Iterator[Any]:
    """Yields the records of a parsed file, which some tools put into an envelope."""
    if isinstance(document, list):
        yield from document
        return
    if not isinstance(document, Mapping):
        yield document
        return
    for resources, scopes, records in _OTLP:
        if isinstance(document.get(resources), list):
            for resource in document[resources]:
                for scope in _list(resource, scopes):
                    yield from _list(scope, records)
            return
    results = document.get("results")
    nested = document.get("data")
    if isinstance(nested, Mapping) and "results" in nested:  # promptfoo, as it was shared
        yield from records_of(nested)
    elif isinstance(results, list) and results:
        yield from results
    elif isinstance(document.get("observations"), list):  # Langfuse, one trace with its parts
        trace = document.get("trace")
        yield from [*([trace] if isinstance(trace, Mapping) else []), *document["observations"]]
    elif isinstance(results, Mapping) and isinstance(results.get("results"), list):
        yield from results["results"]
    elif isinstance(document.get("data"), list):
        yield from document["data"]
    else:
        yield document


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


def of_calls(record: Record) -> bool:
    """True for a record of one call of a model, in logs that have others too."""
    a = _attributes(record)
    kind = str(
        a.get("openinference.span.kind") or record.get("run_type") or record.get("type") or ""
    )
    return kind.upper() in ("LLM", "GENERATION") or "gen_ai.operation.name" in a


def place(record: Record) -> tuple[str, str]:
    """Returns (id, id of the parent) of a span or run, "" for none."""
    own = record.get("spanId") or record.get("span_id") or record.get("id") or ""
    above = (
        record.get("parentSpanId")
        or record.get("parent_id")
        or record.get("parent_run_id")
        or record.get("parentObservationId")
        or record.get("parent_observation_id")
        or ""
    )
    return str(own), str(above)


def who(record: Record) -> tuple[str, str]:
    """Returns (user, session) of a record, "" for none."""
    a = _attributes(record)
    if "run_type" in record:  # its session_id is the project, so that of a thread is metadata
        extra = parsed(record.get("extra"))
        told = extra.get("metadata") if isinstance(extra, Mapping) else None
        told = told if isinstance(told, Mapping) else {}
        a = {**told, "session_id": _first(told, _THREADS), "trace_id": record.get("trace_id")}
    return _first(a, _USERS), _first(a, _SESSIONS)


def _first(found: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(found[name]) for name in names if found.get(name)), "")
