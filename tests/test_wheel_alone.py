"""The wheel by itself: every command of README and of what somebody already has, in an environment that holds nothing else
and in a folder outside the clone. Outside `make test`: it installs from an index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_docs import FENCE, ROOT, Reader, commands, text_of
from tiltmeter.models.local import weights

pytestmark = pytest.mark.slow
ANSWERS = "examples/roles/answers.jsonl.xz"  # which README names in the clone


class Installed(Reader):
    """Somebody who installed the wheel, with the extra `builtin`."""

    def __init__(self, folder: Path, environment: Path) -> None:
        self.folder, self.names, self.servers, self.url = folder, {}, [], ""
        self.program = (str(environment / "bin" / "tiltmeter"),)
        self.python = environment / "bin" / "python"

    def _process(self, *command: str) -> tuple[int, str]:
        variables = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, check=False
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def call(self, arguments: list[str]) -> tuple[int, str]:
        """In a process of its own."""
        return self._process(*self.program, *arguments)

    def execute(self, content: str) -> None:
        """In a process of its own."""
        code, said = self._process(str(self.python), "-c", content)
        assert code == 0, said


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel of this tree, the extra `builtin` and what they need."""
    home = tmp_path_factory.mktemp("alone")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(home)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = home.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    pip = [str(home / "venv" / "bin" / "pip"), "install", "--quiet", f"{wheel}[builtin]"]
    subprocess.run(pip, check=True)
    return home / "venv"


@pytest.fixture
def reader(environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = Installed(tmp_path, environment)
    try:
        yield made
    finally:
        made.leave()


@pytest.mark.parametrize(
    "page", ["README.md", "docs/how-to/what-you-have.md", "docs/tutorials/your-own-audit.md"]
)
def test_every_command_works_from_the_wheel(page: str, reader: Reader) -> None:
    reader.work_through(text_of(page))


def test_the_commands_of_readme_that_are_shown_and_not_run(reader: Reader) -> None:
    """Those under ```text, whose full output is quoted, and those on the built-in model."""
    folder = reader.folder / Path(ANSWERS).parent
    folder.mkdir(parents=True)
    shutil.copy(ROOT / ANSWERS, folder)
    shown = [
        command
        for language, _, block in FENCE.findall(text_of("README.md"))
        for command in commands(block)
        if (language == "text" or command.on_builtin)
        and "·" not in command.arguments  # a line of what a command printed
        and command.arguments[0] != "import"  # of a copy of others' data
    ]
    assert len(shown) == 2
    for command in shown:
        if command.on_builtin and weights.find_cached(weights.SMOLLM2) is None:
            continue
        few = ["--limit", "4"] if command.on_builtin else []
        out = [*command.arguments[:-1], f"{command.arguments[-1]}-2"] if few else command.arguments
        code, said = reader.call([*out, *few])
        assert code == 0, said
