"""Forgeries written without looking at the verifier, each by a person with a reason to make it."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import forging
from tests.api.test_forgeries import (
    ANSWERS,
    JUDGED,
    LABELS,
    TRIALS,
    Forge,
    is_found,
    look,
    manifest,
    rehash,
    sql,
    text,
)
from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tiltmeter import api
from tiltmeter.formats import crate


class Base(NamedTuple):
    """Folders that are right. served: by a model behind an address; people: with a sheet of a person;
    other: another model's.
    """

    judged: Path
    served: Path
    exact: Path
    stopped: Path
    people: Path
    crate: Path
    audit: Path
    other: Path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    place = tmp_path_factory.mktemp("base")
    made = Base(*(place / name for name in Base._fields))
    few = {"language": "en", "limit": 6, "samples": 2}
    model, judge = "planted:she=0.8,refuses=.1", "planted:accuracy=0.9,seed=4"
    api.run("roles", model, made.judged, judge=judge, **few)  # type: ignore[arg-type]
    server = BatchServer("openai", "she=.7,seed=3", Oddities())
    with serving(server), pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "k1234567890")
        at = {"base_urls": {"openai": server.url}, "pilot": False}
        api.run("roles", "openai:planted", made.served, **few, **at)  # type: ignore[arg-type]
    api.run("roles", "planted:she=.8", made.exact, language="en", limit=6, mode="exact")
    api.run("roles", "planted:she=.9", made.stopped, language="en", limit=12, samples=8, stop=True)
    api.run("roles", model, made.people, **few)  # type: ignore[arg-type]
    with forging.changing(made.people) as db:
        outputs = [row[0] for row in db.execute("SELECT trial FROM outputs WHERE outcome='answer'")]
    sheet = place / "sheet.csv"
    rows = "".join(f"{trial},she,ann\n" for trial in outputs[:9])
    sheet.write_text(f"output,value,annotator\n{rows}", "utf-8")
    api.import_gold(made.people, sheet)
    api.export_crate(made.judged, made.crate)
    api.export_audit(made.judged, made.audit)
    api.run("roles", "planted:she=.5,seed=9", place / "another", judge=judge, **few)  # type: ignore[arg-type]
    api.export_crate(place / "another", made.other)
    api.export_audit(place / "another", made.other / "audit")
    return made  # fmt: skip


def both(*forges: Forge) -> Forge:
    def forge(run: Path, chance: random.Random) -> None:
        for one in forges:
            one(run, chance)

    return forge


def setting(key: str, change: Callable[[dict], object]) -> Forge:  # type: ignore[type-arg]
    """A setting of the run's `meta`, which is changed in place or replaced."""

    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            row = db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
            found = json.loads(row[0]) if row else {}
            new = change(found)
            value = json.dumps(found if new is None else new)
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    return forge


def swap_answers(run: Path, chance: random.Random) -> None:
    """Two outputs with other labels change places, labels with them."""
    with forging.changing(run) as db:
        pick = "SELECT min(output) FROM labels WHERE annotator LIKE '%/5@%' AND value=?"
        she, he = (db.execute(pick, (value,)).fetchone()[0] for value in ("she", "he"))
        of = {
            one: db.execute("SELECT call, text FROM outputs WHERE trial=?", (one,)).fetchone()
            for one in (she, he)
        }
        for one, another in ((she, he), (he, she)):
            db.execute("UPDATE outputs SET call=?, text=? WHERE trial=?", (*of[another], one))
        for one, value in ((she, "he"), (he, "she")):
            db.execute("UPDATE labels SET value=? WHERE output=?", (value, one))  # fmt: skip


def drop_trials(run: Path, chance: random.Random) -> None:
    """All that is of the trials of one word that were answered `he` goes, the plan with them."""
    with forging.changing(run) as db:
        word = json.loads(db.execute("SELECT factors FROM trials LIMIT 1").fetchone()[0])["word"]
        gone = f"factors LIKE '%\"{word}\"%'"
        trials = f"SELECT id FROM trials WHERE {gone}"
        db.execute(f"DELETE FROM label_calls WHERE output IN ({trials})")
        db.execute(f"DELETE FROM labels WHERE output IN ({trials})")
        db.execute(f"DELETE FROM outputs WHERE trial IN ({trials})")
        db.execute(f"DELETE FROM trials WHERE {gone}")
        value = db.execute("SELECT value FROM meta WHERE key='planned'").fetchone()[0]
        planned = json.loads(value)
        for modes in planned.values():
            for cells in modes.values():
                for cell in [one for one in cells if f'"{word}"' in one]:
                    del cells[cell]
        db.execute("UPDATE meta SET value=? WHERE key='planned'", (json.dumps(planned),))


def replace(name: str, source: str = "") -> Forge:
    """A file or folder becomes that of another run."""

    def forge(folder: Path, chance: random.Random) -> None:
        other = next(folder.parent.glob("other")) / (source or name)
        if other.is_dir():
            shutil.rmtree(folder / name)
            shutil.copytree(other, folder / name)
        else:
            shutil.copyfile(other, folder / name)

    return forge


def unlisted(folder: Path, chance: random.Random) -> None:
    (folder / "tables" / "corrected.csv").write_text("measure,value\nchoice,.5\n", "utf-8")


def withdrawn(name: str) -> Forge:
    """A file goes, and its entry of the manifest."""

    def forge(folder: Path, chance: random.Random) -> None:
        (folder / name).unlink()
        path = folder / crate.MANIFEST
        whole = json.loads(path.read_text("utf-8"))
        whole["@graph"] = [one for one in whole["@graph"] if one["@id"] != name]
        for one in whole["@graph"]:
            if isinstance(one.get("hasPart"), list):
                one["hasPart"] = [part for part in one["hasPart"] if part["@id"] != name]
        path.write_text(json.dumps(whole), "utf-8")

    return forge


def entity(**told: object) -> Forge:
    """An entity more in the manifest."""

    def forge(folder: Path, chance: random.Random) -> None:
        path = folder / crate.MANIFEST
        whole = json.loads(path.read_text("utf-8"))
        whole["@graph"].append({f"@{k}" if k in ("id", "type") else k: v for k, v in told.items()})
        path.write_text(json.dumps(whole), "utf-8")

    return forge


def again(match: re.Match[str]) -> str:
    return match[0] * 2


def plan(change: Callable[[dict], None]) -> Forge:  # type: ignore[type-arg]
    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            query = "SELECT content FROM artefacts WHERE kind='stopping plan'"
            found = json.loads(db.execute(query).fetchone()[0])
            change(found)
            update = "UPDATE artefacts SET content=? WHERE kind='stopping plan'"
            db.execute(update, (json.dumps(found),))

    return forge


SHE = "SELECT key FROM calls WHERE purpose='subject' AND outcome='answer' AND text LIKE '%she%'"
FORGERIES: Mapping[str, tuple[str, Forge]] = {
    # runs
    "a reply reads otherwise in the text than in what came": ("judged", both(sql("UPDATE calls SET text='he' WHERE key=?", SHE, 3), sql("UPDATE outputs SET text=(SELECT text FROM calls WHERE key=outputs.call)"))),
    "what came reads otherwise than the text": ("judged", sql("UPDATE calls SET raw='{}' WHERE key=?", ANSWERS, 3)),
    "two answers change places": ("judged", swap_answers),
    "the trials of a word go, the plan with them": ("judged", drop_trials),
    "tokens are three times as many": ("served", sql("UPDATE calls SET prompt_tokens=prompt_tokens*3")),
    "another model served": ("served", sql("UPDATE calls SET served='gpt-9' WHERE purpose='subject'")),
    "a judge by another name": ("judged", sql("UPDATE labels SET annotator='choice/openai:gpt-9@a1a61a5d' WHERE annotator LIKE '%planted:accuracy%'")),
    "a judge's calls point elsewhere": ("judged", sql("UPDATE label_calls SET call=(SELECT max(key) FROM calls WHERE purpose<>'subject')")),
    "a judge's calls are not named": ("judged", sql("DELETE FROM label_calls")),
    "another temperature was fixed": ("judged", setting("frozen", lambda it: it.update(temperature=0.2))),
    "a system prompt was fixed": ("judged", setting("frozen", lambda it: it.update(system="Be fair."))),
    "trials of another mode": ("judged", sql("UPDATE trials SET mode='exact' WHERE id=?", TRIALS, 2)),
    "replies of the judge are of the subject": ("judged", sql("UPDATE calls SET purpose='subject' WHERE key=?", JUDGED, 3)),
    "a thought more": ("judged", sql("UPDATE calls SET thought=500 WHERE key=?", ANSWERS, 3)),
    "attempts to sway the judge": ("judged", sql("UPDATE artefacts SET content=replace(content, '0', '7') WHERE kind='injection'")),
    "chances of words": ("exact", sql("UPDATE calls SET alternatives=replace(alternatives, '-0.', '-3.') WHERE key=?", ANSWERS, 3)),
    "chances of words gone": ("exact", sql("UPDATE calls SET alternatives='' WHERE key=?", ANSWERS, 2)),
    "weights of the exact mode": ("exact", sql("UPDATE labels SET weight=1-weight WHERE id=?", LABELS, 4)),
    "a person said something else": ("people", sql("UPDATE labels SET value='he' WHERE id=?", "SELECT id FROM labels WHERE annotator LIKE '%ann%'", 3)),
    "a person labelled one more": ("people", sql("INSERT INTO labels (output, annotator, attribute, value, position, weight, date) SELECT (SELECT max(trial) FROM outputs), annotator, attribute, value, 0, 1.0, date FROM labels WHERE id=?", "SELECT id FROM labels WHERE annotator LIKE '%ann%'")),
    "a person by another name": ("people", sql("UPDATE labels SET annotator=replace(annotator, 'ann', 'bob') WHERE annotator LIKE '%ann%'")),
    # looks
    "the plan was made later": ("stopped", sql("UPDATE artefacts SET date='2999-01-01T00:00:00.000+00:00' WHERE kind='stopping plan'")),
    "another error rate": ("stopped", plan(lambda it: it.update(alpha=0.2, error=0.2))),
    "a look more": ("stopped", sql("INSERT INTO artefacts (kind, name, content, date) SELECT kind, '002', content, date FROM artefacts WHERE kind='look' AND name='001'")),
    "a round is left out": ("stopped", look(lambda it: it.update(time=0.0, share=0.0))),
    # archives
    "the run is another one": ("crate", replace("run")),
    "the report is another run's": ("crate", replace("report.html")),
    "estimates are another run's": ("crate", replace("tables/estimates.csv")),
    "a table that nobody lists": ("crate", unlisted),
    "a table is withdrawn": ("crate", withdrawn("tables/labels.csv")),
    "a style hides what is said": ("crate", text("report.html", "</head>", "<style>p{display:none}</style></head>")),
    "a row twice": ("crate", text("tables/estimates.csv", r"\n[^\n]+(?=\n)", again)),
    "another version of the protocol": ("crate", text("CITATION.cff", 'version: "roles/1"', 'version: "roles/2"')),
    "another licence": ("crate", manifest("./", "license", "https://creativecommons.org/licenses/by/4.0/")),
    "an author": ("crate", entity(id="#author", type="Person", name="A. Nother", about={"@id": "./"})),
    # evidence
    "evidence of another run": ("audit", replace("evidence.md", "audit/evidence.md")),
    "a comment hides the rest": ("audit", text("evidence.md", r"provides it: \*\*to be filled in\*\*", "provides it: <!-- us")),
    "a section behind the end": ("audit", text("evidence.md", r"\Z", "\n## 8 Erratum\n\nNothing above holds.\n")),
    "a heading": ("audit", text("evidence.md", "## 5 Limits", "## 5 Strengths")),
    "a fact": ("audit", text("evidence.md", "refused by the model", "accepted by the model")),
}  # fmt: skip
# What no reply says, and a forger writes as he likes: docs/check-an-audit.md names it.
ON_ITS_WORD: Mapping[str, tuple[str, Forge]] = {
    "another fingerprint": ("judged", sql("UPDATE calls SET fingerprint='fp_9' WHERE purpose='subject'")),
    "more was planned": ("judged", setting("planned", lambda it: it.update({"openai:gpt-9": {"sampled": {"x": 5}}}))),
    "all calls are ten years older": ("judged", sql("UPDATE calls SET date=replace(date, '202', '201')")),
    "another version of tiltmeter": ("judged", setting("versions", lambda it: ["9.9.9"])),
    "calls cost more": ("judged", sql("UPDATE calls SET cost=7.5 WHERE key=?", ANSWERS, 2)),
    "requests failed": ("judged", setting("last_run", lambda it: it.update(failed=7, last_failure="x"))),
    "settings were left to the provider": ("judged", sql("UPDATE calls SET omitted='[\"temperature\"]' WHERE purpose='subject'")),
}  # fmt: skip


def is_missed(base: Base, place: Path, kind: str, forge: Forge, seed: str) -> bool:
    """True if `--verify` does not find a forgery."""
    copy = Path(shutil.copytree(getattr(base, kind), place / "copy"))
    shutil.copytree(base.other, place / "other", dirs_exist_ok=True)
    forge(copy, random.Random(seed))
    if (copy / crate.MANIFEST).is_file():
        rehash(copy)
    found = is_found(copy, base.judged if kind == "audit" else None)
    shutil.rmtree(copy)
    return not found


@pytest.mark.parametrize("each", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_forgeries_are_found(each: int, base: Base, tmp_path: Path) -> None:
    chosen = sorted(FORGERIES)[::each]
    assert [name for name in chosen if is_missed(base, tmp_path, *FORGERIES[name], name)] == []


@pytest.mark.slow
def test_what_rests_on_the_word_of_a_run_is_not_found(base: Base, tmp_path: Path) -> None:
    missed = [name for name, one in ON_ITS_WORD.items() if is_missed(base, tmp_path, *one, name)]
    assert missed == [*ON_ITS_WORD]


def test_what_is_right_is_right(base: Base) -> None:
    for folder in base[:-1]:
        against = base.judged if folder == base.audit else None
        findings, _ = api.verify(folder, against=against)
        assert findings.holds, [*findings.lines()]
