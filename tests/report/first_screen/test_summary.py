"""The first screen: counts and words by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.run_page.test_content import whole
from tiltmeter.protocol import Protocol
from tiltmeter.records import Estimate
from tiltmeter.report.first_screen import findings, summary
from tiltmeter.report.page_model import audits
from tiltmeter.report.page_model.page import Content, Finding
from tiltmeter.store.queries.trials import TrialPart


def found(protocol: Protocol, *rows: Estimate) -> tuple[Finding, ...]:
    return summary.label_findings(list(findings.findings(audits.audit(protocol, rows, {}))))


@pytest.fixture
def three(roles: Protocol) -> tuple[Finding, ...]:
    quiet = whole(value=0.52, low=0.47, high=0.57, p=0.3, p_adjusted=0.31)
    return found(
        roles, whole(subject="a"), replace(quiet, subject="b"), replace(quiet, subject="c")
    )


def test_the_summary_counts_and_names_what_differs(three: tuple[Finding, ...]) -> None:
    assert summary.summary(three, 3) == (
        "A difference was found in 1 of 3 headline numbers (a: tilt towards she). In 2 of them no difference was found at this n."
    )
    assert summary.summary(three[:2], 2).endswith("In the other no difference was found at this n.")
    assert (
        summary.summary(three[1:], 2)
        == "No difference was found at this n in any of 2 headline numbers."
    )
    assert summary.summary(three[:1], 1) == "a: tilt towards she."
    assert summary.summary(three[1:2], 1) == "b: no difference found at this n."
    assert summary.summary((), 0) == ""


def test_what_was_not_tested_or_not_measured_is_counted_apart(roles: Protocol) -> None:
    bare = whole(p=None, p_adjusted=None)
    rows = found(
        roles, bare, replace(bare, subject="b"), whole(subject="c", value=None, note="no outcomes")
    )
    assert summary.summary(rows, 3) == (
        "2 numbers were measured with an interval, and not tested against a value. 1 could not be measured."
    )


def test_a_label_is_what_tells_findings_apart(roles: Protocol, three: tuple[Finding, ...]) -> None:
    assert [one.label for one in three] == ["a", "b", "c"]
    drawn, read = whole(), whole(condition={"mode": "exact", "language": "en"})
    assert [one.label for one in found(roles, drawn, read)] == ["sampled", "exact"]
    assert [one.label for one in found(roles, whole())] == ["m"]


def test_what_was_asked_is_said_with_what_is_still_open(roles: Protocol) -> None:
    one, two = (
        TrialPart("m", "sampled", 60, 58, 3, "", 1.0, 1.0, 64),
        TrialPart("n", "sampled", 40, 40, 2, "", 1.0, 1.0, 64),
    )
    assert (
        summary.asked_line(roles, [one], 10, 96, ["en"], 60)
        == "58 of 60 planned answers of m about 10 of 96 words, in English"
    )
    assert (
        summary.asked_line(roles, [two, one], 96, 96, [], 1960)
        == "98 of 1,960 planned answers of 2 models (n, m) about 96 words"
    )


def test_what_it_rests_on(built: Content) -> None:
    """Of three subjects; the labels of the first annotator, refusals, invalid ones and the rest of probabilities among them."""
    rests = dict(built.basis)
    assert rests["labels"] == "choice/1, choice/openai:judge-1; not compared with what people say"
    assert rests["intervals"].startswith("95 %, over ") and "words" in rests["intervals"]
    assert "80 % power" in rests["smallest detectable difference"]
    assert "refusal" in rests["no answer"] and "invalid" in rests["no answer"]


def test_what_would_be_found_is_told_by_unit(roles: Protocol) -> None:
    """Nine words and a share of .09 are not one range."""
    rows = [
        whole(detectable=0.12),
        whole(subject="b", detectable=0.09),
        whole(subject="c", detectable=9.0, unit="words"),
    ]
    two = dict(summary._numbers(audits.audit(roles, rows[:2], {})))
    assert two["smallest detectable difference"] == ".09 to .12 (80 % power)"
    three = dict(summary._numbers(audits.audit(roles, rows, {})))
    assert three["smallest detectable difference"] == ".09 to .12 (share) or 9 (words) (80 % power)"
