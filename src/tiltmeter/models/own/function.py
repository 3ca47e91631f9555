"""A Python function as a model: `model=answer` in Python, `python:FILE.py:FUNCTION` elsewhere.

    def answer(prompt): …                  the prompt, as text
    def answer(prompt, system): …          with any of: messages, system, begin, seed,
                                           temperature, top_p, max_tokens, size
    async def answer(messages): …          the whole conversation, [{"role": …, "content": …}, …]

It returns a text, or the bytes of a picture (or a picture of Pillow), or a dict with `text`,
`outcome` ("refusal"), `model` and `tools`, the names of the tools that it calls. The outcome is
`error` after an exception, `sys.exit`, an answer above 8 MiB, or no answer within `--timeout`. A
function that is not async is called in threads, `--concurrency` of them. A file's function runs in
a process of its own (guest.py); one passed in from Python stays in this process, and a call of it
that hangs is abandoned.

Its name in a run is module, name and a hash of its source: changed code is another model. A given
name (`model={"bot 3": answer}`, `?name=bot 3`) replaces that.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import cast
from urllib.parse import unquote

from ...errors import (
    ModelError,
    TiltmeterError,
    TransientError,
    UnknownName,
    UsageError,
)
from ...records import ERROR, Json, Reply, Request
from ...system import intake
from .. import FREE, Model
from ..kinds import ModelKind
from ..options import DEFAULTS, ModelOptions
from .calls import Function, as_reply, call, encode, in_words, parameters, values_of
from .command import Command

NAME = "?name="
HASH_CHARACTERS = 8
_GIVEN: dict[str, Function] = {}  # functions of this process, by the full name of the model
_FILES: dict[str, tuple[Path, str]] = {}  # full name → file and function
EXAMPLE = "python:bot.py:answer"
SHORT_WAIT = 0.01  # seconds, until the calls under way have ended


def name_function(function: Function, name: str = "") -> str:
    """Registers a function as a model; returns the full name under which `python` finds it.

    name: replaces module, name and hash. Raises UsageError if it is empty and the function has no
    name of its own, such as a lambda.
    """
    if not callable(function):
        raise UsageError(f"{function!r} is not a model. Give KIND:NAME, a function, or answers.")
    full = f"python:{name or _identity(function)}"
    parameters(function)
    _GIVEN[full] = function
    return full


def _identity(function: Function) -> str:
    called = getattr(function, "__qualname__", "")
    if not called or "<lambda>" in called:
        what = "A lambda" if called else "A function without a name"
        raise UsageError(
            f"{what} cannot be told from another function. Type: def answer(prompt): … and "
            'model=answer, or give the function a name: model={"my bot": …}'
        )
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise UsageError(
            f"The source code of {called} cannot be read, so a later change would go unnoticed. "
            f'Name the model: model={{"my bot": {called}}}'
        ) from None
    return f"{function.__module__}:{called}@{_hash(source)}"


def _hash(source: str) -> str:
    return sha256(source.encode()).hexdigest()[:HASH_CHARACTERS]


def name_file(rest: str) -> str:
    """Returns FILE.py:FUNCTION@HASH without executing the file; known names unchanged."""
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


def load(path: Path, name: str) -> Function:
    """Loads a file's function. ModelError if the file raises, UnknownName if it lacks the name."""
    spec = importlib.util.spec_from_file_location(f"tiltmeter_own_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be read as Python. Name a .py file.")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # modules beside it
    try:
        spec.loader.exec_module(module)
    except TiltmeterError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever somebody's file raises
        raise ModelError(f"{path} cannot be imported: {in_words(error)}. Correct it.") from None
    finally:
        sys.path.remove(folder)
    return _function_of(module, path, name)


def _function_of(module: ModuleType, path: Path, name: str) -> Function:
    function: Function | None = getattr(module, name, None)
    if function is None or not callable(function):
        names = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise UnknownName(f"function in {path.name}", name, names)
    return function


class FunctionModel(Model):
    """A function in this process, called for every request. timeout: seconds for one call."""

    price = FREE
    makes = ("text", "pictures")
    _parameters: tuple[str, ...]

    def __init__(self, name: str, function: Function, options: ModelOptions) -> None:
        self.name, self._function = name, function
        self.parallel, self._timeout = options.concurrency, options.timeout

    async def open(self) -> None:
        """Reads the names of the function's parameters, and makes the threads for its calls."""
        self._parameters = parameters(self._function)
        self._threads = ThreadPoolExecutor(self.parallel)

    async def close(self) -> None:
        """Shuts the threads down without waiting; a hanging call keeps its thread."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def ask(self, request: Request) -> Reply:
        """Returns the function's answer, or `error` if it raises or hangs."""
        values = values_of(self.name, self._parameters, request)
        try:
            returned = await asyncio.wait_for(
                call(self._function, values, self._threads), self._timeout
            )
        except TimeoutError:
            return Reply(f"the function gave no answer in {self._timeout:g} s", ERROR)
        return as_reply(encode(returned), request, self._parameters)


class FileFunction(Command):
    """A function of a file, in a process of its own.

    Calls in progress when the process ends are repeated, one at a time, to find the call that ends
    the process: that call has the outcome `error`, and the others get their answers.
    """

    _parameters: tuple[str, ...] = ()

    def __init__(self, name: str, path: Path, function: str, options: ModelOptions) -> None:
        guest = [sys.executable, "-m", f"{__package__}.guest"]
        super().__init__(name, [*guest, str(path), function, str(options.concurrency)], options)
        self._alone = asyncio.Lock()

    async def open(self) -> None:
        """Starts the process, which imports the file. Raises ModelError or UsageError."""
        await super().open()
        try:
            answer = await self._exchange({})
        except TimeoutError:
            raise ModelError(f"{self.name} was not imported in {self._timeout:g} s.") from None
        if "usage" in answer:
            raise UsageError(str(answer["usage"]))
        if "parameters" not in answer:
            raise ModelError(str(answer.get("fault")))
        self._parameters = tuple(map(str, cast("list[Json]", answer["parameters"])))

    async def ask(self, request: Request) -> Reply:
        """Returns the function's answer; `error` if it ends the process or hangs."""
        values = cast("dict[str, Json]", values_of(self.name, self._parameters, request))
        async with self._alone:
            pass  # a call that is made again runs alone
        try:
            answer = await self._exchange({"values": values})
        except TimeoutError:
            return Reply(f"the function {self._too_late()}", ERROR)
        except TransientError:
            answer = await self._again(values)
        return as_reply(answer, request, self._parameters)

    async def _again(self, values: dict[str, Json]) -> Mapping[str, Json]:
        async with self._alone:
            while self._waiting:
                await asyncio.sleep(SHORT_WAIT)
            try:
                return await self._exchange({"values": values})
            except TimeoutError:
                return {"error": f"the function {self._too_late()}"}
            except TransientError:
                return {"error": f"the function ended its process{self._in_its_words()}"}


def python(rest: str, options: ModelOptions = DEFAULTS) -> Model:
    """Makes the model `python:FILE.py:FUNCTION`, or a model of a function given to this process."""
    full = f"python:{name_file(rest)}"
    registered = _GIVEN.get(full)
    if registered is not None:
        return FunctionModel(full, registered, options)
    return FileFunction(full, *_FILES[full], options)


KIND = ModelKind(
    "python",
    "python:FILE.py:FUNCTION, a function of your own (model=function in Python)",
    python,
    price=FREE,
    identify=name_file,
    executes=True,
    sees=False,
)
