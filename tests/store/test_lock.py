"""One writer at a time, also while others give the lock up."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tiltmeter.errors import RunBusy
from tiltmeter.store import Store
from tiltmeter.store.lease import LEASE_FILE, Lease
from tiltmeter.store.lock import LOCK_FILE, WriterLock

# Takes the lock again and again, together with the others; a hold during which another one's mark is there is by two at
# once.
CONTENDER = """
import os, sys
from pathlib import Path
from tiltmeter.errors import RunBusy
from tiltmeter.store.lock import WriterLock
folder, holds, twice = Path(sys.argv[1]), 0, 0
print("ready", flush=True)
sys.stdin.readline()
while holds + twice < 100:
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
    command = [sys.executable, "-c", CONTENDER, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    assert all(process.stdout.readline() == "ready\n" for process in processes)
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate()[0].split() for process in processes] == [["100", "0"]] * 4


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


# A run by one of two processes, on a file system whose locks do nothing.
RIVAL = """
import sys
from tiltmeter import system
from tiltmeter.store import lock
lock.try_lock = system.try_lock = lambda file: True
from tiltmeter import api
from tiltmeter.errors import TiltmeterError
for number in range(int(sys.argv[2])):
    out = f"{sys.argv[1]}/{number}"
    for _ in range(200):
        try:
            api.run("roles", "planted:she=0.7,seed=3,latency=0", out, language="en", limit=2,
                    samples=2, pilot=False)
            break
        except TiltmeterError as error:
            said = str(error)
    else:
        print(said)
"""


@pytest.mark.parametrize("tries", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_two_writers_without_working_locks_do_nothing_twice(tries: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RIVAL, str(tmp_path), str(tries)]
    rivals = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [rival.communicate() for rival in rivals] == [("", "")] * 2
    for number in range(tries):
        with Store(tmp_path / str(number)) as store:
            asked = store.first("SELECT count(*), count(DISTINCT request) FROM calls")
            labels = store.first("SELECT count(*), count(DISTINCT output) FROM labels")
            outputs = store.first("SELECT count(*) FROM outputs")[0]
            journal = store.first("PRAGMA journal_mode")[0]
        assert (asked, labels, outputs, journal) == ((8, 8), (8, 8), 8, "delete")
        assert not list((tmp_path / str(number)).glob(".lease*"))


def test_a_lease_is_taken_over_where_its_owner_is_dead_or_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(host: str, pid: int, age_s: float = 0.0) -> None:
        told = {"owner": "another", "host": host, "pid": pid}
        (tmp_path / LEASE_FILE).write_text(json.dumps(told))
        then = time.time() - age_s
        os.utime(tmp_path / LEASE_FILE, (then, then))

    left(socket.gethostname(), 2**22 + 1)
    Lease(tmp_path, locks_work=False).release()
    left(socket.gethostname(), os.getpid())
    with pytest.raises(RunBusy, match="is writing"):
        Lease(tmp_path, locks_work=False)
    Lease(tmp_path, locks_work=True).release()  # who has the lock is alone on this machine
    left("elsewhere", 1)
    with pytest.raises(RunBusy, match="on elsewhere"):
        Lease(tmp_path, locks_work=True)
    left("elsewhere", 1, age_s=100)
    taken = Lease(tmp_path, locks_work=False)
    left("elsewhere", 2)  # one who thought that this one was silent
    taken.check()
    assert taken.lost
    taken.release()
    assert (tmp_path / LEASE_FILE).exists()
