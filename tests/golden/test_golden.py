"""Numbers of three planted audits, as they were kept: a change of code moves none of them.

To keep them anew after a meant change: python -m tests.golden.test_golden
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import pytest

import tiltmeter
from tests.golden import outputs, runs
from tests.golden.masks import mask

KEPT = Path(__file__).with_name("numbers.csv")
AUDITS = ("roles-refusing", "decisions_names-tilted", "protext-fair")
COLUMNS = (
    "run variant measure condition contrast instrument value low high p p_adjusted verdict cautions"
).split()


def test_numbers_are_as_kept(tmp_path: Path) -> None:
    with KEPT.open(encoding="utf-8", newline="") as file:
        kept = [tuple(row) for row in csv.reader(file)][1:]
    rows = numbers(tmp_path)
    assert [row[:6] for row in rows] == [row[:6] for row in kept]
    for row, before in zip(rows, kept, strict=True):
        assert row[11:] == before[11:], row
        for value, number in zip(row[6:11], before[6:11], strict=True):
            assert (value == "") == (number == ""), row
            if number:
                assert float(value) == pytest.approx(float(number), rel=1e-4, abs=1e-6), row


def test_dates_durations_and_places_are_masked(tmp_path: Path) -> None:
    text = f"2026-11-23 16:04:25 UTC, 3.2 s, {tmp_path}/run, tiltmeter {tiltmeter.__version__}"
    assert mask(text, tmp_path) == "DATE, DURATION s, WORK/run, tiltmeter VERSION"


def test_a_difference_names_its_item_and_line(tmp_path: Path) -> None:
    for folder, value in (("old", "0.5"), ("new", "0.6")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.jsonl").write_text(f'{{"n": 1}}\n{{"value": {value}}}\n')
    found = outputs.compare(tmp_path / "old", tmp_path / "new")
    assert found == {"rows.jsonl": ["@@ -2 +2 @@", '-{"value": 0.5}', '+{"value": 0.6}']}
    assert not outputs.compare(tmp_path / "old", tmp_path / "old")


def numbers(folder: Path) -> list[tuple[str, ...]]:
    """One row per tested estimate: what it is of, its numbers, the verdict of a headline claim."""
    rows = []
    for path in runs.make_runs(folder, AUDITS):
        run = tiltmeter.Run(path)
        for variant in run.protocol.variants:
            estimates = run.analyse(variant)
            judged = {
                _about(verdict): (verdict.word.value, " ".join(c.code for c in verdict.cautions))
                for verdict in run.verdicts(variant, estimates=estimates)
            }
            for row in (row for row in estimates if row.p is not None):
                values = (row.value, row.low, row.high, row.p, row.p_adjusted)
                told = ("" if value is None else f"{value:.6g}" for value in values)
                about = _about(row)
                rows.append((path.name, variant, *about, *told, *judged.get(about, ("", ""))))
    return rows


def _about(row: object) -> tuple[str, str, str, str]:
    condition, contrast = (
        " ".join(f"{name}={level}" for name, level in (getattr(row, part) or {}).items())
        for part in ("condition", "contrast")
    )
    instrument = str(getattr(row, "instrument")).partition("/")[0]  # noqa: B009
    return str(getattr(row, "measure")), condition, contrast, instrument  # noqa: B009


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, KEPT.open("w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerows([COLUMNS, *numbers(Path(folder))])
