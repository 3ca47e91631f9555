"""A figure as a file: what is written is what the ending says, or nothing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.browser import chromium
from tiltmeter.errors import UsageError
from tiltmeter.records import Estimate
from tiltmeter.registry import protocol
from tiltmeter.report.figures import files
from tiltmeter.report.render import notebook

FIGURE = notebook.drawing(
    protocol("dialogues"),
    [
        Estimate(
            "dialogues",
            "m",
            "j",
            "topic_share",
            {"mode": "sampled", "language": "en", "pairing": pairing, "topic": "career"},
            None,
            value,
            "share",
        )
        for pairing, value in (("FF", 0.2), ("MM", 0.7))
    ],
    "topic_share",
)


def test_an_svg_has_its_colours_written_out(tmp_path: Path) -> None:
    text = FIGURE.save(tmp_path / "a.svg").read_text("utf-8")
    assert "var(" not in text and "@media" not in text
    root = ET.fromstring(text)
    assert (root.get("width"), root.get("height")) == tuple(
        f"{v:g}" for v in files.size(FIGURE.svg)
    )
    style = "".join(root.itertext())
    assert re.search(r"\.h0\s*\{[^}]*#", style) or ".fig-cell" in style


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
@pytest.mark.parametrize(("ending", "begins"), [(".pdf", b"%PDF-"), (".png", b"\x89PNG\r\n")])
def test_a_browser_draws_the_other_kinds(tmp_path: Path, ending: str, begins: bytes) -> None:
    data = FIGURE.save(tmp_path / f"a{ending}").read_bytes()
    assert data.startswith(begins)
    width, height = files.size(FIGURE.svg)
    if ending == ".png":
        size = (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
        assert size == (round(width) * files.DENSITY, round(height) * files.DENSITY)
    else:  # one page, 1 px = .75 pt
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
        assert box and data.count(b"/Type /Page\n") == 1
        assert float(box[1]) == pytest.approx(width * 0.75, abs=1)
        assert float(box[2]) == pytest.approx(height * 0.75, abs=1)


def test_no_browser_and_another_ending_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.png or \.pdf"):
        FIGURE.save(tmp_path / "a.jpg")
    monkeypatch.delenv(files.BROWSER, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match=files.BROWSER):
        FIGURE.save(tmp_path / "a.pdf")
    monkeypatch.setenv(files.BROWSER, str(tmp_path / "none"))
    with pytest.raises(UsageError, match=r"Save it as \.svg"):
        FIGURE.save(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
