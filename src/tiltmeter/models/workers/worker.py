"""The program of a worker: it opens a model once and answers requests."""

from __future__ import annotations

import asyncio
import pickle
import platform
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ... import errors
from ...errors import ModelError, TiltmeterError, TransientError, Unanswered
from ...records import Reply, Request
from .. import Model

IN_FLIGHT = 2  # batches of a worker: one is worked on, the next one is there when it is done


@dataclass(slots=True)
class ShownPictures:
    """The pictures of the requests in progress, by name: they replace the run's files, which other
    machines lack.
    """

    contents: dict[str, bytes]

    def __call__(self, name: str) -> bytes:
        return self.contents[name]


class Started(NamedTuple):
    """The report of a started worker. machine: its host name; fingerprint: of the open model."""

    machine: str
    fingerprint: str


class Refusal(NamedTuple):
    """A TiltmeterError in a form that can be sent between processes."""

    kind: str
    text: str
    retry_after: float | None = None
    raw: str | None = None
    possibly_paid: bool = False

    @classmethod
    def of(cls, error: TiltmeterError) -> Refusal:
        """Converts an error into a refusal."""
        raw, wait = getattr(error, "raw", None), getattr(error, "retry_after", None)
        return cls(type(error).__name__, str(error), wait, raw, error.possibly_paid)

    def error(self) -> TiltmeterError:
        """Converts the refusal back to an error; to ModelError if its kind cannot be rebuilt."""
        if self.kind == TransientError.__name__:
            return TransientError(self.text, self.retry_after, self.possibly_paid)
        if self.kind == Unanswered.__name__:
            return Unanswered(self.text, self.possibly_paid)
        kind = getattr(errors, self.kind, ModelError)
        wanted = kind if issubclass(kind, ModelError) else ModelError
        return wanted(self.text, self.raw, self.possibly_paid)


class Worker:
    """A model in its own process. payload: (a model or its maker, its ShownPictures), packed."""

    def __init__(self, payload: bytes) -> None:
        unpacked: tuple[Model | Callable[[], Model], ShownPictures] = pickle.loads(payload)
        loaded, self._shown = unpacked
        self._model = loaded if isinstance(loaded, Model) else loaded()
        self._users: Counter[str] = Counter()  # picture → requests in hand that show it
        self._places = asyncio.Semaphore(
            max(1, min(IN_FLIGHT * self._model.batch, self._model.parallel))
        )

    async def start(self) -> Started | Refusal:
        """Opens the model; returns the machine and the fingerprint, or a refusal."""
        try:
            await self._model.open()
        except TiltmeterError as error:
            return Refusal.of(error)
        return Started(platform.node(), self._model.fingerprint)

    async def ask(self, request: Request, pictures: dict[str, bytes]) -> Reply | Refusal:
        """Returns the model's reply; a TiltmeterError becomes a refusal, which can be sent."""
        self._shown.contents.update(pictures)
        self._users.update(pictures.keys())
        try:
            async with self._places:
                return await self._model.ask(request)
        except TiltmeterError as error:
            return Refusal.of(error)
        finally:
            self._users.subtract(pictures.keys())
            for name in [name for name in pictures if not self._users[name]]:
                del self._shown.contents[name], self._users[name]

    async def close(self) -> None:
        """Closes the model."""
        await self._model.close()
