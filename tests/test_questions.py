"""docs/questions.csv: questions in a user's words, each answered at most two links from README."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
with (DOCS / "questions.csv").open(encoding="utf-8", newline="") as file:
    QUESTIONS = list(csv.DictReader(file))


def linked(page: Path) -> set[Path]:
    """The files that a page links to."""
    targets = re.findall(r"\]\(([^)\s#:]+)", page.read_text("utf-8"))
    return {(page.parent / target).resolve() for target in targets}


def section(text: str, heading: str) -> str:
    """The text under a heading, up to the next of its level; all of it without a heading."""
    if not heading:
        return text
    begins = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert begins, f"no heading '{heading}'"
    below = text[begins.end() :]
    ends = re.search(rf"^#{{1,{len(begins[1])}}} ", below, re.MULTILINE)
    return below[: ends.start()] if ends else below


def test_thirty_questions_are_asked_once() -> None:
    asked = [row["question"] for row in QUESTIONS]
    assert len(asked) == len(set(asked)) >= 30


@pytest.mark.parametrize("row", QUESTIONS, ids=[row["question"] for row in QUESTIONS])
def test_a_question_is_answered_two_links_from_readme(row: dict[str, str]) -> None:
    """And by a command that tests/test_docs.py types, if one is named."""
    page = (DOCS / row["page"]).resolve()
    first = linked(ROOT / "README.md")
    second = {file for step in first if step.suffix == ".md" for file in linked(step)}
    assert page in first | second
    answer = section(page.read_text("utf-8"), row["section"])
    assert len(answer.split()) >= 20
    if row["command"]:
        typed = re.findall(r"^```(?:console|bash)\n(.*?)^```$", answer, re.MULTILINE | re.DOTALL)
        assert re.search(rf"^\$ tiltmeter {row['command']}\b", "\n".join(typed), re.MULTILINE)
