"""What a run shows, as JUnit XML, which GitHub, GitLab and Jenkins read: a case for each threshold
and row, and one for each headline claim. A threshold that is shown fails; what is inconclusive, or
was not measured, is skipped, since neither pass nor fail was shown.
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
SETTLED = ("tilt", "no difference found", "items differ")  # words of a verdict that says something


def write_junit(
    path: Path | str, name: str, checks: CheckResult, verdicts: Sequence[Verdict]
) -> None:
    """Writes the file. name: of the suite, the protocol's."""
    suite = ElementTree.Element("testsuite", name=f"tiltmeter {name}")
    suite.extend([*_threshold_cases(checks), *_headline_cases(verdicts)])
    counts = {"tests": "testcase", "failures": ".//failure", "skipped": ".//skipped"}
    for attribute, found in counts.items():
        suite.set(attribute, str(len(suite.findall(found))))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    content = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    Path(path).write_bytes(content + b"\n")


def _threshold_cases(checks: CheckResult) -> Iterator[ElementTree.Element]:
    for check in checks.checks:
        if not check.outcomes:
            yield _case("thresholds", check.threshold.text, "skipped", check.sentences[0])
        for outcome in check.outcomes:
            how = {SHOWN: "failure", CLEARED: ""}.get(outcome.word, "skipped")
            about = ", ".join((outcome.estimate.subject, *outcome.estimate.condition.values()))
            yield _case("thresholds", f"{check.threshold.text} ({about})", how, outcome.sentence)


def _headline_cases(verdicts: Iterable[Verdict]) -> Iterator[ElementTree.Element]:
    for verdict in verdicts:
        about = ", ".join((verdict.subject, *verdict.condition.values()))
        how = "" if verdict.word in SETTLED else "skipped"
        yield _case("headlines", f"{verdict.measure} ({about})", how, verdict.sentence)


def _case(group: str, name: str, how: str, said: str) -> ElementTree.Element:
    """A case that passed, or that failed or was skipped (`how`) with what is said."""
    case = ElementTree.Element("testcase", classname=group, name=visible(name))
    if how:
        ElementTree.SubElement(case, how, message=visible(said))
    else:
        ElementTree.SubElement(case, "system-out").text = visible(said)
    return case
