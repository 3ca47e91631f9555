"""The models of a run, each opened when it is first asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import Protocol

from ...errors import TiltmeterError
from ...models import Model
from ...records import Request
from .window import Window


class Aside(Protocol):
    """An object that holds requests back until their batch is submitted (batches/desk.py)."""

    @property
    def deferred(self) -> int:
        """Returns the number of this stage's requests that wait for a batch."""

    def is_out(self, request: Request) -> bool:
        """True if a request is in an unfinished batch."""

    def puts_aside(self, model: Model, request: Request) -> bool:
        """True if a request goes into a batch, and is held back for it."""


class Models:
    """The models of a run, opened when first asked: a stage that asks none starts no server and
    needs no key. aside: holds requests back for batches; None if all are sent at once.

    An async context manager: leaving it closes the opened models.
    """

    aside: Aside | None = None

    def __init__(self, make: Callable[[str], Model]) -> None:
        self._make = make
        self.windows: dict[str, Window] = {}  # of those that were asked, by name
        self._opened: dict[str, asyncio.Task[Model]] = {}

    def opened(self, name: str) -> Model | None:
        """Returns the model of that name if it is open already, else None."""
        task = self._opened.get(name)
        return task.result() if task is not None and task.done() else None

    async def get(self, name: str) -> Model:
        """Returns the model of that name, opening it if needed; opens each model only once."""
        task = self._opened.get(name)
        if task is None:
            task = self._opened[name] = asyncio.ensure_future(self._open(name))
        return task.result() if task.done() else await asyncio.shield(task)

    async def _open(self, name: str) -> Model:
        model = self._make(name)
        await model.open()
        return model

    async def __aenter__(self) -> Models:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Closes every opened model. Once all are closed, raises a model's error, or adds it as a
        note to the error that ended the run.
        """
        try:
            async with AsyncExitStack() as stack:
                for task in self._opened.values():
                    stack.push_async_callback(_close, task)
        except Exception as fault:  # a model's own, whatever it is: it hides no error of the run
            if error is None:
                raise
            error.add_note(f"A model could not be closed either: {fault!r}")


async def _close(task: asyncio.Task[Model]) -> None:
    with suppress(TiltmeterError, asyncio.CancelledError):
        await (await task).close()
