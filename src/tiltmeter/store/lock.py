"""The lock of a run: one process writes at a time.

It is held on the file `.writer`, and the system drops it when the process dies. Where the file can
be removed while it is open (POSIX), that is done before the lock is given up, and whoever got the
lock of a removed file tries the new one: else two could hold one each. On Windows the file stays.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import RunBusy
from ..system import NO_LINK, REMOVES_OPEN_FILES, try_lock

LOCK_FILE = ".writer"


class WriterLock:
    """Held from the moment it is made until `release`. RunBusy where another process has it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | NO_LINK)
            try:
                if not try_lock(self._file):
                    raise RunBusy(
                        f"Another tiltmeter is writing to {folder}. Wait for it, or stop it."
                    )
                if self._is_current():
                    return
            except BaseException:
                os.close(self._file)
                raise
            os.close(self._file)

    def _is_current(self) -> bool:
        """True if the locked file is still the one that others will open."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Gives the lock up, and removes its file where that can be done before."""
        if REMOVES_OPEN_FILES:
            self._path.unlink(missing_ok=True)
        os.close(self._file)
