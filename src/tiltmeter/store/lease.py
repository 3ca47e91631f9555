"""The lease of a run, beside its lock: on some network file systems locks have no effect.

The file `.lease` is created exclusively, names its owner, and is touched every few seconds. A lease
is taken over if its owner is known to be dead, or has not touched the file for a minute by the
clock of the file system.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
from contextlib import suppress
from pathlib import Path

from ..errors import RunBusy
from ..system import NO_LINK, READ_FLAGS, is_alive

LEASE_FILE = ".lease"
HEARTBEAT_S, STALE_S = 10.0, 60.0
_MOST_BYTES = 1000


class Lease:
    """A lease, held from its creation until `release`. Raises RunBusy if another process holds it.

    locks_work: True if the run's lock was acquired and excludes processes of this machine. lost:
    True once another process has taken the lease over.
    """

    def __init__(self, folder: Path, locks_work: bool) -> None:
        self._folder, self._path = folder, folder / LEASE_FILE
        self._locks_work, self.lost = locks_work, False
        self._owner = secrets.token_hex(16)
        while not self._create():
            self._take_over()
        self._ended = threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()

    def _create(self) -> bool:
        holder = {"owner": self._owner, "host": socket.gethostname(), "pid": os.getpid()}
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK)
        except FileExistsError:
            return False
        with os.fdopen(file, "w", encoding="utf-8") as lines:
            json.dump(holder, lines)
        return True

    def _take_over(self) -> None:
        """Removes the lease of a dead owner. Raises RunBusy if the owner may be alive."""
        lease = _read(self._path)
        if not self._is_over(lease):
            host = lease.get("host", "a machine")
            raise RunBusy(
                f"Another tiltmeter is writing to {self._folder}, on {host}. Wait for it, or stop "
                "it; if it was killed, try again after a minute."
            )
        path = self._path.with_name(f"{LEASE_FILE}.{self._owner}")
        with suppress(FileNotFoundError):  # another one was quicker
            self._path.rename(path)
            if _read(path) != lease:  # the lease of one who was quicker: it is put back
                with suppress(FileExistsError):
                    os.link(path, self._path)
            path.unlink(missing_ok=True)

    def _is_over(self, held: dict[str, object]) -> bool:
        pid = held.get("pid")
        is_near = held.get("host") == socket.gethostname() and isinstance(pid, int)
        if is_near and self._locks_work:
            return True  # else its owner would have the lock
        is_dead = is_near and isinstance(pid, int) and not is_alive(pid)
        return is_dead or self._age_s() > STALE_S

    def _age_s(self) -> float:
        """Returns seconds since the lease was touched, by the file system's clock."""
        mark = self._path.with_name(f"{LEASE_FILE}.{self._owner}.now")
        try:
            mark.touch()
            return mark.stat().st_mtime - self._path.stat().st_mtime
        except FileNotFoundError:
            return 0.0
        finally:
            mark.unlink(missing_ok=True)

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT_S):
            self.check()

    def check(self) -> None:
        """Touches the lease; sets `lost` if another process has taken it over."""
        if _read(self._path).get("owner") == self._owner:
            with suppress(OSError):
                os.utime(self._path)
        else:
            self.lost = True

    def release(self) -> None:
        """Removes the lease file, if it is still this process's, and stops the heartbeat."""
        self._ended.set()
        if _read(self._path).get("owner") == self._owner:
            self._path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, object]:
    """Parses a lease file; {} if it is missing or still empty."""
    try:
        file = os.open(path, READ_FLAGS | NO_LINK)
        with os.fdopen(file, "rb") as lines:
            lease = json.loads(lines.read(_MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return lease if isinstance(lease, dict) else {}
