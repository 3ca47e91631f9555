"""A figure as a file: what is written is what the ending says, or nothing."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image, ImageChops

from tests.browser import Visit, chromium, drive
from tests.drawing import picture
from tests.report import gallery
from tiltmeter.errors import UsageError
from tiltmeter.records import Estimate
from tiltmeter.registry import protocol
from tiltmeter.report.figures import files, svg
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


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
def test_a_png_shows_all_of_its_svg(tmp_path: Path) -> None:
    """The low ones are the proof: a frame of 87 px left 7 of 94 (Chromium 156)."""
    drawn = {name: notebook.standalone(name, f).svg for name, f in gallery.drawn().items()}
    by_height = sorted(drawn, key=lambda name: files.size(drawn[name])[1])
    for name in (by_height[0], by_height[-1]):
        plain = files.write(drawn[name], tmp_path / f"{name}.svg")
        width, height = map(math.ceil, files.size(plain.read_text("utf-8")))
        seen = tmp_path / f"{name}-seen.png"  # the SVG itself, as another way of asking shows it
        steps = (("go", plain.as_uri()), ("picture", str(seen)))
        drive(Visit(steps, width=width, height=height, scale=files.DENSITY))
        saved = files.write(drawn[name], tmp_path / f"{name}.png")
        with Image.open(saved) as png, Image.open(seen) as same:
            assert png.size == same.size == (width * files.DENSITY, height * files.DENSITY)
            boxes = [
                ImageChops.invert(one.convert("L")).point(lambda value: 255 * (value > 64))
                for one in (png, same)
            ]
        assert boxes[0].getbbox() == boxes[1].getbbox()
        ink = [box.histogram()[255] for box in boxes]
        assert ink[0] == pytest.approx(ink[1], rel=0.01) and min(ink) > 1000


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
def test_a_figure_of_hundreds_of_rows_is_drawn_to_its_end(tmp_path: Path) -> None:
    """Chromium draws 16,384 pixels of a side: a higher figure gets fewer for each of its own."""
    long = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 7000"><style>:root {--ink: #000;}'
        '</style><rect x="10" y="6980" width="10" height="10"></rect></svg>'
    )
    with Image.open(files.write(long, tmp_path / "long.png")) as png:
        density = png.width // 820
        assert png.size == (820 * density, 7000 * density) and density == 2
        ink = ImageChops.invert(png.convert("L")).getbbox()
    assert ink == (10 * density, 6980 * density, 20 * density, 6990 * density)


@pytest.mark.skipif(os.name == "nt", reason="a program of one line with its interpreter above")
def test_a_picture_that_lacks_a_part_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, white = tmp_path / "browser", tmp_path / "white.png"
    white.write_bytes(picture(size=(4000, 4000), colour=(255, 255, 255)))
    program.write_text(
        f"#!{sys.executable}\nimport shutil, sys\n"
        "target = next(one for one in sys.argv if one.startswith('--screenshot=')).partition('=')\n"
        f"shutil.copyfile({str(white)!r}, target[2])\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv(files.BROWSER, str(program))
    with pytest.raises(UsageError, match=r"drew a\.png only in part.*Save it as \.svg"):
        FIGURE.save(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_labels_that_are_cut_keep_what_tells_them_apart() -> None:
    rows = [f"choice/planted:protocol=roles · {language}" for language in ("en", "zh", "ja")]
    cut = [svg.cut_text(row, 154) for row in rows]
    assert len({*cut}) == 3 and cut[1].endswith("… · zh")
    assert all(svg.width_of(text) <= 154 for text in cut)


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
