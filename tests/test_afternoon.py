"""The whole afternoon of each of the four papers, on planted models and from the command line: run, labelled, checked by two
people, analysed, compared with a second model, its tables in LaTeX and its figures as PDF. Outside `make test`.
"""

from __future__ import annotations

import csv
import random
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import tiltmeter
from tests.browser import chromium
from tiltmeter.api.planted_audits import with_small_pictures
from tiltmeter.cli import main

pytestmark = pytest.mark.slow
WRONG = 0.1  # of what a planted annotator says


@dataclass(frozen=True)
class Afternoon:
    """models: two that differ; judge: "" where rules label; attribute: what people check; tables: of the paper."""

    models: tuple[str, str]
    options: str
    attribute: str
    tables: tuple[str, ...]
    judge: str = ""


AFTERNOONS = {
    "words": Afternoon(
        ("planted:protocol=words", "planted:protocol=words,communal.female=.6"),
        "--language en --limit 6",
        "length",
        ("Figures 1 to 3",),
    ),
    "roles": Afternoon(
        ("planted:she=0.7", "planted:she=0.4"),
        "--language en --mode sampled --samples 2 --limit 20",
        "pronoun",
        ("Figure 4",),
    ),
    "dialogues": Afternoon(
        ("planted:protocol=dialogues,appearance.FF=0.6", "planted:protocol=dialogues"),
        "--language en --language ja --samples 25",
        "topic",
        ("Figure 5", "Table 5"),
        "planted:protocol=dialogues",
    ),
    "protext": Afternoon(
        ("planted-rewriter:gender=0.3,misgender=0.1", "planted-rewriter:gender=0,misgender=0"),
        "--limit 80",
        "pronouns",
        ("Figure 6", "Figure 9", "Figure 10"),
    ),
    "soda": Afternoon(
        ("planted:protocol=soda,product_color/red.women=.9", "planted:protocol=soda"),
        "--samples 10 --where object=car,cup --where dimension=base,gender",
        "product_color",
        ("Table 2", "Table 3", "Table 4", "Table 5", "Table 8"),
        "planted:protocol=soda",
    ),
    "gramvis": Afternoon(
        (
            "planted:protocol=gramvis,male.gendered=.9,female.gendered=.1,male.en=.2,female.en=.8",
            "planted:protocol=gramvis",
        ),
        "--language de --limit 8 --samples 2",
        "gender",
        ("Table 3", "Table 13", "Table 14"),
        "planted:protocol=gramvis",
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
    do("compare", *runs, "--all")
    assert "different" in capsys.readouterr().out or name == "soda"
    for table in day.tables:
        file = tmp_path / f"{table}.tex"
        do("table", runs[0], table, "--variant", "published", "--format", "latex", "--out", file)
        assert re.search(r"\\midrule\n.*\d.*\\\\", file.read_text("utf-8"))
    drawn = tmp_path / "paper.pdf"
    do("figure", runs[0], day.tables[0], "--variant", "published", "--out", drawn)
    assert drawn.read_bytes().startswith(b"%PDF-")


def run(protocol: str, day: Afternoon, model: str, folder: str) -> Path:
    judges = ["--judge", day.judge] if day.judge else []
    do("run", protocol, "--model", model, *judges, *day.options.split(), "--out", folder)
    return Path(folder)


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
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        do("import", "gold", folder, sheet)
