"""Makes the outline of a report, or of a comparison or history of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..page_model.document import RunsPage
from ..page_model.figures import Pairs
from ..page_model.outline import (
    Bullets,
    Code,
    Heading,
    Line,
    Listing,
    Outline,
    Paragraph,
    Quote,
    Soft,
    Strong,
)
from ..page_model.page import Content, Finding, Report, Section


def outline(page: Report | RunsPage) -> Iterator[Outline]:
    """Yields the blocks of a page, in reading order."""
    if isinstance(page, RunsPage):
        yield from _of_document(page)
        return
    for run in page.runs:
        yield _text(Soft(run.name))
        yield from _of_run(run.content)
    yield from _section(page.against) if page.against else ()


def _text(*words: str) -> Paragraph:
    return Paragraph(tuple(filter(None, words)))


def _bullets(lines: Iterable[str]) -> Bullets:
    return Bullets(tuple((line,) for line in lines))


def _pairs(pairs: Pairs) -> Bullets:
    return _bullets(f"{name}: {value}" for name, value in pairs)


def _of_document(page: RunsPage) -> Iterator[Outline]:
    yield Heading(page.title, 1)
    yield _text(Strong(f"{page.simulated}." if page.simulated else ""))
    yield _text(Strong(page.headline), " ", " ".join(page.lede))
    yield _text(" · ".join(f"{pill.symbol} {pill.text}" for pill in page.pills))
    yield _text(page.question)
    if page.example is not None:
        yield Heading("One prompt in both runs", 3)
        yield Quote(page.example.prompt)
        yield _bullets(f"{run} ({value}): {answer}" for run, answer, value in page.example.answers)
        yield _text(page.example.count)
    yield from (table for table in page.tables if table.rows)
    yield from _list("Cautions", page.cautions, 3)


def _of_run(content: Content) -> Iterator[Outline]:
    screen = content.screen
    yield Heading(content.title, 1)
    yield _text(Strong(f"{screen.simulated}." if screen.simulated else ""))
    yield _text(Strong(screen.headline), " ", " ".join(screen.lede))
    yield _text(" · ".join(badge.text for badge in screen.badges))
    yield _bullets(f"{short} = {name}" for short, name in screen.names if short != name)
    yield _text(content.question)
    yield _text(content.asked)
    yield _text(Soft(f"{content.protocol}, {content.date}, tiltmeter {content.version}"))
    yield Heading("What was found")
    yield _text(content.lead)
    for finding in content.findings:
        yield from _finding(finding)
    more = content.more_findings
    yield _text(f"And {more} more in the tables." if more else "")
    yield Heading("What it rests on")
    yield _pairs(content.basis)
    yield from _list("What not to conclude", content.cautions)
    yield from _method(content)
    for section in content.sections:
        yield from _section(section)
    yield from _ending(content)


def _finding(finding: Finding) -> Iterator[Outline]:
    about = f" ({finding.about})" if finding.about else ""
    yield _text(Strong(finding.chip), f"{about}: {finding.sentence}")
    yield _bullets(finding.sure)
    yield Bullets(tuple((Strong("Caution:"), f" {line}") for line in finding.more_warnings))
    yield _text(f"{finding.mark}: ", Code(finding.signature))


def _method(content: Content) -> Iterator[Outline]:
    """Yields the section on the method: the design, sample prompts, the models."""
    yield Heading("How it was measured")
    yield _pairs((*content.design, *content.measures))
    prompts: tuple[Line, ...] = tuple(
        (f"{name}: ", Code(prompt)) if name else (prompt,) for name, prompt in content.prompts
    )
    yield Bullets(prompts)
    for subject in content.subjects:
        yield Heading(f"{subject.name} ({subject.role})", 3)
        yield Bullets(tuple((Strong(warning),) for warning in subject.warnings))
        yield _pairs(subject.facts)


def _section(section: Section) -> Iterator[Outline]:
    yield Heading(section.title)
    yield from map(_text, section.text.splitlines())
    yield from section.tables


def _ending(content: Content) -> Iterator[Outline]:
    yield from _list("Limits", content.limits)
    yield from _list("Departures from the paper", content.departures)
    if content.citation:
        yield Heading("Reference")
        yield _text(content.citation)
    yield Heading("How to reproduce")
    yield Listing("\n".join(content.commands))
    yield _text(content.commands_note)
    yield Heading("Signatures")
    for name, text in content.long_signatures:
        yield _text(name)
        yield Listing(text, "json")


def _list(title: str, lines: tuple[str, ...], level: int = 2) -> Iterator[Outline]:
    if lines:
        yield Heading(title, level)
        yield _bullets(lines)
