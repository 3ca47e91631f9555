"""CPU seconds to parse and analyse 25,000 stored answers of each protocol with a parser.

    python benchmarks/parse.py [--answers 25000] [--json]

The answers are a planted model's, in varied dress and every language, with refusals and other
languages among them. `load`: the language identifier, once a process, where an
answer is doubtful. `parse`: answers
→ labels. `label`: the verb, from the stored outputs to stored labels (not in
the sum: it is the engine's and the disk's time as well). `analyse`: all labels → estimates with
intervals and tests.

Topics of dialogues are said by judges, whose calls are no parsing: they are stored as two judges
would have left them who agree on the planted topic, nine in ten at once, and are in `analyse` with
their divergences and leaders (9,999 shuffles each).

What the benchmark holds in memory (the answers) is kept from the garbage collector; a run reads
them piece by piece.
Exits 1 if load, parse and analyse of a protocol together take over 3 CPU s of the reference machine
(pace.py); what is printed by step was taken here.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pace import pace
from tiltmeter import registry
from tiltmeter.analyse.estimates import estimates
from tiltmeter.instruments.dialogue import NO_DIALOGUE
from tiltmeter.languages import identify
from tiltmeter.models.kinds import make_model
from tiltmeter.planted.dialogues import topic_in
from tiltmeter.planted.model import planted
from tiltmeter.protocol import Protocol
from tiltmeter.records import (
    INVALID,
    Answered,
    Label,
    Message,
    Output,
    Reply,
    Request,
    Sampling,
    Trial,
)
from tiltmeter.stages.engine.limits import Limits
from tiltmeter.stages.engine.open_models import Models
from tiltmeter.stages.engine.run_coroutine import wait_for
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.steps.label import annotate, annotators
from tiltmeter.store import Store

PROMISE = 3.0
TILTS = {
    "roles": "she=.6,refuse=.05,both=.02,foreign=.01",
    "words": "protocol=words,communal.female=1.3,refuse=.03,foreign=.02,off=.05,short=.1",
    "dialogues": "protocol=dialogues,appearance.FF=.3,refuse=.03,foreign.MM=.1,one=.05,more=.05",
}


def answers(protocol: Protocol, number: int) -> Iterator[Answered]:
    """Answers to the cells of the design in turn."""
    model, cells = planted(TILTS[protocol.name]), protocol.cells
    sampling = Sampling(max_tokens=300)
    for index in range(number):
        cell = cells[index % len(cells)]
        factors = {name: cell[name] for name in (*protocol.factors, protocol.item)}
        trial = Trial(
            f"{index:06}",
            model.name,
            protocol.default_mode,
            factors,
            index // len(cells),
            protocol.prompt_text(cell),
            "",
            sampling,
        )
        reply = model.reply(
            Request(model.name, (Message("user", trial.prompt),), sampling, nonce=str(index))
        )
        yield Answered(
            trial, Output(trial.id, "answer", reply.text, ""), Reply(reply.text), False, cell
        )


def negotiated(store: Store, protocol: Protocol, items: Sequence[Answered]) -> list[Label]:
    """The labels of an instrument with two judges, of the forms that are stored."""
    found = []
    form = {
        output: value
        for output, _, attribute, value, _ in store.iter_labels()
        if attribute == "form"
    }
    for spec in protocol.instruments:
        if spec.kind == "negotiation":
            for number, item in enumerate(items):
                value = form[item.trial.id]
                topic, rounds = topic_in(item.output.text) or INVALID, "12"[number % 10 == 0]
                said = (value, value) if value in NO_DIALOGUE else (topic, rounds)
                found += [
                    Label(item.trial.id, f"{spec.name}/1@planted", name, one)
                    for name, one in zip((spec.attribute, *spec.also), said, strict=True)
                ]
    return found


def cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return round(time.process_time() - begin, 3)


def loaded() -> float:
    """CPU seconds to load the identifier, once a process."""
    identify._identifier.cache_clear()
    return cpu(lambda: identify.foreign("tall, nocturnal", "en"))


def measured(name: str, number: int, load: float) -> dict[str, float]:
    """CPU seconds of each step for one protocol; `load`: those of the identifier, where one of its
    instruments has one.
    """
    protocol = registry.protocol(name)
    items = list(answers(protocol, number))
    instruments = annotators(protocol)

    def parse() -> None:
        for instrument in instruments:
            for item in items:
                for _ in instrument.steps(item):
                    raise AssertionError("a parser asks nobody")

    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "run", create=True, writing=True) as store,
    ):
        store.freeze(Choices((items[0].trial.subject,)).frozen(protocol))
        list(store.iter_unanswered([item.trial for item in items]))
        store.write([], [item.output for item in items], [])

        async def label() -> None:
            async with Models(make_model) as models:
                await annotate(store, protocol, (), models, Limits())

        gc.collect()
        gc.freeze()
        identified = any("identifier" in one.wording() for one in instruments)
        found = {
            "load": load if identified else 0.0,
            "parse": cpu(parse),
            "label": cpu(lambda: wait_for(label())),
        }
        store.write([], [], negotiated(store, protocol, items))
        found["analyse"] = cpu(lambda: estimates(store, protocol))
    gc.unfreeze()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=25_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    before, load = pace(), loaded()
    rows = {name: measured(name, given.answers, load) for name in TILTS}
    around = (before + pace()) / 2
    sums = [row["load"] + row["parse"] + row["analyse"] for row in rows.values()]
    kept = max(sums) / around <= PROMISE
    if given.json:
        print(
            json.dumps(
                {
                    "answers": given.answers,
                    "cpu_s": rows,
                    "pace": around,
                    "kept": kept,
                }
            )
        )
    else:
        for name, row in rows.items():
            print(
                f"{name:10}",
                "  ".join(f"{step} {seconds:.2f}" for step, seconds in row.items()),
                "CPU s",
            )
        print(
            f"{'kept' if kept else 'BROKEN'}: {given.answers:,} answers parse and analyse in "
            f"{max(sums) / around:.2f} CPU s of the reference machine, {PROMISE:g} promised; here "
            f"one takes {around:.2f}"
        )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
