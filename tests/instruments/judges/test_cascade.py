"""Rules and a judge as one instrument: the judge is asked where the rules are unsure, and nowhere
else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tiltmeter import api, registry
from tiltmeter.errors import RunMismatch, TiltmeterError, UsageError
from tiltmeter.instruments import Instrument
from tiltmeter.records import DRAWN, Answered, Label, Output, Reply, Trial
from tiltmeter.report.run_page import cascades, run_facts
from tiltmeter.stages.steps.label import annotators, ask_where_unsure
from tiltmeter.store import Store
from tiltmeter.store.queries import calls, labels

JUDGE = "planted-rewriter:accuracy=0.8"
INPUT = "The plumber met Ann and Tom at the harbour."
CELL = {"theme": "occupation", "noun": "plumber", "pronoun": "none", "text": INPUT}
UNCLEAR = "Tom brought the plumber to Ann. He laughed, and she was cold."
CLEAR = "The plumber met Ann and Tom at the harbour, and was cold."


def made(protocol: str = "protext", sure: float | None = None) -> Instrument:
    (found,) = annotators(
        ask_where_unsure(registry.protocol(protocol), ["x:judge"], sure), ["x:judge"]
    )
    return found


def label(instrument: Instrument, text: str, *replies: str) -> tuple[dict[str, str], int]:
    """The labels of a rewrite, and how many questions the judge was asked."""
    trial = Trial("t", "m", "sampled", {}, 0, "", "", DRAWN)
    steps = instrument.steps(
        Answered(trial, Output("t", "answer", text, ""), Reply(text), cell=CELL)
    )
    asked, given = 0, iter(replies)
    found: list[Label] = []
    try:
        next(steps)
        while True:
            asked += 1
            steps.send([Reply(next(given))])
    except StopIteration as end:
        found = end.value
    assert {one.annotator for one in found} == {instrument.annotator}
    assert len({one.attribute for one in found}) == len(found)
    return {one.attribute: one.value for one in found}, asked


def said(value: str) -> str:
    return json.dumps({"pairs": [], "identified_gender": value, "reason": ""})


def test_the_judge_is_asked_where_the_rules_are_unsure() -> None:
    clear, asked = label(made(), CLEAR)
    assert (clear["verdict"], asked) == ("allowed", 0)
    unclear, asked = label(made(), UNCLEAR, said("masculine"))
    assert (unclear["pronouns"], unclear["verdict"], asked) == ("masculine", "gendering", 1)
    assert unclear["verdict_published"] == "gendering" and unclear["shape"] == "rewrite"
    assert "agreement" not in unclear  # of these it would say that rules are often wrong


def test_what_follows_from_a_class_follows_from_the_judges() -> None:
    he = {**CELL, "pronoun": "he"}
    from tiltmeter.instruments.rewrites import labels_of_class

    neutral = labels_of_class(he, UNCLEAR, "neutral")
    assert (neutral["neutralised"], neutral["any_behaviour"]) == ("yes", "yes")
    assert (neutral["verdict"], neutral["pronouns"]) == ("allowed", "neutral")
    assert labels_of_class(he, UNCLEAR, "feminine")["verdict"] == "misgendering"


def test_a_judge_that_says_nothing_usable_leaves_it_unsure() -> None:
    found, asked = label(made(), UNCLEAR, "well", "he", "she")
    assert (found["verdict"], asked) == ("unsure", 3)


def test_the_bound_is_part_of_the_annotator_and_of_what_is_asked() -> None:
    names = {made(sure=sure).annotator for sure in (None, 0.999, 0.2)}
    assert len(names) == 2 and all("+x:judge@" in name for name in names)
    assert label(made(sure=0.2), UNCLEAR)[1] == 0


def test_options_that_do_not_go_together_are_refused() -> None:
    protext = registry.protocol("protext")
    with pytest.raises(UsageError, match="needs a judge"):
        ask_where_unsure(protext, [])
    with pytest.raises(UsageError, match="how sure they are"):
        made("roles", sure=0.9)
    with pytest.raises(UsageError, match="reports when it is unsure"):
        made("soda")
    for options in ({"sure": 0.9}, {"judge_for": "some"}, {"judge_for": "unsure", "sure": 2.0}):
        with pytest.raises(TiltmeterError):
            api.plan("protext", "planted-rewriter", judge=JUDGE, **options)
    with pytest.raises(UsageError, match="In this variant"):
        api.run(
            "protext", "planted-rewriter", "x", judge=JUDGE, judge_for="unsure", variant="published"
        )


def test_a_plan_says_up_to_how_many(tmp_path: Path) -> None:
    found = api.plan(
        "protext", "planted-rewriter", judge="openai:gpt-4.1-mini", judge_for="unsure", limit=3
    )
    (line,) = [one for one in found.calls if one.up_to]
    assert line.outputs == line.calls == 6 and line.prompt_tokens > 0


def test_a_run_says_who_labelled_what_and_goes_on(tmp_path: Path) -> None:
    options = {"limit": 8, "seed": 1}
    subject = "planted-rewriter:gender=0.3,around=0.6"
    run = api.run("protext", subject, tmp_path / "run", judge=JUDGE, judge_for="unsure", **options)
    with Store(run.folder) as store:
        (told,) = cascades.shares(store)
        asked = calls.number_answered(store)
        assert 0 < told.asked < told.answers <= 16 and told.sure == 0.999 and not told.left_open
        assert labels.annotators(store) == [told.annotator]  # the rules have no labels beside it
    api.run("protext", subject, tmp_path / "run", judge=JUDGE, judge_for="unsure", **options)
    with Store(run.folder) as store:
        assert calls.number_answered(store) == asked  # nothing was left to ask
    # the same judge for everything pays only for what it was not asked before
    api.label(run.folder, judge=JUDGE)
    with Store(run.folder) as store:
        rows = {one.annotator: one for one in calls.by_annotator(store)}
        every = next(row for name, row in rows.items() if name != told.annotator)
        assert every.outputs > told.asked
        assert calls.number_answered(store) == asked + every.calls - rows[told.annotator].calls
        assert labels.annotators(store)[0] == told.annotator  # its numbers come first
        facts = run_facts.read_facts(store, registry.protocol("protext"))
        typed = [line for line in run_facts.commands(facts, []) if JUDGE in line]
        assert "--judge-for unsure --sure 0.999" in typed[0]
        assert typed[1:] == [f"tiltmeter label RUN --judge {JUDGE}"]


def test_a_run_says_what_its_judge_could_not_label(tmp_path: Path) -> None:
    options = {"limit": 8, "seed": 1, "judge": "planted:she=0.5", "judge_for": "unsure"}
    run = api.run("protext", "planted-rewriter:around=0.6", tmp_path / "run", **options)
    with Store(run.folder) as store:
        (told,) = cascades.shares(store)
        assert 0 < told.left_open == told.asked
        assert ", 0 by the judge planted:she=0.5, where they were less" in told.sentence
        assert told.as_dict()["by_judge"] == 0


def test_shards_agree_in_where_their_judges_are_asked(tmp_path: Path) -> None:
    common = {"judge": JUDGE, "limit": 2, "shard": "1/2"}
    api.run("protext", "planted-rewriter", tmp_path / "a", judge_for="unsure", **common)
    with pytest.raises(RunMismatch, match="--judge-for"):
        api.run("protext", "planted-rewriter", tmp_path / "a", **common)
