"""People without a judge: majority, agreement, and who leans."""

from __future__ import annotations

import csv
import struct
import zlib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import tiltmeter
from tiltmeter.api.start.own_outputs import start
from tiltmeter.cli import main
from tiltmeter.errors import UsageError
from tiltmeter.explore.annotation.annotating import Desk, DeskTask
from tiltmeter.gold.answers import State
from tiltmeter.gold.majority import dissenting, leaning, majority
from tiltmeter.stats.rates import clustered_share

VALUES = ["woman", "man", "unclear"]
RUNS = 60  # of the small form; benchmarks/people.py has 200


def picture(path: Path, number: int) -> None:
    """Writes a small PNG."""
    rows = b"".join(b"\0" + bytes([number % 256, 9 * number % 256, row]) * 4 for row in range(4))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def said_by(rng: np.random.Generator, number: int, share: float) -> dict[str, dict[str, str]]:
    """Three people on pictures of known truth: one careful, one careless (a tenth by chance), one
    biased (calls a sixth of the men women).
    """
    said = {}
    for n in range(number):
        true = "woman" if rng.random() < share else "man"
        careless = true if rng.random() > 0.1 else str(rng.choice(["woman", "man"]))
        biased = "woman" if true == "man" and rng.random() < 1 / 6 else true
        slip = {"woman": "man", "man": "woman"}[true]
        careful = slip if rng.random() < 0.01 else true
        said[f"p{n}"] = {"human:ann": careful, "human:bea": careless, "human:cy": biased}
    return said


def test_an_output_has_the_value_of_most_people() -> None:
    assert majority({"a": "x", "b": "x", "c": "y"}) == "x"
    assert majority({"a": "x"}) == "x"
    assert majority({"a": "x", "b": "y"}) == "unresolved"
    assert majority({"a": "x", "b": "y", "c (adjudicated)": "y"}) == "y"


def simulated(seed: int, runs: int) -> tuple[float, float, float]:
    """How often the interval holds the truth, the biased person is named, and another one is."""
    rng = np.random.default_rng(seed)
    held = named = wrong = 0
    for _ in range(runs):
        share = rng.uniform(0.3, 0.7)
        said = said_by(rng, 400, share)
        hits = np.array([majority(each) == "woman" for each in said.values()], dtype=float)
        found = clustered_share(successes=hits, n=np.ones(hits.size))
        assert found.low is not None and found.high is not None
        held += found.low <= share <= found.high
        names = ["human:ann", "human:bea", "human:cy"]
        leans = {one.name for one in leaning(said, names, "woman")}
        named += "human:cy" in leans
        wrong += bool(leans - {"human:cy"})
    return held / runs, named / runs, wrong / runs


def test_a_careless_person_is_named_and_nobody_where_all_take_the_same_care() -> None:
    """8 lone voices against none: 2^-8 over six pairs is .023; 7 against none .047; 6 are .094."""
    names = ["a", "b", "c"]

    def lone(number: int) -> dict[str, dict[str, str]]:
        return {f"p{n}": dict.fromkeys(names, "x") | {"b": "y"} for n in range(number)}

    assert list(dissenting(lone(8), names)) == [("b", 8, 0)]
    assert list(dissenting(lone(6), names)) == []
    rng = np.random.default_rng(5)
    named = 0
    for _ in range(RUNS):
        said = {
            f"p{n}": {name: str(rng.choice(["x", "y"], p=[0.9, 0.1])) for name in names}
            for n in range(80)
        }
        named += bool(list(dissenting(said, names)))
    assert named <= (0.05 + 2 * (0.05 * 0.95 / RUNS) ** 0.5) * RUNS


def test_the_interval_holds_and_the_biased_one_is_named() -> None:
    held, named, wrong = simulated(49, RUNS)
    assert held >= 0.93 - 2 * (0.93 * 0.07 / RUNS) ** 0.5
    assert named >= 0.95 and wrong <= 0.05 + 2 * (0.05 * 0.95 / RUNS) ** 0.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures in two groups."""
    home = tmp_path_factory.mktemp("people") / "pictures"
    for group in ("cars", "vans"):
        (home / group).mkdir(parents=True)
        for number in range(20):
            picture(home / group / f"{number:02}.png", 20 * (group == "vans") + number)
    return home


def test_pictures_are_labelled_without_a_judge(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labelled"
    run = start(folder, out, "Who leads?", VALUES)
    assert run.counts()["outputs"] == 40
    assert main(["report", str(out)]) == 0
    page = (out / "report.html").read_text("utf-8")
    assert "Nothing was measured yet." not in page
    assert "Nobody has labelled yet. Type: tiltmeter annotate" in page
    rng = np.random.default_rng(1)
    rows = run.outputs.select("trial", "factors").rows()
    with (tmp_path / "gold.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["output", "value", "annotator"])
        for number, (trial, _) in enumerate(rows):
            true = "woman" if number % 2 else "man"
            biased = "woman" if number % 3 else true
            careless = true if rng.random() > 0.1 else "unclear"
            for name, value in (("ann", true), ("bea", careless), ("cy", biased)):
                table.writerow([trial, value, name])
    tiltmeter.import_gold(out, tmp_path / "gold.csv")
    capsys.readouterr()
    assert main(["report", str(out)]) == 0
    labelled = tiltmeter.open_run(out)
    gap = next(row for row in labelled.analyse() if row.measure == "gap")
    assert gap.value is not None and gap.low is not None and gap.n == 40
    assert gap.instrument == "people/1@majority"
    told = " ".join(labelled.warnings())
    assert "Krippendorff's α is" in told and "cy says woman" in told and "without cy" in told
    assert "ann says" not in told
    page = (out / "report.html").read_text("utf-8")
    assert "Nothing was measured" not in page and "Nobody has labelled" not in page


def test_a_folder_needs_a_question(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--question"):
        start(folder, tmp_path / "out", "", [])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no pictures"):
        start(tmp_path / "empty", tmp_path / "out", "Who?", VALUES)


def test_a_fifth_is_shown_to_all_and_the_rest_is_divided(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labelled"
    start(folder, out, "Who leads?", VALUES)
    among = ("ann", "bea", "cy")
    parts = []
    for name in among:
        desk = Desk(out, DeskTask(name, among=among))
        parts.append(set(desk.order))
        for item in desk.order[:3]:
            desk._thread.wait(desk.task.save, item, State(), State("woman"))
        desk.close()
    assert [len(part) for part in parts] == [19, 19, 18]  # 8 of 40, and 11, 11 and 10 of 32
    shared = set.intersection(*parts)
    assert len(shared) == 8 and len(set.union(*parts)) == 40
    assert all(len(one & other) == 8 for one, other in combinations(parts, 2))
    again = Desk(out, DeskTask("bea"))  # the names need not be typed again
    assert set(again.order) == parts[1]
    again.close()
    with pytest.raises(UsageError, match="dee is not among ann, bea, cy"):
        Desk(out, DeskTask("dee"))
    with pytest.raises(UsageError, match="divided among ann, bea, cy"):
        Desk(out, DeskTask("ann", among=("ann", "bea")))
    assert main(["annotate", str(out), "--progress"]) == 0
    said = capsys.readouterr().out
    assert "ann: 3 of 19 label" in said and "cy: 3 of 18 label" in said
