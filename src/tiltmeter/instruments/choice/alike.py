"""Replaces the words of an answer that no rule knows, so that similar answers become one text.

A model that explains itself says the same in ever new words: "because the kind worker in this text
…", "because the bold teacher in this text …". What the clauses of an answer state (statements.py)
depends on the words of the language's pack, of the options and of the lists of frequent words, on
marks, and on how many other words stand between them. So each other word is replaced by the same
stand-in; the result recurs, and is read once. Only in ASCII and Latin scripts, where no rule looks
at single letters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ...languages.identify import frequent_words
from ...languages.letters import fold, straight, without_accents
from ...languages.patterns import NEVER, lazy
from ...languages.phrases import Language, language
from ...languages.remembered import Remembered
from ...records import Json
from .mentions import Marker
from .statements import ONE_SENTENCE

RECURRING = 200  # characters; shorter answers are kept with their value
STAND_IN = "qqqqq"
_SHORTEST = 3  # letters of a word that is replaced
_LETTERS = lazy(r"[^\W\d_]+")
_WILD = lazy(r"([^\W\d_]*)\*([^\W\d_]*)")


class Alike:
    """A reader that replaces the words that no rule knows. read: returns the value that an answer's
    clauses state (Statements.value).
    """

    def __init__(self, known: Language, marker: Marker, read: Callable[[str, str], str]) -> None:
        self._code, self._latin = known.pack.code, "LATIN" in known.scripts
        self._word = Remembered(self._known_word).__getitem__
        self._named = {word for text in marker.meanings for word in text.split()}
        self._stem = lazy("|".join(marker.stems.values()) or NEVER)
        self._read, self._remembered = read, lru_cache(maxsize=8192)(read)

    def value(self, canonical: str, body: str) -> str:
        """Returns the value that an answer's clauses state; short answers that differ only in
        unknown words share one cached result. body: `canonical` without the prompt's sentences.
        """
        alike = self.text(canonical)
        if len(alike) >= RECURRING:
            return self._read(canonical, body)
        return self._remembered(alike, alike if body == canonical else self.text(body))

    def text(self, canonical: str) -> str:
        """Replaces unknown words by stand-ins, unless the length would cross ONE_SENTENCE."""
        if not self._latin or not canonical.isascii():
            return canonical
        text = " ".join(map(self._word, canonical.split(" ")))
        short, shorter = len(canonical) <= ONE_SENTENCE, len(text) <= ONE_SENTENCE
        return text if short == shorter else canonical

    def _known_word(self, word: str) -> str:
        """Returns a word of canonical text that some rule knows; for others a stand-in."""
        replaced = len(word) >= _SHORTEST and word.isalpha() and word not in self._named
        replaced = replaced and not self._stem.fullmatch(word)
        return STAND_IN if replaced and not _words(self._code).has(word) else word


class _KnownWords(NamedTuple):
    """The words that some rule knows in a language, and beginnings and endings of others."""

    words: Collection[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]

    def has(self, word: str) -> bool:
        """True if a rule may look at the word."""
        begins = word.startswith(self.beginnings) or word.endswith(self.endings)
        return begins or word in self.words


@cache
def _words(code: str) -> _KnownWords:
    """Collects all words of a language's pack and of the lists of frequent words. Leaves out the
    patterns of refusals, which are matched only against the first words of an answer.
    """
    known = language(code)
    written = {name: value for name, value in known.pack.record().items() if name != "words"}
    written |= {name: value for name, value in known.data.items() if name != "refusal"}
    text = straight("\n".join(_strings(written)))
    words = {*known.frequent, *_LETTERS.findall(fold(text)), *known.canonical(text).split()}
    words.update(*frequent_words().values())
    beginnings, endings = set[str](), set[str]()
    for begin, end in _WILD.findall(fold(text)):
        (beginnings if begin else endings).add(begin or end)
    words |= {without_accents(word) for word in words}
    return _KnownWords(words, tuple(beginnings - {""}), tuple(endings - {""}))


def _strings(value: Json) -> Iterator[str]:
    """Yields all texts inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(part)
