"""The languages of a table of prompts: a column of them, and the words offered in each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...errors import UsageError
from ...languages.quotes import facts, named_languages
from ...row_files import Row
from .offered import find_offered, language_of_prompts

LANGUAGE = "language"  # the column of a protocol
# What people call such columns.
CALLED = (
    "language",
    "lang",
    "sprache",
    "langue",
    "idioma",
    "lingua",
    "taal",
    "język",
    "язык",
    "dil",
)
_CODE = re.compile(r"[a-z]{2,3}(?:-\w+)*")


def find_languages(
    rows: Sequence[Row], prompt: str, columns: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Returns the column of languages and {its value: code}; ("", {}) if the table has none.

    A value is a code, a language's name in English or in itself, or, in a column that is called a
    language, the language of its prompts. A column that is called otherwise needs values that agree
    with the prompts.
    """
    for column in columns:
        codes, is_called = {}, column.casefold() in CALLED
        for value in dict.fromkeys(row[column].strip() for row in rows):
            code = value if _CODE.fullmatch(value) and is_called else ""
            code = code or named_languages().get(value.casefold(), "")
            if not code or not is_called:
                prompts = [row[prompt] for row in rows if row[column].strip() == value]
                spoken = language_of_prompts(prompts)
                code = spoken if is_called or spoken == code else ""
            codes[value] = code
            if not code:
                break
        if all(codes.values()) and len(set(codes.values())) == len(codes):
            return column, codes
    return "", {}


def offered_words(
    name: str,
    prompts: Mapping[str, Sequence[str]],
    levels: Sequence[str],
    options: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """Returns {language: words offered}, the same number in each, in the order of the prompts.

    prompts: {code of a language ("" if unknown): its prompts}. options: as typed, each `A,B` or
    `LANGUAGE:A,B`. Raises UsageError, with the options to type, if a language has none.
    """
    typed, plain = _typed(options, prompts)
    offered = {}
    for code, texts in prompts.items():
        has_plain = len(prompts) == 1 or all(
            any(word.casefold() in text.casefold() for text in texts) for word in plain
        )
        words = typed.get(code) or (plain if has_plain else ())
        offered[code] = words or find_offered(texts, levels, code)
    lacking = [code for code, words in offered.items() if not words]
    if lacking and len(prompts) > 1:
        raise UsageError(
            f"{name}: it is not known which words an answer in {facts(lacking[0]).name} chooses "
            f"between ({len(prompts[lacking[0]])} prompts). Type the words of each language, in "
            f"the same order: {' '.join(f'--options {code}:A,B' for code in prompts)}"
        )
    if lacking:
        raise UsageError(
            f"{name}: no words in quotation marks are in all prompts, so it is not known "
            "which answers to count. Type the words that an answer chooses between: --options "
            "A,B; or, to compare how long answers are: --measure length"
        )
    if len({len(words) for words in offered.values()}) > 1:
        raise UsageError(
            f"{name}: the languages offer different numbers of words. Type the words of each, in "
            f"the same order: {' '.join(f'--options {code}:A,B' for code in prompts)}"
        )
    return offered


def _typed(
    options: Sequence[str], codes: Mapping[str, object]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Splits typed options: ({language: its words}, the words without a language)."""
    typed: dict[str, tuple[str, ...]] = {}
    plain: tuple[str, ...] = ()
    for option in options:
        code, colon, words = option.partition(":")
        split = tuple(filter(None, map(str.strip, (words if colon else option).split(","))))
        if colon and code.strip() in codes:
            typed[code.strip()] = split
        else:
            plain = tuple(filter(None, map(str.strip, option.split(","))))
    return typed, plain
