"""What only POSIX has stands in one place, with something for Windows beside it."""

from __future__ import annotations

import ast
import subprocess
import sys
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
PLACE = "system/__init__.py"


def posix_names(path: Path) -> set[str]:
    """What of these a file names: as an attribute, an import or the text of a getattr."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def test_no_shipped_file_has_a_name_that_windows_refuses() -> None:
    names = [path.name for path in SOURCE.rglob("*")]
    assert [
        name for name in names if set(name) & set('<>:"|?*\\') or name.endswith((".", " "))
    ] == []


def test_what_differs_between_systems_is_imported_in_no_time() -> None:
    """Every file reads through system/intake.py, so what that imports `--help` waits for."""
    code = "import sys, tiltmeter.system.intake; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
