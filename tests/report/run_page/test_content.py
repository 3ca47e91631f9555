"""What a report says, before any layout."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.conftest import HOSTILE, LEANING
from tiltmeter.analyse import estimates as run_estimates
from tiltmeter.analyse.claims.tested_word import test_word as word_of
from tiltmeter.analyse.words import numerals
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.protocol import Protocol
from tiltmeter.records import Estimate
from tiltmeter.report.first_screen import examples, findings
from tiltmeter.report.page_model import audits
from tiltmeter.report.page_model.page import Content
from tiltmeter.report.run_page import content, models_asked
from tiltmeter.report.tables import estimate_tables
from tiltmeter.stages.planning.plan import Choices
from tiltmeter.stages.steps import injection_count
from tiltmeter.store import Store
from tiltmeter.store.queries.trials import TrialPart


def whole(**changes: object) -> Estimate:
    """A headline estimate as a paper would report it: .62 [.55, .69], n = 980 on 98 words."""
    row = Estimate(
        "roles",
        "m",
        "choice/1@a",
        "share_she",
        {"mode": "sampled", "language": "en"},
        None,
        0.62,
        "share",
        0.55,
        0.69,
        0.95,
        "wilson",
        test="sign flip",
        p=0.002,
        p_adjusted=0.004,
        n=980,
        clusters=98,
        detectable=0.07,
        outcomes={"she": 608, "he": 372},
        signature="sig",
    )
    return replace(row, **changes)


def said(protocol: Protocol, *rows: Estimate) -> list[str]:
    audit = audits.audit(protocol, rows, audits.number_signatures(e.signature for e in rows))
    return [finding.sentence for finding in findings.findings(audit)]


def test_a_tilt_is_said_with_its_direction_interval_and_adjusted_p(roles: Protocol) -> None:
    what = "the share of she among answers that are she or he is"
    assert said(roles, whole()) == [
        f"m tilts towards she: {what} .62 [.55, .69] (95 % interval), p = .004."
    ]
    low = whole(value=0.4, low=0.35, high=0.45, p_adjusted=0.0001)
    assert said(roles, low) == [
        f"m tilts towards he: {what} .40 [.35, .45] (95 % interval), p < .001."
    ]


def test_no_difference_is_said_with_n_and_what_could_have_been_found(roles: Protocol) -> None:
    quiet = whole(value=0.52, low=0.47, high=0.57, p=0.31, p_adjusted=0.31)
    (sentence,) = said(roles, quiet)
    assert sentence == (
        "m: no difference found at this n. The share of she among answers that are she or he is "
        ".52 [.47, .57] (95 % interval), p = .310; smallest detectable difference (80 % power): .07."
    )
    audit = audits.audit(roles, [quiet], {})
    assert next(findings.findings(audit)).sure[0] == "n = 980 labels that count over 98 words."


def test_what_was_not_measured_or_not_tested_is_said_so(roles: Protocol) -> None:
    hole = whole(
        value=None, low=None, high=None, p=None, p_adjusted=None, note="no outcomes", outcomes={}
    )
    assert said(roles, hole) == [
        "m: the share of she among answers that are she or he could not be measured. No outcomes."
    ]
    bare = whole(low=None, high=None, confidence=None, p=None, p_adjusted=None)
    assert said(roles, bare) == [
        "m: the share of she among answers that are she or he is .62; no test was made."
    ]


def test_the_raw_p_alone_never_makes_a_tilt(roles: Protocol) -> None:
    assert word_of(whole(p=0.01, p_adjusted=0.06), None) == Word.UNDECIDED
    assert word_of(whole(p=0.01, p_adjusted=None), None) == Word.TILT
    assert word_of(whole(p=0.05, p_adjusted=0.05), None) == Word.NO_DIFFERENCE
    assert word_of(whole(value=None), None) == Word.NOT_MEASURED


def test_where_test_and_interval_disagree_nothing_is_decided(roles: Protocol) -> None:
    wide = whole(low=0.39, high=0.81, p=0.001, p_adjusted=0.001)
    assert word_of(wide, 0.5) == Word.UNDECIDED
    assert said(roles, wide)[0].startswith("m: undecided. The share of she")
    (finding,) = findings.findings(audits.audit(roles, [wide], {}))
    assert finding.warnings == ("Borderline: the interval holds .50, p = .001.",)
    assert word_of(whole(p=0.0625, p_adjusted=0.0625), 0.5) == Word.UNDECIDED
    assert word_of(whole(p=0.03, p_adjusted=0.1), 0.5) == Word.UNDECIDED  # adjusted away


def test_an_end_beside_the_null_value_is_not_printed_as_it(roles: Protocol) -> None:
    (sentence,) = said(roles, whole(value=0.523, low=0.5048, high=0.5412))
    assert ".523 [.505, .541]" in sentence


def test_little_captured_mass_and_missing_answers_are_warned_of(roles: Protocol) -> None:
    mass = whole(measure="captured_mass", value=0.13, low=None, high=None, p=None, p_adjusted=None)
    bounds = whole(
        measure="share_she_bounds",
        value=0.62,
        low=0.3,
        high=0.8,
        confidence=None,
        p=None,
        p_adjusted=None,
    )
    audit = audits.audit(roles, [whole(), mass, bounds], {})
    (finding,) = findings.findings(audit)
    (low,) = finding.more_warnings
    assert low == (
        "The options take up 13 % of the probability: the model would mostly have said something "
        "else."
    )
    assert finding.sentence.endswith(
        "50 % of the answers count neither way. Counting all of it as he or all as she gives "
        "30 % to 80 %, so the direction is not certain."
    )
    assert finding.verdict == Word.NOT_SETTLED  # what can reverse the claim changes the verdict
    kinds = replace(bounds, outcomes={"she": 30.0, "he": 20.0, "refusal": 45.0, "unsure": 5.0})
    (finding,) = findings.findings(audits.audit(roles, [whole(), mass, kinds], {}))
    assert "count neither way (45 % refusal, 5 % unsure). Counting all" in finding.sentence
    enough = replace(mass, value=0.88), replace(bounds, low=0.6, high=0.64)
    (settled,) = findings.findings(audits.audit(roles, [whole(), *enough], {}))
    assert (settled.verdict, settled.warnings) == ("tilt", ())


def test_an_order_effect_that_reverses_the_tilt_leaves_it_open(roles: Protocol) -> None:
    """Two balanced orders lie half the effect from their mean: .14 is more than .12, .05 is not."""
    order = whole(
        measure="order_effect",
        contrast={"order": "she_first − he_first"},
        value=0.28,
        low=0.2,
        high=0.36,
    )
    (finding,) = findings.findings(audits.audit(roles, [whole(), order], {}))
    assert finding.verdict == Word.NOT_SETTLED
    assert finding.sentence.endswith(
        "The order matters more (28 points) than the tilt (12 points)."
    )
    assert finding.more_warnings == ()  # what the sentence says is not said again
    small = replace(order, value=0.1, low=0.05, high=0.15)
    (finding,) = findings.findings(audits.audit(roles, [whole(), small], {}))
    assert finding.verdict == "tilt"
    assert finding.warnings == ("The order moves the number by 10 points.",)


def test_levels_of_the_order_decide_where_they_are_known(roles: Protocol) -> None:
    effect = whole(measure="order_effect", contrast={"order": "she_first − he_first"}, value=0.28)
    levels = [
        whole(condition={**whole().condition, "order": name}, value=value, p=None, p_adjusted=None)
        for name, value in (("she_first", 0.76), ("he_first", 0.51))
    ]
    (finding,) = findings.findings(audits.audit(roles, [whole(), effect, *levels], {}))
    assert finding.verdict == "tilt"
    assert finding.warnings == (
        "The order moves the number by 28 points, and every level lies on the same side: "
        "“she” named first 76 %, “he” named first 51 %.",
    )


def test_parts_that_point_both_ways_leave_the_direction_open(roles: Protocol) -> None:
    parts = [
        whole(condition={**whole().condition, "class": name}, value=value, p=0.001)
        for name, value in (("communal", 0.84), ("agentic", 0.31))
    ]
    (finding,) = findings.findings(audits.audit(roles, [whole(), *parts], {}))
    assert finding.verdict == Word.NOT_SETTLED
    assert finding.sentence.endswith(
        "Its parts point both ways: towards she in communal 84 %; towards he in agentic 31 %."
    )


def test_the_page_never_says_unbiased(built: Content) -> None:
    assert "unbiased" not in str(built).lower()
    assert "no difference found at this n" in str(built)


def test_variants_are_never_in_one_table(built: Content, estimates: list[Estimate]) -> None:
    assert [section.variant for section in built.sections] == ["default", "published"]
    for section in built.sections:
        for table in section.tables:
            assert table.marks
            assert all(f"|var:{section.variant}|" in text for _, text in table.marks)
        assert {figure.table for figure in section.figures} <= {one.id for one in section.tables}
    assert {f"|var:{e.variant}|" in e.signature for e in estimates} == {True}


def test_every_estimate_is_in_a_table_with_its_signature(
    built: Content, estimates: list[Estimate]
) -> None:
    """Rows of the tables = estimates; outcome rates and bounds are cells of other rows."""
    for section in built.sections:
        mine = [e for e in estimates if e.variant == section.variant]
        rates = [e for e in mine if e.measure == "outcome_rate"]
        expected = len(
            [e for e in mine if e.measure != "outcome_rate" and not e.measure.endswith("_bounds")]
        )
        expected += len({(e.subject, e.instrument, e.condition["mode"]) for e in rates})
        rows = [row for table in section.tables for row in table.rows]
        assert len(rows) == expected
        for table in section.tables:
            place = [column.kind for column in table.columns].index("mark")
            assert {row[place] for row in table.rows} == {mark for mark, _ in table.marks}


def test_the_hole_is_a_dash_with_its_note(built: Content) -> None:
    table = next(t for t in built.sections[0].tables if t.id == "default-share_she")
    names = [column.name for column in table.columns]
    row = next(r for r in table.rows if r[0] == "class: outlook" and r[names.index("note")] != "—")
    assert [row[names.index(name)] for name in ("share", "95 % interval", "p", "p adjusted")] == [
        "—"
    ] * 4
    assert dict(table.notes)[row[names.index("note")]] == "no <i>answer</i> counts ⟨U+202E⟩"


def test_subjects_are_described_by_their_calls(built: Content) -> None:
    facts = dict(next(s for s in built.subjects if s.name == "openai:<b>mini</b>|x").facts)
    assert facts["served as"] == "openai:<b>mini</b>|x-2026-09-01"
    assert facts["left to the provider"] == "top_p (refused by the model, provider default)"
    settings = "temperature 1, top_p 1, max_tokens 1, answer begun with “The answer is '”"
    assert facts["exact mode"] == f"194 of 196 trials answered; {settings}"
    assert facts["cost"] == "$0.0432"  # 194 + 238 calls at $0.0001
    assert "planned trials have no answer yet" in built.subjects[0].warnings[-1]


@pytest.mark.parametrize(
    ("model", "purpose", "role"),
    [
        ("builtin", "subject", "subject"),
        ("openai:judge-1", "choice/openai:judge-1@1e1e1e1e", "judge"),
        ("b:2", "topic/a:1 and b:2@1e1e1e1e", "judge"),
        ("builtin", "choice/1@1e1e1e1e", "again"),
    ],
)
def test_who_asks_whom(model: str, purpose: str, role: str) -> None:
    assert models_asked.Facts(model, purpose).role == role


def test_judges_are_described_and_repeated_in_the_command() -> None:
    asked = [TrialPart("m", "sampled", 10, 9, 1, "", None, 1.0, 64)]
    known = [
        models_asked.Facts("m", "subject", 9, {"m-1": 5, "m-2": 4}, cost=0.5),
        models_asked.Facts("m", "choice/1@a", 3),
    ]
    known.append(models_asked.Facts("j", "choice/j@b", 9, unknown_cost=9))
    subject, judge = models_asked.subjects(
        known, asked, ["m was served by 2 models within this run."]
    )
    facts = dict(subject.facts)
    assert (
        facts["sampled mode"]
        == "9 of 10 trials answered; temperature provider default, top_p 1, max_tokens 64"
    )
    assert (facts["served as"], facts["cost"]) == ("m-1 (5 calls), m-2 (4 calls)", "$0.5000")
    assert facts["asked again by choice/1@a"] == "3 calls, $0.00"
    assert [warning[:12] for warning in subject.warnings] == ["m was served", "1 planned tr"]
    assert (judge.role, dict(judge.facts)["cost"]) == ("judge", "unknown for 9 calls")


def test_the_commands_repeat_the_audit(built: Content) -> None:
    names = "--model builtin --model 'openai:<b>mini</b>|x' --model planted:she=.7 --language en"
    assert built.commands[1:4] == (
        f"tiltmeter run roles {names} --mode exact --seed 0 --out RUN",
        f"tiltmeter run roles {names} --mode sampled --limit 12 --seed 0 --out RUN",
        "tiltmeter analyse RUN --variant published",
    )


def test_raw_answers_are_bounded_by_the_stated_rule(
    store: Store, roles: Protocol, built: Content
) -> None:
    chosen = built.examples
    assert chosen.shown <= examples.LIMIT < chosen.total == 1295
    assert f"{chosen.shown:,} of 1,295 outputs" in chosen.rule
    largest = max(len(group.examples) for group in chosen.groups)
    for group in chosen.groups:
        assert len(group.examples) == min(group.total, largest)
    rare = next(group for group in chosen.groups if group.title == "builtin · sampled · invalid")
    assert len(rare.examples) == rare.total
    everything = examples.examples(store, roles, limit=2000)
    assert everything.shown == everything.total and everything.rule.startswith("All 1,295 outputs")


def test_raw_answers_show_labels_and_probabilities(built: Content) -> None:
    sampled = next(
        g for g in built.examples.groups if g.title == "builtin · sampled · both"
    ).examples[0]
    assert sampled.answer == "s/he"
    assert sampled.labels == (
        ("choice/1@0f0f0f0f", "both"),
        ("choice/openai:judge-1@1e1e1e1e", "she"),
    )
    exact = next(
        g for g in built.examples.groups if g.title == "planted:she=.7 · exact · she"
    ).examples[0]
    assert (
        exact.probabilities.startswith("'she' .") and "'\\\\xe5\\\\xbd' .018" in exact.probabilities
    )  # e^-4 = .0183
    assert exact.labels[0][1].startswith("she .")


def test_a_text_with_hidden_characters_is_shown_with_them(built: Content) -> None:
    answers = {example.answer for group in built.examples.groups for example in group.examples}
    assert HOSTILE[0] in answers
    assert any("⟨U+202E⟩" in answer and "⟨U+001B⟩" in answer for answer in answers)
    assert "\u202e" not in str(replace(built, run_info={}))


def test_the_same_run_makes_the_same_content(
    store: Store, roles: Protocol, estimates: list[Estimate]
) -> None:
    again = content.build(store, roles, estimates)
    assert again == content.build(store, roles, estimates)
    assert [s.text for s in again.signatures] == list(dict.fromkeys(e.signature for e in estimates))
    assert run_estimates.estimates(store, roles, "published") == [
        e for e in estimates if e.variant == "published"
    ]


def test_a_terminal_is_told_what_the_page_says(
    built: Content, store: Store, roles: Protocol, estimates: list[Estimate]
) -> None:
    told = content.build(store, roles, estimates, for_page=False)
    assert told.screen == replace(built.screen, figure=None, prompt=None)
    assert told.sections == tuple(replace(one, figures=()) for one in built.sections)
    assert (told.findings, told.basis, told.run_info) == (
        built.findings,
        built.basis,
        built.run_info,
    )
    assert (told.examples.total, told.behind) == (0, ()) and built.examples.total > 0


def test_a_run_without_labels_has_a_report(tmp_path: object, roles: Protocol) -> None:
    with Store(f"{tmp_path}/run", create=True, writing=True) as empty:
        empty.freeze(Choices(tuple(LEANING)).frozen(roles))
        built = content.build(empty, roles, [])
    assert (built.findings, built.sections, built.examples.rule) == (
        (),
        (),
        "No answers are stored.",
    )


def test_tables_print_what_was_estimated(built: Content, estimates: list[Estimate]) -> None:
    """Shares, intervals and n of the headline table against the estimates, formatted apart from the tables."""
    table = next(t for t in built.sections[0].tables if t.id == "default-share_she")
    names = [column.name for column in table.columns]
    places = [names.index(name) for name in ("share", "95 % interval", "n", "p")]
    printed = sorted(tuple(row[place] for place in places) for row in table.rows)
    expected = sorted(
        (
            numerals.share(e.value),
            numerals.interval(e.low, e.high, "share"),
            numerals.count(e.n),
            numerals.chance(e.p),
        )
        for e in estimates
        if e.measure == "share_she" and e.variant == "default" and "word" not in e.condition
    )
    assert printed == expected


@pytest.mark.parametrize("sizes", [[], [3], [500], [1, 400, 400], [1] * 500])
def test_the_quota_is_the_largest_that_fits(sizes: list[int]) -> None:
    quota = examples._quota(sizes, 400)
    assert sum(min(size, quota) for size in sizes) <= 400
    assert quota == max(sizes, default=0) or sum(min(size, quota + 1) for size in sizes) > 400


def test_attempts_to_instruct_a_judge_are_said_in_the_limits(
    roles: Protocol, tmp_path: Path
) -> None:
    """Nothing where no judge labelled; else the counts as they were kept, with none too."""
    with Store(tmp_path / "run", create=True, writing=True) as store:
        store.freeze(Choices(("m",), ("en",)).frozen(roles))
        assert content.build(store, roles, []).limits == roles.limits
        found = {
            "outputs": 1200,
            "output_attempts": 2,
            "replies": 1201,
            "reply_attempts": 0,
            "sorts": {"new_task": 2},
            "examples": [],
        }
        store.keep(injection_count.KIND, injection_count.NAME, json.dumps(found))
        *others, line = content.build(store, roles, []).limits
    assert tuple(others) == roles.limits
    assert line == (
        "2 of 1,200 outputs that judges were shown (new task 2), and 0 of 1,201 replies of judges, try to instruct their "
        "reader. Outputs were shown as data."
    )


def test_outcomes_of_several_labels_and_groups_have_rows_of_their_own(roles: Protocol) -> None:
    """A run of `dialogues` has its form by pairing, and `words` four labels of one answer: none may hide another."""
    rows = [
        replace(
            whole(measure="outcome_rate", value=value, n=10),
            outcomes={outcome: 10 * value},
            condition={
                "mode": "sampled",
                "language": "en",
                "pairing": pairing,
                "attribute": about,
                "outcome": outcome,
            },
        )
        for pairing in ("FF", "MM")
        for about in ("form", "topic")
        for outcome, value in (("refusal", 0.2), ("told", 0.8))
    ]
    (table,) = estimate_tables.tables(audits.audit(roles, rows, {}), "x")
    assert [column.name for column in table.columns][:2] == ["pairing", "attribute"]
    assert [row[:2] for row in table.rows] == [
        ("FF", "form"),
        ("FF", "topic"),
        ("MM", "form"),
        ("MM", "topic"),
    ]
    assert all(row[-2].endswith("(2)") and row[-3].endswith("(8)") for row in table.rows)
