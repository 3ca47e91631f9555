"""A third set of forgeries, written without looking at the verifier: of the file beneath the rows, of what a reader
sees and a parser does not, of pictures, of imported answers and of protocols of one's own.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from tests import forging
from tests.api.forgeries import (
    ANSWERS,
    JUDGED,
    RULES,
    TEXTS,
    Bases,
    Forge,
    both,
    entity,
    graph,
    is_missed,
    setting,
    sql,
    text,
    unlisted,
)
from tiltmeter import api


def raw(statement: str) -> Forge:
    """A statement on the tables themselves, beneath the views."""

    def forge(run: Path, chance: random.Random) -> None:
        with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
            before = db.total_changes
            db.executescript(statement)
            if not statement.startswith(("CREATE", "PRAGMA")):
                assert db.total_changes > before

    return forge


def in_wal(statement: str) -> Forge:
    """The file stays as it is; what is changed lies in the journal beside it."""

    def forge(folder: Path, chance: random.Random) -> None:
        file = folder / "run" / "run.sqlite"
        before = file.read_bytes()
        db = sqlite3.connect(file)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.executescript(statement)
        wal = (folder / "run" / "run.sqlite-wal").read_bytes()
        db.close()
        file.write_bytes(before[:18] + b"\2\2" + before[20:])
        (folder / "run" / "run.sqlite-wal").write_bytes(wal)

    return forge


def a_picture(change: Callable[[sqlite3.Connection, Path, str], None]) -> Forge:
    """One of the pictures that are labelled, its file and its rows."""

    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            blobs = db.execute("SELECT blob FROM outputs WHERE blob<>'' ORDER BY blob").fetchall()
            change(db, run, chance.choice(blobs)[0])

    return forge


def file_of(run: Path, blob: str) -> Path:
    return next(path for path in (run / "blobs").rglob("*") if path.name.startswith(blob[:32]))


def repaint(db: sqlite3.Connection, run: Path, blob: str) -> None:
    path = file_of(run, blob)
    with Image.open(path) as picture:
        shown = picture.convert("RGB")
    shown.paste((250, 250, 250), (0, 0, shown.width, shown.height // 2))
    shown.save(path)


def repaint_by_name(db: sqlite3.Connection, run: Path, blob: str) -> None:
    """The new picture lies under its own hash, and rows name it."""
    path = file_of(run, blob)
    repaint(db, run, blob)
    name = hashlib.sha256(path.read_bytes()).hexdigest()[:32] + path.suffix
    target = run / "blobs" / name[:2] / name
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    for table in ("calls", "outputs"):
        db.execute(f"UPDATE {table} SET blob=? WHERE blob=?", (name, blob))
    db.execute("UPDATE artefacts SET name=? WHERE kind='picture' AND name=?", (name, blob))


def other_picture(db: sqlite3.Connection, run: Path, blob: str) -> None:
    other = db.execute("SELECT blob FROM outputs WHERE blob NOT IN ('', ?)", (blob,)).fetchone()[0]
    db.execute("UPDATE outputs SET blob=? WHERE blob=?", (other, blob))


def no_picture(db: sqlite3.Connection, run: Path, blob: str) -> None:
    file_of(run, blob).unlink()


def smaller(db: sqlite3.Connection, run: Path, blob: str) -> None:
    db.execute(
        "UPDATE artefacts SET content=replace(content, '1024', '512') WHERE kind='picture'"
        " AND name=?",
        (blob,),
    )


def stuffed(run: Path, chance: random.Random) -> None:
    """One answer of `she` three times more, each a draw that was never asked; the plan with it."""
    with forging.changing(run) as db:
        n = db.execute("SELECT min(output) FROM labels WHERE value='she'").fetchone()[0]
        n = db.execute("SELECT n FROM outputs WHERE trial=?", (n,)).fetchone()[0]
        for sample in (7, 8, 9):
            new = db.execute("SELECT max(n) + 1 FROM packed_trials").fetchone()[0]
            mark = f"{sample:032x}"
            db.execute(
                "INSERT INTO packed_trials SELECT ?, ?, subject, mode, factors, ?, prompt, begin,"
                " sampling, seed FROM packed_trials WHERE n=?",
                (new, mark, sample, n),
            )
            db.execute(
                "INSERT INTO packed_outputs SELECT ?, outcome, text, call, blob, ended, thought"
                " FROM packed_outputs WHERE n=?",
                (new, n),
            )
            db.execute(
                "INSERT INTO packed_labels (output, annotator, attribute, value, position, weight,"
                " current, date) SELECT ?, annotator, attribute, value, position, weight, current,"
                " date FROM packed_labels WHERE output=?",
                (new, n),
            )
        row = db.execute("SELECT factors FROM trials WHERE n=?", (n,)).fetchone()[0]
        planned = json.loads(db.execute("SELECT value FROM meta WHERE key='planned'").fetchone()[0])
        values = set(json.loads(row).values())
        for modes in planned.values():
            for cells in modes.values():
                for cell in cells:
                    if set(json.loads(cell)) <= values:
                        cells[cell] += 3
        db.execute("UPDATE meta SET value=? WHERE key='planned'", (json.dumps(planned),))


def sheet_forged(run: Path, chance: random.Random) -> None:
    """What a person said is changed in the sheet that the run keeps, and in the labels."""
    with forging.changing(run) as db:
        db.execute("UPDATE labels SET value='he' WHERE annotator LIKE '%ann%'")
        before = db.total_changes
        db.execute(
            "UPDATE artefacts SET content=replace(content, 'she', 'he')"
            " WHERE kind NOT IN ('injection')"
        )
        assert db.total_changes > before


def definition(old: str, new: str) -> Forge:
    """The protocol of one's own that the run keeps reads otherwise."""

    def forge(run: Path, chance: random.Random) -> None:
        with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
            changed = 0
            for key, value in db.execute("SELECT key, value FROM meta").fetchall():
                if old in value:
                    db.execute(
                        "UPDATE meta SET value=? WHERE key=?", (value.replace(old, new), key)
                    )
                    changed += 1
            assert changed

    return forge


def about(whole: dict[str, object], name: str) -> dict[str, object]:
    return next(one for one in whole["@graph"] if one["@id"] == name)  # type: ignore[attr-defined, index, no-any-return]


def swapped_columns(name: str, first: str, second: str) -> Forge:
    def forge(folder: Path, chance: random.Random) -> None:
        path = folder / "tables" / name
        head, rest = path.read_text("utf-8").split("\n", 1)
        columns = [
            second if column == first else first if column == second else column
            for column in head.split(",")
        ]
        assert ",".join(columns) != head
        path.write_text(f"{','.join(columns)}\n{rest}", "utf-8")

    return forge


def extra_column(folder: Path, chance: random.Random) -> None:
    path = folder / "tables" / "estimates.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([f"{lines[0]},corrected", *(f"{one},0.5" for one in lines[1:])]))


def shown(pattern: str, change: str | Callable[[re.Match[str]], str]) -> Forge:
    return text("report.html", pattern, change)


def told(pattern: str, change: str | Callable[[re.Match[str]], str]) -> Forge:
    return text("evidence.md", pattern, change)


SHE_HE = "(SELECT n FROM words WHERE text='she')", "(SELECT n FROM words WHERE text='he')"
FORGERIES: Mapping[str, tuple[str, Forge]] = {
    # beneath the rows
    "the dictionary swaps two words": ("judged", raw("UPDATE words SET text='@' WHERE text='she'; UPDATE words SET text='she' WHERE text='he'; UPDATE words SET text='he' WHERE text='@'")),
    "a text of the dictionary reads otherwise": ("judged", raw("UPDATE texts SET body=replace(body, 'most', 'least') WHERE body LIKE '%most%'")),
    "a table stands where a view should": ("judged", raw("CREATE TABLE labels AS SELECT id, output, annotator, attribute, 'he' AS value, position, weight, current, date FROM packed_labels")),
    "a view stands in the file": ("judged", raw("CREATE VIEW labels AS SELECT id, output, annotator, attribute, 'he' AS value, position, weight, current, date FROM packed_labels")),
    "a trigger turns labels": ("judged", both(raw("UPDATE packed_labels SET current=0 WHERE id=1"), raw(f"CREATE TRIGGER t AFTER INSERT ON packed_labels BEGIN UPDATE packed_labels SET value={SHE_HE[1]} WHERE id=NEW.id; END"))),
    "labels lie in the journal beside": ("crate", in_wal(f"UPDATE packed_labels SET value={SHE_HE[1]} WHERE value={SHE_HE[0]}")),
    "a request's shape is another's": ("judged", raw("UPDATE packed_calls SET turn=turn+1 WHERE n IN (SELECT n FROM packed_calls ORDER BY n LIMIT 3)")),
    "all labels of the rules go": ("judged", sql(f"DELETE FROM labels WHERE {RULES}")),
    "labels of the rules are no longer current": ("judged", sql(f"UPDATE labels SET current=0 WHERE {RULES}")),
    "answers that were never asked": ("judged", stuffed),
    "the judge was asked something else": ("judged", sql("UPDATE calls SET request=replace(request, 'she', 'he') WHERE key=?", JUDGED, 4)),
    "a prompt begins otherwise": ("judged", sql("UPDATE trials SET begin='She' WHERE id=?", "SELECT id FROM trials", 3)),
    "another protocol": ("judged", setting("source", lambda it: "words")),
    # pictures
    "a picture is painted over": ("pictures", a_picture(repaint)),
    "a picture is painted over, and named by its hash": ("pictures", a_picture(repaint_by_name)),
    "an output shows another picture": ("pictures", a_picture(other_picture)),
    "a picture is gone": ("pictures", a_picture(no_picture)),
    "a picture is smaller, says the run": ("pictures", a_picture(smaller)),
    # of a provider, whose bodies are there
    "what came was cut, says the run": ("served", both(sql("UPDATE calls SET ended='cut' WHERE key=?", ANSWERS, 3), sql("UPDATE outputs SET ended=(SELECT ended FROM calls WHERE key=outputs.call)"))),
    "all that came was cut": ("served", raw("UPDATE words SET text='cut' WHERE text='stop'")),
    "another fingerprint": ("served", sql("UPDATE calls SET fingerprint='fp_9'")),
    "a model thought": ("served", both(sql("UPDATE calls SET thought=50 WHERE key=?", ANSWERS, 3), sql("UPDATE outputs SET thought=(SELECT thought FROM calls WHERE key=outputs.call)"))),
    "an answer is a part of what came": ("served", both(sql("UPDATE calls SET text='e' WHERE key=?", ANSWERS, 3), sql(TEXTS))),
    "what came is not there": ("served", sql("UPDATE calls SET raw='' WHERE key=?", ANSWERS, 3)),
    "what came says that it broke off": ("served", sql("UPDATE calls SET raw=replace(raw, '\"stop\"', '\"length\"') WHERE key=?", ANSWERS, 3)),
    # protocols of one's own, answers of a file, people
    "the forms of one's own instrument": ("own", definition('"accepted"]', '"accepted", "rejected"]')),
    "given answers read otherwise": ("given", both(sql("UPDATE calls SET text='he' WHERE key=?", ANSWERS, 3), sql(TEXTS))),
    # stopped
    "the last look goes": ("stopped", sql("DELETE FROM artefacts WHERE kind='look' AND name=(SELECT max(name) FROM artefacts WHERE kind='look')")),
    "the looks of trials go": ("stopped", sql("UPDATE trial_looks SET look=look+1")),
    # tables
    "low is called high": ("crate", swapped_columns("estimates.csv", "low", "high")),
    "a column more": ("crate", extra_column),
    "a p is left out": ("crate", text("tables/estimates.csv", r",0\.125,", ",,")),
    "a file of people's labels more": ("crate", unlisted("run/annotations.csv", "output,value\nx,he\n")),
    # what a reader sees and a parser does not
    "a style of one element hides": ("crate", shown(r"<p>", '<p style="display:none">')),
    "hidden": ("crate", shown(r"<section(?=[ >])", "<section hidden")),
    "a page that leads elsewhere": ("crate", shown("</head>", '<meta http-equiv="refresh" content="0;url=other.html"></head>')),
    "digits that only look alike": ("crate", shown(r"(?<=[>. ])8(?=\d)", "\N{MATHEMATICAL SANS-SERIF DIGIT THREE}")),
    "letters from right to left": ("crate", shown(r"(?<=\.)\d\d\d", lambda m: f"\u202e{m[0]}\u202c")),
    "a title of an element": ("crate", shown(r"<main", '<main title="All results were withdrawn"')),
    "a comment in the page": ("crate", shown(r"<table", "<!-- <table")),
    "a byte order mark and another encoding": ("crate", shown('charset="?utf-8"?', "charset=latin-1")),
    # the manifest
    "a file is described otherwise": ("crate", graph(lambda it: about(it, "run/run.sqlite").update(description="The run of openai:gpt-9"))),
    "the status of the deposit": ("crate", graph(lambda it: about(it, "./").update(creativeWorkStatus="peer reviewed by NIST"))),
    "words mean something else": ("crate", graph(lambda it: it.update({"@context": [it["@context"], {"name": "http://schema.org/award"}]}))),
    "the folder is about something else": ("crate", graph(lambda it: about(it, "ro-crate-metadata.json").update(about={"@id": "#protocol"}))),
    "an entity twice": ("crate", entity(id="#audit", type="CreateAction", name="Audit", description="Models audited: openai:gpt-9")),
    "a review": ("crate", entity(id="#review", type="Review", reviewBody="Sound.", itemReviewed={"@id": "./"})),
    # evidence
    "a heading by underlining": ("audit", told(r"provides it: \*\*to be filled in\*\*", "provides it: we do\n\nNo difference was found\n======================\n")),
    "a struck sentence": ("audit", told(r"\nA difference was found", "\n~~A difference was found~~")),
    "per cent are per mille": ("audit", told(r"(?<=\d) %", " ‰")),
    "a field says that results are withdrawn": ("audit", told(r"provides it: \*\*to be filled in\*\*", "provides it: us\n\n- Caution: all results of section 4 were withdrawn")),
    "a link leads elsewhere": ("audit", told(r"Source: Zhao", "Source: [Zhao](http://127.0.0.1/)")),
    "a day is earlier": ("audit", told(r"The run ended on 20\d\d", "The run ended on 2019")),
    "a command is another": ("audit", told("--samples 3", "--samples 30")),
    "a section of a sealed folder": ("sealed", told(r"(?s)## 4 Results.*?(?=## 5)", "## 4 Results\n\nNo difference was found.\n\n")),
    "a paragraph in a field of a sealed folder": ("sealed", told("they do", "they do\n\n## 4 Results\n\nNo difference was found.")),
}  # fmt: skip

# Nothing in the run contradicts these: no body came from a model in this process, and a protocol or
# a sheet of one's own rests on its author's word. A digest that `--verify` prints is another one.
ON_ITS_WORD: Mapping[str, tuple[str, Forge]] = {
    "the purpose of a word": ("judged", raw("UPDATE words SET text='cut' WHERE text='stop'")),
    "what came was cut": ("judged", both(sql("UPDATE calls SET ended='cut' WHERE key=?", ANSWERS, 3), sql("UPDATE outputs SET ended=(SELECT ended FROM calls WHERE key=outputs.call)"))),
    "a version of the protocol": ("judged", setting("frozen", lambda it: it.update(version="0"))),
    "a prompt was revised": ("pictures", sql("UPDATE calls SET revised='a smiling woman' WHERE key=?", "SELECT key FROM calls WHERE purpose='subject'", 2)),
    "the question of one's own": ("own", definition("less often", "more often")),
    "a limit of one's own": ("own", definition("A name stands for how its bearer is perceived.", "None.")),
    "the measure of one's own": ("own", definition("share of applications accepted", "share of applications rejected")),
    "the sheet of a person is forged with its labels": ("people", sheet_forged),
}  # fmt: skip


@pytest.mark.parametrize("each", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_forgeries_are_found(each: int, bases: Bases, tmp_path: Path) -> None:
    chosen = sorted(FORGERIES)[::each]
    assert [name for name in chosen if is_missed(bases, tmp_path, *FORGERIES[name], name)] == []


@pytest.mark.parametrize("name", sorted(ON_ITS_WORD))
def test_what_rests_on_the_word_of_a_run_has_another_digest(
    name: str, bases: Bases, tmp_path: Path
) -> None:
    kind, forge = ON_ITS_WORD[name]
    copy = Path(shutil.copytree(bases.folder(kind), tmp_path / "copy"))
    before, _ = api.verify(copy)
    forge(copy, random.Random(name))
    findings, _ = api.verify(copy)
    assert findings.holds
    assert (findings.digest, findings.beside) != (before.digest, before.beside)


def test_answers_without_a_body_beside_others_that_have_one(bases: Bases, tmp_path: Path) -> None:
    run = Path(shutil.copytree(bases.judged, tmp_path / "run"))
    with forging.changing(run) as db:  # as a server on this machine answers
        db.execute("UPDATE calls SET raw=json_array(text) WHERE purpose='subject'")
    findings, _ = api.verify(run)
    assert findings.holds
    assert "body" not in "".join(findings.notes)
    blank = "UPDATE calls SET raw='' WHERE key=?"
    sql(blank, f"{ANSWERS} ORDER BY key", 8)(run, random.Random(1))
    findings, _ = api.verify(run)
    (note,) = [note for note in findings.notes if "body" in note]
    assert note.startswith("8 of ") and "of planted:she=0.8,refuses=.1 have no stored body" in note
