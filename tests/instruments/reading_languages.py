"""Reads the answers of languages_looked.csv and languages_kept.csv by each instrument and counts: read, lost, wrong."""

from __future__ import annotations

import csv
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tiltmeter.instruments import dialogue
from tiltmeter.instruments.choice.choice import parse
from tiltmeter.instruments.picks.picks import Picks
from tiltmeter.instruments.text.prose import outcome
from tiltmeter.languages import pack
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import INVALID, REFUSAL

from .ordinary_answers import shapes

HERE = Path(__file__).parent
UNCOUNTED = {INVALID, REFUSAL, "neither", "both", "other_language", "answer"}


class Case(NamedTuple):
    """One answer with the label that it was written for."""

    language: str
    instrument: str
    shape: str
    text: str
    expected: str


@lru_cache
def known() -> Mapping[str, Any]:
    return tomllib.loads((HERE / "languages.toml").read_text("utf-8"))


def cases(half: str) -> list[Case]:
    if half.startswith("ordinary_"):
        wanted = half.removeprefix("ordinary_")
        own_only = wanted == "indonesian"
        return [
            Case(*shape)
            for shape in shapes(known())
            if (shape.language == "id") == own_only and wanted in (shape.half, "indonesian")
        ]
    with (HERE / f"languages_{half}.csv").open(encoding="utf-8", newline="") as file:
        return [
            Case(*row[:3], row[3].replace("\\n", "\n").replace("\\\\", "\\"), row[4])
            for row in list(csv.reader(file))[1:]
        ]


@lru_cache
def own(code: str) -> Mapping[str, Any]:
    """The setting of a language whose pack lies here (packs/) and not in the package."""
    texts = pack.texts_in(HERE / "packs" / code)
    return {"languages": {code: texts}} if texts else {}


@lru_cache
def picks(code: str) -> Picks:
    rows = [{"language": code, "class": "any", "word": word} for word in known()[code]["words"]]
    settings = {"words": rows, "asked": 3, **own(code)}
    return Picks(InstrumentSpec("picks", "picks", "word", settings))


def read(case: Case) -> str:
    """The label that the instrument gives."""
    kind, _, options = case.instrument.partition(":")
    code = pack.overlays(own(case.language).get("languages")).get(case.language, case.language)
    if kind == "choice":
        forms = {name: [form] for name, form in known()[case.language][options].items()}
        return parse(case.text, forms, code)
    if kind == "picks":
        picked = picks(case.language).picks_of(case.text, case.language)
        return picked if isinstance(picked, str) else "|".join(pick.lexeme for pick in picked)
    if kind == "dialogue":
        return dialogue.read(case.text, code)
    return outcome(case.text, code) or "answer"


def count(half: str) -> dict[tuple[str, str], Counter[str]]:
    """{(instrument, language): how many were read, lost, wrong}."""
    table: dict[tuple[str, str], Counter[str]] = {}
    for case in cases(half):
        label = read(case)
        meant = case.expected.split("/")
        lost = label in UNCOUNTED and case.expected != "answer"
        result = "read" if label in meant else "lost" if lost else "wrong"
        table.setdefault((case.instrument.partition(":")[0], case.language), Counter())[result] += 1
        if half not in {"unread", "ordinary_kept"} and result != "read" and len(sys.argv) > 2:
            print(
                result,
                case.language,
                case.instrument,
                "|",
                label,
                "|",
                case.expected,
                "|",
                repr(case.text),
            )
    return table


if __name__ == "__main__":
    table = count(sys.argv[1])
    codes = list(known())
    print(f"{'':10}" + "".join(f"{code:>5}" for code in codes), "  all  wrong")
    for kind in ("choice", "picks", "dialogue", "refusal"):
        cells = [table[kind, code] for code in codes if (kind, code) in table]
        if not cells:
            continue
        total = sum(cells, Counter())
        shares = "".join(f"{100 * cell['read'] / cell.total():5.0f}" for cell in cells)
        print(
            f"{kind:10}{shares}{100 * total['read'] / total.total():6.0f}{total['wrong']:5}/{total.total()}"
        )
