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
CALLED = ("language", "lang", "sprache", "langue", "idioma", "lingua", "język", "язык")
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
        is_called = column.casefold() in CALLED
        codes = {
            value: value
            if is_called and _CODE.fullmatch(value)
            else named_languages().get(value, "")
            for value in {row[column].strip().casefold() for row in rows}
        }
        if not is_called and not all(codes.values()):
            continue
        for value, code in codes.items():
            if not (is_called and code):
                texts = [row[prompt] for row in rows if row[column].strip().casefold() == value]
                spoken = language_of_prompts(texts)
                codes[value] = spoken if is_called or spoken == code else ""
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
    typed: dict[str, tuple[str, ...]] = {}
    for option in options:
        code, colon, rest = option.partition(":")
        is_named = bool(colon) and code.strip() in prompts
        split = filter(None, map(str.strip, (rest if is_named else option).split(",")))
        typed[code.strip() if is_named else ""] = tuple(split)
    plain = typed.pop("", ())
    offered = {}
    for code, texts in prompts.items():
        has_plain = len(prompts) == 1 or all(
            any(word.casefold() in text.casefold() for text in texts) for word in plain
        )
        words = typed.get(code) or (plain if has_plain else ())
        offered[code] = words or find_offered(texts, levels, code)
    lacking = [code for code, words in offered.items() if not words]
    if len(prompts) > 1 and (lacking or len({len(words) for words in offered.values()}) > 1):
        code = next(iter(lacking or offered))
        raise UsageError(
            f"{name}: it is not known which words an answer in {facts(code).name} chooses between "
            f"({len(prompts[code])} prompts). Type as many words of each language, in the same "
            f"order: {' '.join(f'--options {code}:A,B' for code in prompts)}"
        )
    if lacking:
        raise UsageError(
            f"{name}: no words in quotation marks are in all prompts, so it is not known "
            "which answers to count. Type the words that an answer chooses between: --options "
            "A,B; or, to compare how long answers are: --measure length"
        )
    return offered
