"""The formats of logs: one function each, which parses a record or returns None if it does not fit.

The tutorial on traffic lists which formats were checked against real files, and which were not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .envelopes import list_of
from .messages import ASSISTANT, SYSTEM, USER, Turn, answer, parsed, text_of, turns, unquoted

Record = Mapping[str, Any]
_ASKING = ("GENERATION", "SPAN", "AGENT", "CHAIN")  # observations of Langfuse that ask something
_USERS = (
    "user.id",
    "user_id",
    "userId",
    "user",
    "enduser.id",
    "request_user_id",
    "end_user",
    "traceloop.association.properties.user_id",
)
_SESSIONS = (
    "session",
    "session.id",
    "session_id",
    "sessionId",
    "thread_id",
    "conversation_id",
    "gen_ai.conversation.id",
    "traceloop.association.properties.session_id",
    "trace_id",
    "traceId",
    "TraceId",
)
_KINDS = ("openinference.span.kind", "mlflow.spanType")
_IDS = ("spanId", "span_id", "SpanId", "context.span_id", "id", "run_id")
_PARENTS = (
    "parentSpanId",
    "parent_span_id",
    "ParentSpanId",
    "parent_id",
    "parent_run_id",
    "parentObservationId",
    "parent_observation_id",
)
_THREADS = ("thread_id", "session_id", "conversation_id")  # metadata of LangSmith


# What asks and what answers, where each is one value.
_VALUES = (
    ("OpenInference (chain)", "input.value", "output.value"),
    ("Vercel AI SDK", "ai.prompt.messages", "ai.response.text"),
    ("Vercel AI SDK", "ai.prompt", "ai.response.text"),
    ("MLflow", "mlflow.spanInputs", "mlflow.spanOutputs"),
    ("Traceloop", "traceloop.entity.input", "traceloop.entity.output"),
    ("Google ADK", "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    ("Vertex AI", "full_request", "full_response"),
    ("Helicone", "request_body", "response_body"),
    ("gateway", "requestBody", "responseBody"),
    ("LiteLLM", "proxy_server_request", "response"),
)
_REPLIES = ("choices", "response", "output", "completion")  # beside messages
_CALLS = ("LLM", "GENERATION", "CHAT_MODEL")  # kinds of spans that call a model
_DEEPEST = 3  # dots of a nested attribute
BATCH_RESULTS = "batch, results"


class Exchange(NamedTuple):
    """A conversation up to its last question, and the answer to that question, or ""."""

    turns: list[Turn]
    answer: str


def _attributes(record: Record) -> Mapping[str, Any]:
    attributes = parsed(record.get("attributes") or record.get("SpanAttributes"))
    if isinstance(attributes, list):  # OTLP: [{key, value: {stringValue}}]
        return _pairs(attributes)
    if isinstance(attributes, Mapping):
        return dict(_flat(attributes))
    start = "attributes."  # columns of Phoenix
    columns = {key.removeprefix(start): record[key] for key in record if key.startswith(start)}
    return {**record, **columns} if columns else record


def _flat(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yields (full dotted name, value) of attributes, nested ones included."""
    for key, value in found.items():
        yield f"{before}{key}", value
        if isinstance(value, Mapping) and before.count(".") < _DEEPEST:
            yield from _flat(value, f"{before}{key}.")


def _pairs(listed: list[Any]) -> dict[str, Any]:
    pairs = [one for one in listed if isinstance(one, Mapping) and "key" in one]
    return {str(one["key"]): _any_value(one.get("value")) for one in pairs}


def _any_value(value: Any) -> Any:
    """Unwraps an OTLP value: {stringValue: …}, or a list or object of such values."""
    if not isinstance(value, Mapping):
        return value
    kind, inner = next(iter(value.items()), ("", None))
    listed = inner.get("values") if isinstance(inner, Mapping) else None
    if kind in ("arrayValue", "array_value"):
        return [_any_value(one) for one in listed or []]
    return _pairs(listed or []) if kind in ("kvlistValue", "kvlist_value") else inner


def _numbered(attributes: Mapping[str, Any], name: str) -> list[Turn]:
    """Returns the messages under a name: a list, or attributes numbered from 0."""
    if isinstance(listed := parsed(attributes.get(name)), list):
        return turns(listed)
    messages = []
    for number in range(1000):
        at = f"{name}.{number}"
        at = f"{at}.message" if f"{at}.message.role" in attributes else at
        content = attributes.get(f"{at}.content")
        if f"{at}.role" not in attributes and content is None:
            break
        if content is None:
            parts = sorted(key for key in attributes if key.startswith(f"{at}.contents."))
            content = [attributes[key] for key in parts if key.endswith("message_content.text")]
        messages.append(Turn(str(attributes.get(f"{at}.role", USER)), text_of(content)))
    return messages


def _last_answer(found: list[Turn]) -> str:
    return found[-1].text if found else ""


def opentelemetry(record: Record) -> Exchange | None:
    """Parses messages in attributes of a span, its events or a log record (GenAI conventions)."""
    events = (_attributes(one) for one in list_of(record, "events"))
    told_by = (_attributes(record), *events)
    a = next((one for one in told_by if "gen_ai.input.messages" in one), None)
    if a is None:
        return None
    system_text = text_of(parsed(a.get("gen_ai.system_instructions") or ""))
    asked = turns(a["gen_ai.input.messages"])
    system = [Turn(SYSTEM, system_text)] if system_text else []
    return Exchange([*system, *asked], _last_answer(turns(a.get("gen_ai.output.messages") or [])))


def opentelemetry_older(record: Record) -> Exchange | None:
    """Parses the attributes gen_ai.prompt.N and gen_ai.completion.N."""
    a = _attributes(record)
    asked = _numbered(a, "gen_ai.prompt")
    if not asked:
        return None
    completions = _numbered(a, "gen_ai.completion")
    return Exchange(
        asked, _last_answer(completions) or str(a.get("gen_ai.completion.0.content") or "")
    )


def openinference(record: Record) -> Exchange | None:
    """Parses a model call as Phoenix logs it."""
    a = _attributes(record)
    asked = _numbered(a, "llm.input_messages")
    if not asked:
        return None
    last_answer = _last_answer(_numbered(a, "llm.output_messages"))
    return Exchange(asked, last_answer or answer(a.get("output.value")))


def asked_and_answered(record: Record) -> tuple[str, Exchange] | None:
    """Parses a record that has one value for input and one for output: (format, conversation)."""
    a = _attributes(record)
    for name, asked, answered in _VALUES:
        if a.get(asked):
            return name, Exchange(turns(unquoted(a[asked])), answer(unquoted(a.get(answered))))
    return None


def _valued(name: str) -> Callable[[Record], Exchange | None]:
    def read(record: Record) -> Exchange | None:
        found = asked_and_answered(record)
        return found[1] if found and found[0] == name else None

    return read


def langsmith(record: Record) -> Exchange | None:
    """Parses a LangSmith run, or an example of a data set, by its inputs and outputs."""
    if "inputs" not in record or not {"run_type", "outputs"} & record.keys():
        return None
    return Exchange(turns(parsed(record["inputs"])), answer(record.get("outputs")))


def weave(record: Record) -> Exchange | None:
    """Parses a Weave call by its inputs and output."""
    if "op_name" not in record or "inputs" not in record:
        return None
    return Exchange(turns(parsed(record["inputs"])), answer(record.get("output")))


def braintrust(record: Record) -> Exchange | None:
    """Parses a Braintrust span of a log or experiment; an empty Exchange for a scorer or tool."""
    span_attributes = record.get("span_attributes")
    if "root_span_id" not in record or not isinstance(span_attributes, Mapping):
        return None
    if (
        span_attributes.get("type") in ("score", "scorer", "tool")
        or span_attributes.get("purpose") == "scorer"
    ):
        return Exchange([], "")
    return Exchange(turns(record.get("input")), answer(record.get("output")))


def bedrock(record: Record) -> Exchange | None:
    """Parses a Bedrock invocation log of InvokeModel or Converse."""
    asked, answered = record.get("input"), record.get("output")
    if not isinstance(asked, Mapping) or "inputBodyJson" not in asked:
        return None
    reply = answered.get("outputBodyJson") if isinstance(answered, Mapping) else None
    return Exchange(turns(asked["inputBodyJson"]), answer(reply))


def vertex(record: Record) -> Exchange | None:
    """Parses a line of a Vertex AI batch, with the answer if it has one."""
    asked = record.get("request")
    if not isinstance(asked, Mapping) or "contents" not in asked:
        return None
    return Exchange(turns(asked), answer(record.get("response")))


def batch(record: Record) -> Exchange | None:
    """Parses a batch request: OpenAI's by its body, Anthropic's by its params."""
    body = record.get("body") or record.get("params")
    if "custom_id" not in record or not isinstance(body, Mapping):
        return None
    return Exchange(turns(body), "")


def batch_result(record: Record) -> Exchange | None:
    """Parses a batch result: an answer only, as its prompt is in the file of requests."""
    reply = record.get("response") or record.get("result")
    if "custom_id" not in record or not isinstance(reply, Mapping):
        return None
    return Exchange([], answer(reply.get("body") or reply.get("message")))


def promptfoo(record: Record) -> Exchange | None:
    """Parses a result of a promptfoo evaluation."""
    prompt = record.get("prompt")
    if not isinstance(prompt, Mapping) or "raw" not in prompt:
        return None
    reply = record.get("response") or record.get("providerResponse")
    return Exchange(
        turns(prompt["raw"]), answer(reply.get("output")) if isinstance(reply, Mapping) else ""
    )


def langfuse(record: Record) -> Exchange | None:
    """Parses a Langfuse observation or trace; an empty Exchange for tools, searches and judges."""
    named = "trace_id" in record or "traceId" in record
    kind = str(record.get("type") or "").upper()
    if "input" not in record or not (named or kind in _ASKING):
        return None
    if kind and kind not in _ASKING:
        return Exchange([], "")
    return Exchange(turns(record["input"]), answer(record.get("output")))


def chat(record: Record) -> Exchange | None:
    """Parses a chat; a last message by the assistant is the answer to the turns before it."""
    if not isinstance(parsed(record.get("messages")), list):
        return None
    conversation = turns(record["messages"])
    if conversation and conversation[-1].role == ASSISTANT:
        return Exchange(conversation[:-1], conversation[-1].text)
    return Exchange(conversation, answer({key: record[key] for key in _REPLIES if record.get(key)}))


SHAPES: Mapping[str, Callable[[Record], Exchange | None]] = {
    "OpenTelemetry": opentelemetry,
    "OpenTelemetry (older)": opentelemetry_older,
    "OpenInference": openinference,
    **{name: _valued(name) for name, _, _ in _VALUES},
    "LangSmith": langsmith,
    "Weave": weave,
    "Bedrock": bedrock,
    "Vertex AI, batch": vertex,
    "Braintrust": braintrust,
    "batch": batch,
    BATCH_RESULTS: batch_result,
    "promptfoo": promptfoo,
    "Langfuse": langfuse,
    "chat": chat,
}


def of_calls(record: Record) -> bool:
    """True if a record is one model call, for logs that also have other records."""
    a = _attributes(record)
    kind = next((a[key] for key in _KINDS if a.get(key)), None) or record.get("span_kind") or ""
    operation = str(a.get("ai.operationId") or "")
    span_attributes = record.get("span_attributes")
    inner = span_attributes.get("type") if isinstance(span_attributes, Mapping) else ""
    named = str(kind or record.get("run_type") or inner or record.get("type")).strip('"').upper()
    return named in _CALLS or "gen_ai.operation.name" in a or ".do" in operation


def place(record: Record) -> tuple[str, str]:
    """Returns (id, parent's id) of a span or run; "" if missing."""
    context = record.get("context")
    fields = {**record, **context} if isinstance(context, Mapping) else record
    parents = list_of(record, "span_parents")
    return _first(fields, _IDS), str(parents[0]) if parents else _first(fields, _PARENTS)


def who(record: Record) -> tuple[str, str]:
    """Returns (user, session) of a record; "" if unknown."""
    a = _attributes(record)
    if "run_type" in record:  # its session_id is the project, so that of a thread is metadata
        extra = parsed(record.get("extra"))
        metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
        metadata = metadata if isinstance(metadata, Mapping) else {}
        a = {
            **metadata,
            "session_id": _first(metadata, _THREADS),
            "trace_id": record.get("trace_id"),
        }
    for name in ("metadata", "requestMetadata"):  # of Braintrust and of Bedrock
        if isinstance(metadata := record.get(name), Mapping):
            a = {**a, **metadata}
    session = _first(a, _SESSIONS) or ("run_type" not in record and _first(record, _SESSIONS))
    return _first(a, _USERS), session or ""


def _first(found: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(found[name]) for name in names if found.get(name)), "")
