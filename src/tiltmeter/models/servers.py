"""One model on several servers of the user's (vLLM, SGLang, llama.cpp on many machines).

A request goes to the server with the fewest requests in flight. A server that fails is paused, each
time for longer, and then tried again. A request that it did not accept goes to another server at
once; one that it may have accepted is left to the engine, as with a single server, so nothing is
paid for twice. All servers must serve one model: another name is an error, as the answers would be
of two subjects; another fingerprint is reported with the results.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ..errors import ModelError, TransientError, UsageError
from ..records import Reply, Request
from . import Model, Queued

FIRST_PAUSE_S = 1.0  # that a server is left out; each time twice as long
LONGEST_PAUSE_S = 60.0


@dataclass(eq=False, slots=True)
class _Server:
    """A server. number: from 1, as listed; out_until: monotonic time; served: reported model."""

    number: int
    address: str
    model: Model
    in_flight: int = 0
    failures: int = 0
    out_until: float = 0.0
    served: str = ""

    def leave_out(self, error: ModelError | TransientError) -> None:
        """Pauses the server for as long as it asked, else longer after each failure. Errors during
        a pause, such as of requests in flight, count as the same failure.
        """
        now = time.monotonic()
        pause = error.retry_after if isinstance(error, TransientError) else None
        if pause is not None:
            self.out_until = max(self.out_until, now + pause)
        elif now >= self.out_until:
            self.out_until = now + min(FIRST_PAUSE_S * 2**self.failures, LONGEST_PAUSE_S)
            self.failures += 1

    def take_back(self) -> None:
        """Ends the pause."""
        self.failures, self.out_until = 0, 0.0


def _again_in_s(error: ModelError | TransientError) -> float:
    """Returns the seconds after which an error may pass; infinity for a server set up wrong."""
    return (error.retry_after or 0.0) if isinstance(error, TransientError) else math.inf


class Servers(Model):
    """Models of one name, each on a server of its own. addresses: of the servers, for messages."""

    def __init__(self, models: Sequence[Model], addresses: Sequence[str]) -> None:
        first = models[0]
        if any(isinstance(model, Queued) for model in models):
            raise UsageError(
                f"The work of {first.name} is submitted and fetched later, so it needs a single "
                "server. Give --base-url once."
            )
        self.name, self.makes, self.continues = first.name, first.makes, first.continues
        self.price = first.price if len({model.price for model in models}) == 1 else None
        self.parallel, self.servers = sum(model.parallel for model in models), len(models)
        self._servers = [
            _Server(number, address, model)
            for number, (address, model) in enumerate(zip(addresses, models, strict=True), 1)
        ]
        self._last = 0

    def check(self, request: Request) -> None:
        """Raises Incapable if the first server's model cannot serve the request."""
        self._servers[0].model.check(request)

    def sends_temperature(self, request: Request) -> bool:
        """True if the temperature of a request reaches the first server's model."""
        return self._servers[0].model.sends_temperature(request)

    async def open(self) -> None:
        """Opens the model of each server."""
        await asyncio.gather(*(server.model.open() for server in self._servers))

    async def close(self) -> None:
        """Closes the model of each server."""
        await asyncio.gather(*(server.model.close() for server in self._servers))

    async def ask(self, request: Request) -> Reply:
        """Asks servers until one replies; if all fail, raises the error that may pass first."""
        tried: dict[_Server, ModelError | TransientError] = {}
        while True:
            server = self._next(tried)
            server.in_flight += 1
            try:
                reply = await server.model.ask(request)
            except (ModelError, TransientError) as error:
                server.leave_out(error)
                tried[server] = error
                if error.possibly_paid:
                    raise
                if len(tried) == len(self._servers):
                    raise min(reversed(tried.values()), key=_again_in_s) from None
            else:
                server.take_back()
                self._refuse_other_name(server, reply.served)
                return replace(reply, server=server.number)
            finally:
                server.in_flight -= 1

    def _next(self, tried: Collection[_Server]) -> _Server:
        """Chooses the server with the least pause left, then the fewest calls, then by turns."""
        now, number = time.monotonic(), len(self._servers)
        rest = [server for server in self._servers if server not in tried]
        chosen = min(
            rest,
            key=lambda s: (
                max(0.0, s.out_until - now),
                s.in_flight,
                (s.number - 1 - self._last) % number,
            ),
        )
        self._last = chosen.number
        return chosen

    def _refuse_other_name(self, server: _Server, served: str) -> None:
        """Raises ModelError if two servers name the model differently."""
        if served == server.served:
            return
        for other in self._servers:
            if other is not server and served and other.served and other.served != served:
                raise ModelError(
                    f"{server.address} serves {self.name} as {served} and {other.address} as "
                    f"{other.served}: these would be two subjects. Leave one of the two out."
                )
        server.served = served
