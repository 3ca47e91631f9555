"""Runs that an earlier version of an instrument labelled: `export --verify` neither confirms nor contradicts them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests import forging
from tests.api.forgeries import Bases
from tiltmeter import api
from tiltmeter.cli import main

RULE = "annotator LIKE 'choice/__@%'"


def renamed(bases: Bases, place: Path, name: str, *statements: str) -> Path:
    """Copies the judged run and names the annotator of its rule otherwise."""
    run = Path(shutil.copytree(bases.judged, place / "run"))
    with forging.changing(run) as db:
        for statement in statements:
            db.execute(statement)
        db.execute(f"UPDATE labels SET annotator=? WHERE {RULE}", (name,))
    return run


def test_labels_of_an_earlier_version_are_not_fully_checked(
    bases: Bases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = renamed(bases, tmp_path, "choice/9@0123abcd")
    assert main(["export", str(run), "--verify"]) == 4
    first = capsys.readouterr().out.partition("\n")[0]
    assert (
        "NOT FULLY CHECKED: 54 labels were read by choice/9, which this version (choice/" in first
    )
    assert "0 of 54 differ" in first and "install the tiltmeter that wrote them" in first
    assert main(["export", str(run), "--verify", "--json"]) == 4
    result = json.loads(capsys.readouterr().out)
    assert (result["holds"], result["verdict"]) == (False, "not fully checked")
    assert not any(note.startswith("by the stored labels") for note in result["notes"])
    assert result["contradictions"] == [] and len(result["unchecked"]) == 1


def test_a_claim_of_an_earlier_version_hides_nothing(bases: Bases, tmp_path: Path) -> None:
    """Flipped labels are counted; a reply that was reworded besides stays a contradiction."""
    flip = "UPDATE labels SET value=CASE value WHEN 'she' THEN 'he' ELSE 'she' END WHERE id IN"
    three = f"(SELECT id FROM labels WHERE {RULE} AND value='he' ORDER BY id LIMIT 3)"
    run = renamed(bases, tmp_path, "choice/9@0123abcd", f"{flip} {three}")
    findings, _ = api.verify(run)
    assert findings.verdict == "not fully checked" and "3 of 54 differ" in findings.unchecked[0]
    notes = [note for note in findings.notes if note.startswith("by the stored labels: ")]
    assert notes and all(" By the labels read anew: " in note for note in notes)
    with forging.changing(run) as db:
        db.execute("UPDATE outputs SET text='nobody' WHERE n=(SELECT min(n) FROM outputs)")
    findings, _ = api.verify(run)
    assert findings.verdict == "contradicted" and findings.unchecked
    assert main(["export", str(run), "--verify"]) == 3


def test_labels_that_are_gone_are_missed_beside_an_earlier_version(
    bases: Bases, tmp_path: Path
) -> None:
    gone = f"DELETE FROM labels WHERE id=(SELECT min(id) FROM labels WHERE {RULE})"
    findings, _ = api.verify(renamed(bases, tmp_path, "choice/9@0123abcd", gone))
    assert any(line.startswith("labels are missing: 1 case") for line in findings.lines())


@pytest.mark.parametrize(
    "name",
    ["choice/999@0123abcd", "choice/0@0123abcd", "choice/9", "chance/9@0123abcd", "choice/9@xyz"],
)
def test_an_annotator_that_no_version_had_is_a_contradiction(
    name: str, bases: Bases, tmp_path: Path
) -> None:
    findings, _ = api.verify(renamed(bases, tmp_path, name))
    assert findings.verdict == "contradicted" and not findings.unchecked


def test_a_folder_of_another_version_is_not_accused(bases: Bases, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(bases.crate, tmp_path / "crate"))
    manifest = folder / "ro-crate-metadata.json"
    crate = json.loads(manifest.read_text("utf-8"))
    for entity in crate["@graph"]:
        if entity["@id"] == "#tiltmeter":
            entity["version"] = "0.1.0"
    manifest.write_text(json.dumps(crate, indent=2, ensure_ascii=False), "utf-8")
    findings, _ = api.verify(folder)
    assert findings.verdict == "not fully checked", [*findings.lines()]
    assert "version 0.1.0; this is" in findings.unchecked[0]


def test_anew_leaves_labels_of_an_earlier_version_in_place(bases: Bases, tmp_path: Path) -> None:
    run = renamed(bases, tmp_path, "choice/9@0123abcd")
    assert len(api.label_anew(run)) == 54
    with forging.changing(run) as db:
        query = "SELECT count(*) FROM labels WHERE current AND annotator='choice/9@0123abcd'"
        assert db.execute(query).fetchone() == (54,)
