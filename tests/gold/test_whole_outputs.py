"""All attributes of a picture checked in one pass, as in the SODA paper: what is offered, kept and counted."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter import gold
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.explore.annotation.annotating import DeskTask
from tiltmeter.explore.selection.index import Source
from tiltmeter.gold import people
from tiltmeter.gold.answers import State
from tiltmeter.gold.whole_outputs import WholeOutputTask
from tiltmeter.store import Store

FIXED = ["product_color", "background_color", "text_presence", "background_text_presence"]
WHERE = {"object": ("car", "cup"), "dimension": ("base", "gender")}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 pictures, of two objects × base, men and women, labelled by a planted judge."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    model = "planted:protocol=soda"
    tiltmeter.run("soda", model=model, judge=model, samples=4, where=WHERE, out=folder)
    return folder


@pytest.fixture
def run(labelled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(labelled, tmp_path / "run"))


def sheet_of(run: Path, number: int) -> list[dict[str, str]]:
    path = run.parent / "sheet.csv"
    assert (
        main(["validate", str(run), *f"--sample {number} --sheet {path} --attribute *".split()])
        == 0
    )
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def give(run: Path, rows: list[dict[str, str]]) -> int:
    path = run.parent / "filled.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return main(["import", "gold", str(run), str(path)])


def said(run: Path) -> dict[tuple[str, str], str]:
    with Store(run) as store:
        query = "SELECT output, attribute, value FROM labels WHERE current"
        return {(output, name): value for output, name, value in store.rows(query)}


def test_a_sheet_has_every_attribute_of_every_group(run: Path) -> None:
    """12 pictures of 6 prompts, two of each, × 8 attributes, each with its whole list."""
    rows = sheet_of(run, 12)
    assert len(rows) == 96
    assert set(Counter(row["output"] for row in rows).values()) == {8}
    pictures = {row["output"]: row["prompt"] for row in rows}
    assert set(Counter(pictures.values()).values()) == {2} and len(set(pictures.values())) == 6
    of = {row["attribute"]: row["values"].split(" | ") for row in rows}
    assert [row["attribute"] for row in rows[:4]] == FIXED
    assert of["product_color"][-3:] == ["other", "not_applicable", "ambiguous"]
    assert {"brown", "navy", "transparent"} < set(of["product_color"])
    assert of["text_presence"][0] == "no_text" and len(of) == 8


def test_people_contradict_with_values_that_no_judge_used(run: Path) -> None:
    """A colour of the palette that no label has, and not_applicable, are taken; a misspelling is not."""
    row = next(row for row in sheet_of(run, 12) if row["attribute"] == "product_color")
    unused = sorted({*row["values"].split(" | ")} - {*said(run).values(), "ambiguous"})
    assert unused
    for value in (unused[0], "not_applicable"):
        assert give(run, [{**row, "annotator": "ann", "value": value}]) == 0
    assert give(run, [{**row, "annotator": "ann", "value": "brwn"}]) == 2
    with Store(run) as store:
        assert gold.truths(store)[row["output"], "product_color"][0] == "not_applicable"


def test_the_papers_check_in_one_pass(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """96 labels: 5 called ambiguous, 10 contradicted, 81 agreed with, by the counts of the script."""
    rows, labels = sheet_of(run, 12), said(run)
    wanted: Counter[tuple[str, str]] = Counter()
    for number, row in enumerate(rows):
        value, verdict = labels[row["output"], row["attribute"]], "agreed"
        if number % 20 == 3:
            value, verdict = "ambiguous", "ambiguous"
        elif number % 10 == 5:
            value, verdict = next(v for v in row["values"].split(" | ") if v != value), "wrong"
        row |= {"value": value, "annotator": "ann"}
        group = row["prompt"].partition(",")[0].partition(" for ")[2] or "base"
        wanted[verdict, group] += 1
    assert give(run, rows) == 0
    assert "91 gold labels of ann; 5 called ambiguous, kept as skips" in capsys.readouterr().out
    assert main(["validate", str(run), "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)["checked"]
    of = {(one["factor"], one["level"]): one for one in checked}
    whole = of["", ""]
    assert [whole[name] for name in ("labels", "agreed", "wrong", "ambiguous")] == [96, 81, 10, 5]
    assert whole["wrong_share"]["value"] == pytest.approx(10 / 96)
    for verdict in ("agreed", "wrong", "ambiguous"):
        groups = {level: of["group", level][verdict] for level in ("base", "men", "women")}
        assert groups == {level: wanted[verdict, level] for level in groups}
    crossed = [one for one in checked if one["factor"] == "object × group"]
    assert [one["level"] for one in crossed][:2] == ["car × base", "car × men"]
    assert len(crossed) == 6 and sum(one["wrong"] for one in crossed) == 10
    assert main(["validate", str(run)]) == 0
    assert "all attributes against people" in " ".join(capsys.readouterr().out.split())
    with Store(run) as store:
        found = {one.attribute: one for one in people.progress(store)}
    assert sum(one.labelled for one in found.values()) == 91
    assert sum(one.skipped.get("ambiguous", 0) for one in found.values()) == 5


def test_the_page_asks_every_attribute_of_a_picture_in_turn(run: Path) -> None:
    source = Source.open(0, run)
    try:
        task = DeskTask("ann", "*", 6, None).open(source)
        assert isinstance(task, WholeOutputTask)
        items = task.items
        assert len(items) == 48 and [item.split()[1] for item in items[:4]] == FIXED
        assert len({item.split()[0] for item in items[:8]}) == 1
        assert task.beside(items[3]) == items[:8]
        first = [choice.value for choice in task.choices_of(items[0])]
        assert "brown" in first and first[-2:] == ["not_applicable", "ambiguous"]
        kept = task.save(items[0], State(), State("ambiguous", note="glare"))
        assert kept == State(skipped="ambiguous", note="glare") == task.states()[items[0]]
        assert task.save(items[0], kept, State("navy")) == State("navy")
        with pytest.raises(UsageError, match="not on the list"):
            task.save(items[1], State(), State("no_text"))
        with pytest.raises(UsageError, match="no item"):
            task.save("nothing product_color", State(), State("navy"))
        again = DeskTask("bea", "").open(source)
        assert isinstance(again, WholeOutputTask) and set(again.items) == set(items)
    finally:
        source.store.close()


def test_a_protocol_without_lists_names_one_attribute(texts_run: Path) -> None:
    with Store(texts_run, writing=True) as store, pytest.raises(UsageError, match="closed lists"):
        gold.lists.attributes_of_outputs(store, tiltmeter.load_protocol("roles"), [])


@pytest.fixture
def texts_run(tmp_path: Path) -> Path:
    tiltmeter.run("roles", model="planted:she=.5", limit=1, language="en", out=tmp_path / "roles")
    return tmp_path / "roles"
