"""The pack of one language, read from its folder and overlaid with a protocol's own folder.

A list in a protocol's `languages/pt/language.toml` replaces the shipped list of that name; a list
whose name begins with + extends the shipped one ("+reject" = ["nem"]). Lines of refusals.txt and
rows of answers.csv are always added.
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
    """A row of answers.csv. reply: may have slots such as {form}; expected: the label, or `form`
    for the option that fills {form}.
    """

    instrument: str
    shape: str
    reply: str
    expected: str
    use: str


class Pack(NamedTuple):
    """The data of a language. words: language.toml; people: people.toml; refusals: lines, with
    [brackets] around the decisive words; answers: the rows of answers.csv.
    """

    code: str
    words: Mapping[str, Json]
    people: Mapping[str, Json]
    refusals: Sequence[str]
    answers: Sequence[AnswerRow]

    def list_of(self, name: str) -> tuple[str, ...]:
        """Returns a list of words from language.toml or people.toml, or ()."""
        return strings(self.words.get(name, self.people.get(name, ())))

    def replies(self, instrument: str, expected: str) -> list[str]:
        """Lists the replies of answers.csv that an instrument should label `expected`."""
        return [
            row.reply
            for row in self.answers
            if row.instrument == instrument and row.expected == expected
        ]

    def record(self) -> Mapping[str, Json]:
        """Returns the data that labels depend on, for the hash of an annotator."""
        frames = [list(row) for row in self.answers if row.use == "frame"]
        return {
            "words": self.words,
            "people": self.people,
            "refusals": list(self.refusals),
            "frames": frames,
        }


def strings(value: Json) -> tuple[str, ...]:
    """Returns a list's items as texts; () for anything but a list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return tuple(map(str, value))


def shipped() -> tuple[str, ...]:
    """Returns the codes of all languages that have a pack."""
    return tuple(sorted(path.parent.name for path in HERE.glob("*/language.toml")))


@cache
def pack(code: str) -> Pack:
    """Reads the shipped pack for a code such as "en" or "zh-Hant" (pack "zh"); an empty pack for ""
    and for a language without one.
    """
    plain = base(code)
    if code in _overlays:
        return _with_overlay(code, pack(plain), _parse(plain, _overlays[code]))
    return read(HERE / plain, plain) if plain.isalpha() else Pack(plain, {}, {}, (), ())


def overlays(setting: Json) -> dict[str, str]:
    """Registers a protocol's own words, given as {code: {file name: text}}; returns {code: code of
    the extended language ("pt@1a2b3c4d")}. Raises ProtocolError if a file is invalid.
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
    """Reads the pack in a folder; missing files count as empty."""
    return _parse(code, texts_in(folder))


def limits_of(codes: Iterable[str], own: Iterable[str] = ()) -> list[str]:
    """Lists the limits that a report must state about parsing answers in these languages. own:
    languages for which the protocol has its own words.
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
    """Returns {file name: text} of the template files for a new language; their text is English."""
    return {name: (HERE / "new" / f"{name}.txt").read_text("utf-8") for name in FILES}


def texts_in(folder: Path) -> dict[str, str]:
    """Returns {file name: text} of the files in a pack's folder."""
    return {name: (folder / name).read_text("utf-8") for name in FILES if (folder / name).is_file()}


def _parse(code: str, files: Mapping[str, str]) -> Pack:
    lines = (line.strip() for line in files.get("refusals.txt", "").splitlines())
    refusals = [line for line in lines if line and not line.startswith("#")]
    for line in refusals:
        if not re.search(r"\[[^\[\]]+\]", line):
            raise ProtocolError(
                f"languages/{code}/refusals.txt: '{line}' has no [brackets]. Put them around the "
                "words that only a refusal has."
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
    """Merges `over` into a table: values replace, "+name" lists extend, nested tables merge."""
    result = dict(under)
    for name, value in over.items():
        base_value = result.get(name.removeprefix("+"))
        if name.startswith("+"):
            result[name[1:]] = [*strings(base_value), *strings(value)]
        elif isinstance(value, Mapping) and isinstance(base_value, Mapping):
            result[name] = _laid_over(base_value, value)
        else:
            result[name] = value
    return result
