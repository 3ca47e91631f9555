"""What only POSIX has stands in one place, with something for Windows beside it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiltmeter import system

SOURCE = Path(__file__).parents[1] / "src" / "tiltmeter"
# Modules and names that Windows lacks, or where they mean something else.
POSIX = {
    *("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "fork", "forkpty", "setsid"),
    *("mkfifo", "mknod", "getuid", "geteuid", "chown", "lchown", "chroot", "killpg", "getpgid"),
    *("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "alarm", "pthread_kill"),
    *("add_signal_handler", "sched_getaffinity", "O_NONBLOCK", "O_NOFOLLOW", "flock", "fsync"),
}
PLACE = "system/__init__.py"


def posix_names(path: Path) -> set[str]:
    """What of these a file names: as an attribute, an import or the text of a getattr."""
    found: set[str] = set()
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in POSIX):
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            found |= {
                str(ast.literal_eval(one)) for one in node.args if isinstance(one, ast.Constant)
            }
    return found & POSIX


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_what_only_posix_has_stands_in_one_place(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix() != PLACE:
        assert posix_names(path) == set()


def loose_texts(path: Path) -> list[int]:
    """The lines that read or write text without an encoding, or write it without a newline."""
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in ("write_text", "read_text", "open")):
        return []
    return [node.lineno for node in ast.walk(ast.parse(text)) if is_loose(node)]


def is_loose(node: ast.AST) -> bool:
    """True if the locale, or the system, would choose an encoding or an end of line."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    named = {keyword.arg for keyword in node.keywords}
    match node.func.attr, node.args:
        case "read_text", args:
            return not args and "encoding" not in named
        case "write_text", args:
            return (len(args) < 2 and "encoding" not in named) or "newline" not in named
        case "open", [ast.Constant(value="w" | "a" | "x" | "wt"), *_]:
            return not {"encoding", "newline"} <= named
    return False


def test_a_text_is_the_same_bytes_on_each_system() -> None:
    """Windows has another encoding in each country, and two signs for the end of a line; what a
    run writes is hashed, sealed and compared byte by byte.
    """
    paths = sorted(SOURCE.rglob("*.py"))
    loose = {path.relative_to(SOURCE).as_posix(): loose_texts(path) for path in paths}
    assert {name: lines for name, lines in loose.items() if lines} == {}


@pytest.mark.parametrize(
    ("line", "loose"),
    [
        ("path.write_text(text)", True),
        ('path.write_text(text, "utf-8")', True),
        ('path.write_text(text, "utf-8", newline="\\n")', False),
        ("path.read_text()", True),
        ('path.read_text("utf-8")', False),
        ('path.open("w", encoding="utf-8")', True),
        ('path.open("w", encoding="utf-8", newline="")', False),
        ('path.open("wb")', False),
    ],
)
def test_a_loose_text_is_noticed(line: str, loose: bool) -> None:
    assert is_loose(ast.parse(line, mode="eval").body) is loose


def test_no_shipped_file_has_a_name_that_windows_refuses() -> None:
    names = [path.name for path in SOURCE.rglob("*")]
    assert [
        name for name in names if set(name) & set('<>:"|?*\\') or name.endswith((".", " "))
    ] == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no fcntl")
@pytest.mark.parametrize("knows", [True, False])
def test_on_macos_a_file_is_written_through_the_disks_own_cache(
    knows: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By F_FULLFSYNC of its fcntl(2), where the file system knows it; else by fsync."""
    import fcntl

    asked: list[tuple[str, int]] = []

    def full(file: int, request: int) -> None:
        asked.append(("fcntl", request))
        if not knows:
            raise OSError

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)  # its number in <sys/fcntl.h>
    monkeypatch.setattr(fcntl, "fcntl", full)
    monkeypatch.setattr(os, "fsync", lambda file: asked.append(("fsync", 0)))
    with (tmp_path / "file").open("wb") as file:
        system.sync_file(file.fileno())
    system.sync_folder(tmp_path)
    assert asked == ([("fcntl", 51)] if knows else [("fcntl", 51), ("fsync", 0)]) * 2


def test_what_differs_between_systems_is_imported_in_no_time() -> None:
    """Every file reads through system/intake.py, so what that imports `--help` waits for."""
    code = "import sys, tiltmeter.system.intake; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
