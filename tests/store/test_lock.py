"""One writer at a time, also while others give the lock up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiltmeter.errors import RunBusy
from tiltmeter.store.lock import LOCK_FILE, WriterLock

# Takes the lock again and again; a hold during which another one's mark is there is by two at once.
CONTENDER = """
import os, sys, time
from pathlib import Path
from tiltmeter.errors import RunBusy
from tiltmeter.store.lock import WriterLock
folder, until, holds, twice = Path(sys.argv[1]), time.time() + float(sys.argv[2]), 0, 0
while time.time() < until:
    try:
        lock = WriterLock(folder)
    except RunBusy:
        continue
    mark = folder / "held"
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        os.sched_yield()
        mark.unlink()
        holds += 1
    except FileExistsError:
        twice += 1
    lock.release()
print(holds, twice)
"""


def test_no_two_hold_it_while_it_is_given_up_all_the_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONTENDER, str(tmp_path), "1.0"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    counts = [process.communicate()[0].split() for process in processes]
    assert all(len(count) == 2 for count in counts)
    assert sum(int(holds) for holds, _ in counts) > 50
    assert [twice for _, twice in counts] == ["0"] * 4


def test_the_lock_of_a_removed_file_is_none(tmp_path: Path) -> None:
    """Opened before it was removed, locked after: the moment in which two had one each."""
    first = WriterLock(tmp_path)
    stale = os.open(tmp_path / LOCK_FILE, os.O_RDWR)
    first.release()
    second = WriterLock(tmp_path)
    third = object.__new__(WriterLock)
    third._path, third._file = tmp_path / LOCK_FILE, stale
    assert not third._is_current()
    os.close(stale)
    with pytest.raises(RunBusy):
        WriterLock(tmp_path)
    second.release()
    WriterLock(tmp_path).release()
    assert not list(tmp_path.iterdir())


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / LOCK_FILE).symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic"):
        WriterLock(tmp_path)
    assert (tmp_path / "victim").read_text() == "mine"
