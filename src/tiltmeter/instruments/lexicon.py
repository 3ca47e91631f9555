"""Counts the words of named lists in a text, such as the agentic and communal words of a reference
letter.

A listed word matches a whole word, in any case; a word that ends in * matches the start of a word
(`confiden*`), several words match in sequence, and a word of a script without spaces anywhere. If
several match at one position, the longest counts. A list must name all forms of a word, or a stem:
`lead*` finds leads, leader and leading, but leaden too. The context of a word does not matter ("not
assertive" is a hit of assertive), and a person's name counts if it is listed (Grace, Joy).

With `inside`, as some papers count: a listed word matches inside any token between blanks ("able"
in "remarkable", "son" in "personality"), each word separately, even if it is on several lists.

Labels: the name of its list for each hit, position = its rank from 0; `neither` if the text has no
listed word. With `per = "word"` a last label `neither` has the weight of all other words of the
text, so that shares are per word, not per hit. Source of the use: Wan et al. 2023, "Kelly is a Warm
Person, Joseph is a Role Model" (Findings of EMNLP), who count agentic and communal words of
letters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from ..errors import ProtocolError
from ..languages.letters import MARKS, fold, is_unspaced
from ..languages.quotes import base
from ..protocol import InstrumentSpec, Protocol
from ..records import NEITHER, OUTCOMES, Answered, Label
from . import HitParser, Settings, rows
from .length import length
from .text.prose import LANGUAGE, MASK, ProseParser, prose

_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "‘": "'"})
_LISTS = rows(
    "The words of each list: { LIST = [words] }, or a CSV file with the columns list and word.",
    "list",
    "word",
)
_DOTTED_I = ("tr", "az")  # languages in which I is the capital of ı
Lists = Mapping[str, Sequence[str]]


class Lexicon(ProseParser, HitParser):
    """settings: lists = {list: [words]}, or rows with the columns list and word, and with the
    column language if lists differ by language.
    """

    kind = "lexicon"
    version = "2"
    summary = "words of named lists in a text: a label for each hit"
    needs: ClassVar[tuple[str, ...]] = ("lists",)
    settings_schema: ClassVar[Settings] = {
        "lists": {
            **_LISTS,
            "type": ["object", "string", "array"],
            "minProperties": 1,
            "examples": [{"agentic": ["lead*", "assertive"], "communal": ["kind", "warm*"]}],
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "minLength": 1},
            },
        },
        "inside": {
            "type": "boolean",
            "default": False,
            "description": "True if a listed word counts inside any token too, as papers count.",
        },
        "overlap": {
            "enum": ["refused", "each"],
            "default": "refused",
            "description": "What a word on two lists is: refused, or a hit of each.",
        },
        "per": {
            "enum": ["hit", "word"],
            "default": "hit",
            "description": "What shares are of: the hits of all lists, or the words of the text.",
        },
        "language": LANGUAGE,
        "mask": MASK,
    }

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns the words of the list `value` in the language, without a final *."""
        by_language = lists_of(spec)
        lists = by_language.get(language) or by_language.get("")
        words = (lists or next(iter(by_language.values()))).get(value, [])
        return [word.rstrip("*") for word in words]

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        self._inside = bool(spec.settings.get("inside"))
        self._patterns = {
            code: _finders(lists, spec, code) for code, lists in lists_of(spec).items()
        }
        super().__init__(spec, judge)

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the names of the lists of all languages}."""
        names = (name for lists in lists_of(spec).values() for name in lists)
        return {spec.attribute: list(dict.fromkeys(names))}

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if a language of the design has no lists."""
        for code in (
            protocol.languages if "language" not in self.settings else (self.settings["language"],)
        ):
            self._finders_of(code)

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label per hit in the text; if there is none, `neither` or an outcome."""
        text, outcome = prose(item, self.settings)
        code = self.settings.get("language") or item.trial.factors.get("language", "")
        finders = () if outcome else self._finders_of(code)
        hits = [name for finder in finders for name in finder.hits(text)]
        labels = [self.label(item, name, rank) for rank, name in enumerate(hits)]
        if outcome or self.settings.get("per") != "word":
            return labels or [self.label(item, outcome or NEITHER)]
        words = len(text.split()) if self._inside else length(text)
        rest = float(max(0, words - len(hits)))
        return [*labels, self.label(item, NEITHER, len(hits), rest)]

    def _finders_of(self, code: str) -> Sequence[Pattern | Inside]:
        """Returns the finders of a language, or of lists without a language if it has none."""
        finders = self._patterns.get(code) or self._patterns.get("")
        if finders is None:
            raise ProtocolError(
                f"instrument {self.name}: there are lists for {', '.join(self._patterns)}, but not "
                f"for the language '{code}'. Add rows with language = {code}."
            )
        return finders


def _finders(lists: Lists, spec: InstrumentSpec, code: str) -> Sequence[Pattern | Inside]:
    """Compiles the finders of a language's words: one finder for all lists, or one per list."""
    if spec.settings.get("inside"):
        return (Inside(lists),)
    if spec.settings.get("overlap") == "each":
        return [Pattern({name: words}, spec.name, code) for name, words in lists.items()]
    return (Pattern(lists, spec.name, code),)


class Pattern:
    """A finder of listed words by one regular expression in which longer words come first."""

    def __init__(self, lists: Lists, name: str, code: str = "") -> None:
        self._turkish = base(code) in _DOTTED_I
        self._owner: dict[str, str] = {}
        for found, words in lists.items():
            for word in words:
                key = self._fold(word)
                if not key.strip("* "):
                    raise ProtocolError(
                        f"instrument {name}: list '{found}': '{word}' is not a word."
                    )
                if self._owner.setdefault(key, found) != found:
                    raise ProtocolError(
                        f"instrument {name}: '{word}' is on the list '{found}' and on "
                        f"'{self._owner[key]}'. Leave one out."
                    )
        keys = sorted(self._owner, key=lambda key: (-len(key.rstrip("*")), key))
        self._keys = keys
        self._found = re.compile("|".join(f"({_word_pattern(key)})" for key in keys))

    def hits(self, text: str) -> list[str]:
        """Returns the name of the list for each hit, in the order of the text."""
        folded = self._fold(text)
        return [
            self._owner[self._keys[(match.lastindex or 1) - 1]]
            for match in self._found.finditer(folded)
        ]

    def _fold(self, text: str) -> str:
        return " ".join(fold(text.translate(_APOSTROPHES), self._turkish).split())


class Inside:
    """A finder of listed words anywhere inside the tokens of a text, each word separately.

    Source: the script by which Wan et al. 2023 count the words of their lists.
    """

    def __init__(self, lists: Lists) -> None:
        self._words = [
            (name, word.strip("* ").casefold()) for name, words in lists.items() for word in words
        ]

    def hits(self, text: str) -> list[str]:
        """Returns the list's name for each hit, in the order of the tokens."""
        tokens = text.casefold().split()
        return [name for token in tokens for name, word in self._words if word in token]


def _word_pattern(key: str) -> str:
    if is_unspaced(key[0]):
        return re.escape(key.rstrip("*"))
    ending = f"[\\w{MARKS}]*" if key.endswith("*") else f"(?![\\w{MARKS}])"
    return rf"(?<![\w{MARKS}]){re.escape(key.rstrip('*'))}{ending}"


def lists_of(spec: InstrumentSpec) -> dict[str, dict[str, list[str]]]:
    """Returns {language or "": {list: words}}. ProtocolError if a list is named like an outcome."""
    given: Mapping[str, Iterable[str]] | Sequence[Mapping[str, str]] = spec.settings["lists"]
    by_language: dict[str, dict[str, list[str]]] = {}
    if isinstance(given, Mapping):
        by_language[""] = {name: list(words) for name, words in given.items()}
    else:
        for row in given:
            lists = by_language.setdefault(row.get("language", ""), {})
            lists.setdefault(row["list"], []).append(row["word"])
    for name in {name for lists in by_language.values() for name in lists}:
        if name in OUTCOMES:
            raise ProtocolError(
                f"instrument {spec.name}: a list cannot be called '{name}', which is an outcome. "
                "Rename it."
            )
    return by_language
