"""The explorer on many pictures, measured in Chromium: what somebody waits for who opens, filters
and turns pages.

    python benchmarks/explorer_browser.py [--pictures 30000] [--json]

The run is that of explorer.py, with a drawn picture of 512 x 512 pixels for each output. Every time
is from the click, or the address, until the new page is painted with all the pictures that can be
seen in a window of 1280 x 844; first paint is Chromium's first-contentful-paint. An output is
opened after the page was scrolled through, while pictures are still coming. The server is a process
of its own on the same machine. The programme ends with 1 where a page takes more than 4 seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from explorer import made
from tests.browser import Visit, drive
from tests.explore.driving import SCROLLED, STANDS, drawn, explorer

PROMISED = 4_000  # ms, of every page but the first, for which the run is read
CHOSEN = (
    "form.elements.{0}.value = '{1}'; form.elements.{0}.dispatchEvent(new Event('change', "
    "{{bubbles: true}}))"
)
CLICKS = {
    "all pictures, 600 of them": (
        "document.querySelector('.tabs li:last-child a').click()",
        "tab=",
    ),
    "the next page": ("document.querySelector('a[rel=next]').click()", "page=2"),
    "the page after it": ("document.querySelector('a[rel=next]').click()", "page=3"),
    "one label": (CHOSEN.format("value", "red"), "value=red"),
    "by surprise": (CHOSEN.format("sort", "surprise"), "sort=surprise"),
}
OPEN = """
new Promise(done => {
  const began = performance.now();
  const look = () => document.querySelector('dialog article img')?.complete ?
    done(performance.now() - began) : requestAnimationFrame(look);
  document.querySelectorAll('a.card')[NUMBER].click();
  look();
})
"""


def measure(pictures: int) -> dict[str, Any]:
    """By what is done: [first paint, page stands, pictures on it], ms; of an opened output and of
    scrolling, ms.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        made(folder, pictures)
        drawn(folder)
        with explorer(str(folder)) as address:
            steps = [("go", address), ("ask", STANDS)]
            for script, there in CLICKS.values():
                turned = (
                    f"location.search.includes({there!r}) && document.readyState === 'complete'"
                )
                steps += [("do", script), ("wait", turned), ("ask", STANDS)]
            first, second = (("ask", OPEN.replace("NUMBER", number)) for number in ("0", "1"))
            (visit,) = drive(
                Visit([*steps, ("ask", SCROLLED), first, ("key", "Escape"), second]), seconds=300
            )
    *pages, scrolled, opened, again = visit.values
    found = dict(zip(("the first page", *CLICKS), pages, strict=True))
    return {**found, "frames while scrolling": scrolled, "outputs": (opened, again)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pictures", type=int, default=30_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.pictures)
    middle, longest = found.pop("frames while scrolling")
    opened, again = found.pop("outputs")
    if chosen.json:
        times = {"scrolling": [middle, longest], "opened": [opened, again]}
        print(json.dumps({"pictures": chosen.pictures, "pages": found, **times}))
    else:
        print(f"{'':28} {'first paint':>12} {'page stands':>12} {'pictures':>9}")
        for name, (paint, stands, cards) in found.items():
            print(f"{name:28} {paint:9.0f} ms {stands:9.0f} ms {cards:9}")
        for name, took in (("the first output opened", opened), ("another", again)):
            print(f"{name:28} {'':12} {took:9.0f} ms")
        print(f"scrolling: {middle:.0f} ms between two frames in the middle, {longest:.0f} at most")
    return int(
        any(stands > PROMISED for name, (_, stands, _) in found.items() if name != "the first page")
    )


if __name__ == "__main__":
    sys.exit(main())
