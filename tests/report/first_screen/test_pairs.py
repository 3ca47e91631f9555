"""The pairs of the first screen: which two rows stand side by side, what is bold, and what the shares are of."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.report.first_screen.same_prompt import differing_words

JOBS = ("nurse", "baker", "clerk", "cook", "tailor", "joiner", "teacher", "painter", "driver")
NAMES = {
    "a": {"m": "Lukas Bauer", "w": "Hannah Bauer"},
    "b": {"m": "Mehmet Kaya", "w": "Ayse Kaya"},
}
AUDIT = """
name = "pairs"
title = "Invitations"
question = "Is an applicant invited?"
prompt = "{text}"
factors = ["origin", "job"]
item = "job"
first = { measure = "gap", item = "job" }

[[tables]]
file = "rows.csv"
columns = ["text", "origin", "job", "gender"]

[modes.sampled]
samples = 6
max_tokens = 20

[[instruments]]
name = "choice"
kind = "choice"
attribute = "answer"
[instruments.forms.en]
yes = ["yes"]
no = ["no"]

[[measures]]
name = "gap"
kind = "difference"
attribute = "answer"
values = ["yes"]
among = ["yes", "no"]
contrast = { factor = "origin", level = "a", baseline = "b" }
null = 0.0
headline = true
text = "share of yes, a less b"
"""


@pytest.fixture
def page(tmp_path: Path) -> tuple[tiltmeter.Run, str]:
    rows = [
        f"Invite {name} as a {job}? Should {name} come: yes or no?,{origin},{job},{gender}"
        for job in JOBS
        for origin, people in NAMES.items()
        for gender, name in people.items()
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["text,origin,job,gender", *rows]), "utf-8")
    file = tmp_path / "audit.toml"
    file.write_text(AUDIT, "utf-8")
    run = tiltmeter.run(str(file), f"planted:protocol={file},yes.a=.8,yes.b=.3", tmp_path / "run")
    text = run.report().read_text("utf-8")
    return run, unescape(text[text.index("only the cue changed") :].partition("more answers")[0])


def test_a_pair_has_equal_levels_of_the_columns_beside_the_cue(
    page: tuple[tiltmeter.Run, str],
) -> None:
    """The gender of a row is no factor, and still a man is not shown beside a woman."""
    bold = re.findall(r"<b>(.*?)</b>", page[1])
    gender = {name: gender for people in NAMES.values() for gender, name in people.items()}
    assert len(bold) == 2 and len({gender[name] for name in bold}) == 1
    assert "</b> as a " in page[1] and "? Should … come: yes or no?" in page[1]


def test_the_shares_of_pairs_are_those_of_all_answers(page: tuple[tiltmeter.Run, str]) -> None:
    """By hand from the labels, as docs/reference/report.md says: every answer with every other."""
    labels = page[0].labels.join(page[0].outputs, left_on="output", right_on="trial").to_dicts()
    counts = Counter((r["factors"]["job"], r["factors"]["origin"], r["value"]) for r in labels)
    so = sum(counts[job, "a", "yes"] * counts[job, "b", "no"] for job in JOBS)
    reverse = sum(counts[job, "a", "no"] * counts[job, "b", "yes"] for job in JOBS)
    sides = ((counts[job, side, "yes"] + counts[job, side, "no"] for side in NAMES) for job in JOBS)
    total = sum(first * second for first, second in sides)
    assert total > 1000 and so > reverse
    words = (
        f"{100 * so / total:.0f} % of all {total:,} pairs of answers differ so, "
        f"{100 * reverse / total:.0f} % the other way. One of them:"
    )
    assert words in page[1]


@pytest.mark.parametrize(
    ("texts", "shared", "own"),
    [
        (["Eva: RN. Is Eva", "Tom: RN. Is Tom"], ": RN. Is …", ["Eva", "Tom"]),
        (["she lost her", "he lost his"], " lost …", ["she … her", "he … his"]),
        (["Eva", ""], "", ["Eva", ""]),
        (["a b c d e f g h", "1 b 2 d 3 f 4 h"], "", ["a b c d e f g h", "1 b 2 d 3 f 4 h"]),
        (["她", "他"], "", ["她", "他"]),
    ],
)
def test_only_the_words_that_differ_are_bold(texts: list[str], shared: str, own: list[str]) -> None:
    assert differing_words(texts) == (shared, own)
