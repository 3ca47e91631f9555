"""The whole afternoon of each of the four papers, on planted models and from the command line: a list rated, run, labelled,
checked by two people, analysed, compared with a second model, its tables in LaTeX and its figures as PDF. Outside `make test`.
"""

from __future__ import annotations

import csv
import random
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import tiltmeter
from tests.browser import chromium
from tiltmeter.api.check.planted_audits import HOME, with_small_pictures
from tiltmeter.cli import main
from tiltmeter.protocols.word_lists.__main__ import main as word_lists

pytestmark = pytest.mark.slow
WRONG = 0.1  # of what a planted annotator says


@dataclass(frozen=True)
class Afternoon:
    """models: two that differ; judge: "" where rules label; attribute: what people check; tables: of the paper; figures: the
    arguments of `figure RUN`, designs: of `show PROTOCOL`.
    """

    models: tuple[str, str]
    options: str
    attribute: str
    tables: tuple[str, ...]
    judge: str = ""
    figures: tuple[str, ...] = ()
    designs: tuple[str, ...] = ()


AFTERNOONS = {
    "words": Afternoon(
        ("planted:protocol=words", "planted:protocol=words,communal.female=.6"),
        "--language en --limit 6",
        "length",
        ("Figures 1 to 3",),
        figures=("'Figures 1 to 3' --variant published",),
    ),
    "roles": Afternoon(
        ("planted:she=0.7", "planted:she=0.4"),
        "--language en --mode sampled --samples 2 --limit 20",
        "pronoun",
        ("Figure 4",),
        figures=("'Figure 4' --variant published",),
    ),
    "dialogues": Afternoon(
        ("planted:protocol=dialogues,appearance.FF=0.6", "planted:protocol=dialogues"),
        "--language en --language ja --samples 25",
        "topic",
        ("Figure 5", "Table 5"),
        "planted:protocol=dialogues",
        (
            "'Figure 5' --variant published",
            "topic_share --rows topic --columns language,pairing --leader",
            "outcomes",
        ),
    ),
    "protext": Afternoon(
        ("planted-rewriter:gender=0.3,misgender=0.1", "planted-rewriter:gender=0,misgender=0"),
        "--limit 80",
        "pronouns",
        ("Figure 6", "Figure 9", "Figure 10"),
        figures=(
            "--words text",
            *(f"'Figure {n}' --variant published" for n in (6, 9, 10)),
        ),
    ),
    "soda": Afternoon(
        (
            "planted:protocol=soda,product_color/red.women=.95,product_color/blue.base=.95",
            "planted:protocol=soda",
        ),
        "--samples 10 --where object=car,cup --where dimension=base,gender",
        "product_color",
        ("Table 2", "Table 3", "Table 4", "Table 5", "Table 8"),
        "planted:protocol=soda",
        tuple(f"'Table {n}' --variant published" for n in (2, 3, 4)),
    ),
    "gramvis": Afternoon(
        (
            "planted:protocol=gramvis,male.gendered=.9,female.gendered=.1,male.en=.2,female.en=.8",
            "planted:protocol=gramvis",
        ),
        "--language de --samples 2",
        "gender",
        ("Table 3", "Table 13", "Table 14"),
        "planted:protocol=gramvis",
        ("'Table 3' --variant published", "'Table 14' --variant published"),
        ("grammatical_gender", "category", "grammatical_gender,category", "language,category"),
    ),
}


def do(*arguments: object) -> None:
    assert main([str(one) for one in arguments]) == 0, arguments


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
@pytest.mark.parametrize("name", AFTERNOONS)
def test_the_whole_afternoon(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    day = AFTERNOONS[name]
    monkeypatch.chdir(tmp_path)
    protocol = with_small_pictures(name, tmp_path)
    if name == "gramvis":
        shutil.copy(rated_words(), Path(protocol).with_name("words.csv"))
    runs = [run(protocol, day, model, f"run-{n}") for n, model in enumerate(day.models)]
    annotate(runs[0], day)
    capsys.readouterr()
    do("validate", runs[0])
    said = capsys.readouterr().out
    assert "people" in said and "F1" in said and "κ" in said
    do("analyse", runs[0], "--variant", "published")
    said = capsys.readouterr().out
    for table in day.tables:
        assert table in said
    do("compare", *runs, "--full")
    assert "different" in capsys.readouterr().out or name == "soda"
    for table in day.tables:
        file = tmp_path / f"{table}.tex"
        do("table", runs[0], table, "--variant", "published", "--format", "latex", "--out", file)
        assert re.search(r"\\midrule\n.*\d.*\\\\", file.read_text("utf-8"))
    drawn = [["figure", runs[0], *shlex.split(one)] for one in day.figures]
    for number, arguments in enumerate(drawn):
        pdf = tmp_path / f"{number}.pdf"
        do(*arguments, "--out", pdf)
        assert pdf.read_bytes().startswith(b"%PDF-")
    for by in day.designs:
        do("show", protocol, "--by", by, "--figure", tmp_path / "design.pdf")
        assert (tmp_path / "design.pdf").read_bytes().startswith(b"%PDF-")


def run(protocol: str, day: Afternoon, model: str, folder: str) -> Path:
    judges = ["--judge", day.judge] if day.judge else []
    do("run", protocol, "--model", model, *judges, *day.options.split(), "--out", folder)
    return Path(folder)


def rated_words() -> Path:
    """A words.csv of the nouns that two of three people keep; two of them doubt the last."""
    with (HOME / "gramvis" / "words.csv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file) if row["language"] == "de"]
    chosen = [
        row
        for gender in ("feminine", "masculine")
        for row in [one for one in listed if one["grammatical_gender"] == gender][:5]
    ]
    write(Path("candidates.csv"), chosen)
    assert word_lists(["start", "candidates.csv", "--out", "rating"]) == 0
    do("run", "rating/protocol.toml", "--model", "file:rating/answers.jsonl", "--out", "rating/run")
    for attribute in ("stereotype", "category"):
        sheet = Path(f"{attribute}.csv")
        do("validate", "rating/run", "--sample", 10, "--attribute", attribute, "--sheet", sheet)
        for person in ("Ada", "Ben", "Cy"):
            with sheet.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                one = next(o for o in chosen if row["answer"].startswith(f"{o['noun']} ("))
                against = "man" if one["grammatical_gender"] == "feminine" else "woman"
                doubts = person != "Ada" and one is chosen[-1]
                seen = "no_one_sex" if doubts else against
                row["value"] = seen if attribute == "stereotype" else one["category"]
                row["annotator"] = person
            write(Path("said.csv"), rows)
            do("import", "gold", "rating/run", "said.csv")
    do("validate", "rating/run")
    assert word_lists(["keep", "rating/run", "--out", "words.csv", "--least", "2"]) == 0
    kept = Path("words.csv")
    with kept.open(encoding="utf-8", newline="") as file:
        assert [row["word"] for row in csv.DictReader(file)] == [o["word"] for o in chosen[:-1]]
    return kept


def write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def annotate(folder: Path, day: Afternoon) -> None:
    """Two people fill in a sheet each: what the machine said, but for some of it."""
    run = tiltmeter.open_run(folder)
    labels = {
        row["output"]: row["value"]
        for row in run.labels.to_dicts()
        if row["attribute"] == day.attribute and row["position"] == 0
    }
    values = sorted(set(labels.values()))
    do("validate", folder, "--sample", 30, "--attribute", day.attribute, "--sheet", "sheet.csv")
    for person in ("Ada", "Ben"):
        draw = random.Random(person)
        sheet = Path(f"{person}.csv")
        shutil.copy("sheet.csv", sheet)
        with sheet.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["value"] = draw.choice(values) if draw.random() < WRONG else labels[row["output"]]
            row["annotator"] = person
        write(sheet, rows)
        do("import", "gold", folder, sheet)
