"""Saves a figure as a file: SVG directly, PNG and PDF with an installed browser.

A file is for a paper: light, on white, without the CSS variables that drawing programs do not know.
The browser gets one page from disk and no network.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ...system import is_root

BROWSER = "TILTMETER_BROWSER"  # names the browser's program where it is not found
PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
DENSITY = 3  # pixels of a PNG for each of the drawing: about 300 an inch at 7 inches
# A window's size may include its frame (87 px in Chromium 156, without a screen too): the page is
# given this room beyond the drawing, which is cut off again.
FRAME = 240
LONGEST = 16_000  # pixels of a side of a picture; Chromium draws 16,384 and leaves the rest white
BEYOND = (255, 0, 254)  # the page's colour beyond the drawing; no drawing has it
PATIENCE_S = 60
WHITE = {"--paper": "#ffffff"}


def write(svg: str, path: Path) -> Path:
    """Writes a drawing in the format of the path's ending: .svg, .png or .pdf. Raises UsageError
    for another ending, and if the format needs a browser that is missing or fails.
    """
    plain = for_print(svg)
    ending = path.suffix.lower()
    if ending == ".svg":
        path.write_text(plain, encoding="utf-8", errors="backslashreplace", newline="\n")
        return path
    if ending not in (".png", ".pdf"):
        raise UsageError(
            f"{path.name}: a figure is saved as .svg, .png or .pdf. Give the file one of these "
            "endings."
        )
    _by_browser(plain, path)
    return path


def for_print(svg: str) -> str:
    """Returns the drawing for print: light colours written out, on white, with a fixed size."""
    start, end = svg.index("<style>"), svg.index("</style>")
    style = _resolve(re.sub(r"/\*.*?\*/", "", svg[start + 7 : end], flags=re.DOTALL))
    styled = f"{svg[:start]}<style>{style}</style>{svg[end + 8 :]}"
    width, height = size(svg)
    return styled.replace("<svg ", f'<svg width="{width:g}" height="{height:g}" ', 1)


def size(svg: str) -> tuple[float, float]:
    """Reads the width and height of a drawing, in px."""
    match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if match is None:
        raise ValueError("no viewBox")
    return float(match[1]), float(match[2])


def _resolve(sheet: str) -> str:
    """Returns the style rules that drawings use, with light values in place of variables."""
    sheet = re.sub(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", sheet)
    colours = (
        dict(
            re.findall(
                r"(--[\w-]+):\s*([^;]+);", next(body for name, body in rules if ":root" in name)
            )
        )
        | WHITE
    )
    children = []
    for selector, body in rules:
        if re.search(r"\bsvg\b|\.fig-|\.[smpqchg]\d|\.middle|\.end", selector):
            value = re.sub(r"var\((--[\w-]+)\)", lambda name: colours[name[1]], body)
            children.append(f"{selector.strip()}{{{value.strip()}}}")
    return "\n".join(children)


def _by_browser(svg: str, path: Path) -> None:
    """Prints the SVG to a file with a browser, on a page that has the drawing's size."""
    width, height = map(math.ceil, size(svg))
    density = min(DENSITY, max(1, LONGEST // (max(width, height) + FRAME)))
    page = (
        '<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>@page {{ size: {width}px {height}px; margin: 0 }} "
        f"@media screen {{ html {{ background: rgb{BEYOND} }} }} body {{ margin: 0; "
        f"width: {width}px; height: {height}px; background: #fff }} svg {{ display: block }}"
        f"</style>{svg}"
    )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "figure.html", Path(folder) / f"figure{path.suffix}"
        source.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")
        if path.suffix.lower() == ".pdf":
            how = ["--no-pdf-header-footer", f"--print-to-pdf={target}"]
        else:
            how = [
                f"--screenshot={target}",
                f"--window-size={width + FRAME},{height + FRAME}",
                f"--force-device-scale-factor={density}",
            ]
        _call([*how, f"--user-data-dir={folder}/profile", source.as_uri()], path)
        if not target.is_file():
            raise UsageError(f"The browser did not draw {path.name}. {_remedy()}")
        if path.suffix.lower() == ".png":
            _cut(target, (width * density, height * density), path)
        shutil.copyfile(target, path)


def _cut(picture: Path, size: tuple[int, int], path: Path) -> None:
    """Cuts a browser's picture to the drawing. Raises UsageError if it does not hold all of it: the
    drawing's corner must be white, and the page beyond the corner visible on both sides.
    """
    from PIL import Image

    width, height = size
    with Image.open(picture) as window:
        whole = window.convert("RGB")
    corners = [(width - 1, height - 1), (width, height - 1), (width - 1, height)]
    if (
        width >= whole.width
        or height >= whole.height
        or [whole.getpixel(corner) for corner in corners] != [(255, 255, 255), BEYOND, BEYOND]
    ):
        raise UsageError(f"The browser drew {path.name} only in part. {_remedy()}")
    whole.crop((0, 0, width, height)).save(picture)


def _call(arguments: Sequence[str], path: Path) -> None:
    root = ["--no-sandbox"] if is_root() else []
    try:
        subprocess.run(
            [_browser(path), *FLAGS, *root, *arguments],
            check=True,
            capture_output=True,
            timeout=PATIENCE_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"The browser could not draw {path.name}: {error}. {_remedy()}") from None


def _browser(path: Path) -> str:
    named = os.environ.get(BROWSER)
    program = named or next((program for name in PROGRAMS if (program := shutil.which(name))), None)
    if not program:
        raise UsageError(
            f"Drawing {path.name} needs a browser (Chromium, Chrome or Edge), and none was found. "
            f"{_remedy()}"
        )
    return program


def _remedy() -> str:
    return f"Save it as .svg, or name the browser's program: {BROWSER}=…"
