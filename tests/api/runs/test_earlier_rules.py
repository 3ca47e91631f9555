"""A run that earlier rules judged: what is another word, or another answer of a gate, now."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter import api
from tiltmeter.analyse.whole_run.signature import RULES
from tiltmeter.api.runs import earlier_rules
from tiltmeter.cli import main

BOUND = "share_she > 0.6"


@pytest.fixture
def run(tmp_path: Path) -> tiltmeter.Run:
    return tiltmeter.run("roles", "planted:she=0.9", tmp_path / "run", language="en", limit=12)


def as_of_rules(run: tiltmeter.Run, rules: int, **changed: object) -> None:
    """The kept record, as if an earlier version had written it with other contents."""
    path = run.folder / earlier_rules.FILE
    (record,) = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps([{**record, "rules": rules, **changed}]), encoding="utf-8")


def test_the_signature_carries_the_rules(run: tiltmeter.Run) -> None:
    assert f"|rules:{RULES}|tm:" in run.analyse()[0].signature


def test_a_word_of_earlier_rules_is_told_as_long_as_the_labels_are_the_same(
    run: tiltmeter.Run,
) -> None:
    assert run.changes() == []
    (record,) = earlier_rules.read(run.folder).values()
    (claim,) = record.words
    as_of_rules(run, RULES - 1, words={claim: "undecided"})
    line = f"{claim}: undecided by rules {RULES - 1}, now tilt by rules {RULES}."
    assert run.changes() == [line]
    assert run.changes() == [line]  # the word of the earlier rules stays in the file
    assert [one.rules for one in earlier_rules.read(run.folder).values()] == [RULES - 1, RULES]


def test_compare_and_history_tell_the_word_of_earlier_rules(run: tiltmeter.Run) -> None:
    other = run.folder.with_name("other")
    tiltmeter.run("roles", "planted:she=0.9,seed=2", other, language="en", limit=12)
    run.changes()
    (record,) = earlier_rules.read(run.folder).values()
    as_of_rules(run, RULES - 1, words=dict.fromkeys(record.words, "undecided"))
    told = f"undecided by rules {RULES - 1}, now tilt by rules {RULES}."
    assert any(told in line for line in tiltmeter.compare(run.folder, other).warnings)
    assert [told in line for line in api.history(run.folder, other).changed_words] == [True]


def test_other_labels_are_no_change_of_rules(run: tiltmeter.Run) -> None:
    run.changes()
    as_of_rules(run, RULES - 1, words={"any": "undecided"}, labels="other")
    assert run.changes() == []


def test_a_gate_says_if_its_answer_changed(
    run: tiltmeter.Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILTMETER_KEEP", "0")
    assert run.check(BOUND).changed == ()
    as_of_rules(run, RULES - 1, answers={f"--fail-if {BOUND!r}": 0}, date="2026-01-05")
    assert main(["analyse", str(run.folder), "--fail-if", BOUND]) == 3
    told = f"--fail-if '{BOUND}': passed by rules {RULES - 1} on 2026-01-05, now failed"
    assert told in capsys.readouterr().err
    assert main(["analyse", str(run.folder), "--fail-if", BOUND]) == 3
    assert "now failed" not in capsys.readouterr().err  # the same answer as the last time


def test_a_folder_that_cannot_be_read_or_written_is_no_error(run: tiltmeter.Run) -> None:
    path = run.folder / earlier_rules.FILE
    path.write_text("not JSON", encoding="utf-8")
    assert run.changes() == []
    assert earlier_rules.read(run.folder)


@pytest.mark.parametrize(
    "content",
    [
        "[" * 5000 + "]" * 5000,
        "null",
        '[5, {"rules": "x"}, {"rules": []}]',
        '[{"rules": 1, "date": 5, "labels": [1], "words": 7, "answers": {"share": [1], "x": 9}}]',
    ],
)
def test_a_record_of_another_kind_is_left_out(run: tiltmeter.Run, content: str) -> None:
    (run.folder / earlier_rules.FILE).write_text(content, "utf-8")
    assert run.changes() == []
    assert earlier_rules.read(run.folder).keys() - {1} == {RULES}


def test_a_record_is_read_from_no_pipe_and_written_through_no_link(
    run: tiltmeter.Run, tmp_path: Path
) -> None:
    record, mine = run.folder / earlier_rules.FILE, tmp_path / "mine"
    os.mkfifo(tmp_path / "pipe")
    mine.write_text("mine", "utf-8")
    for target in (tmp_path / "pipe", mine):
        record.unlink(missing_ok=True)
        record.symlink_to(target)
        for name in (f".{record.name}.part", f".{record.name}.{os.getpid()}.part"):
            (run.folder / name).symlink_to(mine)
        assert run.changes() == []
        (run.folder / f".{record.name}.part").unlink()
    assert mine.read_text("utf-8") == "mine"
    assert not record.is_symlink()
