"""A report → Markdown: the same words and numbers, for a pull request or an appendix. Raw answers
stay in the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..page_model.figures import Pairs
from ..page_model.page import Content, Finding, Report, Section, Table

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#])")


def markdown(report: Report) -> str:
    """The parts of all runs, one after the other, and what sets them against one another."""
    lines = [
        line
        for run in report.runs
        for line in (*([f"*{escape(run.name)}*\n"] if run.name else []), *_lines(run.content))
    ]
    lines += list(_section(report.against)) if report.against else []
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that is shown as it is: every character with a meaning is escaped, and it stays on its
    line.
    """
    return _SPECIAL.sub(r"\\\1", text).replace("\n", " ⏎ ")


def _code(text: str) -> str:
    """An inline code span with a fence that is longer than any run of backticks in it."""
    gap = " " if "`" in text else ""
    return f"{_fence(text, 1)}{gap}{text}{gap}{_fence(text, 1)}".replace("\n", " ⏎ ")


def _block(text: str, kind: str = "") -> str:
    return f"{_fence(text, 3)}{kind}\n{text}\n{_fence(text, 3)}\n"


def _fence(text: str, least: int) -> str:
    return "`" * max(least, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


def _lines(content: Content) -> Iterator[str]:
    yield f"# {escape(content.title)}\n"
    if content.screen.simulated:
        yield f"**{escape(content.screen.simulated)}.**\n"
    yield f"**{escape(content.screen.headline)}** {escape(' '.join(content.screen.lede))}\n"
    yield f"{escape(' · '.join(badge.text for badge in content.screen.badges))}\n"
    yield from _list(tuple(f"{a} = {b}" for a, b in content.screen.names if a != b))
    yield f"{escape(content.question)}\n"
    yield f"{escape(content.asked)}\n"
    yield f"*{escape(content.protocol)}, {content.date}, tiltmeter {content.version}*\n"
    yield f"## What was found\n\n{escape(content.lead)}\n"
    for finding in content.findings:
        yield from _finding(finding)
    if content.more_findings:
        yield f"And {content.more_findings} more in the tables.\n"
    yield "## What it rests on\n"
    yield from _pairs(content.basis)
    yield "## What not to conclude\n"
    yield from _list(content.cautions)
    yield "## How it was measured\n"
    yield from _pairs((*content.design, *content.measures))
    for name, prompt in content.prompts:
        yield f"- {escape(name)}: {_code(prompt)}" if name else f"- {escape(prompt)}"
    for subject in content.subjects:
        yield f"\n### {escape(subject.name)} ({subject.role})\n"
        yield from _list(tuple(f"**{warning}**" for warning in subject.warnings), escaped=False)
        yield from _pairs(subject.facts)
    for section in content.sections:
        yield from _section(section)
    yield from _ending(content)


def _section(section: Section) -> Iterator[str]:
    yield f"\n## {escape(section.title)}\n"
    if section.text:
        yield from (f"{escape(line)}\n" for line in section.text.splitlines())
    for table in section.tables:
        yield from table_lines(table)


def _finding(finding: Finding) -> Iterator[str]:
    yield (
        f"**{escape(finding.chip)}**{f' ({escape(finding.about)})' if finding.about else ''}: "
        f"{escape(finding.sentence)}\n"
    )
    yield from _list(tuple(escape(line) for line in finding.sure), escaped=False)
    yield from _list(
        tuple(f"**Caution:** {escape(line)}" for line in finding.more_warnings), escaped=False
    )
    yield f"{finding.mark}: {_code(finding.signature)}\n"


def table_lines(table: Table) -> Iterator[str]:
    """The lines of a table with its title and notes."""
    yield f"### {escape(table.title)}\n"
    if table.about:
        yield f"{escape(table.about)}\n"
    yield "| " + " | ".join(escape(column.name) for column in table.columns) + " |"
    yield (
        "|"
        + "|".join(" ---: " if column.kind == "number" else " --- " for column in table.columns)
        + "|"
    )
    for row in table.rows:
        yield "| " + " | ".join(escape(cell) for cell in row) + " |"
    yield ""
    for letter, text in table.notes:
        yield f"- {letter}: {escape(text)}"
    for mark, text in table.marks:
        yield f"- {mark}: {_code(text)}"
    yield ""


def _ending(content: Content) -> Iterator[str]:
    for title, lines in (
        ("Limits", content.limits),
        ("Departures from the paper", content.departures),
    ):
        if lines:
            yield f"## {title}\n"
            yield from _list(lines)
    if content.citation:
        yield f"## Reference\n\n{escape(content.citation)}\n"
    yield f"## How to reproduce\n\n{_block(chr(10).join(content.commands))}"
    yield f"{escape(content.commands_note)}\n"
    yield "## Signatures\n"
    for name, text in content.long_signatures:
        yield f"{escape(name)}\n\n{_block(text, 'json')}"


def _list(lines: tuple[str, ...], escaped: bool = True) -> Iterator[str]:
    for line in lines:
        yield f"- {escape(line) if escaped else line}"
    if lines:
        yield ""


def _pairs(pairs: Pairs) -> Iterator[str]:
    yield from (f"- {escape(name)}: {escape(value)}" for name, value in pairs)
    yield ""
