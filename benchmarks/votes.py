"""Three judges on photos of 1024 × 1024, against a bare loop that reads and encodes the same.

    python benchmarks/votes.py [--pictures 48] [--json]

The server (ledger.py) is healthy and answers after 10 ms. Each photo is read, made smaller, encoded
and sent to three judges, 32 calls at once. The bare loop prepares each photo once, in two threads,
posts the same bodies and keeps nothing. Figures are CPU seconds, and the longest that one call of
the event loop took of its thread (CPU too, so a busy machine does not count).
Exits 1 when a promise is broken: a vote at most 1.5 times the bare loop's, no pause above 50 ms, no
error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from kills import PICTURES, ledger

CONNECTIONS, JUDGES = 32, ("openai:panel-a", "openai:panel-b", "openai:panel-c")
LONGEST_PIXELS, SIDE_PIXELS = 768, 1024
PER_VOTE, PAUSE_S = 1.5, 0.05


def photo(number: int) -> bytes:
    """A PNG of 2 MB that compresses as a photo does: waves of colour, and grain."""
    from io import BytesIO

    import numpy as np
    from PIL import Image

    random = np.random.default_rng(number)
    y, x = np.mgrid[0:SIDE_PIXELS, 0:SIDE_PIXELS]
    waves = [np.sin(x / 90 + y / 200), np.cos(y / 70 + number), np.sin((x + y) / 150)]
    grain = random.normal(0, 6, (SIDE_PIXELS, SIDE_PIXELS, 3))
    levels = 127 + 70 * np.stack(waves, -1) + grain
    target = BytesIO()
    Image.fromarray(levels.clip(0, 255).astype("uint8")).save(target, "PNG")
    return target.getvalue()


@contextmanager
def longest_call() -> Iterator[list[float]]:
    """CPU seconds of the longest callback of the loops that run meanwhile, as its one entry."""
    longest = [0.0]
    real = asyncio.Handle._run

    def run(self: asyncio.Handle) -> None:
        begin = time.thread_time()
        real(self)
        longest[0] = max(longest[0], time.thread_time() - begin)

    asyncio.Handle._run = run  # type: ignore[method-assign]
    try:
        yield longest
    finally:
        asyncio.Handle._run = real  # type: ignore[method-assign]


def question() -> str:
    """What a judge of the panel is asked."""
    from tiltmeter import registry
    from tiltmeter.records import Answered, Output, Reply, Sampling, Trial
    from tiltmeter.stages.steps.label import annotators

    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "p.toml")
        path.write_text(PICTURES, encoding="utf-8")
        declared = registry.protocol(str(path))
    judge = annotators(declared, JUDGES)[-1]
    trial = Trial("t", "m", "sampled", declared.cells[0], 0, "A photo", "", Sampling())
    asked = next(judge.steps(Answered(trial, Output("t", "answer", "", "", "x.png"), Reply(""))))
    return asked[0].messages[0].content


async def bare(url: str, photos: list[Path]) -> None:
    """Votes of a loop that keeps nothing."""
    import aiohttp

    from tiltmeter import images

    asked, pool = question(), ThreadPoolExecutor(2)
    loop = asyncio.get_running_loop()

    def prepare(path: Path) -> str:
        kind, content = images.encode_for_judge(path.read_bytes(), LONGEST_PIXELS)
        return f"data:{kind};base64,{b64encode(content).decode()}"

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def vote(judge: str, shown: str) -> None:
            picture = {"type": "image_url", "image_url": {"url": shown}}
            parts = [{"type": "text", "text": asked}, picture]
            body = {"model": judge, "messages": [{"role": "user", "content": parts}]}
            async with session.post(f"{url}/chat/completions", json=body) as reply:
                json.loads(await reply.read())

        async def work(paths: Iterator[Path]) -> None:
            for path in paths:
                shown = await loop.run_in_executor(pool, prepare, path)
                names = (judge.partition(":")[2] for judge in JUDGES)
                await asyncio.gather(*(vote(name, shown) for name in names))

        paths = iter(photos)
        await asyncio.gather(*(work(paths) for _ in range(CONNECTIONS // len(JUDGES))))


def stored(folder: Path, protocol: Path, photos: list[Path]) -> None:
    """Makes a run of the photos, with nobody's votes."""
    from tiltmeter import images, registry
    from tiltmeter.records import Output, Sampling, Trial
    from tiltmeter.store import Store

    declared = registry.protocol(str(protocol))
    with Store(folder, create=True, writing=True) as store:
        for number, path in enumerate(photos):
            cell = declared.cells[number % len(declared.cells)]
            factors = {name: cell[name] for name in ("cue", "word")}
            trial = Trial(f"t{number:03}", "m", "sampled", factors, 0, "A photo", "", Sampling())
            list(store.iter_unanswered([trial]))
            content = path.read_bytes()
            blob = store.put_blob(content, images.check_picture(content).suffix)
            store.write([], [Output(trial.id, "answer", "", "", blob)], [])


async def engine(url: str, folder: Path, protocol: Path) -> tuple[int, int]:
    """The same votes through the engine, stored; how many there are, and how many failed."""
    from tiltmeter import registry
    from tiltmeter.models.kinds import make_model
    from tiltmeter.models.options import ModelOptions
    from tiltmeter.stages.engine.limits import Limits
    from tiltmeter.stages.engine.open_models import Models
    from tiltmeter.stages.steps.label import annotate
    from tiltmeter.store import Store

    declared = registry.protocol(str(protocol))
    with Store(folder, writing=True) as store:
        options = ModelOptions(base_url=url, concurrency=CONNECTIONS, read=store.blob)
        async with Models(lambda name: make_model(name, options)) as models:
            tally = await annotate(store, declared, JUDGES, models, Limits(CONNECTIONS))
    return tally.calls, tally.failed


def measure(pictures: int) -> dict[str, float]:
    """CPU milliseconds a vote of both, their ratio, the longest pause and what failed."""
    with tempfile.TemporaryDirectory() as place, ledger() as url:
        photos = [Path(place, f"{number}.png") for number in range(pictures)]
        for number, path in enumerate(photos):
            path.write_bytes(photo(number))
        protocol = Path(place, "p.toml")
        protocol.write_text(PICTURES, encoding="utf-8")
        for folder, some in (("few", photos[:1]), ("all", photos)):
            stored(Path(place, folder), protocol, some)
        asyncio.run(bare(url, photos[:1]))  # what is imported is counted for neither
        asyncio.run(engine(url, Path(place, "few"), protocol))
        begin = time.process_time()
        asyncio.run(bare(url, photos))
        middle = time.process_time()
        with longest_call() as longest:
            calls, failed = asyncio.run(engine(url, Path(place, "all"), protocol))
        end = time.process_time()
    votes = pictures * len(JUDGES)
    return {
        "bare_ms": (middle - begin) / votes * 1e3,
        "vote_ms": (end - middle) / votes * 1e3,
        "ratio": (end - middle) / (middle - begin),
        "pause_ms": longest[0] * 1e3,
        "failed": failed + votes - calls,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=48)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.pictures)
    if given.json:
        print(json.dumps(found))
    else:
        print(f"CPU a vote  {found['vote_ms']:6.1f} ms, {found['ratio']:.2f} × a bare loop's")
        print(f"longest pause of the loop  {found['pause_ms']:.0f} ms; failed: {found['failed']}")
    kept = found["ratio"] <= PER_VOTE and found["pause_ms"] <= PAUSE_S * 1e3
    return 0 if kept and not found["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
