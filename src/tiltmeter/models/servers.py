"""One model on several servers of one's own (vLLM, SGLang, llama.cpp on many machines).

A request goes to the server that has the fewest in flight. One that fails is left out for a while,
each time for longer, and then tried again. What it did not take is asked of another one at once;
what it may have taken is left to the engine, as with one server, so nothing is asked twice that may
be paid for. All must serve one model: another name is an error, since their answers would be of two
subjects; another fingerprint is told with the results.
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
    """A server. number: from 1, as named; out_until: monotonic; served: the model's name."""

    number: int
    address: str
    model: Model
    in_flight: int = 0
    failures: int = 0
    out_until: float = 0.0
    served: str = ""

    def leave_out(self, error: ModelError | TransientError) -> None:
        """Not to be asked for a while, or as long as it said. What fails while it is left out, as
        all that was in flight does, is the same failure.
        """
        now = time.monotonic()
        pause = error.retry_after if isinstance(error, TransientError) else None
        if pause is not None:
            self.out_until = max(self.out_until, now + pause)
        elif now >= self.out_until:
            self.out_until = now + min(FIRST_PAUSE_S * 2**self.failures, LONGEST_PAUSE_S)
            self.failures += 1

    def take_back(self) -> None:
        """It has answered."""
        self.failures, self.out_until = 0, 0.0


def _again_in_s(error: ModelError | TransientError) -> float:
    """Seconds until it may pass; that of a server which is set up wrongly does not."""
    return (error.retry_after or 0.0) if isinstance(error, TransientError) else math.inf


class Servers(Model):
    """Models of one name, each on a server of its own. addresses: of the servers, for messages."""

    def __init__(self, models: Sequence[Model], addresses: Sequence[str]) -> None:
        first = models[0]
        if any(isinstance(model, Queued) for model in models):
            raise UsageError(
                f"{first.name} is handed in and fetched, so its work stays with one server. Give "
                "--base-url once."
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
        """As of one server."""
        self._servers[0].model.check(request)

    def sends_temperature(self, request: Request) -> bool:
        """As of one server."""
        return self._servers[0].model.sends_temperature(request)

    async def open(self) -> None:
        """Opens the way to each server; none is asked."""
        await asyncio.gather(*(server.model.open() for server in self._servers))

    async def close(self) -> None:
        """Closes the ways to all."""
        await asyncio.gather(*(server.model.close() for server in self._servers))

    async def ask(self, request: Request) -> Reply:
        """Asks one server. If none takes the request, raises the error that is over soonest."""
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
        """Returns the server with the fewest in flight, by turns, or the one that is back first."""
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
        """ModelError where two servers name the model differently."""
        if served == server.served:
            return
        for other in self._servers:
            if other is not server and served and other.served and other.served != served:
                raise ModelError(
                    f"{server.address} serves {self.name} as {served} and {other.address} as "
                    f"{other.served}: their answers are not of one subject. Leave one of the two "
                    "out."
                )
        server.served = served
