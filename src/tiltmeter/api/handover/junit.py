"""Thresholds and headline claims as JUnit XML, which GitHub, GitLab and Jenkins read.

Each threshold and estimate is a case: it fails if the threshold is crossed; if the estimate is
inconclusive or missing, it is skipped, since neither pass nor fail was shown. Each headline claim
is a case: with a gate it passes, fails, or is an error if the data are not enough; without a gate,
a claim that tilts or is undecided is skipped, so that a tilt is never a passed case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ...display import visible
from ..runs.checks import CheckResult

if TYPE_CHECKING:
    from ...analyse.claims.verdicts import Verdict

SHOWN, CLEARED = "shown", "cleared"  # words of a threshold
AT_GATE = {0: "", 3: "failure", 4: "error"}  # by the exit code of a decision


def write_junit(
    path: Path | str, name: str, checks: CheckResult, verdicts: Sequence[Verdict]
) -> None:
    """Writes the file. name: the protocol's name, after which the test suite is named."""
    suite = ElementTree.Element("testsuite", name=f"tiltmeter {name}")
    suite.extend([*_threshold_cases(checks), *_headline_cases(checks, verdicts)])
    counts = {
        "tests": "testcase",
        "failures": ".//failure",
        "errors": ".//error",
        "skipped": ".//skipped",
    }
    for attribute, count in counts.items():
        suite.set(attribute, str(len(suite.findall(count))))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    content = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    Path(path).write_bytes(content + b"\n")


def _threshold_cases(checks: CheckResult) -> Iterator[ElementTree.Element]:
    unsure = "skipped" if checks.allows_too_little else "error"  # as the exit code is 0 or 4
    for check in checks.checks:
        if not check.outcomes:
            yield _case("thresholds", check.threshold.text, unsure, check.sentences[0])
        for outcome in check.outcomes:
            how = {SHOWN: "failure", CLEARED: ""}.get(outcome.word, unsure)
            about = ", ".join((outcome.estimate.subject, *outcome.estimate.condition.values()))
            yield _case("thresholds", f"{check.threshold.text} ({about})", how, outcome.sentence)


def _headline_cases(
    checks: CheckResult, verdicts: Iterable[Verdict]
) -> Iterator[ElementTree.Element]:
    if checks.gate is not None:
        for claim in checks.gate.claims:
            how = AT_GATE[claim.decision.code]
            if how == "error" and checks.allows_too_little:
                how = "skipped"
            yield _case("headlines", _name(claim.claim), how, f"{claim.line} {claim.more}".strip())
        return
    for verdict in verdicts:
        how = "" if verdict.word.record.passes else "skipped"
        yield _case("headlines", _name(verdict), how, verdict.sentence)


def _name(claim: Verdict) -> str:
    return f"{claim.measure} ({', '.join((claim.subject, *claim.condition.values()))})"


def _case(group: str, name: str, how: str, said: str) -> ElementTree.Element:
    """Returns a test case. how: "" if it passed, else the XML element of its failure or skip."""
    case = ElementTree.Element("testcase", classname=group, name=visible(name))
    if how:
        ElementTree.SubElement(case, how, message=visible(said))
    else:
        ElementTree.SubElement(case, "system-out").text = visible(said)
    return case
