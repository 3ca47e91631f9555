"""Runs that stop when they know: looks are made once, what is decided is asked no further, and everybody is told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import forging
from tiltmeter import Protocol, api, registry
from tiltmeter.analyse.stopping.claims import planned_families
from tiltmeter.analyse.stopping.compared import looks_price, paying
from tiltmeter.analyse.stopping.estimates import _Stopped
from tiltmeter.analyse.stopping.looks import check_looks, read_looks
from tiltmeter.analyse.stopping.plan import key_of, read_plan
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.errors import ProtocolError, RunMismatch, StoreError, UsageError
from tiltmeter.records import Estimate, Label
from tiltmeter.stages.planning import plan
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.store import Store
from tiltmeter.store.queries import looks as stored
from tiltmeter.store.queries import trials

JOBS = ["cook", "driver", "gardener", "nurse", "plumber", "teacher", "tailor", "baker"]
KEYS: dict[str, Any] = {
    "name": "raises",
    "title": "A raise",
    "question": "Is a raise advised?",
    "prompt": "Fill in the blank with 'raised' or 'kept'. The salary of a {job} should be ___.",
    "factors": ("job",),
    "item": "job",
    "tables": [{"rows": [{"job": job} for job in JOBS]}],
    "modes": {"sampled": {"samples": 12}},
    "instruments": [
        {
            "name": "choice",
            "kind": "choice",
            "attribute": "answer",
            "forms": {"en": {"raised": ["raised"], "kept": ["kept"]}},
        }
    ],
    "measures": [
        {
            "name": "gap",
            "kind": "share",
            "attribute": "answer",
            "values": ["raised"],
            "among": ["raised", "kept"],
            "null": 0.5,
            "headline": True,
        }
    ],
}
TILTED, EVEN = "planted:she=.85", "planted:she=.5,spread=.2"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models in English: one tilts, one does not."""
    out = tmp_path_factory.mktemp("stopped") / "run"
    api.run("roles", [TILTED, EVEN], out, language="en", limit=40, stop=True)
    return out


def rows(store: Store, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in store.rows(query)]


def test_what_is_decided_is_asked_no_further(stopped: Path) -> None:
    with Store(stopped) as store:
        plan = read_plan(store)
        assert plan is not None and plan.looks == (4, 6, 10, 20)
        made = read_looks(store, plan)
        asked = dict(store.rows("SELECT subject, count(*) FROM trials GROUP BY 1"))
        planned = store.get("planned")
    first = {json.loads(key)[1]: one.state for key, one in made[0].decisions.items()}
    assert first == {TILTED: "rejected", EVEN: "on"}
    words = asked[TILTED] // 4  # one lexeme has two words, both asked in every round
    assert asked[TILTED] == 4 * words and words == 41
    assert asked[EVEN] == plan.looks[len(made) - 1] * words > asked[TILTED]
    assert {
        subject: sum(sum(levels.values()) for levels in modes.values())
        for subject, modes in planned.items()
    } == asked  # so that a run that ended by design is no run that was cut off


def test_a_run_and_what_it_was_at_a_look_are_remembered_apart(stopped: Path) -> None:
    def answered(store: Store) -> int:
        return sum(part.answered for part in trials.parts(store))

    with stored.RunAtLook(stopped, 1) as first, Store(stopped) as store:
        found = [answered(one) for one in (first, store, first)]
        every = store.first("SELECT count(*) FROM outputs")[0]
        assert found == [stored.calls_up_to(store, 1)[0], every, found[0]] and found[0] < every


def test_verdicts_follow_the_looks_and_what_is_given_up_is_no_finding(stopped: Path) -> None:
    run = api.open_run(stopped)
    told = {one.subject: one for one in run.verdicts()}
    assert told[TILTED].word == Word.TILT and "decided at look 1 of 4" in told[TILTED].sentence
    assert told[EVEN].word == Word.NOT_PURSUED
    assert "no finding that there is none" in told[EVEN].sentence
    assert not [c.code for one in told.values() for c in one.cautions if "partly" in c.code]
    text = run.report(stopped / "page.md").read_text("utf-8")
    assert "not pursued" in text and "o difference was found" not in text
    assert "When the run knew" in text and "were not asked" in text


def test_an_interval_of_what_is_given_up_agrees_with_its_p(stopped: Path) -> None:
    """An interval that excludes one half beside "not pursued, adjusted p = 1" contradicts it."""
    with Store(stopped) as store:
        plan = read_plan(store)
        assert plan is not None
        made, protocol = read_looks(store, plan), api.open_run(stopped).protocol
        last = _Stopped(store, protocol, plan, made, [])
        key, decision = next(
            (key, one) for key, one in made[-1].decisions.items() if json.loads(key)[1] == EVEN
        )
        (row,) = [r for r in api.open_run(stopped).analyse() if key_of(r) == key]
        assert decision.state == "not pursued" and row.low is not None and row.low < 0.5
        near = last._as_given_up(
            replace(row, value=0.56, low=0.51, high=0.61), plan.families[0], decision
        )
        assert (
            near.low is not None and near.low < 0.5 and near.confidence == pytest.approx(0.99375)
        )  # .05·.25/2
        far = last._as_given_up(
            replace(row, value=0.8, low=0.79, high=0.81), plan.families[0], decision
        )
        assert (far.low, far.high) == (None, None) and "given up before its last look" in far.note


def test_tests_that_did_not_stop_the_run_pay_for_the_looks(stopped: Path) -> None:
    """By hand: the tilted model was looked at once, so its other p are q/w_1 = 10 q."""
    run = api.open_run(stopped)
    with Store(stopped) as store:
        from tiltmeter.analyse.whole_run.measure_run import measured_rows

        plain = {
            (row.subject, row.measure, *row.condition.values()): row.p
            for row in measured_rows(store, run.protocol)
        }
    order = [
        row
        for row in run.analyse()
        if row.measure == "order_effect" and row.subject == TILTED and "class" not in row.condition
    ]
    (row,) = order
    q = plain[row.subject, row.measure, *row.condition.values()]
    assert q is not None and row.p == pytest.approx(min(1, 10 * q))
    assert row.test is not None and row.test.endswith("over looks")


def test_the_same_command_makes_no_look_again(stopped: Path) -> None:
    with Store(stopped) as store:
        before = stored.looks(store), rows(store, "SELECT key, date FROM calls ORDER BY key")
    api.run("roles", [TILTED, EVEN], stopped, language="en", limit=40, stop=True)
    with Store(stopped) as store:
        assert (stored.looks(store), rows(store, "SELECT key, date FROM calls ORDER BY key")) == (
            before
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stop": False}, "Type --stop"),
        ({"stop": True, "samples": 5}, "in samples. Leave --samples out"),
        ({"stop": True, "limit": 41}, "in limit. Type --limit 40"),
    ],
)
def test_another_plan_is_refused_in_a_line(
    stopped: Path, options: dict[str, int], said: str
) -> None:
    told = {"language": "en", "limit": 40, **options}
    with pytest.raises(RunMismatch, match=said):
        api.run("roles", [TILTED, EVEN], stopped, **told)  # type: ignore[arg-type]


def test_labels_that_changed_after_a_look_are_refused(stopped: Path, tmp_path: Path) -> None:
    with Store(stopped) as store:
        store.copy_to(tmp_path / "copy")
    with Store(tmp_path / "copy", writing=True) as store:
        plan = read_plan(store)
        assert plan is not None
        check_looks(store, plan, read_looks(store, plan))
        ((output, annotator),) = store.rows(
            "SELECT output, annotator FROM labels JOIN trial_looks ON trial = output"
            " WHERE look = 1 LIMIT 1"
        )
        store.supersede([Label(output, annotator, "pronoun", "he")])
        with pytest.raises(RunMismatch, match="look 1 was made from other"):
            check_looks(store, plan, read_looks(store, plan))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "UPDATE artefacts SET content = '{}' WHERE kind = 'stopping plan'",
            "stopping plan cannot be read",
        ),
        ("UPDATE artefacts SET content = '{}' WHERE kind = 'look'", "look 1 is no look"),
        (
            "UPDATE artefacts SET content = replace(content, '\"seed\": 0', '\"seed\": 1') WHERE kind = 'stopping plan'",
            "another plan",
        ),
    ],
)
def test_a_plan_or_a_look_that_was_changed_is_named(
    stopped: Path, tmp_path: Path, change: str, said: str
) -> None:
    with Store(stopped) as store:
        store.copy_to(tmp_path / "copy")
    with Store(tmp_path / "copy") as store:
        forging.allow_changes(store._db)
        store.write_one(change, ())
    with pytest.raises(StoreError, match=said):
        api.open_run(tmp_path / "copy").analyse()


def test_words_of_a_list_are_answered_by_the_same_calls_and_end_together() -> None:
    """Five classes a language, of which one call names ten words: INFERENCE, part B, 5."""
    protocol, choices = registry.protocol("words"), Choices(("m",), ("en", "fr"), limit=6)
    found = planned_families(protocol, plan.trials(protocol, choices), {"class": "picks/1"})
    (family,) = found
    ends = Counter(claim.calls for claim in family.claims)
    assert list(ends.values()) == [5, 5] and family.method == "holm"


def test_what_cannot_stop_early_says_what_to_type(tmp_path: Path) -> None:
    def run(protocol: str, **options: object) -> None:
        api.run(protocol, TILTED, tmp_path / "no", stop=True, **options)  # type: ignore[arg-type]

    with pytest.raises(UsageError, match="Type --mode sampled"):
        run("roles", mode="exact")
    with pytest.raises(UsageError, match="Raise --samples"):
        run("roles", language="en", limit=3, samples=1, where={"order": ("he_first",)})
    with pytest.raises(UsageError, match="Type for instance: --judge"):
        api.run("gramvis", "planted:protocol=gramvis", tmp_path / "no", stop=True)
    api.run("roles", TILTED, tmp_path / "all", language="en", limit=3, samples=2)
    with pytest.raises(RunMismatch, match="begun without --stop"):
        api.run("roles", TILTED, tmp_path / "all", language="en", limit=3, samples=2, stop=True)


def test_gold_is_refused_in_a_line(stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("output,value\nx,he\n")
    for refused in (
        lambda: api.import_gold(stopped, tmp_path / "gold.csv"),
        lambda: api.draw_gold_sample(stopped, 5, tmp_path / "sheet.csv"),
    ):
        with pytest.raises(UsageError, match="stops early, so it cannot have gold"):
            refused()


def test_a_comparison_pays_for_the_looks_of_both(stopped: Path) -> None:
    """By hand: the tilted model ended at look 1 (w .1), the even one at a later look k: p is q/(.1·w_k)."""
    with Store(stopped) as store:
        plan = read_plan(store)
        assert plan is not None
        weight = plan.weights[len(read_looks(store, plan)) - 1]
        first, _ = looks_price(store, TILTED, {})
        second, wider = looks_price(store, EVEN, {})
    assert (first, second) == (pytest.approx(10), pytest.approx(1 / weight))
    row = Estimate("", "", "", "m", {}, None, 0.3, "share", 0.2, 0.4, 0.95, "t", p=0.001)
    paid = paying(row, ((first, wider), (second, wider)))
    assert paid.p == pytest.approx(0.001 * 10 / weight)
    assert paid.high is not None and paid.high - 0.3 == pytest.approx(0.1 * wider**2)
    found = api.compare(stopped)
    assert any("stopped early" in line for line in found.warnings)


def test_a_comparison_pays_for_the_looks_of_its_own_prompts(tmp_path: Path) -> None:
    """By hand: w .1 of the language that ended at the first look, .5 of the one that came to the last."""
    model = "planted:she.en=.9,she.zh=.5"
    api.run("roles", model, tmp_path / "run", language=["en", "zh"], limit=30, stop=True)
    with Store(tmp_path / "run") as store:
        plan = read_plan(store)
        assert plan is not None
        last = read_looks(store, plan)[-1].decisions
        ends = {claim.levels["language"][0]: last[claim.key].look for claim in plan.claims}
        prices = {name: looks_price(store, model, {"language": name})[0] for name in ends}
        both, _ = looks_price(store, model, {"mode": "sampled"})
    assert ends["en"] == 1 < ends["zh"]
    assert prices == {
        "en": pytest.approx(10),
        "zh": pytest.approx(1 / plan.weights[ends["zh"] - 1]),
    }
    assert both == pytest.approx(prices["en"] * prices["zh"])


def test_an_added_judge_keeps_the_plan(stopped: Path, tmp_path: Path) -> None:
    """Its labels stop nothing, and the family of the claims stays as it was."""
    with Store(stopped) as store:
        store.copy_to(tmp_path / "copy")
        before = stored.looks(store)
    api.label(tmp_path / "copy", judge="planted:accuracy=.9")
    run = api.run(
        "roles",
        [TILTED, EVEN],
        tmp_path / "copy",
        judge="planted:accuracy=.9",
        language="en",
        limit=40,
        stop=True,
    )
    with Store(tmp_path / "copy") as store:
        assert stored.looks(store) == before
    rows = [row for row in run.analyse() if row.measure == "share_she" and len(row.condition) == 2]
    own = [row for row in rows if row.stopped]
    assert {row.instrument.partition("/")[0] for row in own} == {"choice"}
    assert {row.family_size for row in own} == {2} and len(rows) == 4
    assert {row.family for row in rows if not row.stopped} == {"share_she"}


def test_a_plan_in_a_protocol_says_how_and_is_checked(tmp_path: Path) -> None:
    stop = {"looks": [0.5, 1], "weights": [0.5, 0.5], "futility": [0.1]}

    def declared(**more: object) -> Protocol:
        return Protocol.declare(**{**KEYS, "stop": {**stop, **more}})  # type: ignore[arg-type]

    run = api.run(declared(), "planted:protocol=raises,raised=.95", tmp_path / "run")
    with Store(run.folder) as store:
        plan = read_plan(store)
    assert plan is not None and plan.weights == (0.5, 0.5) and plan.looks == (6, 12)
    asked = run.trials.height
    assert (
        asked
        < api.run(
            declared(), "planted:protocol=raises,raised=.95", tmp_path / "all", stop=False
        ).trials.height
    )
    for wrong, said in (
        ({"looks": [0.5, 0.9]}, "the last is 1"),
        ({"weights": [0.5, 0.4]}, "sum to"),
        ({"futility": [0.1, 0.1]}, "bounds are needed"),
        ({"measures": ["gaap"]}, "Did you mean 'gap'"),
    ):
        with pytest.raises(ProtocolError, match=said):
            declared(**wrong)


def test_a_secondary_measure_stops_a_run_as_a_family_of_its_own(tmp_path: Path) -> None:
    """By Benjamini and Hochberg, and what it compares is no turn: each order is an arm."""
    protocol = replace(registry.protocol("roles"), stop={"measures": ["order_effect"]})
    run = api.run(protocol, TILTED, tmp_path / "run", language="en", limit=30)
    with Store(run.folder) as store:
        plan = read_plan(store)
    assert plan is not None and plan.rounds_a_sample == 1 and plan.looks[-1] == 10
    (family,) = plan.families
    assert family.method == "benjamini-hochberg" and len(family.claims) == 6
    assert {claim.measure for claim in family.claims} == {"order_effect"}
    own = [row for row in run.analyse() if row.stopped]
    assert {(row.measure, row.adjustment, row.family_size) for row in own} == {
        ("order_effect", "benjamini-hochberg", 6)
    }
