"""The pictures of README and docs, made anew: python scripts/screenshots.py [--only NAME]

Needs Chromium and the extra `web`. The runs are those of planted models, made in a temporary
folder; what is written is docs/pictures/screen-*.png, each in few colours and below 150 KB. Look at
them before you commit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from PIL import Image
from tests.browser import Visit, drive
from tests.explore.driving import STANDS, annotating, explorer

import tiltmeter

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
LARGEST = 150_000  # bytes of a picture
COLOURS = 96
READY = ("ask", STANDS)
OPEN = (
    ("do", "open(shown()[0])"),
    (
        "wait",
        "document.querySelector('dialog').open && [...document.querySelectorAll('dialog "
        "img')].every(e => e.complete)",
    ),
)


def report(folder: Path) -> None:
    """The first screen of a report, on a desk and on a phone, and its figures."""
    roles = tiltmeter.run(
        "roles",
        ["planted:she=0.7,spread=0.8", "planted:she=0.5,spread=0.8"],
        folder / "roles",
        language="en",
        limit=40,
        samples=10,
    )
    words = tiltmeter.run(
        "words",
        "planted:protocol=words,communal.female=1.6",
        folder / "words",
        language="en",
        limit=20,
    )
    first, second = (run.report().as_uri() for run in (roles, words))
    figure = ("do", "document.querySelector('#section-1').scrollIntoView()")
    take(
        folder,
        {
            "report": Visit([("go", first)]),
            "report-phone": Visit([("go", second)], width=390),
            "figure": Visit([("go", second), figure]),
        },
    )


def explore(folder: Path) -> None:
    """The grid of pictures and an opened output."""
    run = tiltmeter.run(
        "soda",
        "planted:protocol=soda,product_color/red.women=.8",
        folder / "soda",
        samples=6,
        judge="planted:protocol=soda,accuracy=.9",
        where={"object": ("car", "cup", "backpack"), "dimension": ("base", "gender", "age")},
    )
    with explorer(str(run.folder)) as address:
        take(
            folder,
            {
                "explore": Visit([("go", address), READY]),
                "output": Visit([("go", address), READY, *OPEN]),
                "explore-phone": Visit([("go", address), READY], width=390),
            },
        )


def annotate(folder: Path) -> None:
    """One item on the annotation page."""
    run = tiltmeter.run(
        "roles", "planted:she=0.7,refuse=0.1", folder / "roles", language="en", limit=12, samples=2
    )
    with annotating(str(run.folder), "--annotator", "ann", "--sample", "12") as address:
        item = ("wait", "document.querySelector('#item').getAttribute('aria-busy') === 'false'")
        take(
            folder,
            {
                "annotate": Visit(
                    [("go", address), item, ("wait", "[...document.images].every(e => e.complete)")]
                )
            },
        )


MADE: dict[str, Callable[[Path], None]] = {
    "report": report,
    "explore": explore,
    "annotate": annotate,
}


def take(folder: Path, shots: dict[str, Visit]) -> None:
    """Takes the pictures, all in one Chromium, and writes them in few colours."""
    for name, visit in shots.items():
        visit.steps = [*visit.steps, ("picture", str(folder / f"{name}.png"))]
    drive(*shots.values())
    for name in shots:
        target = PICTURES / f"screen-{name}.png"
        few = (
            Image.open(folder / f"{name}.png")
            .convert("RGB")
            .quantize(COLOURS, dither=Image.Dither.NONE)
        )
        few.save(target, optimize=True)
        print(f"{target.name} {target.stat().st_size:,} bytes")
        assert target.stat().st_size <= LARGEST, f"{target.name} has more than {LARGEST:,} bytes"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=tuple(MADE))
    chosen = parser.parse_args(arguments)
    for name, make in MADE.items():
        if chosen.only in (None, name):
            with tempfile.TemporaryDirectory() as place:
                make(Path(place))


if __name__ == "__main__":
    main()
