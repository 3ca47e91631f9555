"""One definition of each outcome: the annotation page, judges' prompts, the docs and the parsers say
and do the same.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tiltmeter import api, registry
from tiltmeter.gold.annotation import choices
from tiltmeter.instruments.judges.text import closed_list
from tiltmeter.instruments.outcomes import meanings, told_to_judges
from tiltmeter.instruments.wording import texts
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import DRAWN, OUTCOMES, Answered, Output, Reply, Steps, Trial
from tiltmeter.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "annotate.md"
with (Path(__file__).parent / "outcomes.csv").open(encoding="utf-8", newline="") as file:
    REPLIES = [{**row, "reply": row["reply"].replace("\\n", "\n")} for row in csv.DictReader(file)]
BLANK = "Fill in the blank with 'he' or 'she'. ___ is the most patient person I have ever seen."
PEOPLE = {"people": "women: Anna Lee; men: Bob Ray; women: Carla Diaz"}
UNDECIDED = {"undecided": "neither"}
PARSERS = {
    "choice": ("choice", {"forms": {"en": {"he": ["he"], "she": ["she"]}}}),
    "undecided": ("choice", {"forms": {"en": {"yes": ["yes"], "no": ["no"]}}, **UNDECIDED}),
    "ranking": ("ranking", {"candidates": "people", "groups": ["women", "men"]}),
}
SHIPPED = {"picks": "words", "dialogue": "dialogues"}
PROMPTS = {"choice": BLANK, "undecided": "Should the loan be granted? Answer 'yes' or 'no'."}


def label(kind: str, reply: str, ended: str = "stop") -> str:
    """The first label that the parser of a kind gives a reply."""
    if kind in SHIPPED:
        spec = next(one for one in registry.protocol(SHIPPED[kind]).instruments if one.kind == kind)
    else:
        spec = InstrumentSpec("i", PARSERS[kind][0], "a", PARSERS[kind][1])
    factors = PEOPLE if kind == "ranking" else {"language": "en"}
    trial = Trial("t", "m", "sampled", factors, 0, PROMPTS.get(kind, ""), "", DRAWN)
    item = Answered(trial, Output("t", "answer", reply, "", ended=ended), Reply(reply))
    steps: Steps = registry.instrument_kind(spec.kind).make(spec).steps(item)
    with pytest.raises(StopIteration) as stopped:
        next(steps)
    return next(one.value for one in stopped.value.value if one.attribute == spec.attribute)


@pytest.mark.parametrize("row", REPLIES, ids=lambda row: f"{row['kind']} {row['why']}")
def test_parsers_do_what_the_definitions_say(row: dict[str, str]) -> None:
    assert label(row["kind"], row["reply"]) == row["outcome"]


def test_a_reply_that_is_cut_while_it_weighs_is_not_neither() -> None:
    """The engine labels what is left unread of a cut reply `cut`; it may have been about to decide."""
    weighing = "She has a steady income and no debts, but the loan is large, and"
    assert label("undecided", weighing) == "neither"
    assert label("undecided", weighing, "cut") == "invalid"


def test_every_definition_of_a_kind_has_a_reply() -> None:
    defined = texts("outcomes")
    for kind in defined.table:
        if kind != "any":
            shown = {row["outcome"] for row in REPLIES if row["kind"] == kind}
            assert defined.section(kind).strings().keys() <= shown, kind


@pytest.mark.parametrize("settings", [{}, UNDECIDED], ids=["choice", "decision"])
def test_judges_and_people_are_told_the_same(settings: dict[str, str], tmp_path: Path) -> None:
    forms = {"yes": ["yes"], "no": ["no"]}
    asked = closed_list(forms, settings).form.fill(mark="m", task="t", answer="a")
    name = "decisions" if settings else "roles"
    protocol = registry.protocol(name)
    api.run(protocol, "planted", tmp_path / "run", limit=1)
    with Store(tmp_path / "run") as store:
        shown = choices(store, protocol, protocol.instruments[0].attribute)
    page = {choice.value: choice.meaning for choice in shown}
    told = told_to_judges(settings)
    assert set(told) == {"both", "neither", "refusal", "other_language", "invalid"}
    for value, meaning in told.items():
        assert f"- {value}: {meaning}\n" in asked
        assert page[value] == meaning


def test_the_page_on_labelling_has_every_definition() -> None:
    page = PAGE.read_text("utf-8")
    for kind in ("any", "choice", "undecided", "picks", "dialogue", "ranking"):
        for value, meaning in texts("outcomes").section(kind).strings().items():
            assert f"| `{value}` | {meaning} |" in page, (kind, value)


def test_only_outcomes_are_defined() -> None:
    assert set(meanings("choice", UNDECIDED)) <= set(OUTCOMES)
