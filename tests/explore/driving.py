"""The pages in a process of their own, pictures for a run that was made up, and how fast a page of them stands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from PIL import Image

from tests.browser import Visit, drive
from tiltmeter.store import Store

__all__ = ["SCROLLED", "STANDS", "Visit", "annotating", "drawn", "drive", "explorer"]
SORTS = 48  # pictures that differ
SIDE = 512  # px
# ms from the click or the address until what can be seen at once is painted, with its pictures
STANDS = """
new Promise(done => {
  const seen = () => [...document.images].filter(e => { const r = e.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; });
  const look = () => document.readyState === 'complete' && performance.getEntriesByName('first-contentful-paint').length &&
    seen().every(e => e.complete && e.naturalWidth) ? done([performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now(),
    document.querySelectorAll('a.card').length]) : requestAnimationFrame(look);
  look();
})
"""
# [the median, the longest] ms between two frames while the page is scrolled through in 60 steps
SCROLLED = """
new Promise(done => {
  const gaps = [], step = document.documentElement.scrollHeight / 60;
  let last = performance.now();
  const move = (now) => { gaps.push(now - last); last = now; scrollBy(0, step);
    gaps.length < 60 ? requestAnimationFrame(move) : done(gaps.sort((a, b) => a - b).filter((_, n) => n === 30 || n === 59)); };
  requestAnimationFrame(move);
})
"""


def explorer(*arguments: str) -> AbstractContextManager[str]:
    return served("explore", *arguments)


def annotating(*arguments: str) -> AbstractContextManager[str]:
    return served("annotate", *arguments)


@contextmanager
def served(verb: str, *arguments: str) -> Iterator[str]:
    """A verb that opens a page, in a process of its own; yields the address that it prints."""
    command = [sys.executable, "-m", "tiltmeter", verb, *arguments, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def drawn(folder: Path) -> None:
    """Gives every output of a run that was made up its picture: some that differ, linked under all names."""
    place = folder / "blobs"
    place.mkdir()
    with Store(folder) as store:
        names = [row[0] for row in store.rows("SELECT DISTINCT blob FROM outputs WHERE blob != ''")]
    gradient = Image.radial_gradient("L").resize((SIDE, SIDE))
    for number in range(min(SORTS, len(names))):
        colour = tuple(
            37 * number % 256 if band == number % 3 else 11 * number % 200 for band in range(3)
        )
        Image.composite(
            Image.new("RGB", gradient.size, colour),
            Image.new("RGB", gradient.size, "white"),
            gradient,
        ).save(place / names[number])
    for number, name in enumerate(names[SORTS:]):
        os.link(place / names[number % SORTS], place / name)
