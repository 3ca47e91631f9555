"""What README begins with works in a fresh clone, without a network and without published data beside
it, and prints what README shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .shared import ROOT

# Imported at start by the interpreter: whoever opens a connection, or looks a name up, fails.
NO_NETWORK = """
import socket
def refuse(*_, **__):
    raise OSError("this test has no network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
"""
CPU_SECONDS = 20  # some three (not known on Windows)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the last commit, with the files that differ from it as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    ).stdout.decode()
    if not listed:
        pytest.skip("this is not a clone")
    target = tmp_path / "alone" / "clone"
    wanted = ("src/", "examples/roles/", "README.md")
    for name in filter(None, listed.split("\0")):
        if name.startswith(wanted) and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((ROOT / name).read_bytes())
    return target


def test_readme_begins_with_what_a_clone_has(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK, "utf-8")
    fence = re.search(r"```text\n(\$ .+?)```", (clone / "README.md").read_text("utf-8"), re.DOTALL)
    assert fence is not None
    command, *shown = fence[1].partition("$ tiltmeter ")[2].splitlines()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(clone / "src"))),
        "COLUMNS": "80",
        "HOME": str(tmp_path),
        "TILTMETER_CACHE": str(tmp_path / "cache"),
    }
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "tiltmeter", *shlex.split(command)],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    after = os.times()
    spent = after.children_user - before.children_user
    assert spent + after.children_system - before.children_system < CPU_SECONDS
    printed = (done.stdout + done.stderr).splitlines()
    lines = [line for line in shown if line.strip(" …")]
    assert len(lines) >= 8
    assert [line for line in lines if line not in printed] == []
    assert (clone / "first" / "report.html").stat().st_size > 100_000
