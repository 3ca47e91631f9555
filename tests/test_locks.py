"""What scripts install is fixed by version and hash, for every platform, and no file names an address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "locks").glob("*.txt"))
ENTRY = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def normal(name: str) -> str:
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(path: Path) -> dict[str, str]:
    return {normal(name): version for name, version in ENTRY.findall(path.read_text("utf-8"))}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_has_the_tested_versions_with_hashes_and_no_address(path: Path) -> None:
    text = path.read_text("utf-8")
    tested = versions(ROOT / "constraints.txt")
    assert versions(path).items() <= tested.items()
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert all(HASH.search(entry) for entry in entries)
    assert "://" not in text and "-url" not in text and "--find-links" not in text


def test_there_is_a_lock_for_each_script_with_all_that_it_needs() -> None:
    assert [path.stem for path in LOCKS] == ["builtin", "test"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {normal(re.split(r"[><=!\[]", one)[0]) for one in project["dependencies"]}
    extras = project["optional-dependencies"]
    for path, names in ((LOCKS[0], ["builtin"]), (LOCKS[1], ["builtin", "faces", "test"])):
        more = {normal(re.split(r"[><=!\[]", one)[0]) for name in names for one in extras[name]}
        assert (needed | more) - {"tiltmeter"} <= set(versions(path))
