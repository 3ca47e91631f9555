"""Workers as Ray actors (the extra `ray`, imported only here and only when used).

On this machine Ray is started for the run, with a token that nobody else has and that is in no
file, and ends with it. With an address the run is a guest on an existing cluster, and leaves it as
it was.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pickle import PickleError
from types import ModuleType
from typing import Any, TypeVar

from ...errors import MissingExtra, ModelError, UsageError
from ...records import Reply, Request
from ...system import usable_cores
from . import Handle, WorkerLost, Workers
from .worker import Refusal, Started, Worker

T = TypeVar("T")
MOST_AT_ONCE = 256  # requests of an actor: what it takes is the pool's to say
_TEMPORARY = Path("/tmp")  # sockets lie there, and may not have long names


class RayCluster:
    """A cluster that the models of this process share; it ends with the last of them."""

    _there: RayCluster | None = None

    def __init__(self, address: str) -> None:
        self.address, self._users = address, 0
        self._folder: str | None = None
        self._set: list[str] = []
        self._ray = self._start()

    @classmethod
    def join(cls, workers: Workers) -> RayCluster:
        """Joins the cluster of this process, or starts a cluster; blocks. Raises MissingExtra
        without Ray, ModelError if there is no cluster at the address.
        """
        if find_spec("ray") is None:
            raise MissingExtra("--workers", "ray")
        if cls._there is None:
            cls._there = cls(workers.address)
        cls._there._users += 1
        cls._there._refuse_without_gpus(workers)
        return cls._there

    def _start(self) -> ModuleType:
        settings = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        if not self.address:
            settings |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        for name, value in settings.items():
            if name not in os.environ:
                os.environ[name] = value
                self._set.append(name)
        ray = import_module("ray")
        quiet = {"include_dashboard": None, "log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self.address:
                ray.init(self.address, log_to_driver=False, logging_level="ERROR")
            else:
                place = _TEMPORARY if _TEMPORARY.is_dir() else None
                self._folder = tempfile.mkdtemp(prefix="tiltmeter-", dir=place)
                quiet["include_dashboard"] = False
                ray.init(num_cpus=usable_cores(), _temp_dir=self._folder, **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            self._end()
            where = f"at {self.address}" if self.address else "on this machine"
            reason = " ".join(str(error).split())[:300]
            raise ModelError(
                f"No Ray cluster {where} can be used: {reason}. Start one (ray start --head), or "
                "leave the address out: --workers 8"
            ) from None
        return ray

    def _refuse_without_gpus(self, workers: Workers) -> None:
        """Raises ModelError if this machine has too few GPUs, as none will be added."""
        available = float(self._ray.cluster_resources().get("GPU", 0))
        if not self.address and workers.gpus * workers.number > available:
            self.leave()
            raise ModelError(
                f"{workers.number} workers with {workers.gpus:g} GPUs each are too many: this "
                f"machine has {available:g} GPUs. Lower the number, or leave gpus out."
            )

    def pack(self, model: object) -> bytes:
        """Packs a model as bytes, with this process's functions. Raises UsageError on failure."""
        try:
            content: bytes = self._ray.cloudpickle.dumps(model)
        except (PickleError, TypeError, AttributeError, ValueError, RuntimeError) as error:
            raise UsageError(
                f"This model cannot be sent to workers ({error}). Leave --workers out."
            ) from None
        return content

    def start_worker(self, payload: bytes, gpus: float) -> Handle:
        """Starts an actor, which waits until a machine has room for it."""
        actor = self._ray.remote(Worker).options(
            num_cpus=1 if self.address else 0,
            num_gpus=gpus,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=MOST_AT_ONCE,
            scheduling_strategy="SPREAD",
        )
        return _Actor(self._ray, actor.remote(payload))

    def leave(self) -> None:
        """Leaves the cluster for one model; for the last model, shuts it down or disconnects."""
        self._users -= 1
        if self._users > 0:
            return
        RayCluster._there = None
        self._ray.shutdown()
        self._end()

    def _end(self) -> None:
        """Removes the cluster's temporary folder and environment variables."""
        for name in self._set:
            os.environ.pop(name, None)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class _Actor:
    """A worker that is a Ray actor."""

    def __init__(self, ray: ModuleType, actor: Any) -> None:
        self._ray, self._actor, self._is_up = ray, actor, False

    async def _call(self, method: Callable[[], Awaitable[T]]) -> T:
        errors = self._ray.exceptions
        try:
            return await method()
        except (errors.RayActorError, errors.WorkerCrashedError, errors.ObjectLostError) as error:
            reason = " ".join(str(error).split())[:200]
            raise WorkerLost(f"a worker was lost ({reason})") from None

    async def start(self) -> Started | Refusal:
        """Loads the model."""
        started: Started | Refusal = await self._call(self._actor.start.remote)
        self._is_up = isinstance(started, Started)
        return started

    async def ask(self, request: Request, pictures: dict[str, bytes]) -> Reply | Refusal:
        """Returns the model's reply."""
        reply: Reply | Refusal = await self._call(lambda: self._actor.ask.remote(request, pictures))
        return reply

    async def stop(self) -> None:
        """Closes the model and ends the actor."""
        try:
            if self._is_up:
                await self._call(self._actor.close.remote)
        finally:
            self._ray.kill(self._actor)
