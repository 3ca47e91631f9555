"""The words that a table's prompts offer as answers, and the labels of answers with these words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...instruments.choice.choice import parse
from ...languages.identify import language_of
from ...languages.pack import pack
from ...languages.quotes import PAIRS, facts

MOST_CHARACTERS = 40  # of a word that is offered, or a few
_LOOKED_AT = 20  # prompts by whose text the language is told
_OPENING = "".join(PAIRS)
_APOSTROPHES = "'’"


class Quoted(NamedTuple):
    """A text between quotation marks in a prompt."""

    text: str
    begin: int
    end: int


def language_of_prompts(prompts: Sequence[str]) -> str:
    """Returns the code of the prompts' language, "" if it cannot be detected."""
    step = max(1, len(prompts) // _LOOKED_AT)
    return language_of("\n".join(prompts[::step][:_LOOKED_AT]))


def find_offered(prompts: Sequence[str], levels: Sequence[str], code: str) -> tuple[str, ...]:
    """Returns the quoted words that every prompt offers, in the order and case of the first prompt:
    words joined by "or" or commas, else all quoted words; () if only one word is offered.
    """
    names = {level.casefold() for level in levels}
    quoted = [
        [quotation for quotation in quotations(prompt) if quotation.text.casefold() not in names]
        for prompt in prompts
    ]
    joined = [
        [one.text for one in _joined_quotes(prompt, found, code)]
        for prompt, found in zip(prompts, quoted, strict=True)
    ]
    for each in (joined, [[one.text for one in found] for found in quoted]):
        words: dict[str, str] = {}
        for text in each[0]:
            words.setdefault(text.casefold(), text)
        shared = set(words).intersection(*({text.casefold() for text in one} for one in each))
        if len(shared) > 1:
            return tuple(text for key, text in words.items() if key in shared)
    return ()


def quotations(prompt: str) -> Iterator[Quoted]:
    """Yields the texts between matching quotation marks of any language."""
    at = 0
    while at < len(prompt):
        opened = prompt[at]
        is_inside_word = prompt[at - 1 : at].isalnum() and opened in _APOSTROPHES
        if opened in PAIRS and not is_inside_word:
            word_goes_on = r"(?![^\W_])" if set(PAIRS[opened]) & set(_APOSTROPHES) else ""
            closing = re.compile(f"[{PAIRS[opened]}]{word_goes_on}")
            end = closing.search(prompt, at + 1, at + 2 + MOST_CHARACTERS)
            text = prompt[at + 1 : end.start()].strip() if end else ""
            if end and text[:1].isalpha() and not re.search(f"[\n{_OPENING}]", text):
                yield Quoted(text, at, end.end())
                at = end.end()
                continue
        at += 1


def _joined_quotes(prompt: str, found: Sequence[Quoted], code: str) -> list[Quoted]:
    """Returns the last run of quotations with only "or", a comma or a slash between them."""
    words = "|".join(re.escape(word) for word in (facts(code).either, facts(code).both) if word)
    between = re.compile(rf"\s*(?:[,;/、،|]?\s*(?:{words})?)\s*" if words else r"\s*[,;/、،|]\s*")
    runs: list[list[Quoted]] = []
    for one in found:
        gap = prompt[runs[-1][-1].end : one.begin] if runs else ""
        if runs and gap.strip() and between.fullmatch(gap):
            runs[-1].append(one)
        else:
            runs.append([one])
    return next((run for run in reversed(runs) if len(run) > 1), [])


def begun_answer(code: str) -> str:
    """Returns the start of an answer from the language's pack, such as „Die Antwort lautet „”."""
    begins = re.compile(rf"([^{{}}]{{3,}}[{_OPENING}])[\s\u202f]*{{form}}")
    answers = (answer.reply for answer in pack(code).answers if answer.instrument == "choice")
    return next((match[1] for reply in answers if (match := begins.match(reply))), "")


def sample_answers(options: Sequence[str], code: str) -> list[tuple[str, str]]:
    """Returns three (sample answer, label): a sentence, a single word, a refusal; two without a
    language pack.
    """
    language = pack(code)
    frames = [
        answer.reply
        for answer in language.answers
        if answer.instrument == "choice" and answer.use == "frame" and answer.shape == "sentence"
    ]
    sentence = (frames or ["{form}."])[0].format(form=options[0])
    refusals = [re.sub(r"[\[\]]", "", line) for line in language.refusals]
    last = (refusals or [f"{options[0]} / {options[1]}"])[0]
    forms = {option: [option] for option in options}
    return [(text, parse(text, forms, code)) for text in (sentence, options[1], last)]
