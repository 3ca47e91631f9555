"""Evidence of an audit, in Markdown: what Annex IV, point 2 (g), of the EU's AI Act (Regulation
2024/1689) and MEASURE 2.11 of NIST's AI Risk Management Framework ask to be documented, as far as a
run knows it. What it does not know says "to be filled in"; nothing is claimed to be compliance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analyse.whole_run.selection_rates import SMALL, CategoryRate
from ..report.page_model.figures import Pairs
from ..report.page_model.page import Content
from ..report.render.pages.md import escape
from . import crate

OPEN = f"**{crate.OPEN}**"
_ASKED_BY = (
    ("1 What was tested", "Annex IV 2 (g): testing procedures, what was validated"),
    ("2 Data", "Annex IV 2 (g): validation and testing data, main characteristics"),
    ("3 Metrics", "Annex IV 2 (g): metrics, potentially discriminatory impacts; MEASURE 2.11"),
    ("4 Results", "Annex IV 2 (g): test reports; MEASURE 2.11: results are documented"),
    ("5 Limits", "MEASURE 2.11; Annex IV 3: foreseeable limitations"),
    ("6 Logs", "Annex IV 2 (g): test logs, dated"),
    ("7 To be signed", "Annex IV 2 (g): signed by the responsible persons"),
)


def evidence(content: Content, rates: Sequence[CategoryRate]) -> str:
    """Writes the evidence document of one run, in Markdown."""
    return "\n".join(_lines(content, rates)) + "\n"


def _lines(content: Content, rates: Sequence[CategoryRate]) -> Iterator[str]:
    yield f"# Evidence of an audit: {escape(content.title)}\n"
    yield (
        "Written from a stored run by tiltmeter "
        f"{content.version}. It is evidence and no statement of compliance with any law. What the "
        f"run does not know says {OPEN}.\n"
    )
    yield from markdown_table(("part", "asked for by"), _ASKED_BY)
    yield from _subjects(content)
    yield from _data(content)
    yield "## 3 Metrics\n"
    yield from markdown_table(("measure", "what it is"), content.measures)
    yield f"Why these metrics suit the use of the system: {OPEN}\n"
    yield from _results(content, rates)
    yield "## 5 Limits\n"
    yield from (f"- {escape(text)}" for text in (*content.limits, *content.departures))
    yield f"\nWhat else limits what these numbers say of the system in use: {OPEN}\n"
    yield "## 6 Logs\n"
    yield (
        f"The run ended on {content.date or OPEN}. Every call, answer and label is stored in it; "
        "`ro-crate-metadata.json` has the SHA-256 of each file of this folder. The same audit "
        "again:\n"
    )
    yield "\n".join(f"    {command}" for command in content.commands) + "\n"
    yield "Signatures of the numbers:\n"
    yield from (f"- {signature.mark}: `{signature.text}`" for signature in content.signatures)
    yield from _signing()


def _subjects(content: Content) -> Iterator[str]:
    yield "\n## 1 What was tested\n"
    yield f"{escape(content.question)} {escape(content.asked)}.\n"
    for subject in content.subjects:
        rows = (("role", subject.role), *subject.facts, *(("caution", w) for w in subject.warnings))
        yield f"### {escape(subject.name)}\n"
        yield from markdown_table(("fact", "value"), rows)
    yield f"Intended purpose of the system, its version, and who provides it: {OPEN}\n"


def _data(content: Content) -> Iterator[str]:
    yield "## 2 Data\n"
    yield from markdown_table(("fact", "value"), content.design)
    if content.citation:
        yield f"Source: {escape(content.citation)}\n"
    yield f"Why these prompts stand for the situations that the system meets: {OPEN}\n"


def _results(content: Content, rates: Sequence[CategoryRate]) -> Iterator[str]:
    yield "## 4 Results\n"
    yield f"{escape(content.lead)}\n"
    yield from findings_table(content)
    cautions = [f"{one.about}: {text}" for one in content.every_finding for text in one.warnings]
    yield from (f"- Caution, {escape(text)}" for text in dict.fromkeys(cautions))
    if rates:
        small = sorted({row.category for row in rates if row.small})
        yield (
            "\n`impact.csv` has each category's number, rate and impact ratio (its rate by the "
            "highest category's), by sex, by race or ethnicity and by both crossed where the "
            "protocol has them. A ratio below .8 is a rule of thumb of the EEOC and no limit of "
            "New York City's rules; its interval says whether it can be told from .8.\n"
        )
        yield (
            f"Categories below {SMALL:.0%} of all: {escape(', '.join(small)) or 'none'}. These are "
            "prompts written for the test (test data), not records of people: why no historical "
            f"data were used: {OPEN}\n"
        )
    else:
        yield (
            "\nThere are no selection rates or impact ratios: the protocol declares no selections, "
            "or nothing of them was labelled.\n"
        )
    yield f"What was decided because of these results: {OPEN}\n"


def findings_table(content: Content) -> Iterator[str]:
    """Yields the lines of a Markdown table of all findings."""
    rows = [
        (one.sentence, one.value, one.interval, one.n, one.p, one.mark)
        for one in content.every_finding
    ]
    yield from markdown_table(
        ("finding", "value", "interval", "n", "p adjusted", "signature"), rows
    )


def _signing() -> Iterator[str]:
    yield "\n## 7 To be signed\n"
    yield from markdown_table(
        ("who", "role", "date", "signature"), [(OPEN, "responsible for the test", OPEN, OPEN)]
    )


def markdown_table(head: Sequence[str], rows: Pairs | Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a Markdown table; cells still to be filled in stay bold."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell if cell == OPEN else escape(cell) for cell in row)} |"
    yield ""
