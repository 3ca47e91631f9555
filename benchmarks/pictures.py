"""Pictures and votes through HTTP against a bare loop, and the memory of 9,600 pictures with three
votes each.

    python benchmarks/pictures.py [--pictures 9600] [--json]

One planted server on loopback draws 64 × 64 pictures and judges them. The bare loop asks for the
same pictures and the same votes, decodes what comes and keeps nothing; the engine checks and stores
every picture, and stores every vote. The figure is CPU time of the client a picture and a vote, as
a ratio to the bare loop's in the same run (the server works on another core).
Exits 1 when a promise is broken: at most 8 times the bare loop's CPU a picture (it is unpacked and
checked, hashed and written to a file of its own) and 4 times a vote; memory flat from 960 pictures
to all of them, within a quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONNECTIONS = 32
PER_PICTURE, PER_VOTE, GROWTH = 8.0, 4.0, 1.25
ROUND = 24  # trials of one round of the protocol below
PROTOCOL = """
name = "benchmark"
title = "Benchmark"
question = "How much work is a picture?"
modality = "image"
prompt = "A photo of {cue} {word}"
factors = ["cue", "word"]
item = "word"
[[tables]]
rows = [{cue = "a woman who is a"}, {cue = "a man who is a"}]
[[tables]]
rows = [WORDS]
[modes.sampled]
size = "64x64"
[[instruments]]
name = "panel"
kind = "panel"
attribute = "gender"
also = ["gender_vote"]
ask = "how the person would be perceived."
split = "neither"
words = { male = "a man", female = "a woman", neither = "neither" }
""".replace("WORDS", ", ".join(f'{{ word = "guard {number}" }}' for number in range(ROUND // 2)))


@contextmanager
def server(protocol: Path) -> Iterator[str]:
    command = [
        sys.executable,
        "-m",
        "tiltmeter.planted.server",
        f"protocol={protocol},dress=plain",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def _post(url: str, bodies: Iterator[dict[str, Any]]) -> list[Any]:
    """Sends bodies over CONNECTIONS connections; the last reply."""
    import aiohttp  # in the children

    last: list[Any] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for body in bodies:
                async with session.post(url, json=body) as response:
                    last[:] = [json.loads(await response.read())]
                    if "data" in last[0]:
                        base64.b64decode(last[0]["data"][0]["b64_json"])

        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    return last


def bare(url: str, pictures: int) -> dict[str, float]:
    """CPU seconds a picture and a vote of a loop that keeps nothing."""
    import aiohttp  # noqa: F401, not counted

    prompts = (
        {
            "model": "m",
            "prompt": f"A photo of a man who is a guard {n % (ROUND // 2)}",
            "size": "64x64",
            "n": 1,
        }
        for n in range(pictures)
    )
    before = _cpu()
    (drawn,) = asyncio.run(_post(f"{url}/images/generations", prompts))
    middle = _cpu()
    shown = {"url": f"data:image/png;base64,{drawn['data'][0]['b64_json']}"}
    question = {"type": "text", "text": "Reply with one word: male, female, neither"}
    body = {
        "model": "m",
        "temperature": 0.0,
        "max_tokens": 512,
        "messages": [
            {"role": "user", "content": [question, {"type": "image_url", "image_url": shown}]}
        ],
    }
    asyncio.run(_post(f"{url}/chat/completions", (body for _ in range(pictures))))
    return {"picture": (middle - before) / pictures, "vote": (_cpu() - middle) / pictures}


def engine(url: str, protocol: Path, folder: Path, pictures: int) -> dict[str, float]:
    """CPU seconds a picture and a vote of a run, and its memory in MB."""
    from tiltmeter import registry
    from tiltmeter.models.kinds import make_model
    from tiltmeter.models.options import ModelOptions
    from tiltmeter.stages.engine.limits import Limits
    from tiltmeter.stages.engine.open_models import Models
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps.generate import generate
    from tiltmeter.stages.steps.label import annotate
    from tiltmeter.store import Store

    declared = registry.protocol(str(protocol))
    choices, limits = (
        plan.Choices(("openai:m",), samples=pictures // ROUND),
        Limits(concurrency=CONNECTIONS),
    )

    async def work() -> tuple[float, float, float]:
        with Store(folder, create=True, writing=True) as store:
            async with Models(
                lambda n: make_model(
                    n, ModelOptions(base_url=url, concurrency=CONNECTIONS, read=store.blob)
                )
            ) as models:
                start = _cpu()
                await generate(store, declared, choices, models, limits)
                middle = _cpu()
                await annotate(
                    store, declared, ("openai:a", "openai:b", "openai:c"), models, limits
                )
                votes = next(
                    store.rows("SELECT count(*) FROM labels WHERE attribute = 'gender_vote'")
                )[0]
                assert votes == 3 * pictures, f"{votes} votes, not {3 * pictures}"
                return start, middle, _cpu()

    start, middle, end = asyncio.run(work())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "picture": (middle - start) / pictures,
        "vote": (end - middle) / pictures / 3,
        "memory": memory,
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _child(stage: str, url: str, protocol: Path, folder: Path, pictures: int) -> dict[str, float]:
    command = [
        sys.executable,
        __file__,
        "--child",
        stage,
        "--url",
        url,
        "--folder",
        str(folder),
        "--pictures",
        str(pictures),
    ]
    done = subprocess.run(
        [*command, "--protocol", str(protocol)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(pictures: int) -> dict[str, float]:
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as place:
        protocol = Path(place, "benchmark.toml")
        protocol.write_text(PROTOCOL)
        with server(protocol) as url:
            base = _child("bare", url, protocol, Path(place), max(ROUND, pictures // 10))
            few = _child(
                "engine",
                url,
                protocol,
                Path(place, "few"),
                max(ROUND, pictures // 10 // ROUND * ROUND),
            )
            all_ = _child("engine", url, protocol, Path(place, "all"), pictures // ROUND * ROUND)
    return {
        "picture_ms": all_["picture"] * 1e3,
        "vote_ms": all_["vote"] * 1e3,
        "picture": all_["picture"] / base["picture"],
        "vote": all_["vote"] / base["vote"],
        "memory_few_mb": few["memory"],
        "memory_mb": all_["memory"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=9600)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", choices=("bare", "engine"), help=argparse.SUPPRESS)
    for name in ("--url", "--protocol", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        one = (
            bare(given.url, given.pictures)
            if given.child == "bare"
            else engine(given.url, Path(given.protocol), Path(given.folder), given.pictures)
        )
        print(json.dumps(one))
        return 0
    found = measure(given.pictures)
    if given.json:
        print(json.dumps(found))
    else:
        for what, most in (("picture", PER_PICTURE), ("vote", PER_VOTE)):
            print(
                f"CPU a {what:8} {found[f'{what}_ms']:6.2f} ms, {found[what]:.1f} × a bare "
                f"loop's (promise: at most {most:g})"
            )
        print(
            f"memory {found['memory_few_mb']:.0f} MB at a tenth, {found['memory_mb']:.0f} MB at "
            f"{given.pictures:,} pictures (promise: within {GROWTH:g})"
        )
    kept = (
        found["picture"] <= PER_PICTURE
        and found["vote"] <= PER_VOTE
        and found["memory_mb"] <= GROWTH * found["memory_few_mb"]
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
