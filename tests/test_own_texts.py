"""No run of twelve words of a text that others published is in the tree, or in the wheel.

The published texts lie beside the repository (tests/shared.py). Compressed files are opened, and wheels
and pages read as what they hold. What THIRD_PARTY.md names as a paper's method may stay: ALLOWED.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .shared import DATA, ROOT, WANTS

LENGTH = 12
WORD = re.compile(r"[^\W_]+")
# Ours, as the README of the published data says.
OURS = ("replies", "traffic", "record/toml-drafts")
LICENCES = re.compile(r"(?i)licen[cs]e")  # the text of a licence is anybody's
BINARY = {".png", ".jpg", ".webp", ".ico", ".woff2", ".sqlite", ".pyc", ".onnx"}
# Path of the tree → why it may hold what was published (THIRD_PARTY.md, Words and texts).
ALLOWED = {
    "src/tiltmeter/protocols/gramvis/words.csv": "the nouns that the paper lists",
    "src/tiltmeter/protocols/gramvis/templates.csv": "the prompts that the paper prints",
}


def words(text: str) -> list[str]:
    """Returns the words of a text, in small letters; escapes of JSON are read."""
    if "\\u" in text or "\\n" in text:
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
        text = text.replace("\\n", " ").replace("\\t", " ")
    return WORD.findall(text.casefold())


def runs(text: str) -> Iterator[int]:
    """Yields a hash of each run of twelve words."""
    found = words(text)
    for at in range(len(found) - LENGTH + 1):
        yield hash(tuple(found[at : at + LENGTH]))


def opened(name: str, content: bytes) -> str:
    """Returns the text of a file, decompressed; "" of a picture or another binary."""
    if name.endswith(".xz"):
        return opened(name[:-3], lzma.decompress(content))
    if name.endswith(".gz"):
        return opened(name[:-3], gzip.decompress(content))
    if Path(name).suffix in BINARY:
        return ""
    return content.decode("utf-8", errors="ignore")


def published_texts() -> Iterator[tuple[str, str]]:
    """Yields (name, text): a text per cell of a table, value of an object or line."""
    for path in sorted(DATA.rglob("*")):
        name = path.relative_to(DATA).as_posix()
        if not path.is_file() or name.startswith(OURS) or LICENCES.search(path.name):
            continue
        if path.name == "README.md":  # by those who collected the data
            continue
        text = opened(path.name, path.read_bytes())
        if ".json" in path.name:
            for line in text.splitlines() if ".jsonl" in path.name else [text]:
                for value in values(json.loads(line)) if line.strip() else ():
                    yield name, value
        else:
            for line in text.splitlines()[1:]:  # the names of columns are a format
                for cell in line.split("\t"):
                    yield name, cell


def values(whole: object) -> Iterator[str]:
    """Yields the texts of an object, however deep."""
    if isinstance(whole, str):
        yield whole
    elif isinstance(whole, dict):
        for value in whole.values():
            yield from values(value)
    elif isinstance(whole, list):
        texts = [one for one in whole if isinstance(one, str)]
        if len(texts) == len(whole) and all(len(words(text)) < LENGTH for text in texts):
            yield " ".join(texts)  # a list of short texts, such as prompts or names
        else:
            for value in whole:
                yield from values(value)


@cache
def published_runs() -> dict[int, str]:
    """Returns the hash of each run of twelve words, with the file that has it."""
    if not DATA.is_dir():
        pytest.skip(f"{WANTS}the folder as a whole")
    return {run: name for name, text in published_texts() for run in runs(text)}


def copied(name: str, content: bytes) -> str:
    """Returns the published file that a file of ours has twelve words of; "" for none."""
    known = published_runs()
    return next((known[run] for run in runs(opened(name, content)) if run in known), "")


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    ).stdout
    if not listed:
        pytest.skip("this is not a clone")
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def test_the_reading_finds_what_is_copied() -> None:
    """From the first published text that is long enough, in plain, compressed and escaped form."""
    published_runs()
    long = next(text for _, text in published_texts() if len(words(text)) > 3 * LENGTH)
    part = " ".join(words(long)[LENGTH : 2 * LENGTH])
    for name, content in (
        ("a.md", f"So it is. {part.title()}!".encode()),
        ("a.jsonl.xz", lzma.compress(json.dumps({"text": part}).encode())),
        ("a.json", json.dumps([part.replace(" ", "\n")]).encode()),
        ("a.html.gz", gzip.compress(f"<p>{part}</p>".encode())),
    ):
        assert copied(name, content), name
    assert not copied("a.md", " ".join(reversed(part.split())).encode())


def test_nothing_published_is_in_the_tree() -> None:
    found = {
        name: of
        for name in tracked()
        if name not in ALLOWED
        and not LICENCES.search(Path(name).name)
        and (of := copied(name, (ROOT / name).read_bytes()))
    }
    assert found == {}


def test_what_is_allowed_is_there_and_named() -> None:
    notice = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    for name in ALLOWED:
        assert (ROOT / name).is_file() and Path(name).name in notice


@pytest.mark.slow
def test_nothing_published_is_in_the_wheel(tmp_path: Path) -> None:
    published_runs()
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = {
            name: of
            for name in archive.namelist()
            if f"src/{name}" not in ALLOWED
            and not LICENCES.search(Path(name).name)
            and (of := copied(name, archive.read(name)))
        }
    assert found == {}
