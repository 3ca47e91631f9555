"""Published per-word counts as trials, outputs and labels: `tiltmeter import gramvis COUNTS.csv
--out RUN`.

A row is a word and a subject, with the numbers of pictures classified as male, female, neither and
error in the prompts of each of three languages. Each counted picture becomes a trial of which
everything is known except the template. A row may have any number of pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...errors import UnknownName, UsageError
from ...protocol import Protocol
from ...protocol.design.tables import SEVERAL, Row, given_rows
from ...records import ANSWER, ERROR, NEITHER, Label, Output, Sampling, Trial, content_id

ANNOTATOR = f"counts/1@{content_id('gramvis counts', 1)[:8]}"
SIDES = {"English": "en", "Chinese": "zh", "Native": "gendered"}
VALUES = {"Male": "male", "Female": "female", "Neither": NEITHER, "Error": ERROR}
LANGUAGES = {"french": "fr", "german": "de", "italian": "it", "russian": "ru", "spanish": "es"}
GENDERS = {"male": "masculine", "female": "feminine"}
ABOUT = ("Language", "T2I_Model", "Grammar_Gender", "Bias_Type", "Native_Word")
COLUMNS = (*ABOUT, *(f"Overall_{side}_{value}" for side in SIDES for value in VALUES))
MOST = 100_000  # pictures of one word in one language: each becomes a row
UNKNOWN = "unknown"  # the marks of a word that the protocol's list does not have

Imported = tuple[Trial, Output, Sequence[Label]]


def read(protocol: Protocol, path: Path) -> Iterator[Imported]:
    """Yields the counted pictures. UsageError names file, line and word."""
    known, line_of = _listed_words(protocol), dict[tuple[str, str, str], int]()
    for number, row in given_rows(path, COLUMNS):
        where = f"{path.name}, line {number} ({row['Native_Word']})"
        language = _language(row["Language"], protocol, where)
        word = " ".join(row["Native_Word"].replace("_", " ").split()).lower()
        key = language, row["T2I_Model"], word
        if not all(key):
            raise UsageError(f"{where}: Language, T2I_Model and Native_Word may not be empty.")
        if key in line_of:
            raise UsageError(
                f"{where}: line {line_of[key]} already has this word with the same language and "
                "subject."
            )
        line_of[key] = number
        cells = known.get((language, word)) or _cells_of_unlisted(protocol, language, word)
        cells = _with_checked_row(cells, row, protocol, where)
        yield from _pictures(protocol, key[1], cells, row, where)


def _listed_words(protocol: Protocol) -> dict[tuple[str, str], dict[str, Row]]:
    """Returns {(language, word with or without its article): {side: cell}}, as in the paper."""
    listed: dict[tuple[str, str], dict[str, Row]] = {}
    for cell in protocol.cells:
        is_asked = "published" in cell["declension"].split(SEVERAL) and "own" in cell[
            "controls"
        ].split(SEVERAL)
        if SEVERAL not in cell[protocol.item] and is_asked:
            for name in (f"{cell['article']} {cell['noun']}", cell["noun"]):
                listed.setdefault((cell["language"], name.lower()), {})[cell["side"]] = cell
    return listed


def _cells_of_unlisted(protocol: Protocol, language: str, word: str) -> dict[str, Row]:
    """Makes the cells of an unlisted word: its language's values, and others as unknown."""
    marks = dict.fromkeys(("concept", "gloss_gendered", "doubtful", "case", "elision"), UNKNOWN)
    factors = {**marks, "grammatical_gender": "", "word": f"{language}:{word}"}
    return {
        cell["side"]: {**cell, **factors}
        for cell in protocol.cells
        if cell["language"] == language and "own" in cell["controls"].split(SEVERAL)
    }


def _with_checked_row(
    cells: Mapping[str, Row], row: Mapping[str, str], protocol: Protocol, where: str
) -> dict[str, Row]:
    """Adds the row's category and gender to the cells. UsageError if they contradict the list."""
    named = row["Grammar_Gender"].lower()
    gender = GENDERS.get(named, named)
    if gender not in GENDERS.values():
        raise UsageError(
            f"{where}: Grammar_Gender is '{row['Grammar_Gender']}'. Write male or female."
        )
    category = row["Bias_Type"].lower().replace(" ", "_")
    if category not in protocol.levels["category"]:
        raise UsageError(
            f"{where}: {UnknownName('category', category, protocol.levels['category'])}"
        )
    checked = {}
    for side, cell in cells.items():
        if cell["grammatical_gender"] not in ("", gender):
            raise UsageError(
                f"{where}: Grammar_Gender is '{row['Grammar_Gender']}', but the word is "
                f"{cell['grammatical_gender']} in the list of {protocol.name}. Correct the row."
            )
        checked[side] = {**cell, "grammatical_gender": gender, "category": category}
    return checked


def _language(text: str, protocol: Protocol, where: str) -> str:
    name = text.lower()
    code = LANGUAGES.get(name, name)
    if code not in protocol.languages:
        raise UsageError(
            f"{where}: {UnknownName('language', text, [*LANGUAGES, *protocol.languages])}"
        )
    return code


def _pictures(
    protocol: Protocol, subject: str, cells: Mapping[str, Row], row: Mapping[str, str], where: str
) -> Iterator[Imported]:
    """Yields one trial per picture; its template is all the protocol's templates, joined."""
    names = (*protocol.factors, protocol.item)
    template = SEVERAL.join(protocol.levels["template"])
    mode = protocol.modes[protocol.default_mode]
    for column, side in SIDES.items():
        factors = {name: cells[side][name] for name in names} | {"template": template}
        values = [
            value
            for name, value in VALUES.items()
            for _ in range(_count(row, f"Overall_{column}_{name}", where))
        ]
        for sample, value in enumerate(values):
            key = content_id(protocol.name, "counts", subject, mode.name, factors, sample)
            trial = Trial(key, subject, mode.name, factors, sample, "", "", Sampling(None, None, 0))
            outcome = ERROR if value == ERROR else ANSWER
            yield trial, Output(key, outcome, "", ""), [Label(key, ANNOTATOR, "gender", value)]


def _count(row: Mapping[str, str], column: str, where: str) -> int:
    digits = row[column].removesuffix(".0")
    if not digits.isdecimal() or float(digits) > MOST:
        raise UsageError(
            f"{where}: {column} is '{row[column]}' and not a count. Write a whole number from 0 "
            f"to {MOST:,}."
        )
    return int(digits)
