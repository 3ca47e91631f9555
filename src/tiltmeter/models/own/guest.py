"""The process in which a function of a file runs: `python -m tiltmeter.models.own.guest FILE NAME`.

It uses the lines of `cmd:` (command.py), so that whatever the function does (exit, hang, print,
return too much), the process that writes the run goes on. Standard output is detached before the
function's file is imported; its prints go to standard error.

The first line that it gets asks for the function's parameters, `{"id": 1, "open": true}`; each
further one has the arguments of a call, `{"id": 2, "values": {"prompt": "…"}}`.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from ...errors import TiltmeterError, UsageError
from ...records import Json
from .calls import Function, call, encode, parameters
from .function import load


class Guest:
    """A server of one function over JSON lines. answers: the stream to write replies to."""

    def __init__(self, path: Path, name: str, parallel: int, answers: BinaryIO) -> None:
        self._path, self._name, self._answers = path, name, answers
        self._threads = ThreadPoolExecutor(parallel)
        self._function: Function | None = None

    async def serve(self, lines: BinaryIO) -> None:
        """Answers each line, several at once, until the stream ends."""
        loop = asyncio.get_running_loop()
        reader = ThreadPoolExecutor(1)
        tasks: set[asyncio.Task[None]] = set()
        while line := await loop.run_in_executor(reader, lines.readline):
            task = loop.create_task(self._answer(json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _answer(self, question: Mapping[str, Json]) -> None:
        if self._function is None:
            reply = await asyncio.to_thread(self._open)
        if self._function is not None and "values" in question:
            values = question["values"]
            assert isinstance(values, dict)
            reply = encode(await call(self._function, values, self._threads))
        text = json.dumps({"id": question["id"], **reply}, ensure_ascii=False)
        self._answers.write(text.encode("utf-8", "replace") + b"\n")
        self._answers.flush()

    def _open(self) -> dict[str, Json]:
        """Returns the function's parameters, or the reason why it cannot be called."""
        try:
            self._function = load(self._path, self._name)
            return {"parameters": list(parameters(self._function))}
        except UsageError as error:
            return {"usage": str(error)}
        except TiltmeterError as error:
            return {"fault": str(error)}


def main(path: str, name: str, parallel: str) -> None:
    """Serves a function until standard input ends; does not wait for a call that hangs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdin, sys.stdout = io.StringIO(), sys.stderr
    asyncio.run(Guest(Path(path), name, int(parallel), answers).serve(lines))
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
