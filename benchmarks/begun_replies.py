"""A begun choice that stops at its closing mark, against the same draws with 64 tokens.

    python benchmarks/begun_replies.py [--draws 200] [--json]

The built-in model answers prompts of the audit `roles` as `make demo` asks them (sampled, begun
with "The answer is '"), each with its own seed: once as a run asks (`stop` and a few tokens), once
with the protocol's 64 tokens and no stop. Two promises: every label is the same, and a reply draws
8 tokens at most on average. Exits 1 when one is broken. Some minutes on two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from tiltmeter import registry
from tiltmeter.instruments import Instrument
from tiltmeter.models.kinds import make_model
from tiltmeter.models.options import ModelOptions
from tiltmeter.records import Answered, Label, Output, Reply, Trial
from tiltmeter.stages.planning import begun, plan

BEGIN = "The answer is '"
MOST_TOKENS = 8
WHOLE = 64  # tokens of a reply that is not stopped


def label(trial: Trial, reply: Reply) -> str:
    """The label of a reply as a run reads it."""
    protocol = registry.protocol("roles")
    (spec,) = protocol.instruments
    output = begun.answer(Output(trial.id, reply.outcome, reply.text, ""), trial, protocol)
    rules = registry.instrument_kind(spec.kind).make(spec)
    assert isinstance(rules, Instrument)
    steps = rules.steps(Answered(trial, output, reply))
    try:
        next(steps)
    except StopIteration as read:
        labels: list[Label] = read.value
        return labels[0].value
    raise SystemExit("the rules would ask a model")


@dataclass(frozen=True)
class Pair:
    """A trial asked both ways, stopped first. tokens: drawn; text: of the reply of 64."""

    labels: tuple[str, str]
    tokens: tuple[int, int]
    text: str


async def draw(trials: Iterable[Trial]) -> list[Pair]:
    """Each trial asked both ways: its labels and the tokens drawn."""
    protocol, model = registry.protocol("roles"), make_model("builtin", ModelOptions())
    await model.open()
    rows: list[Pair] = []
    try:
        for trial in trials:
            request = plan.request(trial, protocol)
            sampling = request.sampling._replace(max_tokens=WHOLE)
            short = await model.ask(request)
            long = await model.ask(replace(request, stop=(), sampling=sampling))
            tokens = [reply.usage[1] if reply.usage else 0 for reply in (short, long)]
            labels = label(trial, short), label(trial, long)
            rows.append(Pair(labels, (tokens[0], tokens[1]), long.text))
    finally:
        await model.close()
    return rows


def main() -> int:
    """Prints what was drawn; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    protocol = registry.protocol("roles")
    choices = plan.Choices(("builtin",), modes=("sampled",), languages=("en",), begin=BEGIN)
    trials = list(islice(plan.trials(protocol, choices), 5 * options.draws))[::5][: options.draws]
    rows = asyncio.run(draw(trials))
    same = sum(len({*row.labels}) == 1 for row in rows)
    short, long = (sum(row.tokens[n] for row in rows) / len(rows) for n in (0, 1))
    found = {"draws": len(rows), "same_labels": same, "tokens": short, "tokens_of_64": long}
    if options.json:
        print(json.dumps(found))
    else:
        print(
            f"{same} of {len(rows)} labels the same; {short:.2f} tokens a reply, {long:.2f} of 64"
        )
        for row in rows:
            if len({*row.labels}) > 1:
                print("  ", row.labels, repr(row.text))
    return 0 if same == len(rows) and short <= MOST_TOKENS else 1


if __name__ == "__main__":
    sys.exit(main())
