"""What was computed of a finished run is looked up, and computed anew where anything of it changed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NoReturn

import pytest

import tiltmeter
from tests import forging
from tiltmeter import cli
from tiltmeter.analyse import estimates as run_estimates
from tiltmeter.api.runs import cached_results
from tiltmeter.records import Label
from tiltmeter.stages.engine import engine
from tiltmeter.store import Store
from tiltmeter.system import cache

COMMAND = (
    "run roles --model planted:she=0.7 --language en --samples 2 --limit 4 --no-pilot --out".split()
)


class Computed(BaseException):
    """Raised in place of computing."""


def refuse(*_: object, **__: object) -> NoReturn:
    raise Computed


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A finished run, of which all is kept."""
    monkeypatch.setenv(cache.KEEP, "1")
    monkeypatch.setenv(cache.CACHE, str(tmp_path / "cache"))
    assert cli.main([*COMMAND, str(tmp_path / "run")]) == 0
    return tmp_path / "run"


def test_a_finished_run_is_neither_asked_nor_estimated_nor_printed_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, page = capsys.readouterr(), folder / "report.html"
    written, estimates = page.read_bytes(), tiltmeter.open_run(folder).analyse()
    monkeypatch.setattr(run_estimates, "estimates", refuse)
    monkeypatch.setattr(engine.Engine, "drive", refuse)
    assert cli.main([*COMMAND, str(folder)]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (first.out, first.err) and "writes “she” in" in again.out
    page.unlink()  # it is written again, of the estimates that are kept
    assert cli.main([*COMMAND, str(folder)]) == 0
    assert page.read_bytes() == written
    assert tiltmeter.open_run(folder).analyse() == estimates


def test_kept_rows_that_people_correct_are_read_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second reading of a run with two people's labels ended in a traceback."""
    monkeypatch.setenv(cache.KEEP, "1")
    monkeypatch.setenv(cache.CACHE, str(tmp_path / "cache"))
    run = tmp_path / "run"
    tiltmeter.run("roles", "planted:she=0.7", run, languages=["en"], limit=20, samples=4)
    sheet = tmp_path / "sheet.csv"
    assert cli.main(["validate", str(run), "--sample", "60", "--sheet", str(sheet)]) == 0
    for person in ("ann", "bea"):
        with sheet.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for number, row in enumerate(rows):
            says_she = "she" in row["answer"].lower().replace("“", " ").split()
            is_careless = person == "bea" and number % 4 == 0
            row |= {"value": "she" if says_she != is_careless else "he", "annotator": person}
        labelled = tmp_path / f"{person}.csv"
        with labelled.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, rows[0].keys())
            table.writeheader()
            table.writerows(rows)
        assert cli.main(["import", "gold", str(run), str(labelled)]) == 0
    first, again = (tiltmeter.open_run(run) for _ in range(2))
    rows_of = [
        [[getattr(row, name) for name in cached_results.CACHED] for row in opened.analyse()]
        for opened in (first, again)
    ]
    assert any(row.voices for row in again.analyse()) and rows_of[0] == rows_of[1]
    assert first.verdicts() == again.verdicts()


def test_another_label_gold_option_or_version_is_computed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_kept(variant: str = "default") -> bool:
        """Keeps it for the next time where it was not."""
        with monkeypatch.context() as patched:
            patched.setattr(run_estimates, "estimates", refuse)
            try:
                tiltmeter.open_run(folder).analyse(variant)
            except Computed:
                pass
            else:
                return True
        tiltmeter.open_run(folder).analyse(variant)
        return False

    assert is_kept()
    with Store(folder, writing=True) as store:
        output, annotator, attribute, value, _ = next(store.iter_labels())
    key = (output, annotator, attribute)
    with Store(folder, writing=True) as store:
        store.withdraw([key])
    assert not is_kept() and is_kept()
    with Store(folder, writing=True) as store:
        store.write((), (), [Label(*key, "he" if value == "she" else "she")])
    assert not is_kept() and is_kept()
    with Store(folder, writing=True) as store:
        store.write((), (), [Label(output, "human:ada", attribute, value)])
    assert not is_kept() and is_kept()
    with Store(folder, writing=True) as store:  # by hand, to a text as long
        forging.allow_changes(store._db)
        store.write_one("UPDATE labels SET value=? WHERE annotator='human:ada'", (value[::-1],))
    assert not is_kept() and is_kept()
    assert not is_kept("published") and is_kept("published") and is_kept()
    with monkeypatch.context() as patched:
        patched.setattr(cached_results, "__version__", "0.2.1")
        assert not is_kept()
    with monkeypatch.context() as patched:
        patched.setattr(cache, "installation", lambda: "another file of the package")
        assert not is_kept()
    assert is_kept()


def test_another_command_asks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.Engine, "drive_all", refuse)
    for more in (["--samples", "3"], ["--limit", "5"], ["--judge", "planted:she=0.5"]):
        with pytest.raises(Computed):
            cli.main([*COMMAND, str(folder), *more])


def test_where_nothing_can_be_kept_nothing_fails(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "a file"
    closed.touch()
    monkeypatch.setenv(cache.CACHE, str(closed))
    assert cli.main([*COMMAND, str(folder)]) == 0
    cache.keep_text("key", "text")
    assert cache.read_text("key") is None


def test_what_was_kept_and_is_damaged_is_computed(folder: Path) -> None:
    estimates = tiltmeter.open_run(folder).analyse()
    for path in cache.cache().rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    assert tiltmeter.open_run(folder).analyse() == estimates


def test_the_older_half_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.KEEP, "1")
    monkeypatch.setenv(cache.CACHE, str(tmp_path))
    monkeypatch.setattr(cache, "MOST_TEXTS", 4)
    for number in range(20):
        cache.keep_text(f"key {number}", "é" * number)
    assert cache.read_text("key 19") == "é" * 19 and cache.read_text("key 2") is None
