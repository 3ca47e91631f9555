"""Forgeries written without looking at the verifier, each by a person with a reason to make it."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import forging
from tests.api.forgeries import (
    ANSWERS,
    JUDGED,
    LABELS,
    RULES,
    TEXTS,
    TRIALS,
    Bases,
    Forge,
    artefact,
    both,
    entity,
    graph,
    is_missed,
    manifest,
    setting,
    sql,
    text,
    unlisted,
)


def swap_answers(run: Path, chance: random.Random) -> None:
    """Two outputs with other labels change places, labels with them."""
    with forging.changing(run) as db:
        pick = f"SELECT min(output) FROM labels WHERE {RULES} AND value=?"
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


def replace(source: Path, name: str) -> Forge:
    """A file or folder becomes another one."""

    def forge(folder: Path, chance: random.Random) -> None:
        if source.is_dir():
            shutil.rmtree(folder / name)
            shutil.copytree(source, folder / name)
        else:
            shutil.copyfile(source, folder / name)

    return forge


def withdrawn(name: str) -> Forge:
    """A file goes, and its entry of the manifest."""

    def unlist(whole: dict) -> None:  # type: ignore[type-arg]
        whole["@graph"] = [one for one in whole["@graph"] if one["@id"] != name]
        for one in whole["@graph"]:
            if isinstance(one.get("hasPart"), list):
                one["hasPart"] = [part for part in one["hasPart"] if part["@id"] != name]

    return both(lambda folder, chance: (folder / name).unlink(), graph(unlist))


def again(match: re.Match[str]) -> str:
    return match[0] * 2


SHE = "SELECT key FROM calls WHERE purpose='subject' AND outcome='answer' AND text LIKE '%she%'"
FORGERIES: Mapping[str, tuple[str, Forge]] = {
    # runs
    "a reply reads otherwise in the text than in what came": ("judged", both(sql("UPDATE calls SET text='he' WHERE key=?", SHE, 3), sql(TEXTS))),
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
    "another error rate": ("stopped", artefact("stopping plan", lambda it: it.update(alpha=0.2, error=0.2))),
    "a look more": ("stopped", sql("INSERT INTO artefacts (kind, name, content, date) SELECT kind, '002', content, date FROM artefacts WHERE kind='look' AND name='001'")),
    "a round is left out": ("stopped", artefact("look", lambda it: it.update(time=0.0, share=0.0))),
    # archives
    "a table that nobody lists": ("crate", unlisted("tables/corrected.csv", "measure,value\nchoice,.5\n")),
    "a table is withdrawn": ("crate", withdrawn("tables/labels.csv")),
    "a style hides what is said": ("crate", text("report.html", "</head>", "<style>p{display:none}</style></head>")),
    "a row twice": ("crate", text("tables/estimates.csv", r"\n[^\n]+(?=\n)", again)),
    "another version of the protocol": ("crate", text("CITATION.cff", 'version: "roles/1"', 'version: "roles/2"')),
    "another licence": ("crate", manifest("./", "license", "https://creativecommons.org/licenses/by/4.0/")),
    "an author": ("crate", entity(id="#author", type="Person", name="A. Nother", about={"@id": "./"})),
    # evidence
    "a comment hides the rest": ("audit", text("evidence.md", r"provides it: \*\*to be filled in\*\*", "provides it: <!-- us")),
    "a section behind the end": ("audit", text("evidence.md", r"\Z", "\n## 8 Erratum\n\nNothing above holds.\n")),
    "a heading": ("audit", text("evidence.md", "## 5 Limits", "## 5 Strengths")),
    "a fact": ("audit", text("evidence.md", "refused by the model", "accepted by the model")),
}  # fmt: skip
# What no reply says, and a forger writes as he likes: docs/check-an-audit.md names it.
ON_ITS_WORD: Mapping[str, tuple[str, Forge]] = {
    "another fingerprint": ("judged", sql("UPDATE calls SET fingerprint='fp_9' WHERE purpose='subject'")),
    "all calls are ten years older": ("judged", sql("UPDATE calls SET date=replace(date, '202', '201')")),
    "another version of tiltmeter": ("judged", setting("versions", lambda it: ["9.9.9"])),
    "calls cost more": ("judged", sql("UPDATE calls SET cost=7.5 WHERE key=?", ANSWERS, 2)),
    "requests failed": ("judged", setting("last_run", lambda it: it.update(failed=7, last_failure="x"))),
    "settings were left to the provider": ("judged", sql("UPDATE calls SET omitted='[\"temperature\"]' WHERE purpose='subject'")),
}  # fmt: skip


# A file or folder of a base, and that of another run in its place.
REPLACED: Mapping[str, tuple[str, str, str]] = {
    "the run is another one": ("crate", "run", "run"),
    "the report is another run's": ("crate", "report.html", "report.html"),
    "estimates are another run's": ("crate", "tables/estimates.csv", "tables/estimates.csv"),
    "evidence of another run": ("audit", "evidence.md", "audit/evidence.md"),
}


@pytest.mark.parametrize("each", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_forgeries_are_found(each: int, bases: Bases, tmp_path: Path) -> None:
    known = dict(FORGERIES)
    for name, (kind, target, source) in REPLACED.items():
        known[name] = kind, replace(bases.other / source, target)
    chosen = sorted(known)[::each]
    assert [name for name in chosen if is_missed(bases, tmp_path, *known[name], name)] == []


@pytest.mark.slow
def test_what_rests_on_the_word_of_a_run_is_not_found(bases: Bases, tmp_path: Path) -> None:
    missed = [name for name, one in ON_ITS_WORD.items() if is_missed(bases, tmp_path, *one, name)]
    assert missed == [*ON_ITS_WORD]
