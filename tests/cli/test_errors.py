"""What goes wrong outside is one line on standard error, and steers no terminal."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import tiltmeter
from tiltmeter import cli
from tiltmeter.errors import ModelError
from tiltmeter.report.render.json_csv import as_csv


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors") / "run"
    tiltmeter.run("roles", "planted:she=.7", folder, language="en", limit=2, samples=1)
    return folder


def test_a_full_disk_is_a_line(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "mkdir", full)
    assert cli.main(["export", str(run), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "No space left on device" in said and "out" in said

    def full_as_polars_tells(*_: object) -> None:
        raise pl.exceptions.ComputeError("parquet: No space left on device (os error 28)")

    monkeypatch.setattr(tiltmeter.api, "export", full_as_polars_tells)
    assert cli.main(["export", str(run), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "No space left on device" in said and "out" in said


@pytest.mark.parametrize("letter", ["\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\u202e"])
def test_an_error_steers_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], letter: str
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise ModelError(f"a server says {letter} no")

    monkeypatch.setattr(cli.group, "main", fail)
    assert cli.main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: a server says ⟨U+") and letter[0] not in said


def test_a_table_for_a_spreadsheet_holds_no_formula(run: Path, tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": ["=1+1", "@x", "plain", None], "n": [-1, 2, 3, 4]})
    from tiltmeter.api.runs.table_files import _for_csv

    assert _for_csv(frame).rows() == [("'=1+1", -1), ("'@x", 2), ("plain", 3), (None, 4)]
    assert len(tiltmeter.export(run, tmp_path / "csv", format="csv")) == 5
    estimate = tiltmeter.open_run(run).analyse()[0]
    changed = replace(estimate, note="=HYPERLINK(1)")
    assert "'=HYPERLINK(1)" in as_csv([changed])
