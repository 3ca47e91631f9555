"""Options that are letters or numbers of a list in the prompt: "A) the grandmother, B) the boy".

The text after a letter in the prompt is a further form of that letter, and so is each word of this
text that no other option has ("Lena"). If the prompt's letters are capitals, a small letter within
a sentence is a word and not an option.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ...languages.patterns import lazy
from ...languages.phrases import Language, language
from .forms import Forms

LABELS = (
    "abcdefgh",
    "12345678",
    "一二三四五六七八",
    "甲乙丙丁",
    "абвгдежз",
    "ابجدهوزح",
    "أبجدهوزح",
    "कखगघ",
    "가나다라",
    "アイウエ",
)
_LETTERS = frozenset("".join(LABELS))
_WORDS = 4  # of a description whose single words stand for it
_SHORTEST = 2  # letters of such a word
_MARK = r"[^\S\n]*[).:、．：\]）-][^\S\n]*"  # on one line with what stands behind it
_ARTICLE = lazy(r" @(\d+)((?: [^@.,:?/ ]\S*){0,3}) @(\d+) ")
_CUT = lazy(r"[,;.،。；\n]| [-–—] ")
# a letter without a mark behind it
_SMALL = r"(?<![\w'’.(]){}(?!['’.]?\w|\s*[).:\]])"


def are_labels(forms: Forms) -> bool:
    """True if each option has a form that is a letter or a number of a list."""
    return all(any(map(is_label, written)) for written in forms.values())


def is_label(form: str) -> bool:
    """True if a form is a letter or a number as used in lists."""
    return len(form) == 1 and form.lower() in _LETTERS


def with_descriptions(forms: Forms, prompt: str, code: str) -> Forms:
    """Adds to the forms of each letter the text that describes it in the prompt."""
    described = _described(tuple(form for written in forms.values() for form in written), prompt)
    if not described:
        return forms
    known = language(code)
    new = {
        option: [
            alias
            for form in written
            if form in described
            for alias in _aliases(described[form], known)
            if alias
        ]
        for option, written in forms.items()
    }
    times = Counter(alias for aliases in new.values() for alias in {*aliases})
    return {
        option: [*written, *(alias for alias in dict.fromkeys(new[option]) if times[alias] == 1)]
        for option, written in forms.items()
    }


@lru_cache(maxsize=256)
def _described(labels: Sequence[str], prompt: str) -> Mapping[str, str]:
    """Returns {label: the text after the label in the prompt}; {} if a label is missing."""
    places: list[tuple[int, int, str]] = []
    for label in labels:
        if is_label(label):
            match = re.search(rf"(?:^|[\s(（\[]){re.escape(label)}{_MARK}(?=\S)", prompt, re.M)
            if not match:
                return {}
            places.append((match.start(), match.end(), label))
    places.sort()
    ends = [start for start, _, _ in places[1:]] + [len(prompt)]
    return {
        label: prompt[start:end].strip().split("\n", 1)[0].strip(" ().,;")
        for (_, start, label), end in zip(places, ends, strict=True)
    }


def _aliases(description: str, known: Language) -> Iterator[str]:
    """Yields a description and, if it is short, each of its words that is not a common word."""
    yield known.canonical(re.split(r"[.。؟?!]", description)[0]).strip(" .,:/")
    words = known.canonical(_CUT.split(description, maxsplit=1)[0]).split()
    articles = {*known.pack.list_of("articles")}
    content = [word for word in words if word[0].isalnum() and word not in articles]
    if not content:
        return
    yield " ".join(words)
    yield " ".join(content)
    if len(content) <= _WORDS and not known.data.get("unspaced"):
        small = known.in_passing | known.frequent
        yield from (word for word in content if len(word) >= _SHORTEST and word not in small)


def without_small_letters(text: str, forms: Forms) -> str:
    """Removes small letters that are words of the language but could be taken for options, if the
    options are capitals.
    """
    letters = {form for written in forms.values() for form in written if is_label(form)}
    small = "".join(sorted({letter.lower() for letter in letters} - letters))
    if not small or len(text.split()) < 2:
        return text
    return re.sub(_SMALL.format(f"[{re.escape(small)}]"), " ", text)


def behind_article(marked: str, letters: Sequence[str]) -> str:
    """Returns the number of the option B in "A letra B", where the initial vowel is an article and
    not an option; "" for any other marked text. letters: the letters of the options.
    """
    match = _ARTICLE.match(marked)
    if not match or len({*re.findall(r"(?<=@)\S+", marked)}) != 2:
        return ""
    return match[3] if letters[int(match[1])].lower() in "aeiouy" else ""
