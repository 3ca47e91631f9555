"""`--workers`: a model of one's own in many processes, on this machine or on a cluster.

The process that was started alone writes the run, and asks; workers hold the model and answer. The
model's name and fingerprint are its own, so a run begun on one GPU goes on on eight. pool.py shares
the requests, worker.py is what runs in a worker, ray_cluster.py is the only file that knows Ray.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from ...errors import TiltmeterError, UsageError
from ...records import Reply, Request
from .worker import Refusal, Started

_FORM = re.compile(r"([1-9]\d{0,3})(?:@([\w.:-]+))?(?:\?gpus=(\d+(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class Workers:
    """number: of workers of each model; address: of a cluster, "" for processes of this machine;
    gpus: of each worker.
    """

    number: int
    address: str = ""
    gpus: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Workers:
        """From `8`, `8@auto` or `8@auto?gpus=1`. UsageError for anything else."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"--workers {text} is no number of workers. Type for instance: --workers 8, or "
                "--workers '8@auto?gpus=1' on a Ray cluster"
            )
        return cls(int(match[1]), match[2] or "", float(match[3] or 0))


class WorkerLost(TiltmeterError):
    """A worker died, or its machine is gone, while it was asked."""


class Handle(Protocol):
    """One worker. Every method raises WorkerLost where it is gone."""

    async def start(self) -> Started | Refusal:
        """Loads the model; waits for the machine where there is none yet."""

    async def ask(self, request: Request, pictures: dict[str, bytes]) -> Reply | Refusal:
        """Returns the model's reply."""

    async def stop(self) -> None:
        """Closes the model, and ends the worker; also one that is gone."""


class Cluster(Protocol):
    """A place for workers to be started."""

    def start_worker(self, payload: bytes, gpus: float) -> Handle:
        """A worker that is not ready yet. payload: the model, as `pack` makes it."""

    def pack(self, model: object) -> bytes:
        """A model as bytes that a worker can read. UsageError where it cannot be sent."""

    def leave(self) -> None:
        """Gives the cluster up; blocks."""
