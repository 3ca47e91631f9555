"""The pack of one language: what its folder says, with a protocol's own folder laid over it.

A list in a protocol's `languages/pt/language.toml` replaces the shipped list of that name; one
whose name begins with + is added to it ("+reject" = ["nem"]). Lines of refusals.txt and rows of
answers.csv are always added.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import ProtocolError
from ..records import Json, content_id
from ..row_files import BadTable, numbered_rows
from .quotes import base, facts

HERE = Path(__file__).parent
FILES = ("language.toml", "people.toml", "refusals.txt", "answers.csv")
COLUMNS = ("instrument", "shape", "reply", "expected", "use")
USES = ("frame", "check")  # what a reply is read by; what only tries the reading
Overlay = Mapping[str, str]  # file name → its text
_overlays: dict[str, Overlay] = {}  # code@hash → the files of a protocol's own folder


class AnswerRow(NamedTuple):
    """A row of answers.csv. reply: with slots such as {form}; expected: the label, or `form` for
    the option that is written into {form}.
    """

    instrument: str
    shape: str
    reply: str
    expected: str
    use: str


class Pack(NamedTuple):
    """A language. words: language.toml; people: people.toml; refusals: lines with [brackets] around
    what tells them; answers: the rows of answers.csv.
    """

    code: str
    words: Mapping[str, Json]
    people: Mapping[str, Json]
    refusals: Sequence[str]
    answers: Sequence[AnswerRow]

    def list_of(self, name: str) -> tuple[str, ...]:
        """A list of words of language.toml or people.toml; () if the language has none."""
        return strings(self.words.get(name, self.people.get(name, ())))

    def replies(self, instrument: str, expected: str) -> list[str]:
        """The replies of answers.csv with one label, as a planted model says them."""
        return [
            row.reply
            for row in self.answers
            if row.instrument == instrument and row.expected == expected
        ]

    def record(self) -> Mapping[str, Json]:
        """All that labels depend on, for the hash of an annotator."""
        frames = [list(row) for row in self.answers if row.use == "frame"]
        return {
            "words": self.words,
            "people": self.people,
            "refusals": list(self.refusals),
            "frames": frames,
        }


def strings(value: Json) -> tuple[str, ...]:
    """The texts of a list; () for anything else."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return tuple(map(str, value))


def shipped() -> tuple[str, ...]:
    """The codes of all languages that have a pack."""
    return tuple(sorted(path.parent.name for path in HERE.glob("*/language.toml")))


@cache
def pack(code: str) -> Pack:
    """The shipped pack of a code such as "en" or "zh-Hant" (read as "zh"); an empty one for "" and
    for a language without a pack.
    """
    known = base(code)
    if code in _overlays:
        return _with_overlay(code, pack(known), _parse(known, _overlays[code]))
    return read(HERE / known, known) if known.isalpha() else Pack(known, {}, {}, (), ())


def overlays(setting: Json) -> dict[str, str]:
    """{code: the code of the language with a protocol's own words ("pt@1a2b3c4d")}, for a setting
    {code: {file name: its text}}. Raises ProtocolError for a file that cannot be read.
    """
    codes = {}
    for code, files in setting.items() if isinstance(setting, Mapping) else ():
        laid = files if isinstance(files, Mapping) else {}
        texts = {name: str(text) for name, text in laid.items()}
        codes[code] = f"{base(code)}@{content_id(texts)[:8]}"
        _overlays[codes[code]] = texts
        pack(codes[code])
    return codes


def _with_overlay(code: str, under: Pack, over: Pack) -> Pack:
    return Pack(
        code,
        _laid_over(under.words, over.words),
        _laid_over(under.people, over.people),
        (*under.refusals, *over.refusals),
        (*over.answers, *under.answers),
    )


def read(folder: Path, code: str) -> Pack:
    """The pack in a folder; files that are missing are empty."""
    return _parse(code, texts_in(folder))


def limits_of(codes: Iterable[str], own: Iterable[str] = ()) -> list[str]:
    """Lists the limits that a report must name about reading answers in these languages. own:
    languages for which the protocol has words of its own.
    """
    limits = []
    for code in dict.fromkeys(map(base, codes)):
        name, known = facts(code).name, pack(code)
        if not known.words and code not in own:
            limits.append(
                f"{name} has no pack of words: an option alone, in quotation marks or in the "
                "prompt's own sentence is read, other sentences and refusals are invalid "
                "(docs/reference/languages.md says how to add it)."
            )
        elif known.words and not known.words.get("checked_by") and known.words.get("named"):
            limits.append(
                f"No native speaker has checked the words by which {name} answers are read: look "
                "at some answers beside their labels before you report a number."
            )
    return limits


def blank_files() -> dict[str, str]:
    """The files of a new language, in English, with slots: file name → text."""
    return {name: (HERE / "new" / f"{name}.txt").read_text("utf-8") for name in FILES}


def texts_in(folder: Path) -> dict[str, str]:
    """The texts of the files of a pack's folder, by their names."""
    return {name: (folder / name).read_text("utf-8") for name in FILES if (folder / name).is_file()}


def _parse(code: str, files: Mapping[str, str]) -> Pack:
    lines = (line.strip() for line in files.get("refusals.txt", "").splitlines())
    refusals = [line for line in lines if line and not line.startswith("#")]
    for line in refusals:
        if not re.search(r"\[[^\[\]]+\]", line):
            raise ProtocolError(
                f"languages/{code}/refusals.txt: '{line}' has no [brackets]. Put them around the "
                "words that no answer but a refusal has."
            )
    words, people = (_table(code, name, files) for name in ("language.toml", "people.toml"))
    return Pack(code, words, people, refusals, _answers(code, files.get("answers.csv", "")))


def _table(code: str, name: str, files: Mapping[str, str]) -> Mapping[str, Json]:
    try:
        return tomllib.loads(files.get(name, ""))
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(
            f"languages/{code}/{name}: {error}. Lists are written as: reject = ['a', 'b']"
        ) from None


def _answers(code: str, text: str) -> list[AnswerRow]:
    answers = []
    try:
        for line, row in numbered_rows(text, ",", needs=COLUMNS) if text.strip() else ():
            if row["use"] not in USES:
                raise ProtocolError(
                    f"languages/{code}/answers.csv, line {line}: the last of its five cells must "
                    "be 'frame' or 'check'. Put a reply with commas into double quotes."
                )
            instrument, shape, reply, expected, use = (row[name] for name in COLUMNS)
            answers.append(AnswerRow(instrument, shape, reply.replace("\\n", "\n"), expected, use))
    except BadTable as error:
        raise ProtocolError(f"languages/{code}/answers.csv, {error}") from None
    return answers


def _laid_over(under: Mapping[str, Json], over: Mapping[str, Json]) -> dict[str, Json]:
    """A table with another laid over it, tables inside likewise."""
    result = dict(under)
    for name, value in over.items():
        known = result.get(name.removeprefix("+"))
        if name.startswith("+"):
            result[name[1:]] = [*strings(known), *strings(value)]
        elif isinstance(value, Mapping) and isinstance(known, Mapping):
            result[name] = _laid_over(known, value)
        else:
            result[name] = value
    return result
