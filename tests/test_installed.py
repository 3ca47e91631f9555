"""Every data file is in the wheel, and is opened there by the code that reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.test_floors import SOURCE

READ_BY_PEOPLE = {"LICENSE", "CLDR_LICENSE", "py.typed"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel of this tree was installed."""
    home = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    subprocess.run(
        [*build, "--outdir", str(home / "wheel"), str(SOURCE.parents[1])],
        check=True,
        capture_output=True,
    )
    (wheel,) = (home / "wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:  # what pip does with a wheel of Python alone
        archive.extractall(home / "site")
    lend_bytecode(home / "site" / "tiltmeter")
    return home / "site"


def lend_bytecode(package: Path) -> None:
    """Compiling takes longer than all else here: files that are alike get ours, and its date."""
    for path in SOURCE.rglob("*.py"):
        copy = package / path.relative_to(SOURCE)
        if copy.read_bytes() == path.read_bytes():
            shutil.copystat(path, copy)
    for compiled in SOURCE.rglob("__pycache__"):
        shutil.copytree(compiled, package / compiled.relative_to(SOURCE))


def data_files(package: Path) -> set[str]:
    return {
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".py"
    }


def test_the_wheel_has_every_data_file(installed: Path) -> None:
    """But for datasheets, which are read in the repository."""
    ours = {name for name in data_files(SOURCE) if not Path(name).name.startswith("DATASHEET")}
    assert data_files(installed / "tiltmeter") == ours


def test_every_data_file_is_opened_from_the_installed_package(installed: Path) -> None:
    program = Path(__file__).with_name("opening.py")
    done = subprocess.run(
        [sys.executable, str(program), str(installed)],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    wanted = {
        name
        for name in data_files(installed / "tiltmeter")
        if Path(name).suffix != ".md" and Path(name).name not in READ_BY_PEOPLE
    }
    assert wanted - set(done.stdout.splitlines()) == set()
