"""The explorer on many pictures: how long a page takes, and what it keeps in memory.

    python benchmarks/explorer.py [--pictures 30000] [--json]

A run of three subjects with a panel's three votes a picture is made up (a minute for 30,000),
opened, and looked at as the server does: the first page, another tab, filters, orders, a later
page, a search, an output. Times are of one thread, in milliseconds, from the view to the HTML; what
a browser takes for it comes on top. "start" is the processor time of `tiltmeter explore` itself, in
a process of its own, from its start until the first page is served and it was ended.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.error import URLError
from urllib.request import HTTPCookieProcessor, build_opener

from tiltmeter import registry
from tiltmeter.explore import rendering
from tiltmeter.explore.browse.page import page
from tiltmeter.explore.selection.detail import detail
from tiltmeter.explore.selection.index import Index, open_indices
from tiltmeter.explore.selection.view import ALL, View
from tiltmeter.explore.server import Explorer
from tiltmeter.records import Label, Message, Output, Reply, Request, Sampling, Trial
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.steps import protocol_snapshot
from tiltmeter.store import Store

PROTOCOL = "soda"
SUBJECTS = ("planted:a", "planted:b", "planted:c")
JUDGES, VALUES = 3, ("red", "blue", "white", "black", "green")
PANEL = "attributes/made-up@00000000"


def trials(pictures: int) -> Iterator[Trial]:
    """The protocol's prompts in turn, for each subject, until there are enough."""
    protocol, draw = registry.protocol(PROTOCOL), random.Random(0)
    rows = [cell for cell in protocol.cells if "×" not in cell["dimension"]]
    for number in range(pictures):
        cell = rows[number // len(SUBJECTS) % len(rows)]
        factors = {name: cell[name] for name in protocol.factors}
        sample = number // (len(SUBJECTS) * len(rows))
        yield Trial(
            f"{draw.getrandbits(128):032x}",
            SUBJECTS[number % len(SUBJECTS)],
            "images",
            factors,
            sample,
            protocol.prompt_text(cell),
            "",
            Sampling(),
        )


def made(folder: Path, pictures: int) -> None:
    draw = random.Random(1)
    with Store(folder, create=True, writing=True) as store:
        store.freeze(Choices(SUBJECTS).frozen(registry.protocol(PROTOCOL)))
        protocol_snapshot.record(PROTOCOL, registry.protocol(PROTOCOL)).keep(store)
        waiting = store.iter_unanswered(trials(pictures))
        while batch := list(islice(waiting, 500)):
            calls, outputs, labels = [], [], []
            for trial in batch:
                asked = Request(
                    trial.subject, (Message("user", trial.prompt),), nonce=f"{trial.id}/0"
                )
                calls.append((asked, Reply("", raw="x" * 600, blob=f"{trial.id}.png")))
                outputs.append(Output(trial.id, "answer", "", asked.key, f"{trial.id}.png"))
                labels.append(Label(trial.id, PANEL, "product_color", draw.choice(VALUES)))
                for judge in range(JUDGES):
                    vote = Request(
                        f"planted:{judge}",
                        (Message("user", "What colour is it? " * 40),),
                        purpose=PANEL,
                        nonce=f"{trial.id}/{judge}",
                    )
                    calls.append((vote, Reply("red", raw="y" * 800)))
                    labels.append(
                        Label(trial.id, PANEL, "product_color_vote", draw.choice(VALUES), judge)
                    )
            store.write(calls, outputs, labels)


T = TypeVar("T")
VIEWS = {
    "the same again": View(),
    "another tab": View(tab="cup"),
    "one label": View(tab=ALL, value="red"),
    "disagreement": View(tab=ALL, split="1"),
    "by surprise": View(tab=ALL, sort="surprise"),
    "page 9": View(tab=ALL, page=9),
    "a search": View(tab=ALL, text="elderly"),
}


def shown(index: Index, view: View) -> int:
    """Makes a page; returns how many pictures it has."""
    found = page(index, view)
    rendering.grid(found, Explorer.places(found.view))
    return sum(len(cell.cards) for _, row in found.rows for cell in row)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """How many milliseconds it takes, and what comes of it."""
    began = time.perf_counter()
    result = work()
    return 1000 * (time.perf_counter() - began), result


def measure(pictures: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        made(Path(place) / "run", pictures)
        found: dict[str, float] = {}
        found["start, with the first page (processor)"] = start(Path(place) / "run")
        found["the first page"], index = timed(lambda: _first(Path(place) / "run"))
        for name, view in VIEWS.items():
            found[name], _ = timed(lambda view=view: shown(index, view))  # type: ignore[misc]
        card = page(index, View()).rows[0][1][0].cards[0]
        for name in ("the first output that is opened", "the next"):
            found[name], _ = timed(lambda: detail(index, card.run, card.id))
        found["MB of the table in memory"] = index.table.bytes_used() / 1e6
        index.close()
        return found


def start(folder: Path) -> float:
    """Milliseconds of a processor until the first page is served."""
    command = (sys.executable, "-m", "tiltmeter", "explore", str(folder), "--no-browser")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        opener = build_opener(HTTPCookieProcessor())
        for _ in range(100):
            with suppress(URLError):
                opener.open(address).read()
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def _first(folder: Path) -> Index:
    (index,) = open_indices([folder])
    shown(index, View())
    return index


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pictures", type=int, default=30_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.pictures)
    if chosen.json:
        print(json.dumps({"pictures": chosen.pictures, "milliseconds": found}))
        return
    for name, value in found.items():
        print(f"{name:42} {value:8.0f}" + ("" if name.startswith("MB") else " ms"))


if __name__ == "__main__":
    main()
