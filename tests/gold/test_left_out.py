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
    r"Without bea it is ([−+]?\d+) points \[(−?\d+), (−?\d+)\], "
    r"not ([−+]?\d+) points \[(−?\d+), (−?\d+)\]\."
)


def texts(home: Path, number: int) -> Path:
    """Makes a run of texts in two groups of so many, and returns its folder."""
    for group in ("cars", "vans"):
        (home / "texts" / group).mkdir(parents=True)
        for place in range(number):
            text = f"{group} {place}: somebody leads."
            (home / "texts" / group / f"{place:03}.txt").write_text(text, "utf-8")
    start(home / "texts", home / "out", "Who leads?", ["woman", "man", "unclear"])
    return home / "out"


def label(out: Path, rng: np.random.Generator, gap: float, chance: float) -> None:
    """Labels texts: the share of women differs by a gap between the groups, a fifth is shown to all
    three people, and bea says a share of her labels by chance.
    """
    rows = tiltmeter.open_run(out).outputs.select("trial", "prompt").rows()
    among = [f"human:{name}" for name in NAMES]
    parts = {name: part_of([trial for trial, _ in rows], f"human:{name}", among) for name in NAMES}
    with (out.parent / "gold.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["output", "value", "annotator"])
        for trial, prompt in rows:
            share = 0.5 + gap / 2 if prompt.startswith("cars") else 0.5 - gap / 2
            true = "woman" if rng.random() < share else "man"
            other = str(rng.choice(["woman", "man"])) if rng.random() < chance else true
            for name in NAMES:
                if trial in parts[name]:
                    table.writerow([trial, other if name == "bea" else true, name])
    tiltmeter.import_gold(out, out.parent / "gold.csv")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gap of −60 points, and half of what bea says is chance."""
    out = texts(tmp_path_factory.mktemp("texts"), 150)
    label(out, np.random.default_rng(3), -0.6, 0.5)
    return out


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
    without, low, high, headline, *_ = (int(end.replace("−", "-")) for end in line.groups())
    assert headline - without >= 5 and low <= -60 <= high
    assert gap.value is not None and round(100 * gap.value) == headline
    again = next(row for row in tiltmeter.open_run(labelled).analyse() if row.measure == "gap")
    assert again.value == gap.value and again.n == gap.n  # the run itself has all labels


def test_the_line_stands_on_the_first_screen(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", str(labelled)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert LINE.search(shown) and shown.index("Without bea") < shown.index("verdict")
