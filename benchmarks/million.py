"""What a run of a million calls costs: bytes, the explorer's pages, exports.

    python benchmarks/million.py [--calls 1000000] [--run FOLDER] [--json]

A run of `roles` with two subjects is made up, or the one in FOLDER is taken, if it is there. Each
measurement is a process of its own. CPU seconds of pages are of the whole process up to the first
page, and of one thread after that, from the view to the HTML; those of exports are without the
analysis that an export includes, and a row is an output with its trial, label and call. Printed are
CPU seconds here and on the reference machine (pace.py), of which the promises are. Exits 1 if one
is broken: at most 850 bytes a call (half of what schema 7 took), the first page within 3 CPU s,
every click within .2, an export within 40 µs a row, and 400 MB of memory.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path

from pace import CpuTime, pace

PROMISED = {"bytes a call": 850.0, "first page, CPU s": 3.0, "click, CPU s": 0.2}
PROMISED |= {"export, µs a row": 40.0, "MB": 400.0}
SUBJECTS = ("planted:a", "planted:b")
CELLS = 196  # prompts of `roles` in English
CHUNK_ROWS = 5_000
Found = dict[str, float]


def make(folder: Path, calls: int) -> None:
    """A run with a call, an output and a label for each trial, as servers and parsers make them."""
    from tiltmeter import registry
    from tiltmeter.records import Label, Output, Reply
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps import protocol_snapshot
    from tiltmeter.stages.steps.label import annotators
    from tiltmeter.store import Store

    protocol, draw = registry.protocol("roles"), random.Random(1)
    annotator = annotators(protocol)[0].annotator
    samples = max(1, calls // CELLS // len(SUBJECTS))
    choices = plan.Choices(SUBJECTS, languages=("en",), samples=samples)
    with Store(folder, create=True, writing=True) as store:
        store.freeze(choices.frozen(protocol))
        protocol_snapshot.record("roles", protocol).keep(store)
        waiting = store.iter_unanswered(plan.trials(protocol, choices))
        while batch := list(islice(waiting, CHUNK_ROWS)):
            asked = [plan.request(trial, protocol) for trial in batch]
            said = [draw.choice(("he", "she", "they")) for _ in batch]
            ids = [trial.id for trial in batch]
            replies = [
                Reply(value, raw=_body(draw, value), usage=(40, 1), cost=1e-5, ended="stop")
                for value in said
            ]
            store.write(
                list(zip(asked, replies, strict=True)),
                [
                    Output(key, "answer", value, one.key, "", "stop")
                    for key, one, value in zip(ids, asked, said, strict=True)
                ],
                [
                    Label(key, annotator, "pronoun", value)
                    for key, value in zip(ids, said, strict=True)
                ],
            )


def _body(draw: random.Random, said: str) -> str:
    message = {"role": "assistant", "content": said, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    body = {"id": f"chatcmpl-{draw.getrandbits(96):024x}", "object": "chat.completion"}
    usage = {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}
    more = {"created": 1_760_000_000, "model": "m-2025", "choices": [choice], "usage": usage}
    return json.dumps(body | more)


def size(folder: Path) -> Found:
    """Bytes of the run's file for each of its calls."""
    from tiltmeter.store import Store
    from tiltmeter.store.queries import calls

    with Store(folder) as store:
        number = calls.number_answered(store)
    return {"bytes a call": (folder / "run.sqlite").stat().st_size / number}


def pages(folder: Path) -> Found:
    """The first page, then clicks."""
    from tiltmeter.explore import rendering
    from tiltmeter.explore.browse.page import page
    from tiltmeter.explore.selection.detail import detail
    from tiltmeter.explore.selection.index import open_indices
    from tiltmeter.explore.selection.parts import OutputsPage
    from tiltmeter.explore.selection.view import ALL, View
    from tiltmeter.explore.server import Explorer

    def shown(view: View) -> OutputsPage:
        found = page(index, view)
        rendering.grid(found, Explorer.places(found.view))
        return found

    (index,) = open_indices([folder])
    first = shown(View())
    found: Found = {"first page, CPU s": time.process_time()}
    views = {
        "the same again": View(),
        "wall": View(show="wall"),
        "another item": View(show="wall", tab=first.rows[1][0]),
        "one label": View(show="wall", tab=ALL, value="she"),
        "one label of pairs": View(value="she"),
        "disagreement": View(show="wall", tab=ALL, split="1"),
        "by surprise": View(show="wall", tab=ALL, sort="surprise"),
        "by label": View(show="wall", tab=ALL, sort="label"),
        "page 9": View(show="wall", tab=ALL, page=9),
        "counts": View(show="counts"),
        "ordered by surprise": View(order="surprise"),
        "one subject": View(levels=(("subject", SUBJECTS[1]),)),
    }
    card = first.rows[0][1][0].cards[0]
    clicks: dict[str, Callable[[], object]] = {
        name: partial(shown, view) for name, view in views.items()
    }
    clicks |= {name: partial(detail, index, card.run, card.id) for name in ("an output", "again")}
    for name, click in clicks.items():
        began = time.thread_time()
        click()
        found[f"click, CPU s: {name}"] = time.thread_time() - began
    return found | {"MB of pages": _peak()}


def export(folder: Path, format: str) -> Found:
    """The tables of the run as files."""
    from tiltmeter.api.runs import table_files
    from tiltmeter.store import Store
    from tiltmeter.store.queries import tables

    began = time.process_time()
    with Store(folder) as store, tempfile.TemporaryDirectory() as place:
        for name in ("trials", "outputs", "labels", "calls"):
            table_files.WRITERS[format](table_files.pieces(store, name), Path(place, name))
        spent = time.process_time() - began
        rows = tables.size(store, "outputs")
    return {f"export, µs a row: {format}": 1e6 * spent / rows, f"MB of {format}": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


STEPS: Mapping[str, Callable[[Path], Found]] = {
    "size": size,
    "pages": pages,
    "parquet": lambda folder: export(folder, "parquet"),
    "csv": lambda folder: export(folder, "csv"),
}


def measure(folder: Path) -> dict[str, CpuTime]:
    """All steps, each in a process of its own. What is no CPU time has the pace 1."""
    found: dict[str, CpuTime] = {}
    for step in STEPS:
        command = [sys.executable, __file__, "--step", step, "--run", str(folder)]
        before = pace()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        around = (before + pace()) / 2
        for name, value in json.loads(done.stdout.splitlines()[-1]).items():
            found[name] = CpuTime(value, around if "CPU s" in name or "µs" in name else 1.0)
    return found


def broken_promises(found: Mapping[str, CpuTime]) -> list[str]:
    """The promises that a measurement does not keep."""
    return [
        f"{name}: {spent.reference:.3g}, promised {most:g}"
        for name, spent in found.items()
        for begin, most in PROMISED.items()
        if name.startswith(begin) and spent.reference > most
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--run", type=Path, help="the run that is measured; made if not there")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(STEPS[given.step](given.run)))
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = given.run or Path(place, "run")
        if not folder.exists():
            make(folder, given.calls)
        found = measure(folder)
    broken = broken_promises(found)
    if given.json:
        both = {name: [spent.here, spent.reference] for name, spent in found.items()}
        print(json.dumps({"calls": given.calls, "found": both, "broken": broken}))
    else:
        print(f"{'':40} {'here':>10} {'reference':>10}")
        for name, spent in found.items():
            print(f"{name:40} {spent.here:10.3f} {spent.reference:10.3f}")
        print(f"{len(broken)} promises broken", *broken, sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
