"""Everything that depends on the operating system; no other module may call these functions."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from pathlib import Path

# of os.open, for a file that somebody else may have made: a named pipe does not hang
READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
REMOVES_OPEN_FILES = sys.platform != "win32"


def is_root() -> bool:
    """True if the user is root, whom file permissions do not stop."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def is_alive(process: int) -> bool:
    """True if a process of this machine is, or may be, running."""
    if sys.platform == "win32":
        return True  # os.kill would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def usable_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _running_loop() -> AbstractEventLoop:
    from asyncio import get_running_loop  # takes .1 s, which --help must not pay for

    return get_running_loop()


def add_signal_handlers(numbers: Sequence[int], call: Callable[[], None]) -> bool:
    """Makes the running loop call a function at signals; False if it cannot (Windows)."""
    loop = _running_loop()
    try:
        for number in numbers:
            loop.add_signal_handler(number, call)
    except NotImplementedError:
        return False
    return True


def remove_signal_handlers(numbers: Sequence[int]) -> None:
    """Restores the default handlers of signals."""
    loop = _running_loop()
    for number in numbers:
        loop.remove_signal_handler(number)


if sys.platform == "win32":
    import msvcrt

    def try_lock(file: int) -> bool:
        """Locks an open file; False if another process has it."""
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def sync_file(file: int) -> None:
        """Flushes an open file to the disk; the file must be open for writing."""
        os.fsync(file)

    def sync_folder(path: Path) -> None:
        """Does nothing: Windows opens no folder, and NTFS keeps names in a journal."""

else:
    import fcntl

    def try_lock(file: int) -> bool:
        """Locks an open file; False if another process has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:  # a file system without locks: the lease beside them holds
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
                raise
        return True

    def sync_file(file: int) -> None:
        """Flushes an open file to the disk. On macOS fsync alone leaves the content in the disk's
        own cache (see fsync(2)), which a power cut empties.
        """
        full = getattr(fcntl, "F_FULLFSYNC", None)
        if full is not None:
            try:
                fcntl.fcntl(file, full)
                return
            except OSError:
                pass  # a file system that has no such request
        os.fsync(file)

    def sync_folder(path: Path) -> None:
        """Writes the names of the files in a folder to the disk."""
        folder = os.open(path, os.O_RDONLY)
        try:
            sync_file(folder)
        finally:
            os.close(folder)
