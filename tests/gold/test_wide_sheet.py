"""Sheets as people write them: a row a picture, a column a person, values in any case."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

import tiltmeter
from tests.spreadsheets import xlsx
from tiltmeter.api.start.own_outputs import start
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.gold.intake import AddedGold
from tiltmeter.store import Store
from tiltmeter.store.queries import labels

HEADER = ["Picture", "Anna", "Béatrice ", "Remarks"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of 20 texts, text00.txt to text19.txt, to be labelled a, b or unclear."""
    folder = tmp_path / "texts"
    (folder / "in").mkdir(parents=True)
    for number in range(20):
        (folder / "in" / f"text{number:02}.txt").write_text(f"text {number}", "utf-8")
    start(folder, tmp_path / "out", "Which?", ["a", "b", "unclear"])
    return tmp_path / "out"


def imported(out: Path, kind: str, rows: Sequence[Sequence[str]]) -> AddedGold:
    path = out.parent / f"labels.{kind}"
    if kind == "xlsx":
        xlsx(path, {"Labels": rows})
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file, delimiter=";").writerows(rows)
    return tiltmeter.import_gold(out, path)


def of_person(out: Path, name: str) -> list[str]:
    with Store(out) as store:
        stored = labels.values(store, f"human:{name}", "label")
    run = tiltmeter.open_run(out)
    rows = run.outputs.select("trial", "factors").rows()
    return [stored.get(key, "") for key, _ in sorted(rows, key=lambda row: row[1]["file"])]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize("name", ["text{:02}.txt", "in/text{:02}.txt", "TEXT{:02}"])
def test_a_column_is_a_person(
    out: Path, kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    anna = ["a ", "A", "", "b", " Unclear"] + ["b"] * 15
    bea = ["", "", "", "B"] + ["a"] * 16
    rows = [[name.format(n), anna[n], bea[n], "cropped?" if n == 3 else ""] for n in range(20)]
    rows += [["", "", "", ""], ["checked AB 12.11.", "", "", ""]]
    added = imported(out, kind, [HEADER, *rows])
    assert (added.labels, added.blank) == (36, 4)
    assert added.annotators == ("human:Anna", "human:Béatrice")
    assert of_person(out, "Anna") == ["a", "a", "", "b", "unclear"] + ["b"] * 15
    assert of_person(out, "Béatrice") == ["", "", "", "b"] + ["a"] * 16
    unread, blank = added.warnings
    assert unread == "the column Remarks is no person's, and was not read: 'cropped?'"
    assert blank.startswith("Béatrice gave no value to 3 of 20 outputs (15 %).")
    assert blank in tiltmeter.open_run(out).warnings()
    again = imported(out, kind, [HEADER, *rows])
    assert (again.labels, again.known) == (0, 36)
    assert main(["import", "gold", str(out), str(out.parent / f"labels.{kind}")]) == 0
    line = capsys.readouterr().out.strip()
    assert line == "Nothing new of Anna, Béatrice; 36 were stored before; 4 without a value"


def test_unknown_values_are_told_at_once(out: Path) -> None:
    wrong = {3: "aa", 5: "bb", 7: "c"}
    rows = [[f"text{n:02}", wrong.get(n, "a"), "b", ""] for n in range(20)]
    with pytest.raises(UsageError) as caught:
        imported(out, "csv", [HEADER, *rows])
    told = str(caught.value)
    assert (
        "3 values that are not known. line 5, column Anna: 'aa'; line 7, column Anna: 'bb'" in told
    )
    assert "line 9, column Anna: 'c'. The values of label are: a, b, unclear, " in told
    many = [[f"text{n:02}", f"v{n}" if n < 9 else "a", "b", ""] for n in range(20)]
    many += [[f"text{n:02}", f"v{n}", "b", ""] for n in range(9, 11)]
    with pytest.raises(UsageError, match=r"11 values .*'v9'; …\. The values") as caught:
        imported(out, "csv", [HEADER, *many])
    assert "'v10'" not in str(caught.value)
    assert of_person(out, "Anna") == [""] * 20


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["Picture", "Anna"], ["text00", ""]], "Its columns: Picture, Anna. Fill in a column 'va"),
        ([["Nr", "Anna"], ["text00", "a"]], "beside one called output or picture"),
        ([["Picture", "Anna"], ["text00", "x"], ["text01", "y"]], "values of label are: a, b, un"),
        ([["Picture", "Anna"], ["text99", "a"], ["text01", "b"]], "column Picture are no output"),
    ],
)
def test_a_sheet_that_cannot_be_read_says_what_it_has(
    out: Path, rows: list[list[str]], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        imported(out, "csv", rows)


def test_a_long_sheet_with_blanks_of_one_person(out: Path) -> None:
    run = tiltmeter.open_run(out)
    ids = [key for key, _ in run.outputs.select("trial", "factors").rows()]
    rows = [[key, "B " if n > 2 else "", "cy" if n > 2 else ""] for n, key in enumerate(ids)]
    added = imported(out, "csv", [["output", "value", "annotator"], *rows])
    assert (added.labels, added.blank) == (17, 3)
    assert "cy gave no value to 3 of 20 outputs (15 %)" in added.warnings[0]
    imported(out, "csv", [["output", "value", "annotator"], *([key, "a", "cy"] for key in ids[:3])])
    assert not any("gave no value" in text for text in tiltmeter.open_run(out).warnings())


def test_blanks_are_no_command_that_was_broken_off(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[f"text{n:02}", "ab"[n % 2] if n < 13 else ""] for n in range(20)]
    imported(out, "csv", [["Picture", "Anna"], *rows])
    capsys.readouterr()
    assert main(["analyse", str(out), "--full"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "13 of 20 answers are labelled; the rest may differ. Nobody gave the others" in shown
    assert "broken off" not in shown
