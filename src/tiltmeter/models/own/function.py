"""A Python function as a model: `model=answer` in Python, `python:FILE.py:FUNCTION` elsewhere.

    def answer(prompt): …                  the prompt, as text
    def answer(prompt, system): …          with what it names of: messages, system, begin, seed,
                                           temperature, top_p, max_tokens, size
    async def answer(messages): …          the whole conversation, [{"role": …, "content": …}, …]

It returns a text, or the bytes of a picture (or a picture of Pillow), or a dict with `text`,
`outcome` ("refusal") and `model`. An exception is the outcome `error`. A function that is not async
is called in threads, as many as `--concurrency` says.

Its name in a run is module, name and a hash of its source: changed code is another model. A name
that is given (`model={"bot 3": answer}`, `?name=bot 3`) stands in place of that.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import io
import sys
import textwrap
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TypeAlias
from urllib.parse import unquote

from PIL.Image import Image

from ... import intake
from ...errors import Incapable, ModelError, TiltmeterError, UnknownName, UsageError
from ...records import ANSWER, ERROR, REFUSAL, Json, Reply, Request
from .. import FREE, Model
from ..kinds import ModelKind
from ..options import DEFAULTS, ModelOptions

Returned: TypeAlias = "str | bytes | Image | Mapping[str, Json] | None"
Function: TypeAlias = "Callable[..., Returned | Awaitable[Returned]]"

NAME = "?name="
HASH_CHARACTERS = 8
_GIVEN: dict[str, Function] = {}  # functions of this process, by the full name of the model
_FILES: dict[str, tuple[Path, str]] = {}  # full name → file and function
EXAMPLE = "python:bot.py:answer"


def name_function(function: Function, name: str = "") -> str:
    """The full name of a function as a model, by which `python` finds it in this process.

    name: one that stands in place of module, name and hash. UsageError for what has no name of its
    own, such as a lambda, and is given none.
    """
    if not callable(function):
        raise UsageError(f"{function!r} is no model: give KIND:NAME, a function, or answers.")
    full = f"python:{name or _identity(function)}"
    _parameters(function)
    _GIVEN[full] = function
    return full


def _identity(function: Function) -> str:
    called = getattr(function, "__qualname__", "")
    if not called or "<lambda>" in called:
        what = "A lambda" if called else "What has no name of its own"
        raise UsageError(
            f"{what} cannot be told from another. Type: def answer(prompt): … and model=answer, or "
            'give it a name: model={"my bot": …}'
        )
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise UsageError(
            f"The source of {called} cannot be read, so that a changed one would not be noticed. "
            f'Give it a name: model={{"my bot": {called}}}'
        ) from None
    return f"{function.__module__}:{called}@{_hash(source)}"


def _hash(source: str) -> str:
    return sha256(source.encode()).hexdigest()[:HASH_CHARACTERS]


def name_file(rest: str) -> str:
    """FILE.py:FUNCTION with a hash of the file; nothing is executed. A name that is a function's of
    this process stays.
    """
    if f"python:{rest}" in _GIVEN or f"python:{rest}" in _FILES:
        return rest
    asked, _, name = rest.partition(NAME)
    path, colon, function = asked.rpartition(":")
    function = function.partition("@")[0]
    if not colon or not path.endswith(".py") or not function.isidentifier():
        raise UsageError(f"python: needs FILE.py:FUNCTION. Type for instance: --model {EXAMPLE}")
    try:
        source = intake.read_text(path, intake.MOST_DECLARED_BYTES)
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}. Type for instance: {EXAMPLE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as Python: {error}.") from None
    full = unquote(name) or f"{Path(path).name}:{function}@{_hash(source)}"
    _FILES[f"python:{full}"] = (Path(path), function)
    return full


def _load(path: Path, name: str) -> Function:
    """The function of a file. ModelError where the file raises, UnknownName where it has none of
    that name.
    """
    spec = importlib.util.spec_from_file_location(f"tiltmeter_own_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be read as Python.")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # modules beside it
    try:
        spec.loader.exec_module(module)
    except TiltmeterError:
        raise
    except Exception as error:  # noqa: BLE001  whatever somebody's file raises
        raise ModelError(f"{path} cannot be imported: {_in_words(error)}. Mend it.") from None
    finally:
        sys.path.remove(folder)
    return _function_of(module, path, name)


def _function_of(module: ModuleType, path: Path, name: str) -> Function:
    found: Function | None = getattr(module, name, None)
    if found is None or not callable(found):
        known = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise UnknownName(f"function in {path.name}", name, known)
    return found


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _parameters(function: Function) -> tuple[str, ...]:
    """The names that a function is called with; the first is the prompt unless it is `messages`.
    UsageError for one that nothing is known of.
    """
    offered = ("messages", "system", "begin", "seed", "temperature", "top_p", "max_tokens", "size")
    try:
        found = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return ("prompt",)
    named: list[str] = []
    for place, one in enumerate(found):
        if one.name in offered:
            named.append(one.name)
        elif place == 0 and one.kind is not one.VAR_KEYWORD:
            named.append("prompt")
        elif one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise UsageError(
                f"The parameter '{one.name}' of {function.__name__} is none that an audit has. It "
                f"may have prompt, {', '.join(offered)}; give others a default."
            )
    return tuple(named)


class FunctionModel(Model):
    """A function, called for every request. load: gives it when the model is opened."""

    price = FREE
    makes = ("text", "pictures")

    def __init__(self, name: str, load: Callable[[], Function], parallel: int) -> None:
        self.name, self._load, self.parallel = name, load, parallel

    async def open(self) -> None:
        """Loads the function, and sees what it is called with."""
        self._function = await asyncio.to_thread(self._load)
        self._parameters = _parameters(self._function)

    async def ask(self, request: Request) -> Reply:
        """What the function returns; an exception of it is the outcome `error`."""
        if request.logprobs:
            raise Incapable(
                f"{self.name} is a function and gives no log-probabilities. Type: --mode sampled"
            )
        values = self._values(request)
        prompt = (values.pop("prompt"),) if "prompt" in values else ()
        try:
            if inspect.iscoroutinefunction(self._function):
                found = await self._function(*prompt, **values)
            else:
                found = await asyncio.to_thread(self._function, *prompt, **values)
                if inspect.isawaitable(found):
                    found = await found
        except Exception as error:  # noqa: BLE001  what a person's own code raises is an outcome
            return Reply(_in_words(error), ERROR)
        omitted = ("begin",) if request.begin and "begin" not in self._parameters else ()
        return _reply(found, request, omitted)

    def _values(self, request: Request) -> dict[str, object]:
        """What is handed over, by the names of the parameters."""
        system = "\n\n".join(turn.content for turn in request.messages if turn.role == "system")
        told = {"messages"} & set(self._parameters)
        turns = [turn for turn in request.messages if turn.role != "system"]
        if not told and (len(turns) > 1 or (system and "system" not in self._parameters)):
            raise UsageError(
                f"{self.name} takes the prompt alone, and there is more to this conversation. "
                "Write: def answer(messages), or def answer(prompt, system) for a system prompt"
            )
        offered: dict[str, object] = {
            "prompt": turns[-1].content if turns else "",
            "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
            "system": system,
            "begin": request.begin,
            "size": request.size,
            **request.sampling._asdict(),
        }
        return {name: offered[name] for name in self._parameters}


def _reply(found: Returned, request: Request, omitted: tuple[str, ...]) -> Reply:
    """What a function returned, as a reply; what is none of these is an error that says so."""
    if isinstance(found, str) and not request.size:
        return Reply(found, omitted=omitted)
    if isinstance(found, Image):
        buffer = io.BytesIO()
        found.save(buffer, "PNG")
        found = buffer.getvalue()
    if isinstance(found, bytes):
        return Reply("", picture=found, omitted=omitted)
    if isinstance(found, Mapping):
        outcome = str(found.get("outcome", ANSWER))
        if outcome in (ANSWER, REFUSAL, ERROR) and isinstance(found.get("text", ""), str):
            text, served = str(found.get("text", "")), str(found.get("model", ""))
            return Reply(text, outcome, served=served, omitted=omitted)
    wanted = "the bytes of a picture" if request.size else "a text"
    return Reply(f"the function returned {type(found).__name__}, not {wanted}", ERROR)


def python(rest: str, options: ModelOptions = DEFAULTS) -> FunctionModel:
    """`python:FILE.py:FUNCTION`, or a function of this process by its full name."""
    full = f"python:{name_file(rest)}"
    given = _GIVEN.get(full)
    if given is not None:
        return FunctionModel(full, lambda: given, options.concurrency)
    path, function = _FILES[full]
    return FunctionModel(full, lambda: _load(path, function), options.concurrency)


KIND = ModelKind(
    "python",
    "python:FILE.py:FUNCTION, a function of your own (model=function in Python)",
    python,
    price=FREE,
    identify=name_file,
    executes=True,
)
