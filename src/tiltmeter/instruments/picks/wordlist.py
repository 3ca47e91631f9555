"""A list of words that answers pick from: its forms, lexemes and classes in one language, and the
check of its rows.

A row is one printed word: `language`, `class`, `word`, and optionally `lexeme` (the name shared by
the forms of one word; the word itself if empty), `gender` (f or m if the word has two forms) and
`remark`:

    again   the word stands twice in this class, as printed
    alone   only one gender's form is printed

A word is looked up by its letters and digits alone: case, width, hyphens, spaces, quotes and markup
do not matter. Other endings, spellings and missing accents (the table [picks] of the language's
pack) count if they fit only one lexeme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import Any

from ...errors import ProtocolError, UnknownName
from ...languages import quotes
from ...languages.letters import fold, is_unspaced, key, without_accents
from ...languages.pack import pack
from ...languages.phrases import language
from ...records import OUTCOMES, Json

OFF_LIST, SEVERAL = "off_list", "several"  # values of a label that no lexeme and no class may have
REMARKS = ("", "again", "alone")
Rows = Sequence[Mapping[str, str]]


@cache
def language_data(code: str) -> Mapping[str, Any]:
    """Returns the table [picks] of a language's pack; a missing "and" is taken from the CLDR."""
    table = pack(code).words.get("picks")
    data_of: Mapping[str, Json] = table if isinstance(table, Mapping) else {}
    facts = quotes.facts(code)
    joints = [word for word in (facts.both, facts.either) if any(map(str.isalpha, word))]
    return {"and": joints, **data_of}


class WordList:
    """One language's list. classes: {lexeme: its classes}; order: {lexeme: index in the list}."""

    def __init__(self, code: str, rows: Rows) -> None:
        self.code = code
        self.data: Mapping[str, Any] = language_data(code)
        self.forms: dict[str, str] = {}
        self._written: dict[str, str] = {}
        turkish = pack(code).words.get("case") == "tr"
        self.classes: dict[str, tuple[str, ...]] = {}
        self.order: dict[str, int] = {}
        for row in rows:
            lexeme = row.get("lexeme") or row["word"]
            self.forms[key(row["word"])] = lexeme
            self._written[fold(row["word"], turkish)] = lexeme
            self.order.setdefault(lexeme, len(self.order))
            self.classes[lexeme] = tuple(
                dict.fromkeys((*self.classes.get(lexeme, ()), row["class"]))
            )
        self.unspaced = all(is_unspaced(form[0]) for form in self.forms)
        self.longest = max(map(len, self.forms))
        self.most = max(len(re.split(r"[\s’'-]+", row["word"])) for row in rows)  # words in a form
        for written, lexeme in self._others():
            self.forms.setdefault(written, lexeme)

    def find(self, text: str) -> str:
        """Returns the lexeme of which a text is a form, or "" if it is no listed form."""
        return self.forms.get(key(text), "")

    def _others(self) -> Iterator[tuple[str, str]]:
        """Yields (unprinted spelling, lexeme) for spellings that fit only one lexeme."""
        by_form: dict[str, set[str]] = {}
        for written, lexeme in self._variants():
            by_form.setdefault(written, set()).add(lexeme)
        return (
            (written, lexemes.pop())
            for written, lexemes in by_form.items()
            if written and len(lexemes) == 1
        )

    def _variants(self) -> Iterator[tuple[str, str]]:
        for alias, printed in self.data.get("also", {}).items():
            if key(printed) in self.forms:
                yield key(alias), self.forms[key(printed)]
        phrases = language(self.code)
        grows = phrases.pack.list_of("prefixes") or phrases.pack.list_of("particles")
        for form, lexeme in self.forms.items():
            yield from ((key(shape), lexeme) for shape in phrases.variants(form) if grows)
            for printed, written in self.data.get("endings", ()):
                if form.endswith(printed) and len(form) > len(printed):
                    yield form.removesuffix(printed) + written, lexeme
        inflected = [*self._inflected()]
        yield from inflected
        for prefix in phrases.pack.list_of("prefixes"):
            yield from ((f"{prefix}{form}", lexeme) for form, lexeme in inflected)
        also = {
            key(alias): self.forms.get(key(printed))
            for alias, printed in self.data.get("also", {}).items()
        }
        known_forms = (*also.items(), *self.forms.items(), *inflected)
        for written, words_of in known_forms:
            if words_of:
                spelled = written
                for letter, others in self.data.get("spellings", ()):
                    spelled = spelled.replace(letter, others)
                plain = (without_accents(written), spelled, without_accents(spelled))
                yield from ((shape, words_of) for shape in plain)

    def _inflected(self) -> Iterator[tuple[str, str]]:
        """Yields (form in another gender, number or case, lexeme): "creativa", "pewna siebie"."""
        groups = self.data.get("inflections", ())
        for written, lexeme in self._written.items() if groups else ():
            words = written.split()
            for at, word in enumerate(words):
                for ending, other in (pair for group in groups for pair in permutations(group, 2)):
                    # to strip an ending is to make another word: French calme, English calm
                    if other and word.endswith(ending) and len(word) > len(ending):
                        changed = [*words[:at], word[: len(word) - len(ending)] + other]
                        yield key("".join([*changed, *words[at + 1 :]])), lexeme


def check_rows(rows: Rows, classes: Sequence[str], where: str) -> None:
    """Raises ProtocolError with the line's number if a row is faulty or ambiguous."""
    lines_of: dict[tuple[str, str, str], int] = {}
    word_of: dict[tuple[str, str], str] = {}
    for line, row in enumerate(rows, 2):
        problem = _missing(row) or _unknown(row, classes)
        if problem:
            raise ProtocolError(f"{where}, line {line}: {problem}")
        word, language, lexeme = row["word"], row["language"], row.get("lexeme") or row["word"]
        first = lines_of.setdefault((language, row["class"], word), line)
        if first != line and row.get("remark") != "again":
            raise ProtocolError(
                f"{where}, line {line}: '{word}' ({language}) is in the class '{row['class']}' "
                f"already, line {first}. Remove one, or write 'again' into the column remark."
            )
        if word_of.setdefault((language, key(word)), lexeme) != lexeme:
            raise ProtocolError(
                f"{where}, line {line}: '{word}' ({language}) is also a form of "
                f"'{word_of[language, key(word)]}'. Give both the same lexeme, or remove one."
            )
    _check_genders(rows, where)


def _missing(row: Mapping[str, str]) -> str:
    for name in ("language", "class", "word"):
        if not row.get(name, "").strip():
            if name in row:
                return f"'{name}' is empty."
            return f"'{name}' is missing: the list needs the columns language, class, word."
    return "" if key(row["word"]) else f"'{row['word']}' has no letters."


def _unknown(row: Mapping[str, str], classes: Sequence[str]) -> str:
    if classes and row["class"] not in classes:
        return f"{UnknownName('class', row['class'], classes)} Correct it, or add it to 'classes'."
    for name, allowed in (("gender", ("", "f", "m")), ("remark", REMARKS)):
        if row.get(name, "") not in allowed:
            return str(UnknownName(name, row[name], [value for value in allowed if value]))
    for name in (row.get("lexeme") or row["word"], row["class"]):
        if name in (*OUTCOMES, OFF_LIST, SEVERAL):
            return f"'{name}' is the name of an outcome. Give another lexeme or class."
    return ""


def _check_genders(rows: Rows, where: str) -> None:
    genders: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        genders.setdefault((row["language"], row.get("lexeme") or row["word"]), set()).add(
            row.get("gender", "")
        )
    for line, row in enumerate(rows, 2):
        gender, article_gender = (
            row.get("gender", ""),
            genders[row["language"], row.get("lexeme") or row["word"]],
        )
        other = {"f": "m", "m": "f"}.get(gender)
        if other and other not in article_gender and row.get("remark") != "alone":
            raise ProtocolError(
                f"{where}, line {line}: '{row['word']}' ({row['language']}) has the gender "
                f"{gender}, but its lexeme has no form with the gender {other}. Add one, or write "
                "'alone' into the column remark."
            )
