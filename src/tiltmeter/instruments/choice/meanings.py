"""Lists every way to name the options: their forms, the cases and endings of these, two forms
merged into one, and the forms of verbs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations

from ...languages.letters import without_accents
from ...languages.patterns import lazy
from ...languages.phrases import Language
from .forms import Forms, cases_of, merge_forms

THIRD = "third"
_LONG = 6  # letters of a word that may be written without its accents: "sabia" is another word


def meanings(forms: Forms, language: Language) -> dict[str, str]:
    """Returns {canonical words that name options: the options' mark, such as "0" or "0+1"}."""
    canonical = language.canonical
    words = {
        canonical(form): str(number)
        for number, written in enumerate(forms.values())
        for form in written
    }
    meaning = dict(words) | _variants(words, language)
    for one, first in words.items():
        for other, second in words.items():
            if first != second:
                for text in merge_forms(one.strip(), other.strip()):
                    meaning.setdefault(canonical(text), f"{first}+{second}")
    for (m, own), (n, others) in permutations(enumerate(forms.values()), 2):
        for case in cases_of(own, language):  # "his/she" offers both, "she/her" one
            for word in (*others, *cases_of(others, language)):
                meaning.setdefault(canonical(f"{case}/{word}"), f"{m}+{n}")
    return {canonical(word): THIRD for word in language.pack.list_of("third")} | meaning


def _variants(words: Mapping[str, str], language: Language) -> dict[str, str]:
    """Returns {inflected form: option's number}, without declared or ambiguous forms."""
    meant: dict[str, set[str]] = {}
    article = lazy(rf"{language.role('articles').pattern} ")
    for word, number in words.items():
        bare = {word.strip(), article.sub("", word, count=1).strip()} - {""}
        shapes = bare.union(*map(language.variants, bare))
        plain = {without_accents(shape) for shape in shapes if len(shape) >= _LONG}
        for shape in shapes | plain:
            meant.setdefault(f" {shape} ", set()).add(number)
    return {
        shape: numbers.pop()
        for shape, numbers in meant.items()
        if len(numbers) == 1 and shape not in words
    }


def verbs(forms: Forms, meaning: Mapping[str, str], language: Language) -> dict[str, str]:
    """Returns {option's number: pattern of its verb}; omits patterns that match another option."""
    patterns = {
        str(number): "|".join(filter(None, (_verb(form, language) for form in written)))
        for number, written in enumerate(forms.values())
    }
    return {
        number: pattern
        for number, pattern in patterns.items()
        if pattern
        and not any(
            meant != number and re.fullmatch(pattern, word.strip())
            for word, meant in meaning.items()
        )
    }


def _verb(form: str, language: Language) -> str:
    """Returns a pattern for the forms of a verb; "" for capitalised words, such as German nouns."""
    small = form[:1].islower() or not form[:1].isupper()
    return language.verb_stem(language.canonical(form).strip()) if small else ""
