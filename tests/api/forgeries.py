"""Folders that are right, and the hands of forgers: the sets of forgeries in test_forgeries.py and its siblings share them.

A forger who can write a folder can write its manifest: `is_missed` gives each forgery new hashes.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pytest

from tests import forging
from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tiltmeter import api
from tiltmeter.api.start.own_outputs import start
from tiltmeter.errors import TiltmeterError
from tiltmeter.formats import crate

Forge = Callable[[Path, random.Random], None]
Change = Callable[[dict], object]  # type: ignore[type-arg]  # in place, or returns the new value
MANY = {"language": "en", "limit": 9, "samples": 3}  # of which a tilt is shown
FEW = {"language": "en", "limit": 6, "samples": 2}
MODEL, JUDGE = "planted:she=0.8,refuses=.1", "planted:accuracy=0.9,seed=4"
FILL = "suit the use of the system: **to be filled in**", "suit the use of the system: they do"
PROTOCOL = (Path(__file__).parents[1] / "two_names.toml").read_text("utf-8")


class Bases:
    """Folders that are right, each made when it is first asked for."""

    KINDS = (
        *("judged", "pictures", "own", "served", "exact", "given", "people", "stopped"),
        *("voted", "crate", "audit", "sealed"),
    )

    def __init__(self, place: Path) -> None:
        self._place = place

    def folder(self, kind: str) -> Path:
        """The folder of a kind."""
        return Path(getattr(self, kind))

    def against(self, kind: str) -> Path | None:
        """The run that evidence is held against."""
        return self.judged if kind in ("audit", "sealed") else None

    @cached_property
    def judged(self) -> Path:
        """A run with a judge."""
        return self._run("judged", MODEL, judge=JUDGE, **MANY)

    @cached_property
    def pictures(self) -> Path:
        """A run with pictures."""
        model = "planted:protocol=soda"
        return self._run("pictures", model, protocol="soda", limit=1, samples=1)

    @cached_property
    def own(self) -> Path:
        """A run of a protocol of one's own, whose file is gone, as with whoever is handed the run."""
        mine = self._place / "mine.toml"
        mine.write_text(PROTOCOL, "utf-8")
        out = self._run("own", f"planted:protocol={mine}", protocol=mine)
        mine.unlink()
        return out

    @cached_property
    def served(self) -> Path:
        """A run of a model behind an address."""
        server = BatchServer("openai", "she=.7,seed=3", Oddities())
        with serving(server), pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_KEY", "k1234567890")
            at = {"base_urls": {"openai": server.url}, "pilot": False}
            return self._run("served", "openai:planted", **FEW, **at)

    @cached_property
    def exact(self) -> Path:
        """A run that reads probabilities."""
        return self._run("exact", "planted:she=.8", language="en", limit=6, mode="exact")

    @cached_property
    def given(self) -> Path:
        """A run of answers that stand in a file."""
        with forging.changing(self.judged) as db:
            query = (
                "SELECT prompt, text FROM outputs JOIN trials ON trial=id WHERE outcome='answer'"
            )
            rows = [{"prompt": prompt, "text": text} for prompt, text in db.execute(query)]
        answers = self._place / "answers.jsonl"
        answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return self._run("given", f"file:{answers}", **FEW)

    @cached_property
    def people(self) -> Path:
        """A run with the sheet of a person."""
        out, sheet = self._run("people", MODEL, **FEW), self._place / "sheet.csv"
        with forging.changing(out) as db:
            query = "SELECT trial FROM outputs WHERE outcome='answer'"
            rows = [f"{trial},she,ann\n" for (trial,) in db.execute(query)]
        sheet.write_text(f"output,value,annotator\n{''.join(rows[:9])}", "utf-8")
        api.import_gold(out, sheet)
        return out

    @cached_property
    def voted(self) -> Path:
        """Texts that people labelled without a judge, on a sheet each; ann and bea differ on some."""
        texts, out = self._place / "texts", self._place / "voted"
        for number in range(24):
            path = texts / ("cars" if number % 2 else "vans") / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The driver of text {number} leads.", "utf-8")
        start(texts, out, "Who leads?", ["woman", "man", "unclear"])
        trials = [trial for trial, *_ in api.open_run(out).outputs.select("trial").rows()]
        for name, turn in (("ann", 2), ("bea", 3)):
            lines = [
                f"{trial},{'woman' if number % turn else 'man'},{name}\n"
                for number, trial in enumerate(trials)
            ]
            sheet = self._place / f"{name}.csv"
            sheet.write_text(f"output,value,annotator\n{''.join(lines)}", "utf-8")
            api.import_gold(out, sheet)
        api.open_run(out).report()
        return out

    @cached_property
    def stopped(self) -> Path:
        """A run that stopped early."""
        return self._run("stopped", "planted:she=.9", language="en", limit=12, samples=8, stop=True)

    @cached_property
    def crate(self) -> Path:
        """The judged run as an archive."""
        api.export_crate(self.judged, self._place / "crate")
        return self._place / "crate"

    @cached_property
    def audit(self) -> Path:
        """The judged run as evidence."""
        api.export_audit(self.judged, self._place / "audit")
        return self._place / "audit"

    @cached_property
    def sealed(self) -> Path:
        """The evidence with a field filled in, sealed."""
        folder = Path(shutil.copytree(self.audit, self._place / "sealed"))
        page = folder / "evidence.md"
        page.write_text(page.read_text("utf-8").replace(*FILL, 1), "utf-8")
        api.seal_folder(folder)
        return folder

    @cached_property
    def other(self) -> Path:
        """The archive and the evidence of another run."""
        run = self._run("another", "planted:she=.5,seed=9", judge=JUDGE, **MANY)
        api.export_crate(run, self._place / "other")
        api.export_audit(run, self._place / "other" / "audit")
        return self._place / "other"

    def _run(
        self, name: str, model: str, protocol: Path | str = "roles", **options: object
    ) -> Path:
        api.run(protocol, model, self._place / name, **options)  # type: ignore[arg-type]
        return self._place / name


# verifying


def is_found(folder: Path, against: Path | None) -> bool:
    """True if `--verify` does not confirm a folder, or refuses to read it."""
    try:
        findings, _ = api.verify(folder, against=against)
    except TiltmeterError:
        return True
    return not findings.holds


def is_missed(
    bases: Bases, place: Path, kind: str, forge: Forge, seed: str, inside: str = ""
) -> bool:
    """True if `--verify` does not find a forgery. inside: the folder that is forged, in the copy."""
    copy = Path(shutil.copytree(bases.folder(kind), place / "copy"))
    try:
        forge(copy / inside, random.Random(seed))
        if (copy / crate.MANIFEST).is_file():
            rehash(copy)
        return not is_found(copy, bases.against(kind))
    finally:
        shutil.rmtree(copy)


def rehash(folder: Path) -> None:
    """New hashes for all files, as a forger would make them."""
    manifest = folder / crate.MANIFEST
    whole = json.loads(manifest.read_text("utf-8"))
    for entity in whole["@graph"]:
        if entity["@type"] == "File" and (folder / entity["@id"]).is_file():
            entity.update(crate.fingerprint(folder / entity["@id"]))
    manifest.write_text(json.dumps(whole), "utf-8")


# forging

LABELS, TRIALS = "SELECT id FROM labels WHERE current", "SELECT id FROM trials"
ANSWERS = "SELECT key FROM calls WHERE purpose='subject' AND outcome='answer'"
JUDGED = "SELECT key FROM calls WHERE purpose<>'subject'"
RULES = "annotator GLOB 'choice/[0-9]*@*'"  # and not a judge
TEXTS = "UPDATE outputs SET text=(SELECT text FROM calls WHERE key=outputs.call)"


def sql(statement: str, rows: str = "", number: int = 1) -> Forge:
    """Changes some rows of the run's file. rows: a query of row ids or keys, `?` in the statement."""

    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            db.execute("DROP INDEX IF EXISTS packed_labels_by_output")  # would refuse some of it
            keys = [row[:1] for row in db.execute(rows)] if rows else [()]
            for key in chance.sample(keys, min(number, len(keys))):
                before = db.total_changes
                db.execute(statement, key)
                assert db.total_changes > before

    return forge


def both(*forges: Forge) -> Forge:
    def forge(run: Path, chance: random.Random) -> None:
        for one in forges:
            one(run, chance)

    return forge


def changed(content: str, change: Change) -> str:
    """JSON that is changed in place or replaced."""
    whole = json.loads(content)
    new = change(whole)
    return json.dumps(whole if new is None else new)


def artefact(kind: str, change: Change) -> Forge:
    """The last artefact of a kind."""

    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            query = "SELECT content, name FROM artefacts WHERE kind=? ORDER BY name DESC LIMIT 1"
            content, name = db.execute(query, (kind,)).fetchone()
            update = "UPDATE artefacts SET content=? WHERE kind=? AND name=?"
            db.execute(update, (changed(content, change), kind, name))

    return forge


def setting(key: str, change: Change) -> Forge:
    """A setting of the run's `meta`."""

    def forge(run: Path, chance: random.Random) -> None:
        with forging.changing(run) as db:
            row = db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
            value = changed(row[0] if row else "{}", change)
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    return forge


def text(name: str, pattern: str, change: str | Callable[[re.Match[str]], str]) -> Forge:
    """Changes one of the matches of a pattern in a file."""

    def forge(folder: Path, chance: random.Random) -> None:
        path = folder / name
        content = path.read_bytes().decode()
        matches = list(re.finditer(pattern, content))
        assert matches, f"{pattern} is not in {name}"
        match = chance.choice(matches)
        new = change if isinstance(change, str) else change(match)
        path.write_bytes((content[: match.start()] + new + content[match.end() :]).encode())

    return forge


def unlisted(name: str, content: str) -> Forge:
    """A file that the manifest does not list."""

    def forge(folder: Path, chance: random.Random) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")

    return forge


def graph(change: Change) -> Forge:
    """The manifest as a whole."""

    def forge(folder: Path, chance: random.Random) -> None:
        path = folder / crate.MANIFEST
        path.write_text(changed(path.read_text("utf-8"), change), "utf-8")

    return forge


def manifest(entity: str, name: str, value: object) -> Forge:
    """A field of an entity of the manifest."""

    def change(whole: dict) -> None:  # type: ignore[type-arg]
        for one in whole["@graph"]:
            if one["@id"] == entity:
                one[name] = value

    return graph(change)


def entity(**fields: object) -> Forge:
    """An entity more in the manifest."""
    new = {f"@{key}" if key in ("id", "type") else key: value for key, value in fields.items()}
    return graph(lambda whole: whole["@graph"].append(new))
