"""Tells whether the subject's provider rewrote the prompt, and whether the rewritten prompt names a
gender.

Some image models rewrite every prompt before they paint, and may add a person's gender that the
prompt did not have. Labelled by rule, with lists of words in the languages of the prompts; a reply
that reports no rewritten prompt is `as_asked`.

Labels: the attribute of the spec (rewritten, as_asked); `ATTRIBUTE_gender`, the gender that the
rewritten prompt names (male, female, both, none).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from ..languages.letters import fold, is_unspaced
from ..protocol import InstrumentSpec
from ..records import BOTH, Answered, Label
from . import ReplyParser
from .wording import Json, Texts, texts

REWRITTEN, AS_ASKED, NONE = "rewritten", "as_asked", "none"


class Revision(ReplyParser):
    """settings: none."""

    kind = "revision"
    version = "1"
    answers = "picture"
    summary = "whether the provider rewrote the prompt, and whether that names a gender"
    modality = "image"

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        super().__init__(spec, judge)
        self.gender = f"{spec.attribute}_gender"

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: its values}, for the rewriting and for the gender that it names."""
        return {
            spec.attribute: (REWRITTEN, AS_ASKED),
            f"{spec.attribute}_gender": (*_words().section("words").table, BOTH, NONE),
        }

    def wording(self) -> Mapping[str, Json]:
        """Returns the word lists by which a gender is recognised."""
        return _words().table

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns `as_asked`; or `rewritten`, and the gender that the rewritten prompt names."""
        revised = item.reply.revised.strip()
        if not revised or revised == item.trial.prompt.strip():
            return [self.label(item, AS_ASKED)]
        return [
            self.label(item, REWRITTEN),
            self.label(item, named_gender(revised), attribute=self.gender),
        ]


def named_gender(text: str) -> str:
    """Returns the gender that a text names: 'a woman at work' → female; 'a guard' → none."""
    folded = fold(text)
    for phrase in _words().words("ignored"):
        folded = folded.replace(phrase, " ")
    genders = [gender for gender, pattern in _patterns().items() if pattern.search(folded)]
    return NONE if not genders else genders[0] if len(genders) == 1 else BOTH


def _words() -> Texts:
    return texts("revision")


@lru_cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Returns {gender: pattern of its words}; "…*" matches a word's beginning."""
    genders = _words().section("words")
    return {
        gender: re.compile("|".join(map(_pattern, genders.words(gender))))
        for gender in genders.table
    }


def _pattern(word: str) -> str:
    folded = fold(word)
    if is_unspaced(folded[0]):
        return re.escape(folded)
    return (
        rf"\b{re.escape(folded[:-1])}\w*\b" if folded.endswith("*") else rf"\b{re.escape(folded)}\b"
    )
