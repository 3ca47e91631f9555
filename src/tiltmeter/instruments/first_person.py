"""The gender that a text gives to its first person, by morphology: Russian past tenses, short forms
and predicates agree with *я* (pymorphy3, of the extra `morphology`).

Clauses with the subject *я* are parsed, also those that leave it out in a text that has it
elsewhere. The first word after it that shows a single gender counts, unless another subject in the
nominative comes before. An adjective or noun in the instrumental counts after a form of *быть*.

Label: masculine or feminine; `both` if a text has both; `neither` if no word shows a gender.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import MissingExtra
from ..protocol import InstrumentSpec
from ..records import BOTH, NEITHER, Answered, Label
from . import Parser
from .text.prose import LANGUAGE, prose

if TYPE_CHECKING:
    from pymorphy3 import MorphAnalyzer

MASCULINE, FEMININE = "masculine", "feminine"
_GENDERS = {"masc": MASCULINE, "femn": FEMININE}
_CLAUSE = re.compile(r"[.!?;:\n]+|,")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_AGREEING = {"VERB", "ADJS", "PRTS"}  # past tenses and short forms have a gender of their own
_SUBJECTS = {"NOUN", "NPRO"}
_SELF = {"сам": MASCULINE, "сама": FEMININE}


class FirstPerson(Parser):
    """settings: language, if the design has no such column."""

    kind = "first_person"
    version = "1"
    summary = "the gender of the first person of a Russian text, by morphology"
    modality = "text"
    settings_schema: ClassVar[Mapping[str, Any]] = {"language": LANGUAGE}

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: (masculine, feminine)}."""
        return {spec.attribute: [MASCULINE, FEMININE]}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns a Russian sentence whose speaker has this gender."""
        return ("Я сделал это." if value == MASCULINE else "Я сделала это.",)

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label. Raises MissingExtra if pymorphy3 is not installed."""
        text, outcome = prose(item, self.settings)
        return [self.label(item, outcome or gender_of(text))]


def gender_of(text: str) -> str:
    """Returns the gender of a Russian text's speaker: "Я всегда была смелой." is feminine."""
    genders = Counter(_genders(text))
    if not genders:
        return NEITHER
    return next(iter(genders)) if len(genders) == 1 else BOTH


def _genders(text: str) -> Iterator[str]:
    """Yields the gender of the speaker in each clause that shows it."""
    speaks = False  # the clause before was about the speaker
    for clause in _CLAUSE.split(text):
        words = [word.lower() for word in _WORD.findall(clause)]
        if "я" in words:
            speaks = True
            after, before = words[words.index("я") + 1 :], words[: words.index("я")]
            gender = _predicate(after) or _predicate(before[::-1])
        elif speaks and not any(map(_is_subject, words)):
            gender = _predicate(words)
        else:
            speaks, gender = speaks and not words, ""
        if gender:
            yield gender


def _predicate(words: Sequence[str]) -> str:
    """Returns the gender of the first word that must agree in gender with the speaker, or ""."""
    for place, word in enumerate(words):
        if word in _SELF:
            return _SELF[word]
        tag = _tag(word)
        if tag.POS in _AGREEING and tag.number == "sing" and tag.gender in _GENDERS:
            return _GENDERS[tag.gender]
        if tag.POS in _AGREEING and place:  # a verb without a gender: “я хочу, …”
            break
        if tag.POS in {"ADJF", "PRTF"} and tag.case == "nomn" and tag.gender in _GENDERS:
            return _GENDERS[tag.gender]
        if _is_subject(word):
            break
    return ""


def _is_subject(word: str) -> bool:
    tag = _tag(word)
    return tag.POS in _SUBJECTS and tag.case == "nomn"


@lru_cache(maxsize=50_000)
def _tag(word: str) -> Any:
    return _analyser().parse(word)[0].tag


@lru_cache
def _analyser() -> MorphAnalyzer:
    try:
        import pymorphy3
    except ImportError:
        raise MissingExtra("Reading the first person in Russian texts", "morphology") from None
    return pymorphy3.MorphAnalyzer(lang="ru")
