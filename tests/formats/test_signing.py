"""Who vouches for a folder: signatures of its manifest by SSH keys, and people's sheets by their hash."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import forging
from tests.api.forgeries import rehash
from tiltmeter import api
from tiltmeter.cli import main
from tiltmeter.errors import UsageError

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signed") / "run"
    api.run("roles", "planted:she=0.7", folder, language="en", limit=3, samples=1)
    return folder


def key(folder: Path, name: str) -> Path:
    path = folder / name
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(made, check=True)
    return path


@needs_ssh
def test_a_manifest_is_signed_and_checked(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, mine, other = tmp_path / "crate", key(tmp_path, "mine"), key(tmp_path, "other")
    api.export_crate(run, folder)
    signers = tmp_path / "signers"
    public = mine.with_suffix(".pub").read_text().split()
    signers.write_text(f"me@example.org {' '.join(public[:2])}\n")
    verify = ["export", str(folder), "--verify"]
    assert main([*verify, "--signers", str(signers)]) == 3
    assert "is not signed" in capsys.readouterr().out

    assert main(["export", str(folder), "--sign", str(mine)]) == 0
    assert main([*verify, "--signers", str(signers)]) == 0
    assert "signed by: me@example.org, ED25519 SHA256:" in capsys.readouterr().out
    assert main(["export", str(folder), "--sign", str(other)]) == 0
    assert main(verify) == 0  # by whom is said, and is for the reader to judge
    assert main([*verify, "--signers", str(signers)]) == 3
    assert "with a key that is not in" in capsys.readouterr().out

    manifest = folder / "ro-crate-metadata.json"
    manifest.write_text(manifest.read_text("utf-8").replace("0.7", "0.8"), "utf-8")
    assert main(verify) == 3
    assert "the manifest is not as it was signed" in capsys.readouterr().out
    with pytest.raises(
        UsageError, match=r"cannot be read|differs from its manifest|was not signed"
    ):
        api.sign_folder(folder, tmp_path / "signers")


@needs_ssh
def test_a_seal_takes_the_old_signature_away(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, mine = tmp_path / "crate", key(tmp_path, "mine")
    api.export_crate(run, folder)
    assert main(["export", str(folder), "--sign", str(mine)]) == 0
    document = folder / "CITATION.cff"
    document.write_text(
        document.read_text("utf-8").replace("to be filled in", "Example", 1), "utf-8"
    )
    capsys.readouterr()
    assert main(["export", str(folder), "--seal"]) == 0
    assert f"Sign again: tiltmeter export {folder} --sign KEY" in capsys.readouterr().out
    assert main(["export", str(folder), "--verify"]) == 0
    assert "signed by" not in capsys.readouterr().out
    assert main(["export", str(folder), "--sign", str(mine)]) == 0
    assert main(["export", str(folder), "--verify"]) == 0
    assert "signed by: ED25519" in capsys.readouterr().out


def test_the_first_line_is_the_verdict(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: 3 words × 2 orders are 6 calls; 8 files: the run, 5 tables, the page, the citation."""
    folder = tmp_path / "crate"
    api.export_crate(run, folder)
    assert main(["export", str(folder), "--verify"]) == 0
    lines = capsys.readouterr().out.splitlines()
    counts = "6 calls, 6 outputs, 6 labels"
    assert lines[0] == f"{folder} holds: 10 files as written; computed anew: {counts}"
    assert "  compared with a new export of the run: its 10 files" in lines
    assert lines[-2].startswith("  the rows: sha256 ")

    forged = [f"tables/{name}.csv" for name in ("calls", "labels", "outputs")]
    for name in forged:
        (folder / name).write_text("none\n", "utf-8")
    rehash(folder)
    assert main(["export", str(folder), "--verify"]) == 3
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == f"{folder} does not hold: 1 contradiction" and not printed.err
    assert lines[1] == "contradiction: a file does not follow from the run: 3 cases"
    assert lines[2:5] == [f"    {name}" for name in forged]


def test_ten_cases_are_named_and_json_has_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: 6 words × 2 orders are 12 outputs, all of them reworded."""
    run = tmp_path / "run"
    api.run("roles", "planted:she=0.7", run, language="en", limit=6, samples=1)
    with forging.changing(run) as db:
        db.execute("UPDATE outputs SET text='Nobody.'")
    assert main(["export", str(run), "--verify"]) == 3
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("contradiction: an output is not what its reply says: 12 cases")
    assert lines[place + 11] == "    and 2 more; all: add --json"
    assert main(["export", str(run), "--verify", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)["contradictions"]
    (outputs,) = [one for one in found if one["what"] == "an output is not what its reply says"]
    assert outputs["number"] == len(outputs["examples"]) == 12


@needs_ssh
def test_a_link_is_no_signature(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crate"
    api.export_crate(run, folder)
    for target in ("/dev/zero", "/etc/passwd", str(tmp_path / "nothing")):
        (folder / "ro-crate-metadata.json.sig").symlink_to(target)
        findings, _ = api.verify(folder)
        assert "is a link" in "".join(findings.lines())
        (folder / "ro-crate-metadata.json.sig").unlink()


def test_labels_of_people_are_held_against_their_sheet(run: Path, tmp_path: Path) -> None:
    copy, sheet = tmp_path / "run", tmp_path / "sheet.csv"
    shutil.copytree(run, copy)
    api.draw_gold_sample(copy, 4, sheet)
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {"value": "she", "annotator": "ann"}
    with sheet.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)
    api.import_gold(copy, sheet)
    findings, _ = api.verify(copy)
    assert findings.holds and "sheets with SHA-256" in "".join(findings.notes)

    with forging.changing(copy) as db:
        forged = "UPDATE labels SET value='he' WHERE id=(SELECT max(id) FROM labels WHERE current)"
        db.execute(forged)
    findings, _ = api.verify(copy)
    assert "labels of people are not what their sheet says: 1 case" in "".join(findings.lines())
