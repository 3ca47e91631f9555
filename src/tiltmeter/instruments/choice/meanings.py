"""Lists every way to name the options: their forms, the cases and endings of these, two forms
merged into one, and the forms of verbs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations

from ...languages.letters import without_accents
from ...languages.patterns import lazy
from ...languages.phrases import DENYING, Language
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
    for (m, written), (n, others) in permutations(enumerate(forms.values()), 2):
        for case in cases_of(written, language):  # "his/she" offers both, "she/her" one
            for word in (*others, *cases_of(others, language)):
                meaning.setdefault(canonical(f"{case}/{word}"), f"{m}+{n}")
    return {canonical(word): THIRD for word in language.pack.list_of("third")} | meaning


def _variants(words: Mapping[str, str], language: Language) -> dict[str, str]:
    """Returns {inflected form: option's number}, without declared or ambiguous forms."""
    owners: dict[str, set[str]] = {}
    article = lazy(rf"{language.role('articles').pattern} ")
    for word, number in words.items():
        bare = {word.strip(), article.sub("", word, count=1).strip()} - {""}
        shapes = bare.union(*map(language.variants, bare))
        plain = {without_accents(shape) for shape in shapes if len(shape) >= _LONG}
        for shape in shapes | plain:
            owners.setdefault(f" {shape} ", set()).add(number)
    return {
        shape: numbers.pop()
        for shape, numbers in owners.items()
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
            named != number and re.fullmatch(pattern, word.strip())
            for word, named in meaning.items()
        )
    }


def separated(forms: Forms, language: Language) -> list[tuple[re.Pattern[str], str]]:
    """Lists (pattern of a separated verb, its text as one word) of German and Dutch options: "lehne
    die Bewerbung ab" is "die Bewerbung ablehnen".
    """
    particles = language.pack.list_of("separable")
    texts = (language.canonical(form).strip() for written in forms.values() for form in written)
    between = r"((?: [^\s.?,:]+){0,12}?)"
    return [
        (lazy(rf" {_finite(text.removeprefix(part))}{between} {part}(?= (?:[.?,:]|$))"), text)
        for text in texts
        for part in particles
        if text.startswith(part) and text.endswith("en") and len(text) > len(part) + _LONG - 2
    ]


def _finite(infinitive: str) -> str:
    """Returns a pattern of the finite forms of a verb: lade, lädt of "laden"; wijs of "wijzen"."""
    stem = infinitive.removesuffix("en").replace("a", "(?:a|ä|aa)").replace("e", "ee?")
    last = {"z": "[zs]", "v": "[vf]"}.get(stem[-1:], stem[-1:])
    return rf"{stem[:-1]}{last}(?:e|st|t|et|est|en|te|ten|de|den)?"


def opposites(forms: Forms, language: Language) -> tuple[str, str] | None:
    """Returns (granting, denying option) if just one of two options denies, as in "invite" or
    "reject", "hire" or "not hire": whoever does not do the one does the other. Else None.
    """
    denying = [
        option
        for option, written in forms.items()
        if any(_denies(form, language) for form in written)
    ]
    if len(forms) != 2 or len(denying) != 1:
        return None
    return next(option for option in forms if option not in denying), denying[0]


def _denies(form: str, language: Language) -> bool:
    """True if an option is a word for denying, or has a negation."""
    negated = " " in form.strip() and language.has(language.canonical(form), *DENYING)
    return negated or any(language.is_one_of(form, name) for name in ("dissent", "denying"))


def opposite_marks(forms: Forms, language: Language) -> dict[str, str]:
    """Returns {mark of a rejected option: mark of the option that is its negation}, for options
    that are opposites, and for such as "renew" and "not renew".
    """
    if pair := opposites(forms, language):
        granting, denying = map([*forms].index, pair)
        return {f"~{granting}": f"@{denying}", f"~{denying}": f"@{granting}"}
    texts = [{language.canonical(form) for form in written} for written in forms.values()]
    denials = [language.canonical(word) for word in language.pack.list_of("reject")]
    return {
        f"~{one}": f"@{other}"
        for one, other in permutations(range(len(texts)), 2)
        if any(f"{no}{text.lstrip()}" in texts[other] for no in denials for text in texts[one])
    }


def _verb(form: str, language: Language) -> str:
    """Returns a pattern for the forms of a verb; "" for capitalised words, such as German nouns."""
    small = form[:1].islower() or not form[:1].isupper()
    return language.verb_stem(language.canonical(form).strip()) if small else ""
