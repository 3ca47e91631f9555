"""Hard replies, labelled before any rule had seen them. What was right when a set was read for the first time, before rules were
mended by it: .888 of the first one's kept half, .937 of the later ones, .854 of the kept half of replies in the manner of large
models, .858 of the second set of these (decisions .73, roles .87), .77 of its last 60, decisions and roles alone. Of 115 replies
by another author .86 were right at the first look; of the half that was kept back .76 (decisions .52, rewrites .55)."""

from __future__ import annotations

import pytest

from .reading_fresh import FOLDER, KINDS, count_held, read, replies

# a little below what was measured at the end
LEAST = {
    "decisions": {"looked": 0.88, "kept": 0.93, "later": 0.9},
    "dialogues": {"looked": 0.97, "kept": 0.97, "later": 0.97},
    "rankings": {"looked": 0.94, "kept": 0.96, "later": 0.94},
    "rewrites": {"looked": 0.9, "kept": 0.9, "later": 0.97},
    "roles": {"looked": 0.93, "kept": 0.89, "later": 0.97},
    "words": {"looked": 0.93, "kept": 0.92, "later": 0.9},
}
LARGE = {"large_looked": 0.96, "large_kept": 0.9, "second": 0.94}  # of every kind
HALVES = ["looked", "kept", "later", *LARGE]


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_enough(kind: str) -> None:
    rows = list(replies(kind))
    assert len(rows) > 150 and len(set(rows)) == len(rows)
    assert {row.half for row in rows} == {*HALVES}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half", HALVES)
def test_rules_agree_with_the_reader(kind: str, half: str) -> None:
    rows = [row for row in replies(kind) if row.half == half]
    least = LARGE.get(half) or LEAST[kind][half]
    assert sum(read(row) == row.label for row in rows) / len(rows) >= least


def test_answers_that_were_misread_at_first_are_read() -> None:
    """misread.jsonl: of 255 answers in 15 languages and 120 in English, written and labelled by somebody who had not seen the
    rules, those that were misread at the first look (77 of 90 choices were right, none wrong, 39 of 45 picks, 44 of 45
    dialogues, 66 of 75 refusals, 113 of 120 in English). The last 40 are of 780 more by two others, of which 347 of 390 choices
    (13 wrong) and 277 of 315 refusals (6 wrong) were right at first; ten of them choose by a pronoun, which stays unread. 45 more are of 305 by three others: of 77 choices 56
    were right at first (five wrong), of 68 refusals 59, of 43 picks 36, of 33 dialogues 28, and of 84 answers in English 69."""
    table = count_held(FOLDER / "misread.jsonl", show=False)
    assert not any(cell["wrong"] for cell in table.values())
    assert sum(cell["right"] for cell in table.values()) >= 108


def test_answers_that_no_rule_was_mended_by_are_read_right_or_not_at_all() -> None:
    """unread.jsonl: 270 answers in 15 languages by a third author, scored once after all rules were mended: 128 of 150 choices
    (85 of the 90 that choose an option) and 102 of 120 refusals were right, none wrong. Mend no rule by it."""
    table = count_held(FOLDER / "unread.jsonl", show=False)
    for kind, number in (("choice", 150), ("refusal", 120)):
        cells = [cell for (name, _), cell in table.items() if name == kind]
        assert sum(cell["right"] for cell in cells) >= 0.85 * number
        assert sum(cell["wrong"] for cell in cells) <= 0.01 * number
