"""What only POSIX has stands in one place, with something for Windows beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tiltmeter"
# Modules and names that Windows lacks, or where they mean something else.
POSIX = {
    *("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "fork", "forkpty", "setsid"),
    *("mkfifo", "mknod", "getuid", "geteuid", "chown", "lchown", "chroot", "killpg", "getpgid"),
    *("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "alarm", "pthread_kill"),
    *("add_signal_handler", "sched_getaffinity", "O_NONBLOCK", "O_NOFOLLOW", "flock"),
}
PLACE = "system.py"


def posix_names(path: Path) -> set[str]:
    """What of these a file names: as an attribute, an import or a text, as of a getattr."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found & POSIX


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_what_only_posix_has_stands_in_one_place(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix() != PLACE:
        assert posix_names(path) == set()


def test_no_shipped_file_has_a_name_that_windows_refuses() -> None:
    names = [path.name for path in SOURCE.rglob("*")]
    assert [
        name for name in names if set(name) & set('<>:"|?*\\') or name.endswith((".", " "))
    ] == []
