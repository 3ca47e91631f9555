"""`--workers`: a user's own model in many processes, on this machine or on a cluster.

Only the process that was started writes the run and asks; workers hold the model and answer. The
model's name and fingerprint do not depend on the workers, so a run begun on one GPU can go on on
eight. pool.py distributes the requests, worker.py runs in a worker, and only ray_cluster.py uses
Ray."""

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
    """The workers of a run. number: workers per model; address: of a cluster, "" for processes on
    this machine; gpus: per worker.
    """

    number: int
    address: str = ""
    gpus: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Workers:
        """Parses `8`, `8@auto` or `8@auto?gpus=1`. Raises UsageError for anything else."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"--workers {text} is not a number of workers. Type for instance: --workers 8, or "
                "--workers '8@auto?gpus=1' on a Ray cluster"
            )
        return cls(int(match[1]), match[2] or "", float(match[3] or 0))


class WorkerLost(TiltmeterError):
    """The error if a worker dies, or its machine is lost, during a request."""


class Handle(Protocol):
    """One worker. Every method raises WorkerLost if the worker is gone."""

    async def start(self) -> Started | Refusal:
        """Loads the model; waits for a machine if none is free."""

    async def ask(self, request: Request, pictures: dict[str, bytes]) -> Reply | Refusal:
        """Returns the model's reply."""

    async def stop(self) -> None:
        """Closes the model and ends the worker, even if it is lost."""


class Cluster(Protocol):
    """A cluster on which workers are started."""

    def start_worker(self, payload: bytes, gpus: float) -> Handle:
        """Starts a worker that is not ready yet. payload: the model, as `pack` returns it."""

    def pack(self, model: object) -> bytes:
        """Packs a model as bytes that a worker can load. Raises UsageError if it is impossible."""

    def leave(self) -> None:
        """Leaves the cluster; blocks."""
