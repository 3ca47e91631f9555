"""A system that has too little: files, room on the disk. One line says what, and the same command goes on."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tiltmeter
from tests.serving import planted_server
from tiltmeter.cli import main
from tiltmeter.store import database, lock

resource = pytest.importorskip("resource")
RUN = ["run", "roles", "--model", "planted:she=.7", "--language", "en", "--limit", "2"]


def with_few_files(number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process that may open so many files."""
    code = (
        "import resource, sys; from tiltmeter.cli import main; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({number}, {number})); sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


def test_too_many_open_files_are_said_as_such(tmp_path: Path) -> None:
    with planted_server("she=.7,latency=.1") as url:
        asked = ["run", "roles", "--model", "openai:m", "--base-url", url, "--language", "en"]
        done = with_few_files(24, *asked, "--concurrency", "200", "--out", str(tmp_path / "run"))
        again = main([*asked, "--limit", "2", "--out", str(tmp_path / "run")])
    (line,) = done.stderr.strip().splitlines()[-1:]
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "oo many files are open" in line and "--concurrency" in line
    assert again == 0


def test_a_full_disk_at_the_lock_is_said_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_ = os.open

    def full(path: Path, *flags: int) -> int:
        if Path(path).name == lock.LOCK_FILE:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return open_(path, *flags)

    with monkeypatch.context() as patched:
        patched.setattr(lock.os, "open", full)
        assert main([*RUN, "--out", str(tmp_path / "run")]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "No space left on device" in line and "Free space" in line
    assert main([*RUN, "--out", str(tmp_path / "run")]) == 0


def test_a_run_that_was_only_begun_is_begun_again(tmp_path: Path) -> None:
    """What a full disk leaves: a file without tables, or with WAL's first page alone."""
    for name, statement in (("empty", ""), ("header", "PRAGMA journal_mode=WAL")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / database.FILE).touch()
        with database.closing(database._connect(folder / database.FILE)) as db:
            db.execute(statement)
        assert not database.is_begun(folder)
        run = tiltmeter.run("roles", "planted:", out=folder, language="en", limit=2, samples=1)
        assert len(run.outputs) and database.is_begun(folder)
