"""The first words on two runs and on a history, read from the surfaces: one sentence in all of them,
its numbers those of the JSON.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import tiltmeter
from tests.analyse.test_traps import TRAPS, flat, run
from tests.golden import runs
from tiltmeter.analyse.between_runs import first_words
from tiltmeter.analyse.words.first_sentence.facts import strength
from tiltmeter.cli import main
from tiltmeter.records import Estimate

SAME = 30  # words at most, of a sentence without what is excepted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of `roles` with a known share of she, and of names with a known gap."""
    out = tmp_path_factory.mktemp("first")
    for name, model in {
        "third": "planted:she=0.33,seed=1",
        "again": "planted:she=0.33,seed=3",
        "much": "planted:she=0.8,seed=3",
        "few": "planted:she=0.62,seed=4",
    }.items():
        small = {"limit": 6, "samples": 3} if name == "few" else {"limit": 40, "samples": 20}
        tiltmeter.run("roles", model, out / name, language="en", **small)
    names = replace(TRAPS["fair"], share=flat(0.5), names=(10, 10))
    run(names, out / "even")
    run(replace(names, share=flat(0.5, -0.3)), out / "gap")
    return out


def said(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *command: str,
) -> dict[str, object]:
    """The JSON of a command, after its sentence was found alike on every surface."""
    monkeypatch.chdir(folder)
    assert main([*command, "--out", "page.html", "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    sentence = str(found["headline"])
    assert main([*command, "--out", "page.md"]) == 0
    printed = capsys.readouterr().out
    (heading,) = re.findall("<h1[^>]*>(.*?)</h1>", Path("page.html").read_text("utf-8"), re.S)
    page = html.unescape(re.sub("<[^>]+>", "", heading)).replace("\xa0", " ")
    text = Path("page.md").read_text("utf-8").replace("\\", "")
    assert page.replace("\u202f", " ") == sentence
    assert sentence in printed and f"**{sentence}**" in text
    return found


def test_a_change_has_its_direction_and_both_shares(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said(folder, capsys, monkeypatch, "compare", "third", "much")
    sentence = str(found["headline"])
    assert sentence.startswith("much writes “she” more often than third: ")
    after, before = (int(number) for number in re.findall(r"(\d+) %", sentence))
    assert abs(after - 80) <= 4 and abs(before - 33) <= 4
    row = next(
        row
        for row in found["comparisons"]  # type: ignore[attr-defined]
        if row["measure"] == "share_she" and "order" not in row["condition"] and row["verdict"]
    )
    assert (round(100 * row["second"]), round(100 * row["first"])) == (after, before)
    assert row["low"] < row["second"] - row["first"] < row["high"]
    assert {one["what"] for one in found["set_up"]} >= {"model"}  # type: ignore[attr-defined]
    lede = " ".join(found["lede"])  # type: ignore[arg-type]
    assert f"the same rules (version {found['rules']})" in lede
    assert "Of what the runs record, only the simulated model differs." in lede
    assert "2 simulated models, for testing" in Path("page.html").read_text("utf-8")


def test_two_runs_of_one_model_are_the_same_to_within_the_margin(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said(folder, capsys, monkeypatch, "compare", "third", "again", "--margin", "0.1")
    assert "as often as third to within 10 points: 3" in str(found["headline"])


def test_too_little_says_what_would_be_found(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said(folder, capsys, monkeypatch, "compare", "few", "third")
    assert str(found["headline"]).startswith(("No difference found", "Whether", "There are weak"))
    assert len(str(found["headline"]).split()) <= SAME


def test_a_gap_between_groups_names_both(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said(folder, capsys, monkeypatch, "compare", "even", "gap")
    sentence = str(found["headline"])
    assert re.match(r"gap gives yes \d+ points less often for women than for men; even ", sentence)
    assert "over names and jobs like these." in sentence
    page = (folder / "page.html").read_text("utf-8")
    assert "One prompt in both runs" in page and "<svg" in page and "clearly different" in page


def test_a_history_tells_the_last_change_and_its_step(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said(folder, capsys, monkeypatch, "history", "third", "again", "much")
    sentence = str(found["headline"])
    assert re.fullmatch(
        r"“She” rose from 3\d % to (79|8\d) % in the third run; no change before\.", sentence
    )


def test_a_claim_of_many_cells_names_the_value_that_changed(tmp_path: Path) -> None:
    """Planted: two women talk of appearance in half of their dialogues, about 1 in 7 before."""
    folders = runs.make_runs(tmp_path, ("dialogues-fair", "dialogues-tilted"))
    found = tiltmeter.compare(*folders)
    sentence = first_words.of_comparison(found).headline
    assert re.match(
        r"dialogues-tilted has topic appearance \(two women\) more often than dialogues-fair: "
        r"(4[5-9]|5\d) % against (1\d|2[0-2]) %\.",
        sentence,
    )
    (verdict,) = (one for one in found.verdicts if one.word == "different")
    assert verdict.cells is not None
    assert [cell["value"] for cell in verdict.cells["named"]] == ["appearance"]


def test_strengths_of_a_difference() -> None:
    blank = Estimate("", "", "", "", {}, None, 0.1, "share")
    rows = [replace(blank, p=p) for p in (0.048, 0.01, 0.002, 0.0009)]
    assert [first_words.GRADES[strength(row)][0] for row in rows] == [
        "weak",
        "weak",
        "plain",
        "clear",
    ]


@pytest.mark.parametrize("command", ["compare", "history"])
def test_the_headline_names_what_was_not_compared(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
) -> None:
    """A gap in salaries that doubled read as no difference found in the share of yes."""
    protocol = tmp_path / "words" / "roles.toml"
    assert main(["init", str(protocol.parent), "--from-protocol", "roles"]) == 0
    text = protocol.read_text("utf-8")
    protocol.write_text(
        text
        + '\n[[measures]]\nname = "length_gap"\nkind = "mean_difference"\nheadline = true\n'
        + 'attribute = "words"\nvalues = []\nby = [[]]\n'
        + '[measures.contrast]\nfactor = "class"\nlevel = "standout"\nbaseline = "communal"\n'
        + '\n[[instruments]]\nname = "length"\nkind = "length"\nattribute = "words"\n',
        "utf-8",
    )
    for number in (1, 2):
        model = f"planted:she=0.5,seed={number}"
        tiltmeter.run(protocol, model, folder / f"long{number}", language="en", limit=9, samples=3)
    capsys.readouterr()
    found = said(folder, capsys, monkeypatch, command, "long1", "long2")
    assert str(found["headline"]).endswith(" Not compared, so open: length_gap.")
