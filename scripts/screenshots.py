"""The pictures of README and docs, made anew: python scripts/screenshots.py [--only NAME]

With --first-screens FOLDER it takes the first screens of all protocols instead, of the examples of
one's own, and of five models, one item and all refused, at a desk and on a phone, in light and in
dark, to be looked at.

Needs Chromium. The runs are those of planted models, made in a temporary
folder; what is written is docs/pictures/screen-*.png, each in few colours and below 150 KB. Look at
them before you commit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from PIL import Image
from tests.api.test_examples import CASES
from tests.api.test_examples import HOME as EXAMPLES
from tests.browser import Visit, drive
from tests.explore.driving import STANDS, annotating, explorer
from tests.explore.test_every_protocol import RUNS
from tests.report.test_first_screen import PLANTED

import tiltmeter

ROOT = Path(__file__).parents[1]
EXAMPLE = "file:examples/roles/answers.jsonl.xz"  # below ROOT: a report names it
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
LARGEST = 150_000  # bytes of a picture
COLOURS = 96
SCREEN = 720  # height of a first screen, in CSS pixels
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
    """First screens of reports, on a desk and on a phone, their findings and a figure."""
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
    with chdir(ROOT):
        drawn = tiltmeter.run("roles", EXAMPLE, folder / "first", language="en", samples=5)
    named = {"SmolLM2": EXAMPLE}
    first, second = (run.report().as_uri() for run in (roles, words))
    third = drawn.report(labels=named).as_uri()
    figure = ("do", "document.querySelector('#section-1').scrollIntoView()")
    findings = ("do", "document.querySelector('#findings').scrollIntoView()")
    take(
        folder,
        {
            "first": Visit([("go", third)], height=SCREEN),
            "report": Visit([("go", first)], height=SCREEN),
            "report-phone": Visit([("go", second)], width=390),
            "findings": Visit([("go", second), findings], height=SCREEN),
            "figure": Visit([("go", second), figure]),
        },
    )


def first_screens(folder: Path) -> None:
    """The first screens of all protocols, at a desk and on a phone, in light and in dark."""
    for name, (protocol, models, options) in {**PLANTED, **dict(_others()), **dict(_own())}.items():
        page = tiltmeter.run(protocol, models, folder / name, **options).report().resolve().as_uri()
        shots = {
            f"{name} {place} {theme}": Visit(
                [("go", page)], width, dark=theme == "dark", height=height
            )
            for place, width, height in (("desk", 1280, SCREEN), ("phone", 390, 844))
            for theme in ("light", "dark")
        }
        for shot, visit in shots.items():
            visit.steps = [*visit.steps, ("picture", str(folder / f"{shot}.png"))]
        drive(*shots.values())
        print(*(str(folder / f"{shot}.png") for shot in shots), sep="\n")


def _others() -> Iterator[tuple[str, tuple[str, list[str], dict[str, Any]]]]:
    """The protocols whose first screens no test asks for."""
    for name, (model, options, *_) in RUNS.items():
        if name not in PLANTED:
            yield name, (name, [model], options)


def _own() -> Iterator[tuple[str, tuple[str, list[str], dict[str, Any]]]]:
    """One's own audits, as `tiltmeter init --example` copies them."""
    for name, case in CASES.items():
        file = str(EXAMPLES / name / "audit.toml")
        options = {"judge": [f"planted:protocol={file}"]} if case.judge else {}
        yield name, (file, [f"planted:protocol={file},{case.settings},seed=3"], options)


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
    parser.add_argument("--first-screens", metavar="FOLDER", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.first_screens:
        first_screens(chosen.first_screens)
        return
    for name, make in MADE.items():
        if chosen.only in (None, name):
            with tempfile.TemporaryDirectory() as place:
                make(Path(place))


if __name__ == "__main__":
    main()
