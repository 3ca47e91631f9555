"""Labels by majority are computed anew from people's own labels: a right run is right, a forged label is found."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import forging
from tests.api.forgeries import Bases, Forge, is_missed, sql
from tiltmeter import api

MAJORITY = "SELECT id FROM labels WHERE current AND annotator='people/1@majority'"
INSERT = (
    "INSERT INTO labels (output, annotator, attribute, value, position, weight, date) SELECT output,"
    " 'people/1@majority', attribute, {value}, {position}, 1.0, {date} FROM labels WHERE id=?"
)
FORGERIES: Mapping[str, Forge] = {
    "one says woman": sql(
        "UPDATE labels SET value='woman' WHERE id=?", f"{MAJORITY} AND value='man'"
    ),
    "a tie is broken": sql(
        "UPDATE labels SET value='woman' WHERE id=?", f"{MAJORITY} AND value='unresolved'", 3
    ),
    "all say woman": sql("UPDATE labels SET value='woman' WHERE annotator='people/1@majority'"),
    "some are gone": sql("DELETE FROM labels WHERE id=?", MAJORITY, 2),
    "some are withdrawn": sql("UPDATE labels SET current=0 WHERE id=?", MAJORITY, 2),
    "some weigh less": sql("UPDATE labels SET weight=.1 WHERE id=?", MAJORITY, 2),
    "one is of another attribute": sql("UPDATE labels SET attribute='gender' WHERE id=?", MAJORITY),
    "one is there twice": sql(INSERT.format(value="'woman'", position=1, date="date"), MAJORITY),
    "labels by majority of nobody": sql(
        "DELETE FROM labels WHERE output=(SELECT output FROM labels WHERE id=?) AND annotator<>"
        "'people/1@majority'",
        MAJORITY,
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_majority_is_found(name: str, bases: Bases, tmp_path: Path) -> None:
    assert not is_missed(bases, tmp_path, "voted", FORGERIES[name], name)


def test_an_archive_of_people_holds_and_is_not_written_to(bases: Bases, tmp_path: Path) -> None:
    folder = tmp_path / "crate"
    api.export_crate(bases.voted, folder)
    findings, _ = api.verify(folder)
    assert findings.holds, [*findings.lines()]
    assert findings.checked["labels"] == 24

    FORGERIES["all say woman"](folder / "run", random.Random(1))
    before = (folder / "run" / "run.sqlite").read_bytes()
    findings, _ = api.verify(folder)
    # by hand: ann says man 12 times of 24, bea 8 times, both 4 times; all others are not woman by majority
    assert "labels by majority are not what people say: 16 cases" in "".join(findings.lines())
    assert (folder / "run" / "run.sqlite").read_bytes() == before


def test_who_answers_later_forges_nothing(bases: Bases, tmp_path: Path) -> None:
    run = Path(shutil.copytree(bases.voted, tmp_path / "run"))
    with forging.changing(run) as db:
        query = "SELECT output FROM labels WHERE annotator='human:ann' AND value='man' LIMIT 1"
        (output,) = db.execute(query).fetchone()
    sheet = tmp_path / "later.csv"
    sheet.write_text(f"output,value,annotator\n{output},unclear,ann\n", "utf-8")
    api.import_gold(run, sheet)
    findings, _ = api.verify(run)
    assert findings.holds, [*findings.lines()]
    assert "1 label by majority is older than what people say now" in "".join(findings.notes)
    api.open_run(run).report()
    findings, _ = api.verify(run)
    assert findings.holds and "by majority" not in "".join(findings.notes)
