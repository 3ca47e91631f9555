"""A user's command as a model, `cmd:COMMAND`: JSON lines on its standard input and output.

It gets one line per request,

{"id": 7, "prompt": "…", "messages": [{"role": "user", "content": "…"}], "system": "", "begin": "",
"temperature": 1.0, "top_p": 1.0, "max_tokens": 256, "seed": 5, "size": ""}

and writes one for each, in any order, with the `id`: `{"id": 7, "text": "…"}`, a picture as `{"id":
7, "picture": "BASE64"}`, `{"id": 7, "refusal": "…"}` or `{"id": 7, "error": "…"}`. A line without
an `id` answers the oldest request. Several requests are in progress at once. A command that ends is
started again for its unanswered requests; one that ends without any answer stops the run.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ...errors import Incapable, ModelError, TransientError, UsageError
from ...records import ERROR, REFUSAL, Json, Reply, Request
from .. import FREE, Model
from ..kinds import ModelKind
from ..options import DEFAULTS, ModelOptions

MOST_LINE_BYTES = 64 * 2**20
MOST_STARTS = 3  # in a row that bring no answer
SHOWN_CHARACTERS = 300  # of what it says on standard error
END_SECONDS = 5.0  # for it to end by itself once its input is closed


class Command(Model):
    """A process that is asked over its standard input. parallel: limit of unanswered lines."""

    price = FREE
    makes = ("text", "pictures")

    def __init__(self, name: str, words: Sequence[str], options: ModelOptions) -> None:
        self.name, self._words = name, tuple(words)
        self._timeout, self.parallel = options.timeout, options.concurrency
        self._waiting: dict[int, asyncio.Future[Mapping[str, Json]]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self._number = self._starts = 0
        self._said = ""

    async def open(self) -> None:
        """Starts the command. Raises UsageError if it cannot be started."""
        self._starting = asyncio.Lock()
        await self._start()

    async def close(self) -> None:
        """Closes the command's input and waits for its end; kills it after END_SECONDS."""
        process = self._process
        if process is None or process.stdin is None:
            return
        with suppress(OSError):
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), END_SECONDS)
        except TimeoutError:
            await self._end(process)
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def ask(self, request: Request) -> Reply:
        """Returns the command's answer. Raises TransientError if it ended or took too long."""
        if request.logprobs:
            raise Incapable(
                f"{self.name} is a command and gives no log-probabilities. Type: --mode sampled"
            )
        try:
            return reply_of(await self._exchange(_line(request)))
        except TimeoutError:
            raise TransientError(f"{self.name} {self._too_late()}") from None

    async def _exchange(self, line: Mapping[str, Json]) -> Mapping[str, Json]:
        """Writes a line and waits for the answering line.

        Raises TransientError if the process ended meanwhile, TimeoutError if it took too long and
        was killed.
        """
        process = await self._running()
        self._number += 1
        number, answered = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        try:
            assert process.stdin is not None
            text = json.dumps({"id": number, **line}, ensure_ascii=False)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
            return await asyncio.wait_for(answered, self._timeout)
        except (ConnectionError, RuntimeError):
            raise TransientError(f"{self.name} ended{self._in_its_words()}") from None
        except TimeoutError:
            await self._end(process)
            raise
        finally:
            del self._waiting[number]
            if answered.done() and not answered.cancelled():
                answered.exception()  # it was seen, also where another error came first

    async def _running(self) -> asyncio.subprocess.Process:
        """Returns the process; starts it again if it has ended."""
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                await self._start()
            assert self._process is not None
            return self._process

    async def _start(self) -> None:
        if self._starts >= MOST_STARTS:
            code = self._process.returncode if self._process else None
            raise ModelError(
                f"{self.name} ended with code {code} and answered nothing{self._in_its_words()}. "
                "Correct it and run the same command again."
            )
        self._starts += 1
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._words, stdin=pipe, stdout=pipe, stderr=pipe, limit=MOST_LINE_BYTES
            )
        except OSError as error:
            raise UsageError(
                f"'{self._words[0]}' cannot be started: {error.strerror}. Type for instance: "
                "--model 'cmd:python bot.py'"
            ) from None
        self._process = process
        self._readers = [
            asyncio.create_task(self._read(process)),
            asyncio.create_task(self._listen(process)),
        ]

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Passes each line to the waiting request; when the output ends, fails all others."""
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                self._take(line)
        except ValueError:  # a line that is too long
            await self._end(process)
        await process.wait()
        for answered in self._waiting.values():
            if not answered.done():
                error = TransientError(f"{self.name} ended{self._in_its_words()}")
                answered.set_exception(error)

    def _take(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            self._said = f"{line[:SHOWN_CHARACTERS].decode('utf-8', 'replace').strip()}"
            return
        if not isinstance(answer, dict):
            return
        number = answer.get("id", next(iter(self._waiting), None))
        answered = self._waiting.get(number) if isinstance(number, int) else None
        if answered is not None and not answered.done():
            self._starts = 0
            answered.set_result(answer)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Stores the last text that the process writes to standard error."""
        assert process.stderr is not None
        while piece := await process.stderr.read(4096):
            text = piece.decode("utf-8", "replace").strip()
            self._said = text[-SHOWN_CHARACTERS:] or self._said

    def _in_its_words(self) -> str:
        return f" ({' '.join(self._said.split())})" if self._said else ""

    def _too_late(self) -> str:
        return f"gave no answer in {self._timeout:g} s"

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _line(request: Request) -> dict[str, Json]:
    """Returns the line for a request, without the id."""
    turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
    system = "\n\n".join(turn.content for turn in request.messages if turn.role == "system")
    return {
        "prompt": request.messages[-1].content,
        "messages": turns,
        "system": system,
        "begin": request.begin,
        "size": request.size,
        **request.sampling._asdict(),
    }


def reply_of(found: Mapping[str, Json]) -> Reply:
    served = str(found.get("model", ""))
    for name, outcome in (("refusal", REFUSAL), ("error", ERROR)):
        if found.get(name):
            return Reply(str(found[name]), outcome, served=served)
    if isinstance(found.get("picture"), str):
        try:
            return Reply("", picture=base64.b64decode(str(found["picture"])), served=served)
        except binascii.Error:
            return Reply("the picture is not base64", ERROR, served=served)
    if isinstance(found.get("text"), str):
        raw = json.dumps({"tools": found["tools"]}) if found.get("tools") else ""
        return Reply(str(found["text"]), served=served, raw=raw)
    return Reply("the command's line has no 'text'", ERROR, served=served)


def command(rest: str, options: ModelOptions = DEFAULTS) -> Command:
    """Makes the model `cmd:COMMAND`. Raises UsageError if the command is empty or malformed."""
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"cmd:{rest} cannot be read: {error}.") from None
    if not words:
        raise UsageError("Which command? Type for instance: --model 'cmd:python bot.py'")
    return Command(f"cmd:{rest}", words, options)


KIND = ModelKind(
    "cmd",
    "cmd:COMMAND, a command of your own that reads and writes JSON lines",
    command,
    price=FREE,
    executes=True,
    sees=False,
)
