"""Joins of tables: rows that agree with none are refused with their place, or left out for a
reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.errors import ProtocolError

PROTOCOL = """name = "a"
title = "a"
question = "a"
prompt = "{name} {job}"
factors = ["gender"]
item = "job"
[[tables]]
file = "names.csv"
[[tables]]
"""
NAMES = "gender,name\nfemale,Ann\nmale,Bo\n"
JOBS = "gender,job\nfemale,nurse\nmale,cook\n"
OTHERS = "nonbinary,Kim\n"


def write(folder: Path, names: str, jobs: str, table: str = 'file = "jobs.csv"\n') -> str:
    (folder / "names.csv").write_text(names, "utf-8")
    (folder / "jobs.csv").write_text(jobs, "utf-8")
    (folder / "a.toml").write_text(PROTOCOL + table, "utf-8")
    return str(folder / "a.toml")


@pytest.mark.parametrize(
    ("names", "jobs", "said"),
    [
        (NAMES + OTHERS, JOBS, "names.csv, line 4, gender = 'nonbinary'"),
        (NAMES, JOBS + "nonbinary,judge\n", "jobs.csv, line 4, gender = 'nonbinary'"),
        ("gender,name\nfemale,Ann\n", JOBS, "jobs.csv, line 3, gender = 'male'"),
    ],
)
def test_a_row_without_a_partner_is_refused(
    names: str, jobs: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ProtocolError, match=r"line 9, tables 2: 1 row is left out") as caught:
        registry.protocol(write(tmp_path, names, jobs))
    assert said in str(caught.value) and 'leaves_out = "…"' in str(caught.value)


def test_a_row_of_the_protocol_itself_is_named_by_its_line(tmp_path: Path) -> None:
    table = (
        'rows = [\n  { gender = "female", job = "nurse" },\n  { gender = "x", job = "cook" },\n]\n'
    )
    with pytest.raises(ProtocolError, match=r"2 rows are|1 row is") as caught:
        registry.protocol(write(tmp_path, "gender,name\nfemale,Ann\n", JOBS, table))
    assert "a.toml, line 12, tables 2, rows 2, gender = 'x'" in str(caught.value)


def test_a_reason_permits_it(tmp_path: Path) -> None:
    table = 'file = "jobs.csv"\nleaves_out = "No job is told of them."\n'
    protocol = registry.protocol(write(tmp_path, NAMES + OTHERS, JOBS, table))
    assert [cell["name"] for cell in protocol.cells] == ["Ann", "Bo"]


def test_a_run_keeps_its_design_without_a_reason(tmp_path: Path) -> None:
    """A run of an earlier version opens with the rows that were asked."""
    from tiltmeter.protocol.design.tables import Beside
    from tiltmeter.protocol.reading.load import declare
    from tiltmeter.protocol.source.source_lines import SourceLocation

    table = 'file = "jobs.csv"\nleaves_out = "No job is told of them."\n'
    made = registry.protocol(write(tmp_path, NAMES + OTHERS, JOBS, table))
    declared = dict(made.definition["declared"])
    del declared["tables"][1]["leaves_out"]
    files = Beside(None, dict(made.definition["files"]))
    kept = declare(declared, files, SourceLocation("the run", "", declared), stored=True)
    assert kept.cells == made.cells
