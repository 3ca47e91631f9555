"""The engine against a bare loop, its memory, and how fast a finished run resumes.

    python benchmarks/engine.py [--requests 10000] [--trials 50000] [--parts] [--verb] [--json]

One local server on loopback that answers at once, 200 connections, everything stored. Each engine
figure is the ratio of CPU seconds a request of a bare aiohttp loop that sends the same prompts to
the engine's (median of three interleaved rounds), since wall times move with the machine's load.
aiohttp is imported before both clocks.
The verb as typed is `tiltmeter run roles` over 19,600 trials, the whole process: start, imports
(compiled before, as pip does it), asking, labels, estimates, table and page, against the same bare
loop without its start; once with replies of one word and once with sentences of some twenty words,
nearly all different. --verb measures both alone.
--parts: no promises, but where the CPU time of a call goes, alone and in the verb as typed, by
looking a thousand times a second at which file is being worked on (a look costs some µs, so the sum
is a little high).
Exits 1 when a promise is broken: ratio ≥ 0.95 for subjects, ≥ 0.7 for judges and ≥ 0.6 for the
verb as typed, with one word and with sentences; memory flat from 1,000 to 50,000 trials; a finished
run of 50,000 trials resumes in under 1 CPU second of the reference machine (pace.py).
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from types import FrameType

from pace import timed

SENTENCE_WORDS = (
    ("kind", "wise", "bold", "calm", "loyal", "warm", "stern", "bright", "honest", "gentle"),
    ("person", "worker", "neighbour", "colleague", "candidate", "manager", "teacher", "student"),
    ("short", "simple", "brief", "plain", "given", "whole", "first", "last", "same", "present"),
    ("detail", "context", "evidence", "information", "explanation", "background", "notes"),
    ("naturally", "easily", "smoothly", "plainly", "clearly", "fluently", "directly", "simply"),
)
CONNECTIONS = 200
VERB_SAMPLES = 100  # of 196 prompts
# Lower than measured, for a machine that is busy.
RATIOS = {"subjects": 0.95, "judges": 0.7, "verb": 0.6, "sentences": 0.6}
RESUME_CPU, GROWTH = 1.0, 1.25
# Makes each answer another one, so that no question is asked twice.
LONGER = (
    "UPDATE packed_outputs AS p SET text ="
    " (SELECT o.text || ' ' || o.trial FROM outputs o WHERE o.n = p.n)"
)
# Parts of a call, by what a path holds; the first that fits.
PARTS = {
    "/site-packages/": "aiohttp",
    "/asyncio/": "asyncio and sockets",
    "/selectors.py": "asyncio and sockets",
    "/tiltmeter/models/": "dialect and HTTP",
    "/tiltmeter/records/": "ids and their JSON",
    "/tiltmeter/store/": "SQLite",
    "/tiltmeter/stages/plan": "trials and judges",
    "/tiltmeter/stages/label": "trials and judges",
    "/tiltmeter/protocol/": "trials and judges",
    "/tiltmeter/instruments/": "trials and judges",
    "/tiltmeter/": "engine",
    "/engine.py": "the bare loop itself",
}


# Parts of the verb, by what any place on the stack holds; the first that fits.
VERB_PARTS = {
    "importlib": "start and imports",
    "/engine/writer.py": "SQLite",
    "/steps/label": "labels",
    "/instruments/": "labels",
    "/steps/generate.py:<genexpr>": "planning, trials stored",
    "/stages/planning/": "planning, trials stored",
    "/queries/state.py": "the state of the run",
    "/analyse/estimates.py": "estimates",
    "/cli/output.py": "page and table",
    "/stages/engine/": "calls",
    "": "start and imports",
}


class Parts:
    """Which part is being worked on, counted at each look."""

    def __init__(self) -> None:
        self.looks: Counter[str] = Counter()

    def _look_at_verb(self, number: int, frame: FrameType | None) -> None:
        places = []
        while frame is not None:
            places.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")
            frame = frame.f_back
        stack = "\n".join(places)
        self.looks[next(part for piece, part in VERB_PARTS.items() if piece in stack)] += 1

    def _look(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            path = frame.f_code.co_filename
            for piece, part in PARTS.items():
                if piece in path:
                    self.looks[part] += 1
                    return
            frame = frame.f_back

    @contextmanager
    def watching(self, verb: bool = False) -> Iterator[None]:
        """Looks each millisecond of CPU time."""
        signal.signal(signal.SIGPROF, self._look_at_verb if verb else self._look)
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def microseconds(self, rate: float) -> dict[str, float]:
        """Of a call, by part. rate: calls a CPU second."""
        whole = max(1, self.looks.total())
        return {part: 1e6 / rate * count / whole for part, count in self.looks.items()}


@contextmanager
def server(sentences: bool = False) -> Iterator[str]:
    """A server in a process of its own; yields its base URL. sentences: it answers in sentences,
    each of some twenty words, else in one word.
    """
    own = [sys.executable, __file__, "--child", "sentences"]
    command = [sys.executable, "-m", "tiltmeter.planted.server", "fast=1", "--port", "0"]
    with subprocess.Popen(own if sentences else command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        try:
            yield run.stdout.readline().strip()
        finally:
            run.terminate()


def sentence(draw: random.Random) -> str:
    """An answer to a question of `roles` as a model that explains itself gives it."""
    quality, person, length, why, how = (draw.choice(words) for words in SENTENCE_WORDS)
    said = draw.choice(("he", "she", "they"))
    return (
        f'I would use "{said}" here, because the {quality} {person} in this {length} text '
        f"is described without further {why}, and that reads most {how} to me."
    )


def serve_sentences() -> None:
    """Answers every request with a sentence, until it is ended."""
    from aiohttp import web

    draw = random.Random(1)
    usage = {"prompt_tokens": 60, "completion_tokens": 28, "total_tokens": 88}

    def body() -> bytes:
        message = {"role": "assistant", "content": sentence(draw)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        return web.Response(body=body(), content_type="application/json")

    async def run() -> None:
        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())


async def bare(url: str, number: int, prompt: str, parts: Parts | None = None) -> float:
    """Requests a CPU second of a loop that sends the same prompt, reads the replies and keeps
    nothing.
    """
    import aiohttp  # not in the children: a resume that asks nothing imports no client

    body = {
        "model": "m",
        "messages": [{"role": "user", "content": prompt}],
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 64,
        "seed": 1,
        "top_k": 0,
        "min_p": 0.0,
    }
    numbers = iter(range(number))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for _ in numbers:
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    json.loads(await response.read())

        with parts.watching() if parts else nullcontext():
            begin = time.process_time()
            await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
            return number / (time.process_time() - begin)


def child(
    stage: str, folder: Path, url: str, trials: int, more: Sequence[str] = ()
) -> dict[str, float]:
    """One stage in a process of its own: {rate, cpu, memory}; with --parts µs by part."""
    command = [
        sys.executable,
        __file__,
        "--child",
        stage,
        "--folder",
        str(folder),
        "--url",
        url,
        "--trials",
        str(trials),
        *more,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**json.loads(done.stdout), "cpu": cpu}


def inside(
    stage: str, folder: Path, url: str, trials: int, parts: Parts | None = None
) -> dict[str, float]:
    """What a child does: `subjects` answers trials, `judges` labels them, `resume` is the whole
    verb again.
    """
    from tiltmeter import registry
    from tiltmeter.models.kinds import make_model
    from tiltmeter.models.options import ModelOptions
    from tiltmeter.stages.engine.limits import Limits
    from tiltmeter.stages.engine.open_models import Models
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps.generate import generate
    from tiltmeter.stages.steps.label import annotate
    from tiltmeter.store import Store

    protocol = registry.protocol("roles")
    choices = plan.Choices(("openai:m",), languages=("en",), samples=max(1, trials // 196))
    if stage == "resume":
        from tiltmeter import api

        api.run("roles", "openai:m", folder, language="en", samples=choices.samples, base_url=url)
        return {}

    import aiohttp  # noqa: F401, not counted

    async def work() -> float:
        limits = Limits(concurrency=CONNECTIONS)
        with Store(folder, create=True, writing=True) as store:
            store.freeze(choices.frozen(protocol))
            store.put("source", "roles")
            async with Models(
                lambda name: make_model(name, ModelOptions(base_url=url, concurrency=CONNECTIONS))
            ) as models:
                if stage == "judges":
                    # equal questions would be asked once, and the server says one word to all
                    store.write_one(LONGER, ())
                    # the parser's labels, which ask nobody
                    await annotate(store, protocol, (), models, limits)
                    # one question an answer: the same question is asked once
                    store.write_one(LONGER, ())
                with parts.watching() if parts else nullcontext():
                    begin = time.process_time()
                    if stage == "subjects":
                        tally = await generate(store, protocol, choices, models, limits)
                    else:
                        tally = await annotate(store, protocol, ("openai:judge",), models, limits)
                    return tally.calls / (time.process_time() - begin)

    rate = asyncio.run(work())
    if parts:
        return parts.microseconds(rate)
    return {"rate": rate, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def arguments_of_run(folder: Path, url: str, samples: int) -> list[str]:
    """What is typed after `tiltmeter`."""
    asked = ["run", "roles", "--model", "openai:m", "--base-url", url, "--language", "en"]
    how = ["--concurrency", str(CONNECTIONS), "--samples", str(samples), "--out", str(folder)]
    return [*asked, *how]


def typed(folder: Path, url: str, samples: int) -> float:
    """CPU seconds of `tiltmeter run`, the whole process."""
    command = [sys.executable, "-m", "tiltmeter", *arguments_of_run(folder, url, samples)]
    kept = {name: os.environ[name] for name in os.environ if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True, env=kept)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verb_parts(arguments: Sequence[str], calls: int) -> dict[str, float]:
    """µs of a call by part of the verb, run here; what is imported before is not seen."""
    parts = Parts()
    with parts.watching(verb=True):
        from tiltmeter.cli import main as verb

        with redirect_stdout(io.StringIO()):
            verb(list(arguments))
    return parts.microseconds(calls / time.process_time())


def prompts() -> dict[str, str]:
    """A prompt of each stage, as long as the real ones: what a subject is asked, what a judge is
    shown.
    """
    from tiltmeter import registry
    from tiltmeter.records import Answered, Output, Reply
    from tiltmeter.stages.planning import plan
    from tiltmeter.stages.steps.label import annotators

    protocol = registry.protocol("roles")
    trial = next(plan.trials(protocol, plan.Choices(("openai:m",), languages=("en",))))
    judge = annotators(protocol, ("openai:judge",))[-1]
    (request,) = next(
        judge.steps(Answered(trial, Output(trial.id, "answer", "she", ""), Reply("she")))
    )
    return {"subjects": trial.prompt, "judges": request.messages[0].content}


def measure_verb(name: str = "verb") -> dict[str, float]:
    """The verb as typed against the bare loop: {verb, bare_verb_cpu_s, verb_cpu_s}. name:
    "sentences" if the server answers in sentences.
    """
    import aiohttp  # noqa: F401, not counted

    os.environ.pop("OPENAI_API_KEY", None)
    number, prompt = 196 * VERB_SAMPLES, prompts()["subjects"]
    rounds = []
    with server(name == "sentences") as url, tempfile.TemporaryDirectory() as place:
        typed(Path(place, "compiled"), url, 1)
        for turn in range(3):
            bare_cpu = number / asyncio.run(bare(url, number, prompt))
            rounds.append((bare_cpu, typed(Path(place, str(turn)), url, VERB_SAMPLES)))
    bare_cpu, verb_cpu = sorted(rounds, key=lambda one: one[0] / one[1])[1]
    return {name: bare_cpu / verb_cpu, f"bare_{name}_cpu_s": bare_cpu, f"{name}_cpu_s": verb_cpu}


def measure(requests: int, trials: int) -> dict[str, float]:
    os.environ.pop("OPENAI_API_KEY", None)
    found: dict[str, float] = {}
    with server() as url, tempfile.TemporaryDirectory() as place:
        rounds = []
        for number in range(3):
            folder = Path(place, str(number))
            ratios = {}
            for stage, prompt in prompts().items():
                base = asyncio.run(bare(url, requests, prompt))
                ratios[stage] = child(stage, folder, url, requests)["rate"] / base
                ratios[f"bare_{stage}"] = base
            rounds.append(ratios)
        for name in rounds[0]:
            found[name] = statistics.median(row[name] for row in rounds)
        small, large = Path(place, "small"), Path(place, "large")
        found["memory_1000_mb"] = child("subjects", small, url, 1000)["memory"]
        found["memory_trials_mb"] = child("subjects", large, url, trials)["memory"]
        child("resume", large, url, trials)  # labels what the first pass left
        again = timed(lambda: child("resume", large, url, trials)["cpu"])
        found["resume_cpu_s"], found["resume_cpu_s_here"] = again.reference, again.here
    return found


def measure_parts(requests: int) -> dict[str, dict[str, float]]:
    """µs of a call by part: of the bare loop, of subjects, of judges."""
    os.environ.pop("OPENAI_API_KEY", None)
    found = {}
    with server() as url, tempfile.TemporaryDirectory() as place:
        for stage, prompt in prompts().items():
            parts = Parts()
            rate = asyncio.run(bare(url, requests, prompt, parts))
            found[f"bare, {stage}"] = parts.microseconds(rate)
            found[stage] = child(stage, Path(place, "run"), url, requests, ["--parts"])
            found[stage].pop("cpu")
    for name in ("the verb", "sentences"):
        with server(name == "sentences") as url, tempfile.TemporaryDirectory() as place:
            found[name] = child("verb", Path(place, "verb"), url, 0)
            found[name].pop("cpu")
    return found


def print_parts(found: dict[str, dict[str, float]]) -> None:
    """A row a part, a column a loop."""
    names = sorted({part for column in found.values() for part in column})
    print("µs of a call".ljust(22), *(name.rjust(15) for name in found))
    for part in names:
        print(part.ljust(22), *(f"{column.get(part, 0):15.1f}" for column in found.values()))
    print("all".ljust(22), *(f"{sum(column.values()):15.1f}" for column in found.values()))


def print_engine(found: dict[str, float], trials: int) -> None:
    for stage in ("subjects", "judges"):
        print(f"bare loop, {stage:14} {found[f'bare_{stage}']:8.0f} requests a CPU s")
        print(
            f"{stage} / bare".ljust(25)
            + f"{found[stage]:8.2f}   (promise: at least {RATIOS[stage]})"
        )
    print(f"memory at 1,000 trials    {found['memory_1000_mb']:8.0f} MB")
    print(
        f"memory at {trials:,} trials   {found['memory_trials_mb']:8.0f} MB  (promise: "
        f"flat, within {GROWTH})"
    )
    print(
        f"resume of a finished run  {found['resume_cpu_s']:8.2f} CPU s  (promise: under "
        f"{RESUME_CPU})"
    )


def are_kept(found: dict[str, float]) -> bool:
    """True if all promises are kept of what was measured."""
    return (
        all(found.get(stage, ratio) >= ratio for stage, ratio in RATIOS.items())
        and found.get("memory_trials_mb", 0) <= GROWTH * found.get("memory_1000_mb", 0)
        and found.get("resume_cpu_s", 0) < RESUME_CPU
    )


def print_verb(found: dict[str, float], name: str) -> None:
    number, of = 196 * VERB_SAMPLES, " with sentences" if name == "sentences" else ""
    print(f"bare loop{of}, {number:,} calls {found[f'bare_{name}_cpu_s']:8.2f} CPU s")
    print(f"the verb as typed{of}   {found[f'{name}_cpu_s']:8.2f} CPU s")
    print(f"verb / bare{of}         {found[name]:8.2f}   (promise: at least {RATIOS[name]})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--parts", action="store_true", help="where the time of a call goes")
    parser.add_argument("--verb", action="store_true", help="the verb as typed alone")
    parser.add_argument(
        "--child",
        choices=("subjects", "judges", "resume", "verb", "sentences"),
        help=argparse.SUPPRESS,
    )
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child == "sentences":
        serve_sentences()
        return 0
    if given.child == "verb":
        typed_here = arguments_of_run(given.folder, given.url, VERB_SAMPLES)
        print(json.dumps(verb_parts(typed_here, 196 * VERB_SAMPLES)))
        return 0
    if given.child:
        parts = Parts() if given.parts else None
        print(json.dumps(inside(given.child, given.folder, given.url, given.trials, parts)))
        return 0
    if given.parts:
        print_parts(measure_parts(given.requests))
        return 0
    found = {} if given.verb else measure(given.requests, given.trials)
    found |= measure_verb() | measure_verb("sentences")
    if given.json:
        print(json.dumps(found))
    else:
        if not given.verb:
            print_engine(found, given.trials)
        for name in ("verb", "sentences"):
            print_verb(found, name)
    return 0 if are_kept(found) else 1


if __name__ == "__main__":
    sys.exit(main())
