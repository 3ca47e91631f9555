"""Cost against size: trials planned and resumed, labels analysed, pictures stored and read.

    python benchmarks/sizes.py [--trials 6] [--labels 6] [--judged 6] [--pictures 4] [--json OUT]
                               [--picture OUT]

Each number is a power of ten, up to which sizes are gone through; 10**7 trials want 15 GB of disk
and an hour or more, 10**7 labels of judged answers 3 GB and ten minutes. Every measurement is a
process of its own; seconds are of the whole process, from its start. A model is a Python
function that answers at once.

- trials: a run is begun, until its first request; all trials are planned and answered (written
  here, not asked); the run is gone on with, until the first request of the one trial that is left.
- labels: a made-up run of three image models with eleven labels a picture is analysed.
- judged: the answers of a run of `roles` that ten annotators labelled are analysed, from Python
  and by the verb as typed, with nothing kept from before.
- pictures: files of 20 KB are stored, and all of them read and checked.

Exits 1 where a promise is broken: the first request of a new run within 10 s, of one that is gone
on with within 300 s and 4 GB, the verb `analyse` of judged answers within 25 CPU s and 2 GB, at
every size that was measured; those CPU seconds are of the reference machine (pace.py).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from pace import CpuTime, pace

CELLS = 196  # prompts of `roles` in English
FIRST_REQUEST_S, RESUMED_S, RESUMED_MB = 10.0, 300.0, 4000.0
ANALYSED_CPU_S, ANALYSED_MB = 25.0, 2000.0
CHUNK_ROWS = 5_000
PICTURE_BYTES = 20_000
LABELS = 11  # of a picture
IMAGE_MODELS = ("planted:a", "planted:b", "planted:c")
ANNOTATORS = 10  # of a judged answer
ANNOTATOR = "attributes/2@00000000"
Row = dict[str, float | int | str]


def cost() -> Row:
    """CPU seconds and peak memory of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def begin(folder: Path, number: int) -> Row:
    """The verb from Python until a model is asked for the first time."""
    import tiltmeter

    began, first = time.time() - time.process_time(), threading.Lock()

    def answer(prompt: str) -> str:
        first.acquire()  # never given back: others are asked at once, on threads of their own
        print(json.dumps({"first_request_s": time.time() - began, **cost()}), flush=True)
        os._exit(0)

    samples = max(1, number // CELLS)
    tiltmeter.run("roles", {"made-up": answer}, folder, language="en", samples=samples)
    raise AssertionError("nothing was asked")


def fill(folder: Path, number: int) -> Row:
    """Plans all trials and answers all but the last."""
    from tiltmeter import registry
    from tiltmeter.records import Label, Output, Reply
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps.label import annotators
    from tiltmeter.store import Store
    from tiltmeter.store.queries import trials

    protocol = registry.protocol("roles")
    annotator = annotators(protocol)[0].annotator
    with Store(folder, writing=True) as store:
        (subject,) = trials.subjects(store)
        choices = plan.Choices((subject,), languages=("en",), samples=max(1, number // CELLS))
        waiting = store.iter_unanswered(plan.trials(protocol, choices))
        left = max(1, number // CELLS) * CELLS - 1
        while batch := list(islice(waiting, min(CHUNK_ROWS, left))):
            left -= len(batch)
            asked = [plan.request(trial, protocol) for trial in batch]
            store.write(
                [(one, Reply("she", raw='{"choices": ["she"]}')) for one in asked],
                [
                    Output(t.id, "answer", "she", one.key)
                    for t, one in zip(batch, asked, strict=True)
                ],
                [Label(trial.id, annotator, "pronoun", "she") for trial in batch],
            )
        list(waiting)
    return {**cost(), "file_mb": (folder / "run.sqlite").stat().st_size / 1e6}


def make_labels(folder: Path, number: int) -> Row:
    """A run of SODA with made-up labels."""
    from tiltmeter import registry
    from tiltmeter.records import Label, Output
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps import protocol_snapshot
    from tiltmeter.store import Store

    protocol, draw = registry.protocol("soda"), random.Random(1)
    samples = max(1, round(number / LABELS / len(IMAGE_MODELS) / 45))
    choices = plan.Choices(IMAGE_MODELS, samples=samples, modes=("images",))
    colours = ("red", "blue", "white", "black", "green", "grey")
    names = ("shape", "material", "style", "light", "text_presence", "background_text_presence")
    with Store(folder, create=True, writing=True) as store:
        store.freeze(choices.frozen(protocol))
        protocol_snapshot.record("soda", protocol).keep(store)
        waiting = store.iter_unanswered(plan.trials(protocol, choices))
        while batch := list(islice(waiting, CHUNK_ROWS)):
            labels = []
            for trial in batch:
                own, behind = draw.choice(colours), draw.choice(colours)
                values = {"product_color": own, "product_color_raw": own}
                values |= {"background_color": behind, "background_color_raw": behind}
                values |= {name: draw.choice("abcde") for name in names} | {"constraint": "kept"}
                labels += [Label(trial.id, ANNOTATOR, *one) for one in values.items()]
            store.write([], [Output(t.id, "answer", "", "", f"{t.id}.png") for t in batch], labels)
    return cost()


def analyse(folder: Path, number: int) -> Row:
    """Estimates from labels."""
    import tiltmeter

    found = tiltmeter.open_run(folder).analyse()
    return {"estimates": len(found), **cost()}


def type_analyse(folder: Path, number: int) -> Row:
    """The verb as typed, which keeps what it computed."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TILTMETER_KEEP": "1", "TILTMETER_CACHE": cache}
        command = (sys.executable, "-m", "tiltmeter", "analyse", str(folder))
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def make_judged(folder: Path, number: int) -> Row:
    """A run of `roles` whose answers a parser and nine judges labelled."""
    from tiltmeter import registry
    from tiltmeter.records import Label, Output
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps import protocol_snapshot
    from tiltmeter.stages.steps.label import annotators
    from tiltmeter.store import Store

    protocol, draw = registry.protocol("roles"), random.Random(1)
    judges = [f"openai:judge-{n}" for n in range(1, ANNOTATORS)]
    named = [one.annotator for one in annotators(protocol, judges)]
    samples = max(1, number // ANNOTATORS // CELLS)
    choices = plan.Choices(("planted:a",), languages=("en",), samples=samples)
    with Store(folder, create=True, writing=True) as store:
        store.freeze(choices.frozen(protocol))
        protocol_snapshot.record("roles", protocol).keep(store)
        waiting = store.iter_unanswered(plan.trials(protocol, choices))
        while batch := list(islice(waiting, CHUNK_ROWS)):
            store.write(
                [],
                [Output(trial.id, "answer", "she", "") for trial in batch],
                [
                    Label(trial.id, name, "pronoun", draw.choice(("he", "she", "they", "refusal")))
                    for trial in batch
                    for name in named
                ],
            )
    return {**cost(), "file_mb": (folder / "run.sqlite").stat().st_size / 1e6}


def store_pictures(folder: Path, number: int) -> Row:
    """Files stored under their hash."""
    from tiltmeter.store import Store

    draw = random.Random(2)
    began = time.perf_counter()
    with Store(folder, create=True, writing=True) as store:
        for _ in range(number):
            store.put_blob(draw.randbytes(PICTURE_BYTES), ".png")
    return {"wall_s": time.perf_counter() - began, **cost()}


def read_pictures(folder: Path, number: int) -> Row:
    """Every file read and held against its hash."""
    from tiltmeter.store import Store, blobs

    began = time.perf_counter()
    with Store(folder) as store:
        names = blobs.names(folder)
        assert len(names) == number
        for name in names:
            store.blob(name)
    largest = max(len(list(place.iterdir())) for place in (folder / "blobs").iterdir())
    return {"wall_s": time.perf_counter() - began, "in_a_folder": largest, **cost()}


STEPS: dict[str, tuple[Callable[[Path, int], Row], ...]] = {
    "trials": (begin, fill, begin),
    "labels": (make_labels, analyse),
    "judged": (make_judged, analyse, type_analyse),
    "pictures": (store_pictures, read_pictures),
}


def child(kind: str, step: int, folder: Path, number: int) -> Row:
    """A step in a process of its own."""
    command = [sys.executable, __file__, "--step", kind, str(step), str(folder), str(number)]
    before = pace()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **ALONE}
    )
    found: Row = json.loads(done.stdout.splitlines()[-1])
    spent = CpuTime(float(found.get("cpu_s", 0.0)), (before + pace()) / 2)
    return found | {"reference_cpu_s": spent.reference}


ALONE = {"TILTMETER_KEEP": "0", "OPENBLAS_NUM_THREADS": "1"}


def measure(kind: str, power: int) -> Iterator[Row]:
    """A row for each step of each size from 10³."""
    for number in (10**n for n in range(3, power + 1)):
        with tempfile.TemporaryDirectory() as place:
            for step, work in enumerate(STEPS[kind]):
                name = f"{work.__name__}{' again' if work in STEPS[kind][:step] else ''}"
                row = {"what": kind, "number": number, "step": name}
                row |= child(kind, step, Path(place, "run"), number)
                print(" ".join(f"{k}={_short(v)}" for k, v in row.items()), flush=True)
                yield row


def _short(value: float | int | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def broken_promises(rows: Sequence[Row]) -> list[str]:
    found = []
    for row in rows:
        late = float(row.get("first_request_s", 0))
        again = row["step"] == "begin again"
        if late > (RESUMED_S if again else FIRST_REQUEST_S):
            found.append(
                f"{row['number']:,} trials, {row['step']}: first request after {late:.0f} s"
            )
        if again and float(row["peak_mb"]) > RESUMED_MB:
            found.append(f"{row['number']:,} trials: {row['peak_mb']:.0f} MB")
        typed = row["step"] == type_analyse.__name__
        spent = float(row["reference_cpu_s"])
        if typed and (spent > ANALYSED_CPU_S or float(row["peak_mb"]) > ANALYSED_MB):
            found.append(f"{row['number']:,} labels: {spent:.1f} CPU s, {row['peak_mb']:.0f} MB")
    return found


COLOURS = {"trials": "#01665e", "labels": "#b2182b", "pictures": "#5e3c99"}
SHOWN = {"trials": "begin again", "labels": "analyse", "pictures": "read_pictures"}


def picture(rows: Sequence[Row]) -> str:
    """CPU seconds against size, both as powers of ten."""
    import math

    def x(number: float) -> float:
        return 70 + 110 * (math.log10(number) - 3)

    def y(seconds: float) -> float:
        return 280 - 55 * (math.log10(max(seconds, 0.1)) + 1)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 340" font-family="sans-serif" '
        'font-size="12" role="img"><title>CPU seconds by size of a run</title>'
        '<rect width="680" height="340" fill="#fff"/>'
    ]
    for n in range(3, 8):
        parts.append(f'<text x="{x(10**n):.0f}" y="300" text-anchor="middle">{10**n:,}</text>')
    for n in range(-1, 4):
        at = y(10**n)
        parts.append(f'<line x1="70" x2="520" y1="{at:.0f}" y2="{at:.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="62" y="{at + 4:.0f}" text-anchor="end">{10**n:g} s</text>')
    said = {"trials": "trials, resumed", "labels": "labels, analysed", "pictures": "pictures, read"}
    for kind, step in SHOWN.items():
        own = [r for r in rows if r["what"] == kind and r["step"] == step]
        points = [(x(float(r["number"])), y(float(r["cpu_s"]))) for r in own]
        line = " ".join(f"{a:.0f},{b:.0f}" for a, b in points)
        colour = COLOURS[kind]
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        parts += [f'<circle cx="{a:.0f}" cy="{b:.0f}" r="4" fill="{colour}"/>' for a, b in points]
        if points:
            a, b = points[-1]
            parts.append(
                f'<text x="{a + 8:.0f}" y="{b + 4:.0f}" fill="{colour}">{said[kind]}</text>'
            )
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    kinds = (("trials", 6), ("labels", 6), ("judged", 6), ("pictures", 4))
    for kind, power in kinds:
        parser.add_argument(f"--{kind}", type=int, default=power, help="power of ten; 0 for none")
    parser.add_argument("--json", type=Path, help="write all numbers here")
    parser.add_argument("--picture", type=Path, help="write the figure here")
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        kind, step, folder, number = given.step
        print(json.dumps(STEPS[kind][int(step)](Path(folder), int(number))))
        return 0
    rows: list[Row] = []
    for kind in STEPS:
        for row in measure(kind, getattr(given, kind)):
            rows.append(row)
            if given.json:
                given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if given.picture:
        given.picture.write_text(picture(rows), encoding="utf-8")
    broken = broken_promises(rows)
    print(f"{len(broken)} promises broken", *broken, sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
