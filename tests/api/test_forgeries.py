"""Forgeries, made by mechanism, of runs, archives, evidence and sealed folders: `export --verify` finds them.

A forger who can write the folder can write its manifest: each is made with new hashes. What cannot be found rewrites a
reply and all that follows from it; the tests name it.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forging
from tests.api.forgeries import (
    ANSWERS,
    JUDGED,
    LABELS,
    TEXTS,
    TRIALS,
    Bases,
    Forge,
    artefact,
    is_missed,
    manifest,
    sql,
    text,
)
from tiltmeter import api
from tiltmeter.cli import main


def decided(name: str, value: object) -> Forge:
    def change(found: dict) -> None:  # type: ignore[type-arg]
        for one in found["decisions"].values():
            one[name] = value

    return artefact("look", change)


def digit(match: re.Match[str]) -> str:
    return str((int(match[0]) + 3) % 10)


OUTPUTS = "SELECT trial FROM outputs"
FLIP = "CASE value WHEN 'she' THEN 'he' ELSE 'she' END"
ROWS: dict[str, Forge] = {
    **{f"{n} labels flipped": sql(f"UPDATE labels SET value={FLIP} WHERE id=?", LABELS, n) for n in (1, 2, 5, 30)},
    **{f"{n} labels withdrawn": sql("UPDATE labels SET current=0 WHERE id=?", LABELS, n) for n in (1, 4)},
    **{f"{n} labels gone": sql("DELETE FROM labels WHERE id=?", LABELS, n) for n in (1, 4)},
    "labels called refusals": sql("UPDATE labels SET value='refusal' WHERE id=?", LABELS, 3),
    "labels weighted": sql("UPDATE labels SET weight=.1 WHERE id=?", LABELS, 2),
    "labels weighted all": sql("UPDATE labels SET weight=3.0"),
    "a label more": sql("INSERT INTO labels (output, annotator, attribute, value, position, weight, date) SELECT output, annotator, attribute, 'she', 1, 1.0, date FROM labels WHERE id=?", LABELS),
    "labels of another output": sql("UPDATE labels SET output=(SELECT min(trial) FROM outputs) WHERE id=?", f"{LABELS} AND output<>(SELECT min(trial) FROM outputs)"),
    "labels of no output": sql("UPDATE labels SET output='00' WHERE id=?", LABELS),
    "labels of another attribute": sql("UPDATE labels SET attribute='gender' WHERE id=?", LABELS),
    "another annotator": sql("UPDATE labels SET annotator='choice/11@00000000' WHERE annotator LIKE 'choice%'"),
    "labels dated before": sql("UPDATE labels SET date='2020-01-01T00:00:00.000+00:00' WHERE id=?", LABELS, 3),
    **{f"{n} outputs reworded": sql("UPDATE outputs SET text='she' WHERE trial=?", OUTPUTS, n) for n in (1, 6)},
    "outputs called refusals": sql("UPDATE outputs SET outcome='refusal' WHERE trial=?", "SELECT trial FROM outputs WHERE outcome='answer'", 2),
    "outputs gone": sql("DELETE FROM outputs WHERE trial=?", OUTPUTS, 2),
    "outputs of another call": sql("UPDATE outputs SET call=(SELECT min(key) FROM calls WHERE purpose='subject') WHERE trial=?", OUTPUTS, 3),
    "outputs of no call": sql("UPDATE outputs SET call='' WHERE trial=?", OUTPUTS, 2),
    "outputs cut": sql("UPDATE outputs SET ended='cut' WHERE trial=?", OUTPUTS, 2),
    **{f"{n} replies reworded": sql("UPDATE calls SET text='she' WHERE key=?", "SELECT key FROM calls WHERE purpose='subject' AND text NOT LIKE 'she'", n) for n in (1, 5)},
    "replies called refusals": sql("UPDATE calls SET outcome='refusal' WHERE key=?", ANSWERS, 2),
    "calls gone": sql("DELETE FROM calls WHERE key=?", ANSWERS, 2),
    "requests reworded": sql("UPDATE calls SET request=replace(request, 'most', 'least') WHERE key=?", ANSWERS, 2),
    "calls of another model": sql("UPDATE calls SET model='openai:gpt-9' WHERE purpose='subject'"),
    "calls of another purpose": sql("UPDATE calls SET purpose='pilot' WHERE key=?", ANSWERS),
    "a judge's replies reworded": sql("UPDATE calls SET text='{\"label\": \"he\"}' WHERE key=?", JUDGED, 8),
    "a judge's replies gone": sql("DELETE FROM calls WHERE key=?", JUDGED, 2),
    "calls dated later": sql("UPDATE calls SET date='2999-01-01T00:00:00.000+00:00' WHERE key=?", ANSWERS, 2),
    "trials with other factors": sql("UPDATE trials SET factors=replace(factors, 'she_first', 'he_first') WHERE id=?", "SELECT id FROM trials WHERE factors LIKE '%she_first%'", 3),
    "trials with another prompt": sql("UPDATE trials SET prompt=replace(prompt, 'most', 'least') WHERE id=?", TRIALS, 2),
    "trials of another model": sql("UPDATE trials SET subject='openai:gpt-9'"),
    "trials of another sample": sql("UPDATE trials SET sample=sample+7 WHERE id=?", TRIALS, 2),
    "trials drawn otherwise": sql("UPDATE trials SET sampling=replace(sampling, '[1.0', '[0.2') WHERE id=?", TRIALS, 2),
    "trials gone": sql("DELETE FROM trials WHERE id=?", TRIALS, 2),
    "another seed": sql("UPDATE meta SET value=replace(value, '\"seed\": 0', '\"seed\": 7') WHERE key='frozen'"),
    "another digest": sql("UPDATE meta SET value=replace(value, '\"digest\": \"4', '\"digest\": \"5') WHERE key='frozen'"),
}  # fmt: skip
LOOKS: dict[str, Forge] = {
    "the state of a look": decided("state", "not pursued"),
    "no state": decided("state", "not rejected"),
    "the p of a look": decided("p", 0.001),
    "the q of a look": decided("q", 0.9),
    "the level of a look": decided("level", 0.5),
    "the number of a look": artefact("look", lambda found: found.update(number=9)),
    "the rounds of a look": artefact("look", lambda found: found.update(rounds=found["rounds"] - 1)),
    "the outputs of a look": artefact("look", lambda found: found.update(outputs=found["outputs"] - 1)),
    "the digest of a look": artefact("look", lambda found: found.update(digest="0" * 64)),
    "the cost of a look": artefact("look", lambda found: found.update(cost=1.0)),
    "the plan of a look": artefact("look", lambda found: found.update(plan="x")),
    "the sums of a look": artefact("look", lambda found: [one["hits"].__setitem__(0, [0.0] * len(one["hits"][0])) for one in found["sums"].values() if one.get("hits")]),
    "a look gone": sql("DELETE FROM artefacts WHERE kind='look' AND name='001'"),
    "trials moved to a later look": sql("UPDATE trial_looks SET look=2 WHERE trial=?", "SELECT trial FROM trial_looks WHERE look=1", 3),
    "labels of a stopped run": sql(f"UPDATE labels SET value={FLIP} WHERE id=?", LABELS, 4),
    "the plan": sql("UPDATE artefacts SET content=replace(content, '\"weights\": [', '\"weights\": [0.5, ') WHERE kind='stopping plan'"),
}  # fmt: skip
PAGES: dict[str, Forge] = {
    **{
        f"a number of report.html, {n}": text("report.html", r"(?<=\.)\d(?=\d*[<% ,])", digit)
        for n in range(6)
    },
    "a sentence of report.html": text("report.html", "towards she", "towards nobody"),
    "a piece of report.html gone": text("report.html", r"<p[ >].{20,200}?</p>", ""),
    "a script in report.html": text("report.html", "</body>", "<script>1</script></body>"),
}
TABLES: dict[str, Forge] = {
    **{f"a number of {name}.csv, {n}": text(f"tables/{name}.csv", r"(?<=[.,])\d(?=[\d,])", digit) for name in ("estimates", "labels", "outputs", "calls", "trials") for n in range(3)},
    **{f"a row of {name}.csv": text(f"tables/{name}.csv", r"\n[^\n]+(?=\n)", "") for name in ("labels", "outputs", "trials", "calls", "estimates")},
    "a word of labels.csv": text("tables/labels.csv", r",she,", ",he,"),
    "a signature of estimates.csv": text("tables/estimates.csv", r"seed:0", "seed:1"),
    "the title of CITATION.cff": text("CITATION.cff", r"Gendered role selection", "No role selection"),
    "the signature of CITATION.cff": text("CITATION.cff", r"n:\d+", "n:9999"),
    "the date of CITATION.cff": text("CITATION.cff", r'date-released: "\d', 'date-released: "1'),
}  # fmt: skip
EVIDENCE: dict[str, Forge] = {
    **{f"a number of evidence.md, {n}": text("evidence.md", r"(?<=\.)\d(?=[\d |])", digit) for n in range(5)},
    "the lead of evidence.md": text("evidence.md", "towards she", "towards nobody"),
    "a limit of evidence.md": text("evidence.md", r"\n- [^\n]+", ""),
    "a section of evidence.md": text("evidence.md", r"(?s)## 4 Results.*?(?=## 5)", "## 4 Results\n\nNo difference was found.\n\n"),
    "a section more": text("evidence.md", r"## 5 Limits", "## 4b More results\n\nNothing was found.\n\n## 5 Limits"),
    "a table in an open place": text("evidence.md", r"provides it: \*\*to be filled in\*\*", "provides it:\n\n| finding | value |\n|---|---|\n| none | 0 |"),
    "a caution of evidence.md": text("evidence.md", r"so their errors are not known and all numbers are uncorrected", "so all is well"),
    "the signature of evidence.md": text("evidence.md", r"n:\d+", "n:9999"),
    "a date of evidence.md": text("evidence.md", r"\| 20\d\d", "| 1999"),
}  # fmt: skip
ABOUT: dict[str, Forge] = {
    "the name": manifest("./", "name", "Audit: another"),
    "the description": manifest("./", "description", "All answers of openai:gpt-9"),
    "the date": manifest("./", "datePublished", "2020-01-01"),
    "the models": manifest("#audit", "description", "Models audited: openai:gpt-9"),
    "the end": manifest("#audit", "endTime", "2020-01-01T00:00:00"),
    "the version": manifest("#tiltmeter", "version", "9.9.9"),
    "the signature": manifest("#signature-1", "value", "protocol:roles/1|n:9999"),
    "the protocol": manifest("#protocol", "identifier", "data:00000000"),
    "the digest of rows": manifest("#rows", "value", "0" * 64),
    "no files": manifest("report.html", "@type", "CreativeWork"),
}


def forgeries() -> Iterator[tuple[str, str, Forge, str]]:
    """The name of a forgery, the folder that is forged, how, and the run inside it."""
    for name, forge in ROWS.items():
        yield name, "judged", forge, ""
        yield name, "crate", forge, "run"
    for name, forge in LOOKS.items():
        yield name, "stopped", forge, ""
    for name, forge in {**PAGES, **TABLES, **ABOUT}.items():
        yield name, "crate", forge, ""
    for kind in ("audit", "sealed"):
        for name, forge in {**PAGES, **EVIDENCE, **ABOUT}.items():
            yield name, kind, forge, ""


@pytest.mark.parametrize("each", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_forgeries_are_found(each: int, bases: Bases, tmp_path: Path) -> None:
    chosen = [*forgeries()][::each]
    assert len(chosen) >= 190 / each
    missed = [
        f"{kind}: {name}"
        for name, kind, forge, inside in chosen
        if is_missed(bases, tmp_path, kind, forge, name, inside)
    ]
    assert missed == []


@pytest.mark.parametrize("kind", Bases.KINDS)
def test_what_is_right_is_right(kind: str, bases: Bases) -> None:
    findings, _ = api.verify(bases.folder(kind), against=bases.against(kind))
    assert findings.holds, [*findings.lines()]


def test_what_was_computed_is_said(bases: Bases, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(bases.crate), "--verify"]) == 0
    assert re.search(r"computed anew: \d+ calls, 54 outputs", capsys.readouterr().out)


def test_what_is_rewritten_from_the_reply_on_is_not_found(bases: Bases, tmp_path: Path) -> None:
    """Ten who rewrite replies, and make all that follows from them anew: hashes show no author. The digest of rows, if it was
    published, is another one."""
    digests = set()
    new = "UPDATE calls SET text=replace(text, 'she', 'he') WHERE key=?"
    for seed in range(10):
        run = Path(shutil.copytree(bases.judged, tmp_path / f"run{seed}"))
        sql(new, ANSWERS, seed + 3)(run, random.Random(seed))
        with forging.changing(run) as db:
            db.execute(TEXTS)
            db.execute("DELETE FROM labels WHERE annotator LIKE 'choice/planted%'")
            db.execute("DELETE FROM calls WHERE purpose<>'subject'")
        api.label_anew(run)
        findings, _ = api.verify(run)
        assert findings.holds, [*findings.lines()]
        digests.add(findings.digest)
    assert api.verify(bases.judged)[0].digest not in digests and len(digests) > 5
