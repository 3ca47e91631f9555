"""`--stop` of an audit whose names are a sample."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import tiltmeter
from tests.benchmark import benchmark
from tiltmeter.analyse.stopping.plan import read_plan
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.protocol import Protocol
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.planning.rounds import rounds_of
from tiltmeter.store import Store


def audit(names: int, samples: int) -> Protocol:
    made: Protocol = benchmark("null_runs").own_audit(names, 20, samples)
    return made


def test_names_take_turns_in_rounds() -> None:
    """Twenty jobs, five names: each round has every name four times a group, and of each job
    another name than the round before.
    """
    protocol = audit(5, 4)
    rounds = rounds_of(protocol, Choices(subjects=("A",)))
    assert (rounds.in_sample, rounds.total) == (5, 20)
    asked = [
        (rounds.number(cell, sample), cell["name"], cell["group"], cell["job"])
        for cell in protocol.cells
        for sample in range(4)
    ]
    of_round = Counter((number, name) for number, name, *_ in asked)
    assert set(of_round.values()) == {4} and len(of_round) == 20 * 10
    prompts = Counter((number, group, job) for number, _, group, job in asked)
    assert set(prompts.values()) == {1}


def test_a_tilt_of_names_like_these_stops_a_run(tmp_path: Path) -> None:
    protocol = audit(10, 2)
    # plain: of eight tokens a longer sentence is cut before it chooses
    model = f"planted:protocol={protocol.name},dress=plain,accepted=0.2,accepted.women=.8"
    run = tiltmeter.run(protocol, model, tmp_path / "run", stop=True)
    with Store(run.folder) as store:
        plan = read_plan(store)
    assert plan is not None and {claim.statistic for claim in plan.claims} == {"words"}
    (verdict,) = run.verdicts()
    assert verdict.word == Word.TILT and "decided at look 1 of 4" in verdict.sentence
    assert verdict.headline.endswith("over names and jobs like these.")


def reject_one_name(prompt: str) -> str:
    return "rejected" if "Womenaaa" in prompt else "accepted"


def test_one_name_of_five_stops_no_run_with_a_tilt(tmp_path: Path) -> None:
    """Flips over twenty jobs reject: each job has that name, with women alone."""
    run = tiltmeter.run(audit(5, 4), {"bot": reject_one_name}, tmp_path / "run", stop=True)
    (verdict,) = run.verdicts()
    assert verdict.word in (Word.NOT_PURSUED, Word.TILT_OF_THESE)
    p_items = verdict.population["p_these"]
    assert isinstance(p_items, float) and p_items < 0.05


def test_plan_says_if_names_limit() -> None:
    few = tiltmeter.plan(audit(3, 6), "planted:protocol=own-3-20-6", stop=True)
    many = tiltmeter.plan(audit(10, 2), "planted:protocol=own-10-20-2", stop=True)
    assert few.stopping is not None and few.stopping.words_limit == "names"
    assert many.stopping is not None and many.stopping.words_limit == ""
