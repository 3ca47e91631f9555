"""The lock of a run: one process writes at a time.

It is held on the file `.writer`, and the system drops it when the process dies. If the file can be
removed while it is open (POSIX), it is removed before the lock is released, and a process that got
the lock of a removed file tries the new file: otherwise two processes could hold a lock each. On
Windows the file stays. A second handle tests if locks work on this file system; if they do not, the
lease beside the lock (lease.py) keeps others out.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import RunBusy
from ..system import NO_LINK, REMOVES_OPEN_FILES, try_lock
from .lease import Lease

LOCK_FILE = ".writer"


class WriterLock:
    """A lock, held from its creation until `release`. Raises RunBusy if another process holds it.

    works: False if locks have no effect on this file system.
    """

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
                    self.works = self._excludes()
                    self._lease = Lease(folder, self.works)
                    return
            except BaseException:
                os.close(self._file)
                raise
            os.close(self._file)

    @property
    def lost(self) -> bool:
        """True if another process has taken the run over."""
        return self._lease.lost

    def _excludes(self) -> bool:
        """True if a second handle cannot get the lock."""
        second = os.open(self._path, os.O_RDWR | NO_LINK)
        try:
            return not try_lock(second)
        finally:
            os.close(second)

    def _is_current(self) -> bool:
        """True if the locked file is still the file at its path, which others will open."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Releases the lock; removes its file before that if the system can remove open files."""
        self._lease.release()
        if REMOVES_OPEN_FILES:
            self._path.unlink(missing_ok=True)
        os.close(self._file)
