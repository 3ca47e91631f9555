"""Tables that are compressed: read alike, bounded, and refused where they are broken."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tiltmeter.errors import ProtocolError
from tiltmeter.protocol.design.tables import Beside
from tiltmeter.protocol.source.source_lines import SourceLocation
from tiltmeter.system import intake

PLACE = SourceLocation("toy.toml")


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "job\r\nnurse\r\n"), ("a.jsonl", '{"job": "nurse"}\n')]
)
def test_rows_are_those_of_the_plain_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.xz").write_bytes(lzma.compress(text.encode()))
    assert Beside(tmp_path).rows(f"{name}.xz", PLACE) == [{"job": "nurse"}]


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    whole = lzma.compress(b"job\nnurse\n")
    for content, why in ((b"job\nnurse\n", "cannot be decompressed"), (whole[:-8], "breaks off")):
        (tmp_path / "a.csv.xz").write_bytes(content)
        with pytest.raises(ProtocolError, match=why):
            Beside(tmp_path).rows("a.csv.xz", PLACE)


def test_what_is_small_and_becomes_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv.xz").write_bytes(lzma.compress(b"a" * 2_000_000))
    with pytest.raises(OSError, match="when it is decompressed"):
        intake.read_text(tmp_path / "a.csv.xz", 1_000_000)
