"""Labels that people gave: who gave them, how far each person's own number is from the majority's, and one sign.

By hand, of 20 texts a group: ann says woman of the first 14 cars and 6 vans, bea of the last 14 and 6.
Both say woman of 8 cars, both say man of 8 vans, and they differ on 24 texts. So the majority's gap is
8/8 − 0/8, 100 points, and each person's 14/20 − 6/20, 40 points. Krippendorff's α is
1 − (24/40)/(2·40·40/(80·79)) = −.185.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.api.start.own_outputs import start
from tiltmeter.cli import main

Women = Mapping[str, Mapping[str, set[int]]]  # person → group → the texts of which they say woman
FIRST, LAST = (
    {"cars": set(range(14)), "vans": set(range(6))},
    {
        "cars": set(range(6, 20)),
        "vans": set(range(14, 20)),
    },
)
OUTSIDE = "lies outside of these, since outputs without a majority drop out of it."


def labelled(home: Path, women: Women, *, prompts: bool = False) -> Path:
    for group in ("cars", "vans"):
        (home / "texts" / group).mkdir(parents=True)
        for place in range(20):
            (home / "texts" / group / f"{place:02}.txt").write_text(f"{group} {place}", "utf-8")
    if prompts:  # two, the same for both groups, one of a third of the texts
        files = [f"{group}/{place:02}.txt" for group in ("cars", "vans") for place in range(20)]
        rows_of_files = [f"{file},prompt {min(number % 3, 1)}" for number, file in enumerate(files)]
        (home / "texts/manifest.csv").write_text(
            "\n".join(["file,prompt", *rows_of_files]), "utf-8"
        )
    start(home / "texts", home / "out", "Who leads?", ["woman", "man", "unclear"])
    rows = tiltmeter.open_run(home / "out").outputs.select("trial", "prompt").rows()
    with (home / "gold.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["output", "value", "annotator"])
        for trial, prompt in rows:
            group, place = prompt.removesuffix(".txt").split("/")
            for name, of_person in women.items():
                if group in of_person:
                    value = "woman" if int(place) in of_person[group] else "man"
                    table.writerow([trial, value, name])
    tiltmeter.import_gold(home / "out", home / "gold.csv")
    return home / "out"


def shown(out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The first screen in the terminal, and the page."""
    capsys.readouterr()
    assert main(["analyse", str(out)]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert main(["report", str(out), "--out", str(out / "r.md")]) == 0
    return screen, " ".join((out / "r.md").read_text("utf-8").replace("\\", "").split())


def test_the_number_of_each_person_stands_beside_one_that_lies_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in shown(labelled(tmp_path, {"ann": FIRST, "bea": LAST}), capsys):
        assert "A difference of 100 points" in text
        assert "one person's labels alone: ann +40 points [" in text
        assert "and bea +40 points [" in text and OUTSIDE in text
        assert "60 % of the answers count neither way" in text
        assert re.search(r"labels by 2 people, α −0\.1[89]\b", text)
        assert "compared with people" not in text
        assert "60 % no answer" in text  # one figure, the headline's own


def test_a_number_between_those_of_the_people_is_on_both_screens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """bea says man of one more car: 13/20 − 6/20 is 35 points, and 13/19 − 6/20 is 38."""
    women = {"ann": FIRST, "bea": {"cars": set(range(13)), "vans": set(range(6))}}
    screen, page = shown(labelled(tmp_path, women), capsys)
    for text in (screen, page):
        assert "There are weak signs that" in text
        assert "labels alone: ann +40 points [" in text and "bea +35 points [" in text
        assert OUTSIDE not in text
    assert "A difference of 38 points" in screen
    assert "Judges against people" not in page  # there is no judge
    assert "## Agreement of people label: 39 outputs with a value that most people gave." in page


def test_one_sign_and_one_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fewer of the cars: 6/20 − 14/20 is −40 points in the sentence as in the table."""
    women = {"ann": {"cars": FIRST["vans"], "vans": FIRST["cars"]}}
    screen, page = shown(labelled(tmp_path, women), capsys)
    for text in (screen, page):
        assert "A difference of −40 points (95 % interval −" in text
        assert "labels by one person" in text and "compared with people" not in text
    assert "−40 [−" in screen.replace("  ", " ")


def test_two_prompts_have_one_verdict_and_the_note_of_their_own_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over two prompts the outcomes are shuffled inside each; a sign flip's least p would be .5."""
    women = {"ann": {"cars": set(range(14)), "vans": set(range(7))}}
    out = labelled(tmp_path, women, prompts=True)
    screen, page = shown(out, capsys)
    assert main(["analyse", str(out), "--full"]) == 0
    full = " ".join(capsys.readouterr().out.split())
    gap = next(row for row in tiltmeter.open_run(out).analyse() if row.measure == "gap")
    assert gap.p is not None and 0.01 < gap.p < 0.05 and "shuffled inside" in (gap.test or "")
    assert gap.note == ""
    for text in (screen, page, full):
        assert "weak signs higher with cars" in text
    assert ": higher with cars." not in f"{screen}{page}{full}"
    shares = [row for row in tiltmeter.open_run(out).analyse() if row.measure == "share"]
    assert all("cannot reach p < .05" in row.note for row in shares)  # a sign flip's own


def test_ties_that_follow_from_half_a_sheet_are_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ann and cy differ on 8 of 20 texts a group. bea, who labelled the cars alone, breaks the ties there, so
    0 of 20 cars and 8 of 20 vans are unresolved: 40 points, which say nothing of cars or vans."""
    ann, cy = set(range(10)), {*range(4), *range(12, 14)}  # 6 and 2 texts
    women = {
        "ann": {"cars": ann, "vans": ann},
        "cy": {"cars": cy, "vans": cy},
        "bea": {"cars": ann},
    }
    out = labelled(tmp_path, women)
    told = "bea labelled 20 of 20 outputs for cars and 0 of 20 for vans, so these have 3.0 and 2.0"
    for text in shown(out, capsys):
        assert told in text and "nothing is claimed from answers that count neither way" in text
        assert "a difference of its own" not in text and "It is open whether" not in text
    (verdict,) = tiltmeter.open_run(out).verdicts()
    assert verdict.claim.missing is None and verdict.cautions[0].code == "uneven_votes"
    del women["bea"]
    (even,) = tiltmeter.open_run(labelled(tmp_path / "even", women)).verdicts()
    assert all(caution.code != "uneven_votes" for caution in even.cautions)
