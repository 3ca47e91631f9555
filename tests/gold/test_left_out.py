"""The headline without a person who labels carelessly, where most outputs were seen by one alone."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import tiltmeter
from tiltmeter.api.start.own_outputs import start
from tiltmeter.cli import main
from tiltmeter.gold.people import part_of

NAMES = ("ann", "bea", "cy")
LINE = re.compile(
    r"Without bea it is −(\d+) points "
    r"\[−(\d+), −(\d+)\], not −(\d+) points \[−(\d+), −(\d+)\]\."
)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of two groups, 20 % and 80 % of women: a gap of −60 points. A fifth is shown to all;
    half of what bea says is chance.
    """
    home = tmp_path_factory.mktemp("texts")
    for group in ("cars", "vans"):
        (home / "texts" / group).mkdir(parents=True)
        for number in range(150):
            text = f"{group} {number}: somebody leads."
            (home / "texts" / group / f"{number:03}.txt").write_text(text, "utf-8")
    run = start(home / "texts", home / "out", "Who leads?", ["woman", "man", "unclear"])
    rows = run.outputs.select("trial", "prompt").rows()
    among = [f"human:{name}" for name in NAMES]
    parts = {name: part_of([trial for trial, _ in rows], f"human:{name}", among) for name in NAMES}
    rng = np.random.default_rng(3)
    with (home / "gold.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["output", "value", "annotator"])
        for trial, prompt in rows:
            true = "woman" if rng.random() < (0.2 if prompt.startswith("cars") else 0.8) else "man"
            chance = str(rng.choice(["woman", "man"])) if rng.random() < 0.5 else true
            for name in NAMES:
                if trial in parts[name]:
                    table.writerow([trial, chance if name == "bea" else true, name])
    tiltmeter.import_gold(home / "out", home / "gold.csv")
    return home / "out"


def test_the_headline_without_the_careless_one_stands_beside_it(
    labelled: Path, tmp_path: Path
) -> None:
    """What bea alone saw is left out: the gap is that of the labels that ann and cy gave."""
    run = tiltmeter.open_run(labelled)
    gap = next(row for row in run.analyse() if row.measure == "gap")
    assert main(["report", str(labelled), "--out", str(tmp_path / "r.md")]) == 0
    page = " ".join((tmp_path / "r.md").read_text("utf-8").replace("\\", "").split())
    assert page.count("Without ") == 1 and "People agree with Krippendorff's α" in page
    assert "bea alone says otherwise than all others" in " ".join(run.warnings())
    line = LINE.search(page)
    assert line is not None
    without, far, near, headline, *_ = map(int, line.groups())
    assert without - headline >= 5 and near <= 60 <= far
    assert gap.value is not None and round(-100 * gap.value) == headline
    again = next(row for row in tiltmeter.open_run(labelled).analyse() if row.measure == "gap")
    assert again.value == gap.value and again.n == gap.n  # the run itself has all labels


def test_the_line_stands_on_the_first_screen(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", str(labelled)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert LINE.search(shown) and shown.index("Without bea") < shown.index("verdict")
