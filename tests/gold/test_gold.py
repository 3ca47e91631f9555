"""Gold: what is taken in, what is refused, and how a sample is drawn."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Made
from tiltmeter import api, gold, registry
from tiltmeter.cli import main
from tiltmeter.errors import TiltmeterError, UsageError
from tiltmeter.gold import intake, sheet
from tiltmeter.records import Label
from tiltmeter.store import Store
from tiltmeter.store.queries import labels

ROLES = registry.protocol("roles")
CHOICE = "choice/1@hand"


def cells(
    number: int, group: str = "communal", value: str = "she", order: str = "he_first"
) -> Iterator[Any]:
    for place in range(number):
        word = f"{group}{place % 8}"
        factors = {"language": "en", "order": order, "class": group, "word": word, "lexeme": word}
        yield factors, "sampled", {value: 1.0}


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Made]:
    made = Made(tmp_path / "run", ROLES)
    yield made
    made.store.close()


def write(path: Path, *rows: dict[str, object]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, list(dict.fromkeys(name for row in rows for name in row)), restval=""
        )
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def human(store: Store) -> dict[str, str]:
    return dict(
        store.rows("SELECT output, value FROM labels WHERE current AND annotator LIKE 'human:%'")
    )


def test_gold_of_a_csv_file_and_of_json_lines(run: Made, tmp_path: Path) -> None:
    run.label(cells(30))
    rows = [
        {"trial": f"t{n:06}", "value": "she" if n % 2 else "he", "annotator": "ann"}
        for n in range(1, 25)
    ]
    added = intake.take_in(run.store, ROLES, write(tmp_path / "gold.csv", *rows))
    assert (added.labels, added.replaced, added.annotators, added.warnings) == (
        24,
        0,
        ("human:ann",),
        (),
    )
    assert Counter(human(run.store).values()) == {"she": 12, "he": 12}
    lines = tmp_path / "more.jsonl"
    lines.write_text(
        "\n".join(json.dumps({"id": f"t{n:06}", "value": "both"}) for n in (29, 30)),
        encoding="utf-8",
    )
    assert intake.take_in(run.store, ROLES, lines).annotators == ("human:gold",)
    told = [
        json.loads(row[0])
        for row in run.store.rows("SELECT content FROM artefacts WHERE kind='gold'")
    ]
    assert {one["file"]: one["labels"] for one in told} == {"gold.csv": 24, "more.jsonl": 2}
    assert all("0 of " in one["drawn"] for one in told)


def test_the_later_answer_of_a_person_counts_and_both_are_kept(run: Made, tmp_path: Path) -> None:
    run.label(cells(4))
    one = {"output": "t000001", "annotator": "ann"}
    path = write(tmp_path / "gold.csv", {**one, "value": "she"}, {**one, "value": "he"})
    assert intake.take_in(run.store, ROLES, path).replaced == 1
    assert human(run.store) == {"t000001": "he"}
    kept = list(
        run.store.rows("SELECT value, current FROM labels WHERE annotator='human:ann' ORDER BY id")
    )
    assert kept == [("she", 0), ("he", 1)]
    assert (
        intake.take_in(run.store, ROLES, write(tmp_path / "b.csv", {**one, "value": "he"})).labels
        == 0
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"output": "nope", "value": "she"}, "outputs are not in this run: nope"),
        ({"output": "t000001", "value": "woman"}, "No value of pronoun 'woman'"),
        ({"output": "t000001", "value": "shee"}, "Did you mean 'she'"),
        ({"output": "t000001", "value": "she", "attribute": "pronuon"}, "Did you mean 'pronoun'"),
        ({"output": "t000001", "value": "she", "annotator": CHOICE}, "gold must come from people"),
        (
            {"output": "t000001", "value": "she", "annotator": "openai:gpt-4.1"},
            "gold must come from people",
        ),
        ({"output": "t000001", "value": "she", "weight": "0"}, "must be a number above 0"),
        ({"output": "t000001", "value": "she", "weight": "nan"}, "must be a number above 0"),
        ({"output": "", "value": "she"}, "the row names no output"),
        ({"output": "t000001", "value": ""}, "no value in any row"),
        ({"output": "t000003", "value": "she"}, "comes from probabilities"),
    ],
)
def test_what_is_refused_is_named_and_nothing_is_stored(
    run: Made, tmp_path: Path, row: dict[str, object], said: str
) -> None:
    run.label(cells(2))
    run.label((factors, "exact", {"she": 0.5, "he": 0.5}) for factors, _, _ in cells(1))
    good = (
        {"output": "t000002", "value": "she"}
        if row["value"]
        else {"output": "t000002", "value": ""}
    )
    with pytest.raises(UsageError, match=said):
        intake.take_in(run.store, ROLES, write(tmp_path / "gold.csv", good, row))
    assert not labels.have_human(run.store)


def test_an_attribute_with_several_values_an_output_is_refused(run: Made, tmp_path: Path) -> None:
    run.label(cells(1))
    run.store.write(
        [], [], [Label("t000001", CHOICE, "word", word, place) for place, word in enumerate("ab")]
    )
    with pytest.raises(UsageError, match="several values per output"):
        intake.take_in(
            run.store,
            ROLES,
            write(tmp_path / "g.csv", {"output": "t000001", "attribute": "word", "value": "a"}),
        )


def test_four_labels_and_one_class_are_said(run: Made, tmp_path: Path) -> None:
    run.label(cells(40))
    four = [{"output": f"t{n:06}", "value": "she" if n > 1 else "he"} for n in range(1, 5)]
    (said,) = intake.take_in(run.store, ROLES, write(tmp_path / "four.csv", *four)).warnings
    assert "4 gold labels of pronoun say next to nothing" in said
    same = [{"output": f"t{n:06}", "value": "she"} for n in range(1, 31)]
    (said,) = intake.take_in(run.store, ROLES, write(tmp_path / "one.csv", *same)).warnings
    assert "all 30 gold labels of pronoun are 'she'" in said


def test_files_that_cannot_be_read(run: Made, tmp_path: Path) -> None:
    run.label(cells(1))
    (tmp_path / "latin.csv").write_bytes("output,value\nt000001,sh\xe8\n".encode("latin-1"))
    (tmp_path / "list.jsonl").write_text("[1]\n", encoding="utf-8")
    for name in ("latin.csv", "list.jsonl", "missing.csv"):
        with pytest.raises(UsageError, match=name):
            intake.take_in(run.store, ROLES, tmp_path / name)


def test_the_majority_of_people_is_the_truth_and_a_tie_is_none(run: Made, tmp_path: Path) -> None:
    run.label(cells(2))
    answers = {"t000001": ("she", "she", "he"), "t000002": ("she", "he")}
    rows = [
        {"output": output, "annotator": f"p{n}", "value": value}
        for output, values in answers.items()
        for n, value in enumerate(values)
    ]
    intake.take_in(run.store, ROLES, write(tmp_path / "gold.csv", *rows))
    assert gold.truths(run.store) == {("t000001", "pronoun"): ("she", 1.0)}
    (pair,) = gold.pairs(run.store)
    assert (pair.annotator, pair.truth, pair.said, pair.factors["class"]) == (
        CHOICE,
        "she",
        "she",
        "communal",
    )


def test_people_are_no_instrument_of_the_analysis(run: Made, tmp_path: Path) -> None:
    from tiltmeter.analyse.estimates import estimates

    run.label(cells(40))
    before = estimates(run.store, ROLES)
    intake.take_in(
        run.store, ROLES, write(tmp_path / "gold.csv", {"output": "t000001", "value": "he"})
    )
    after = [one for one in estimates(run.store, ROLES) if not one.measure.endswith("_corrected")]
    assert after == before


def test_without_an_instrument_there_is_nothing_to_annotate(run: Made, tmp_path: Path) -> None:
    bare = replace(ROLES, instruments=(), measures=())
    with pytest.raises(UsageError, match="no instrument, so there is no attribute to annotate"):
        sheet.draw(run.store, bare, 10)
    with pytest.raises(UsageError, match="No attribute ''"):
        intake.take_in(
            run.store, bare, write(tmp_path / "gold.csv", {"output": "t1", "value": "she"})
        )


# drawing a sample


@pytest.fixture
def judged(run: Made) -> Made:
    """120 outputs in two classes and two orders, and a judge who says something else of every tenth."""
    for group in ("communal", "outlook"):
        for order in ("he_first", "she_first"):
            run.label(cells(30, group, order=order))
    run.store.write(
        [],
        [],
        [
            Label(f"t{n:06}", "judge/x@1", "pronoun", "she" if n % 10 else "he")
            for n in range(1, 121)
        ],
    )
    return run


def test_a_sample_is_stratified_random_and_oversamples_disagreement(judged: Made) -> None:
    found = sheet.draw(judged.store, ROLES, 40)
    assert (found.attribute, found.by, len(found.rows)) == ("pronoun", ("order", "class"), 40)
    assert found.random + found.disagreeing == 40
    assert (
        found.disagreeing + _random_disagreeing(found) == 12
    )  # all 12 disputed ones: at random or on purpose
    assert {row["value"] for row in found.rows} == {""}
    assert not any("planted" in str(row) for row in found.rows)  # who answered is not shown
    trials = {trial: json.loads(factors) for trial, _, _, factors in judged.store.iter_trials()}
    weights: Counter[tuple[str, str]] = Counter()
    for row in found.rows:
        factors = trials[row["output"]]
        weights[factors["order"], factors["class"]] += float(row["weight"])  # type: ignore[assignment]
    assert all(
        total == pytest.approx(30, abs=1e-3) for total in weights.values()
    )  # each condition has 30 outputs
    assert len(weights) == 4


def _random_disagreeing(found: sheet.Sheet) -> int:
    return sum(row["drawn"] == "random" and int(row["output"][1:]) % 10 == 0 for row in found.rows)


def test_the_weights_undo_the_oversampling(judged: Made) -> None:
    """Of 120 outputs 12 are disputed: over 300 seeds the weighted share of disputed ones is .1, the plain one is not."""
    weighted, plain = [], []
    for seed in range(300):
        rows = sheet.draw(judged.store, ROLES, 40, seed=seed).rows
        disputed = [int(row["output"][1:]) % 10 == 0 for row in rows]
        weights = [float(row["weight"]) for row in rows]
        weighted.append(sum(w for w, d in zip(weights, disputed, strict=True) if d) / sum(weights))
        plain.append(sum(disputed) / len(rows))
    assert sum(weighted) / 300 == pytest.approx(0.1, abs=0.004)
    assert min(plain) >= 0.25


def test_a_sheet_is_written_filled_in_and_taken_back(judged: Made, tmp_path: Path) -> None:
    made = sheet.draw(judged.store, ROLES, 30)
    sheet.write_sheet(made, tmp_path / "sheet.csv")
    rows = read(tmp_path / "sheet.csv")
    for row in rows:
        row.update(value="he" if int(row["output"][1:]) % 3 == 0 else "she", annotator="ann")
    assert not gold.is_random(judged.store, "pronoun")
    intake.take_in(judged.store, ROLES, write(tmp_path / "some.csv", *rows[:20]))
    assert not gold.is_random(judged.store, "pronoun")  # a third was skipped
    intake.take_in(judged.store, ROLES, write(tmp_path / "all.csv", *rows))
    assert gold.is_random(judged.store, "pronoun")
    stored = dict(
        judged.store.rows(
            "SELECT output, weight FROM labels WHERE current AND annotator='human:ann'"
        )
    )
    assert stored == {row["output"]: float(row["weight"]) for row in rows}
    sheet.draw(judged.store, ROLES, 10, seed=1)
    assert gold.is_random(
        judged.store, "pronoun"
    )  # another sheet was drawn, and nobody filled it in
    outside = next(f"t{n:06}" for n in range(1, 121) if f"t{n:06}" not in stored)
    intake.take_in(
        judged.store, ROLES, write(tmp_path / "one.csv", {"output": outside, "value": "she"})
    )
    assert not gold.is_random(judged.store, "pronoun")  # somebody picked that one


def test_a_cell_that_a_spreadsheet_would_run_is_quoted(tmp_path: Path) -> None:
    row = {"output": "t1", "answer": "=HYPERLINK(1)"}
    sheet.write_sheet(sheet.Sheet("a", (), (), (row,), 1, 0), tmp_path / "s.csv")
    assert "'=HYPERLINK(1)" in (tmp_path / "s.csv").read_text(encoding="utf-8")


def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    api.run("roles", "planted:she=0.7", "run", language="en", limit=6, samples=4)
    assert main(["validate", "run", "--sample", "24", "--sheet", "sheet.csv"]) == 0
    rows = read(Path("sheet.csv"))
    assert len(rows) == 24
    write(Path("gold.csv"), *({**row, "value": "she", "annotator": "ann"} for row in rows))
    assert main(["import", "gold", "run", "gold.csv"]) == 0
    captured = capsys.readouterr()
    assert "24 gold labels of ann" in captured.out
    assert "all 24 gold labels of pronoun are 'she'" in captured.err
    for wrong in (
        ["import", "gold", "run"],
        ["import", "roles", "gold.csv"],
        ["import", "soda", "a", "b", "--out", "c"],
    ):
        assert main(wrong) == 2
    with pytest.raises(TiltmeterError, match="No output with text"):
        api.run("roles", "planted:she=0.7", "exact", language="en", limit=2, mode="exact")
        api.draw_gold_sample("exact", 5, "no.csv")


def test_an_empty_answer_is_empty_in_the_sheet(tmp_path: Path) -> None:
    """It was the name of the folder of pictures, which a person labels as an answer."""
    model = {"mute": lambda prompt: ""}
    out, path = tmp_path / "run", tmp_path / "sheet.csv"
    api.run("roles", model, out, languages=["en"], limit=2, samples=1, pilot=False)
    api.draw_gold_sample(out, 2, path)
    with path.open(encoding="utf-8", newline="") as file:
        assert {row["answer"] for row in csv.DictReader(file)} == {""}
