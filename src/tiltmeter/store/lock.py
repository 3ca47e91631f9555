"""The lock of a run: one process writes at a time.

It is an exclusive SQLite lock on the file `.writer`, which the system drops when the process dies.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ..errors import RunBusy

LOCK_FILE = ".writer"


class WriterLock:
    """Held from the moment it is made until `release`. RunBusy where another process has it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._db = sqlite3.connect(self._path, isolation_level=None, timeout=0)
        try:
            self._db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            self._db.close()
            raise RunBusy(
                f"Another tiltmeter is writing to {folder}. Wait for it, or stop it."
            ) from None

    def release(self) -> None:
        """Gives the lock up and removes its file."""
        self._db.close()
        self._path.unlink(missing_ok=True)
