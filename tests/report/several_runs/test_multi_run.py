"""Runs of one protocol side by side on one page, and of several protocols each with its part."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import tiltmeter
from tests.report.test_reporters import Reader
from tiltmeter import api
from tiltmeter.analyse.words import numerals
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.report.page_model.page import Report
from tiltmeter.report.several_runs import multi_run
from tiltmeter.store import Store

GUARDS = str(Path(__file__).parents[2] / "guards.toml")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, computed_once: Path) -> list[Path]:
    """Two runs of roles in folders of one name, with more tilt in the second, and one of pictures."""
    place = tmp_path_factory.mktemp("several")
    runs = [
        tiltmeter.run(
            "roles", f"planted:she={she}", place / she / "run", language="en", limit=20, samples=6
        )
        for she in ("0.5", "0.95")
    ]
    runs.append(
        tiltmeter.run(
            GUARDS,
            f"planted:protocol={GUARDS}",
            place / "guards",
            judge=f"planted:protocol={GUARDS}",
            samples=2,
        )
    )
    return [run.folder for run in runs]


def told(folders: list[Path]) -> Report:
    stores = [Store(folder) for folder in folders]
    runs = [
        multi_run.Analysed(store, run.protocol, run.analyse())
        for store in stores
        for run in [api.open_run(store.folder)]
    ]
    try:
        return multi_run.report(runs)
    finally:
        for store in stores:
            store.close()


def test_runs_of_one_protocol_stand_side_by_side(folders: list[Path]) -> None:
    report = told(folders[:2])
    assert [run.name for run in report.runs] == [
        "run (1)",
        "run (2)",
    ] and report.question.startswith("Which pronoun")
    assert [run.content.screen.names for run in report.runs] == [  # a letter is one model
        (("A", "planted:she=0.5"),),
        (("B", "planted:she=0.95"),),
    ]
    assert report.against is not None
    side, compared = report.against.tables
    assert [column.name for column in side.columns] == ["measure", "group", "run (1)", "run (2)"]
    values = [
        next(
            e
            for e in api.open_run(folder).analyse()
            if e.measure == "share_she"
            and e.condition.get("class") is None
            and e.condition.get("order") is None
            and e.condition.get("word") is None
        ).value
        for folder in folders[:2]
    ]
    (row,) = side.rows
    assert row[0] == "Share of she among answers that are she or he"
    assert (
        numerals.share(values[0], 3) in row[2] and numerals.share(values[1], 2) in row[3]
    )  # three beside the null value
    assert row[2].startswith("○ ") and row[3].startswith("▲ ")
    assert any(
        f"{numerals.percent(values[0])} → {numerals.percent(values[1])}" in cells
        for cells in compared.rows
    )


def test_one_page_holds_several_runs_with_ids_and_headings_in_order(
    folders: list[Path], tmp_path: Path
) -> None:
    page = api.report(*folders, path=tmp_path / "all.html").read_text("utf-8")
    read = Reader()
    read.feed(page)
    assert read.open == [] and len(read.ids) == len(set(read.ids))
    assert {value[1:] for _, name, value in read.attributes if name == "href"} <= set(read.ids)
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in pairwise(levels))
    assert str(folders[0].parent) not in page  # no place of this machine
    markdown = api.report(*folders, path=tmp_path / "all.md").read_text("utf-8")
    assert (
        markdown.count("\n# ") + markdown.startswith("# ") == 3 and "Runs side by side" in markdown
    )


def test_what_cannot_be_compared_says_why(folders: list[Path], tmp_path: Path) -> None:
    other = tiltmeter.run(
        "roles",
        "planted:she=0.5",
        tmp_path / "warm",
        language="en",
        limit=4,
        samples=2,
        temperature=0.2,
    ).folder
    report = told([folders[1], other])
    assert report.against is not None and len(report.against.tables) == 1
    assert (
        "subject (planted:she=0.95, planted:she=0.5) and temperature (None, 0.2) differ at once"
        in report.against.text
    )
    assert told([folders[0], folders[2]]).against is None


def test_a_run_named_twice_is_refused(folders: list[Path]) -> None:
    with pytest.raises(UsageError, match="named twice"):
        told([folders[0], folders[0]])


def test_the_verb_writes_one_page_for_all(
    folders: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *map(str, folders)]) == 0
    assert (
        "report: report.html" in capsys.readouterr().out
        and (tmp_path / "report.html").stat().st_size > 50_000
    )
    assert main(["report", *map(str, folders[:2]), "--fail-if", "share_she > 0.8"]) == 3
    assert main(["report", str(folders[0]), "--fail-if", "share_she > 0.8"]) == 0


def test_the_json_of_a_report_is_that_of_analyse(
    folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, run = str(tmp_path / "page.html"), str(folders[0])
    assert main(["report", run, "--json", "--out", page]) == 0
    reported = capsys.readouterr()
    assert main(["analyse", run, "--json"]) == 0
    assert reported.out == capsys.readouterr().out and f"report: {page}" in reported.err
    assert main(["report", *map(str, folders), "--json"]) == 2


@pytest.mark.parametrize("option", ["--percent", "--decimals=0", "--show=value"])
def test_a_figure_refuses_options_of_cells(
    folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    target = tmp_path / "one.svg"
    assert main(["figure", str(folders[0]), "share_she", option, "--out", str(target)]) == 2
    assert option.partition("=")[0] in capsys.readouterr().err and not target.exists()
