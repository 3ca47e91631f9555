"""The built-in model: what the engine costs on it, what is evaluated once, and whether its two
modes agree.

    python benchmarks/builtin.py [--rounds 8] [--draws 200] [--json]

Three promises, on the real weights, served in this process (about a minute on two idle cores):

rate       exact probes of the audit `roles` through engine and store, against a bare aiohttp loop
           that sends the same bodies and keeps nothing. On a machine that others use too the rate
           of one alone moves by a quarter within seconds, so both run in the same seconds, each on
           a server of its own with the same settings, and change servers from round to round. (On
           one server they would not be independent: it works in batches, and who sends a moment
           later waits for the next.) At least 0.9 over all rounds.
prefix     prompts that begin alike are evaluated from where they differ, but for the first in each
           slot: the server's own count of cached tokens says so for each prompt.
agreement  for six words, draws with the sampling sent in full (temperature 1, top_p 1, top_k 0,
           min_p 0) against the exact reading: he, she and all other tokens by Pearson's chi-square,
           summed over the words (12 degrees of freedom), which happens to a right sampler once in a
           thousand seeds; P(he) and P(she) of each word with the exact binomial interval at 95 %,
           of which one in twenty may miss. That the check can fail is seen on the last word, drawn
           with llama.cpp's own defaults (top_k 40, top_p 0.95, min_p 0.05): there it must say no.

Exits 1 when one is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count, cycle, takewhile
from typing import Any

import aiohttp

from tiltmeter import registry
from tiltmeter.models import FREE, Model
from tiltmeter.models.kinds import make_model
from tiltmeter.models.local.local import ALIAS, SLOTS, LlamaChat, LocalModel
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import Output, Reply, Request, Sampling
from tiltmeter.stages.engine.engine import Engine
from tiltmeter.stages.engine.limits import Limits
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.sources import Job
from tiltmeter.stages.planning import plan
from tiltmeter.store import Store

RATIO, LEAST_P = 0.9, 0.001
SECONDS = 4.0  # of a round
WORDS = ("charismatic", "intelligent", "confident", "empathetic", "nurturing", "adorable")
LLAMA_DEFAULTS = {"top_k": 40, "top_p": 0.95, "min_p": 0.05}
Result = dict[str, Any]


class Lent(Model):
    """A model that is open already and stays so: what `open` and `close` take is not what is
    measured.
    """

    parallel, continues, price = SLOTS, True, FREE

    def __init__(self, model: LocalModel) -> None:
        self.name, self._model = model.name, model

    async def ask(self, request: Request) -> Reply:
        return await self._model.ask(request)


def probes() -> list[Request]:
    """The exact requests of `roles`, as a run makes them, with the published option order."""
    protocol = registry.protocol("roles")
    trials = plan.trials(
        protocol,
        plan.Choices(("builtin",), languages=("en",), modes=("exact",), begin="The answer is '"),
    )
    return [
        plan.request(trial, protocol) for trial in trials if trial.factors["order"] == "he_first"
    ]


def job(request: Request) -> Job:
    (reply,) = yield [request]
    return [Output(request.nonce, reply.outcome, reply.text, request.key)]


async def through_engine(model: LocalModel, requests: Iterable[Request], store: Store) -> int:
    """Answers into a store by the engine; how many. As in a run, a request waits for each place
    that falls free.
    """
    async with Models(lambda name: Lent(model)) as models:
        tally = await Engine(store, models, Limits(concurrency=SLOTS + 1)).drive(map(job, requests))
    assert tally.calls == tally.done and not tally.failed and not tally.retries, tally
    return tally.calls


async def answers(model: LocalModel, requests: Sequence[Request], store: Store) -> list[Reply]:
    await through_engine(model, requests, store)
    return [reply for request in requests if (reply := store.reply(request.key)) is not None]


async def bare(
    model: LocalModel, requests: Iterable[Request], changes: Mapping[str, float] | None = None
) -> list[Any]:
    """The bodies of the replies, by a loop that does nothing else."""
    base, key = model.address
    dialect, found, rest = LlamaChat(ALIAS, key, {}), [], iter(requests)
    async with aiohttp.ClientSession() as session:

        async def work() -> None:
            for request in rest:
                wanted = dialect.build(request, frozenset())
                body = {**wanted.body, **(changes or {})}
                async with session.post(
                    base + wanted.path, json=body, headers=wanted.headers
                ) as response:
                    found.append(json.loads(await response.read()))

        await asyncio.gather(*(work() for _ in range(SLOTS)))
    return found


async def prefix(model: LocalModel, requests: Sequence[Request]) -> Result:
    """On a server that has seen nothing yet."""
    shared = await shared_tokens(model, requests)
    usages = [body["usage"] for body in await bare(model, requests)]
    cached = [usage["prompt_tokens_details"]["cached_tokens"] for usage in usages]
    whole = sum(number < shared for number in cached)
    return {
        "shared_tokens": shared,
        "prompt_tokens": sum(usage["prompt_tokens"] for usage in usages) / len(usages),
        "evaluated_tokens": sum(usage["prompt_tokens"] for usage in usages) / len(usages)
        - sum(cached) / len(cached),
        "prompts": len(cached),
        "evaluated_whole": whole,
        "slots": SLOTS,
        "kept": whole <= SLOTS,
    }


async def shared_tokens(model: LocalModel, requests: Sequence[Request]) -> int:
    """How many tokens all prompts have in common at their beginning, by the server's own template
    and tokenizer.
    """
    base, key = model.address
    dialect, root = LlamaChat(ALIAS, key, {}), base.removesuffix("/v1")
    tokens = []
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as session:
        for request in requests:
            body = dict(dialect.build(request, frozenset()).body)
            async with session.post(f"{root}/apply-template", json=body) as response:
                prompt = (await response.json())["prompt"]
            async with session.post(
                f"{root}/tokenize", json={"content": prompt, "parse_special": True}
            ) as response:
                tokens.append((await response.json())["tokens"])
    return sum(
        1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*tokens, strict=False))
    )


async def rate(
    first: LocalModel, second: LocalModel, requests: Sequence[Request], rounds: int, store: Store
) -> Result:
    done, taken = dict.fromkeys(("bare", "engine"), 0), dict.fromkeys(("bare", "engine"), 0.0)

    words = cycle(requests)

    async def timed(side: str, model: LocalModel, number: int) -> None:
        begin = time.perf_counter()
        places = takewhile(lambda _: time.perf_counter() < begin + SECONDS, count())
        asked = (replace(next(words), nonce=f"rate/{number}/{place}") for place in places)
        if side == "engine":
            done[side] += await through_engine(model, asked, store)
        else:  # in a loop of its own, so that it does not wait for ours
            done[side] += len(await asyncio.to_thread(asyncio.run, bare(model, asked)))
        taken[side] += time.perf_counter() - begin

    await bare(second, requests[:SLOTS])  # neither is cold
    for number in range(rounds):
        models = (first, second) if number % 2 else (second, first)
        await asyncio.gather(timed("engine", models[0], number), timed("bare", models[1], number))
    rates = {side: done[side] / taken[side] for side in done}
    ratio = rates["engine"] / rates["bare"]
    return {
        "probes": sum(done.values()),
        "bare_per_s": rates["bare"],
        "engine_per_s": rates["engine"],
        "ratio": ratio,
        "kept": ratio >= RATIO,
    }


async def agreement(
    model: LocalModel, requests: Sequence[Request], draws: int, seed: int, store: Store
) -> Result:
    """Draws against readings, word by word."""
    rows = []
    for word in WORDS:
        probe = next(request for request in requests if f" {word} " in request.messages[0].content)
        (read,) = await answers(model, [replace(probe, nonce=word)], store)
        asked = [drawn(probe, f"{seed}/{word}/{number}") for number in range(draws)]
        said = Counter(reply.text for reply in await answers(model, asked, store))
        rows.append(compared(word, read, said, draws))
    chance = chi_square_p(sum(row["chi_square"] for row in rows), 2 * len(rows))
    control = await bare(model, asked, changes=LLAMA_DEFAULTS)
    begin = len(probe.begin)
    cut = Counter(body["choices"][0]["message"]["content"][begin:] for body in control)
    refused = compared(WORDS[-1], read, cut, draws)
    refused_p = chi_square_p(refused["chi_square"], 2)
    missed = sum(not row[f"{name}_inside"] for row in rows for name in ("he", "she"))
    return {
        "draws": draws,
        "words": rows,
        "p": chance,
        "missed": missed,
        "defaults": refused,
        "defaults_p": refused_p,
        "kept": chance >= LEAST_P and missed <= 3 and refused_p < LEAST_P,
    }


def drawn(probe: Request, mark: str) -> Request:
    """The same prompt and begun answer, drawn: the first token is the answer. Each draw has a seed
    of its own.
    """
    seed = int(sha256(mark.encode()).hexdigest()[:7], 16)
    return Request(
        probe.model, probe.messages, Sampling(1.0, 1.0, 1, seed), probe.begin, nonce=mark
    )


def compared(word: str, read: Reply, said: Counter[str], draws: int) -> Result:
    """One word: what was read, what was drawn, and how far they are apart."""
    from scipy.stats import binomtest

    exact = {token.bytes: math.exp(token.logprob) for token in read.alternatives[0]}
    row: Result = {"word": word}
    shares, counts = [], []
    for name in ("he", "she"):
        share, count = exact[name.encode()], said[name]
        interval = binomtest(count, draws).proportion_ci(0.95, method="exact")
        row |= {
            f"{name}_exact": share,
            f"{name}_drawn": count / draws,
            f"{name}_low": interval.low,
            f"{name}_high": interval.high,
            f"{name}_inside": bool(interval.low <= share <= interval.high),
        }
        shares.append(share)
        counts.append(count)
    shares.append(1.0 - sum(shares))
    counts.append(draws - sum(counts))
    row["chi_square"] = sum(
        (c - draws * s) ** 2 / (draws * s) for c, s in zip(counts, shares, strict=True)
    )
    return row


def chi_square_p(value: float, degrees: int) -> float:
    from scipy.stats import chi2

    return float(chi2.sf(value, degrees))


async def measure(rounds: int, draws: int, seed: int, source: str | None) -> dict[str, Result]:
    requests = probes()
    models = [make_model("builtin", ModelOptions(builtin_from=source)) for _ in range(2)]
    first, second = (model for model in models if isinstance(model, LocalModel))
    try:
        for model in models:
            await model.open()
        with (
            tempfile.TemporaryDirectory() as folder,
            Store(folder, create=True, writing=True) as store,
        ):
            return {
                "prefix": await prefix(first, requests[:16]),
                "rate": await rate(first, second, requests, rounds, store),
                "agreement": await agreement(first, requests, draws, seed, store),
            }
    finally:
        for model in models:
            await model.close()


def show(found: dict[str, Result]) -> None:
    rate, prefix, agreement = found["rate"], found["prefix"], found["agreement"]
    print(f"exact probes, bare loop   {rate['bare_per_s']:6.2f} a second")
    print(f"exact probes, engine      {rate['engine_per_s']:6.2f} a second, in the same seconds")
    print(f"engine / bare             {rate['ratio']:6.2f}   (promise: at least {RATIO})")
    print(
        f"prompt                    {prefix['prompt_tokens']:6.1f} tokens, the first "
        f"{prefix['shared_tokens']} shared by all"
    )
    print(f"evaluated of it           {prefix['evaluated_tokens']:6.1f} tokens on average")
    print(
        f"prefix evaluated          {prefix['evaluated_whole']:6d}   times for "
        f"{prefix['prompts']} prompts (promise: at most once a slot, {prefix['slots']})"
    )
    print(
        f"\n{agreement['draws']} draws a word      P(he) exact, drawn [95 %]          P(she) "
        "exact, drawn [95 %]"
    )
    for row in agreement["words"]:
        cells = (
            f"{row[f'{n}_exact']:.3f}  {row[f'{n}_drawn']:.3f} [{row[f'{n}_low']:.3f}, "
            f"{row[f'{n}_high']:.3f}]{' ' if row[f'{n}_inside'] else '*'}"
            for n in ("he", "she")
        )
        print(f"{row['word']:<20}  {'      '.join(cells)}")
    print(
        f"all words, chi-square p   {agreement['p']:6.3f}   (promise: at least {LEAST_P}; * "
        f"outside: {agreement['missed']})"
    )
    print(
        f"with llama.cpp's defaults {agreement['defaults_p']:6.0e}   (promise: under {LEAST_P}, "
        "since they cut the tail off)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8, help="of the comparison of rates")
    parser.add_argument("--draws", type=int, default=200, help="samples a word")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    parser.add_argument("--builtin-from", help="the model's wheel or GGUF file")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asyncio.run(measure(given.rounds, given.draws, given.seed, given.builtin_from))
    if given.json:
        print(json.dumps(found))
    else:
        show(found)
    return 0 if all(part["kept"] for part in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
