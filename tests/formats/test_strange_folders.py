"""Folders that a stranger made, as their parts are read: documents that were filled in, manifests, tables, bodies of replies."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests import forging
from tiltmeter import api
from tiltmeter.analyse.whole_run.selection_rates import CategoryRate
from tiltmeter.errors import UsageError
from tiltmeter.formats import signing
from tiltmeter.formats.completed import is_completed
from tiltmeter.formats.crate import MANIFEST, OPEN, SIGNATURE
from tiltmeter.formats.impact import impact_csv
from tiltmeter.stats.results import Interval

EVIDENCE = f"# Evidence\n\nsays **{OPEN}**.\n\nWhy: **{OPEN}**\n\n## 4 Results\n\nWho: **{OPEN}** | {OPEN} |\n"
CITATION = (
    f'cff-version: 1.2.0\ntitle: "T"\nauthors:\n  - name: "{OPEN}"\nidentifiers:\n  - value: "s"\n'
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strange") / "run"
    api.run("roles", "planted:she=0.7", folder, language="en", limit=2, samples=1)
    return folder


@pytest.mark.parametrize(
    "filled",
    ["we say so", "", "a\nb\n\nc", "**bold** and <https://x.org>", "5. of May", "says so", "نعم", OPEN],
)  # fmt: skip
def test_what_people_write_is_taken(filled: str) -> None:
    assert is_completed(EVIDENCE, EVIDENCE.replace(f"Why: **{OPEN}**", f"Why: {filled}"))
    assert is_completed(EVIDENCE, EVIDENCE.replace(f"{OPEN} |\n", f"{filled} |\n"))


@pytest.mark.parametrize(
    "filled",
    [
        "so\n## 4 Results",
        "so\n   ## 4 Results",
        "so\n \t| a | b |",
        "so\n  1. a list",
        "so\n> said",
        "so\n===",
        "so\n___",
        "![a table](https://example.org/table.png)",
        "<!-- ",
        "```",
        "so\r## 4 Results",
        "so\u2028## 4 Results",
        "so \u202eestseb ruoy",
        "so\n",
    ],
)
def test_what_passes_for_evidence_is_not(filled: str) -> None:
    """Markdown takes a heading, a table, a list or a quote also with blanks before it."""
    forged = EVIDENCE.replace(f"Who: **{OPEN}**", f"Who: {filled}")
    assert forged != EVIDENCE and not is_completed(EVIDENCE, forged)


def test_authors_are_lines_of_their_own_and_nothing_else() -> None:
    """YAML ends lines at NEL, LS and PS too, and the second of two titles counts."""
    for filled in ("Anna", 'Anna"\n  - name: "Ben', 'Anna"\n    orcid: "https://orcid.org/0000'):
        assert is_completed(CITATION, CITATION.replace(OPEN, filled))
    assert is_completed(CITATION, CITATION.replace(f'{OPEN}"', 'A"\n  - name: B\n    alias: c'))
    for filled in (
        'A"\ntitle: "B',
        *(f'A"\n  - name: B{end}title: "B' for end in "\x85\u2028\u2029\r"),
        "A\\",
        'A"\n title: "B',
    ):
        assert not is_completed(CITATION, CITATION.replace(OPEN, filled))


def test_a_document_with_many_places_takes_no_longer() -> None:
    """A stranger writes the original too: a search that goes back had not ended in hours."""
    original, text = "x" + f"{OPEN}a" * 500, "x" + "a" * 20_000 + "b"
    begun = time.process_time()
    assert not is_completed(original, text)
    assert time.process_time() - begun < 5
    assert is_completed("x" + f"{OPEN}a" * 500, "x" + "ba" * 500)


def test_a_manifest_that_says_something_twice_is_refused(run: Path, tmp_path: Path) -> None:
    """One reader takes the first, another the last: what is checked may not be what is shown."""
    folder = tmp_path / "audit"
    api.export_audit(run, folder)
    manifest = folder / MANIFEST
    whole = manifest.read_text("utf-8")
    graph = json.loads(whole)
    root = next(one for one in graph["@graph"] if one["@id"] == "./")
    graph["@graph"].insert(0, {**root, "description": "No tilt was found."})
    for forged in (
        json.dumps(graph),
        whole.replace('"@id": "./",', '"@id": "./",\n   "description": "No tilt.",', 1),
    ):
        manifest.write_text(forged, "utf-8")
        for look in (api.check_folder, api.seal_folder):
            with pytest.raises(UsageError, match="has a key or an entry twice"):
                look(folder)
        assert not api.verify(folder, against=run)[0].holds
    manifest.write_text(whole, "utf-8")
    assert api.verify(folder, against=run)[0].holds


def test_cells_of_rates_are_no_formulas() -> None:
    rate = Interval(0.5, 0.4, 0.6, method="none")
    stratum = {"subject": "=cmd()", "annotator": "@SUM(1)", "mode": "+1", "language": "en"}
    row = CategoryRate(stratum, "=HYPERLINK()", "-1", 4, None, 0.5, rate, rate)
    ((*_, cells),) = [list(csv.reader(io.StringIO(impact_csv([row]))))]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "-"))]


def test_a_deeply_nested_body_is_a_finding_and_no_traceback(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    with forging.changing(folder) as db:
        db.execute("UPDATE packed_calls SET raw = ?, base = NULL", ("[" * 900 + "]" * 900,))
    api.verify(folder)


def test_a_signature_is_written_whole_or_the_old_one_stays(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full."""
    folder = tmp_path / "audit"
    api.export_audit(run, folder)
    (folder / SIGNATURE).write_text("the old one", "utf-8")
    done = signing.subprocess.CompletedProcess([], 0, b"-----BEGIN SSH SIGNATURE-----\n", b"")
    monkeypatch.setattr(signing, "_run", lambda *asked, **how: done)

    fdopen = os.fdopen

    def full(file: int, mode: str = "r", **how: Any) -> Any:
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return fdopen(file, mode, **how)

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="No space left"):
        signing.sign(folder, tmp_path / "key")
    assert (folder / SIGNATURE).read_text("utf-8") == "the old one"
    assert sorted(path.name for path in folder.glob(".*")) == []
