"""Calls the user's own function: makes its arguments, converts its result to a line of `cmd:`."""

from __future__ import annotations

import asyncio
import base64
import inspect
import io
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, cast

from PIL.Image import Image

from ...errors import Incapable, UsageError
from ...records import ANSWER, ERROR, REFUSAL, Json, Reply, Request
from .command import reply_of

Returned: TypeAlias = "str | bytes | Image | Mapping[str, Json] | None"
Function: TypeAlias = "Callable[..., Returned | Awaitable[Returned]]"

MOST_CHARACTERS, MOST_PICTURE_BYTES = 8 * 2**20, 32 * 2**20  # of an answer
_LINES = {ANSWER: "text", REFUSAL: "refusal", ERROR: "error"}  # outcome → key of a line of `cmd:`


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a function returned no answer."""

    text: str


def in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def parameters(function: Function) -> tuple[str, ...]:
    """Returns the names of a function's parameters; a first one with an unknown name is "prompt".
    Raises UsageError if any other unknown parameter has no default.
    """
    offered = ("messages", "system", "begin", "seed", "temperature", "top_p", "max_tokens", "size")
    try:
        declared = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return ("prompt",)
    named: list[str] = []
    for index, arg in enumerate(declared):
        if arg.name in offered:
            named.append(arg.name)
        elif index == 0 and arg.kind is not arg.VAR_KEYWORD:
            named.append("prompt")
        elif arg.default is arg.empty and arg.kind not in (arg.VAR_POSITIONAL, arg.VAR_KEYWORD):
            raise UsageError(
                f"The parameter '{arg.name}' of {function.__name__} is not known. Use prompt, "
                f"{', '.join(offered)}; give any other a default."
            )
    return tuple(named)


def values_of(name: str, parameters: Sequence[str], request: Request) -> dict[str, object]:
    """Returns {parameter: argument} for a call of the function. Raises Incapable if probabilities
    are asked for, UsageError if the parameters cannot hold all turns.
    """
    if request.logprobs:
        raise Incapable(
            f"{name} is a function and gives no log-probabilities. Type: --mode sampled"
        )
    system = "\n\n".join(turn.content for turn in request.messages if turn.role == "system")
    turns = [turn for turn in request.messages if turn.role != "system"]
    if "messages" not in parameters and (len(turns) > 1 or (system and "system" not in parameters)):
        raise UsageError(
            f"{name} takes only the prompt, but this conversation has more. Write: def "
            "answer(messages), or def answer(prompt, system) for a system prompt"
        )
    offered: dict[str, object] = {
        "prompt": turns[-1].content if turns else "",
        "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
        "system": system,
        "begin": request.begin,
        "size": request.size,
        **request.sampling._asdict(),
    }
    return {key: offered[key] for key in parameters}


async def call(
    function: Function, values: Mapping[str, object], threads: ThreadPoolExecutor
) -> Returned | Fault:
    """Calls a function, in a thread unless it is async; returns a Fault if it raises."""
    keywords = dict(values)
    prompt = (keywords.pop("prompt"),) if "prompt" in keywords else ()
    try:
        if inspect.iscoroutinefunction(function):
            returned = await function(*prompt, **keywords)
        else:
            within = partial(_guarded, function, *prompt, **keywords)
            returned = await asyncio.get_running_loop().run_in_executor(threads, within)
            if inspect.isawaitable(returned):
                returned = await returned
    except (Exception, SystemExit) as error:  # noqa: BLE001  a person's own code
        return Fault(in_words(error))
    return cast("Returned | Fault", returned)


def _guarded(function: Function, *prompt: object, **values: object) -> object:
    """Calls a function; turns `sys.exit`, which asyncio's threads cannot raise, into a Fault."""
    try:
        return function(*prompt, **values)
    except SystemExit as error:
        return Fault(in_words(error))


def encode(returned: Returned | Fault) -> dict[str, Json]:
    """Converts a function's result to a line of `cmd:`, with `error` if it is not an answer."""
    if isinstance(returned, Fault):
        return {"error": returned.text}
    if isinstance(returned, Image):
        buffer = io.BytesIO()
        returned.save(buffer, "PNG")
        returned = buffer.getvalue()
    if isinstance(returned, bytes):
        if len(returned) > MOST_PICTURE_BYTES:
            return {"error": _too_large("bytes", len(returned), MOST_PICTURE_BYTES)}
        return {"picture": base64.b64encode(returned).decode()}
    answer = {"text": returned} if isinstance(returned, str) else returned
    if isinstance(answer, Mapping):
        outcome, text = str(answer.get("outcome", ANSWER)), answer.get("text", "")
        if outcome in _LINES and isinstance(text, str):
            if len(text) > MOST_CHARACTERS:
                return {"error": _too_large("characters", len(text), MOST_CHARACTERS)}
            tools: Json = _names(answer.get("tools"))
            return {_LINES[outcome]: text, "model": str(answer.get("model", "")), "tools": tools}
    return {"error": f"the function returned {type(returned).__name__}, not an answer"}


def _names(tools: object) -> list[Json]:
    """Returns the names of tools that an answer calls, given as names or objects with `name`."""
    listed = tools if isinstance(tools, list | tuple) else ()
    names = (one.get("name") if isinstance(one, Mapping) else one for one in listed)
    return [name for name in names if isinstance(name, str)]


def _too_large(unit: str, number: int, most: int) -> str:
    return f"the function returned {number:,} {unit}; at most {most:,} are read"


def as_reply(answer: Mapping[str, Json], request: Request, parameters: Sequence[str]) -> Reply:
    """Converts a function's line to a reply; to an error if it is text but a picture was asked."""
    omitted = ("begin",) if request.begin and "begin" not in parameters else ()
    if request.size and "text" in answer:
        return Reply("the function returned str, not the bytes of a picture", ERROR)
    return replace(reply_of(answer), omitted=omitted)
