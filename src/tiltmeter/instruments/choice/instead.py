"""Reads answers that state no option: another word or fact, a misspelling, or the rest of a
quotation that the given start of the answer opened. The rules: reader.py.
"""

from __future__ import annotations

import re

from ...languages import refusals
from ...languages.letters import is_slip
from ...languages.phrases import DENYING
from ...languages.quotes import PAIRS
from ...records import NEITHER
from ..text.thought import without_thought
from .blank import Blank
from .labels import are_labels, is_label
from .meanings import THIRD
from .mentions import MENTION, SENTENCE_OF, values
from .statements import Offered

LONGEST_FACT = 80  # characters of a sentence that answers with something else than the options
LONGEST_WORD = 40  # characters of what stands in a quotation that a begun answer opened


class Instead:
    """The rules for answers to a question that put something in place of its options."""

    def __init__(self, offered: Offered, blank: Blank) -> None:
        forms, language, self._marker, self._passing, yes_no = offered
        self._language, self._blank = language, blank
        self._options, self._labels = list(forms), are_labels(forms)
        self._decides = yes_no is not None
        self._written = {
            language.canonical(text).strip(): name
            for name, texts in forms.items()
            for text in texts
        }

    def word(self, canonical: str, body: str, prompt: str) -> str:
        """Returns the option that a single word misspells or abbreviates ("Y"); `neither` if a word
        or two, another fact, or a letter outside the prompt's list stands in place of the options;
        else "".
        """
        word = canonical.strip(" .:,/")
        if not word or len(word) > LONGEST_FACT:
            return ""
        if self._labels and is_label(word):
            return NEITHER
        initial = self._decides and len(word) == 1  # "Y"
        similar = {
            option
            for form, option in self._written.items()
            if (form[0] == word if initial else is_slip(word, form))
        }
        if len(similar) == 1:
            return similar.pop()
        asked = self._language.canonical(prompt)
        offered = values(self._marker.mark(asked)) - {THIRD} if prompt else set[str]()
        idle = self._language.has(canonical, "affirm", "correction", "asks_back")
        if idle or f" {word} " in asked or len(offered) != len(self._options):
            return ""
        another = self._blank.word(f" {word} ") == NEITHER
        return NEITHER if another or self._is_fact(body, prompt) else ""

    def _is_fact(self, body: str, prompt: str) -> bool:
        """True if an answer is one sentence that names no option but answers the question: "The dog
        ate it", if asked whether Ann or Ben did.
        """
        language, one = self._language, len(SENTENCE_OF.findall(body.strip(" .,:/"))) < 3
        if self._decides or self._passing or not (one and body.endswith(". ")):
            return False
        if self._blank.asks(prompt) or MENTION.search(self._marker.mark(body)):
            return False
        if language.has(body, *DENYING, "decline", "excuse", "both", "aside"):
            return False
        asked = SENTENCE_OF.findall(language.canonical(prompt))
        questions = "".join(part for part in asked if part.endswith("?"))
        answers = language.has(body, "announce", "approve", "likely", "modal")
        return answers or refusals.shares_word(body, questions, language)

    def begun(self, text: str, begin: str) -> str:
        """Returns the option that a reply completes inside quotation marks opened by `begin`; "" if
        it does not close them, or goes on to another option ("he' or 'she'").
        """
        opened, reply = begin.rstrip()[-1:], text.removeprefix(begin)
        # an apostrophe inside a word is none, a capital letter behind it begins anew
        closing = (
            re.search(f"[{PAIRS[opened]}](?![^\\W\\d_])|[{PAIRS[opened]}](?=[A-Z][a-z])", reply)
            if opened in PAIRS
            else None
        )
        if not closing or closing.start() > LONGEST_WORD:
            return ""
        inside = reply[: closing.start()]
        if self._marker.goes_on(reply[closing.end() :]):
            return ""
        words = self._language.canonical(without_thought(inside))
        marked = self._marker.mark(words)
        if not (named := values(marked)):
            return self._blank.word(words)
        alone = len(named) == 1 and min(named).isdigit() and not self._marker.content(marked)
        return self._options[int(min(named))] if alone else ""
