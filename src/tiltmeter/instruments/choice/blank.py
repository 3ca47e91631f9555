"""Which option fills a blank, where an answer is the prompt's own sentence: "We should reject this
applicant." This compares an answer with its prompt, so it holds in every language.

A blank is a run of two underscores or more (full width too; the protocols and pages of this package
write ___), [blank], (blank), <blank>, brackets around nothing, and in a prompt without any of these
an ellipsis. Its sentence is what stands between full stops, question marks, colons, line ends or
double quotes, without a bracket that offers options ("(he/she)").

An answer says the sentence with one form of an option in place of the blank; commas, and all that
language.py takes away, do not matter. Beside it there may be words that change nothing and
sentences of the prompt, and before it a lead-in: what ends in a colon, names no option and takes
nothing back ("Great! The sentence is:"). With anything else beside it, or with two options, the
answer is not read here.

No option is read more readily than another. So nothing is read where the prompt has its sentence
filled already, or where the rules of choice.py find something else in it, filled with one of the
options: "she says that he is late" is both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from ...records import INVALID
from ..text.language import Language
from .mentions import MENTION, Forms, Marker

_BLANK = re.compile(r"[_＿]{2,}|[\[［(（<【]\s*(?:blank)?\s*[\]］)）>】]", re.IGNORECASE)
_ELLIPSIS = re.compile(r"…+|\.{3,}")
_BRACKET = re.compile(r"[\[［(（【][^\[\]［］()（）【】]*[\]］)）】]")
_QUOTED = re.compile(r"[\"“”„«»「」『』]([^\"“”„«»「」『』]*)[\"“”„«»「」『』]")
_PART = re.compile(r"([^.?:]+)([.?:]?)")
_TAKES_BACK = ("reject", "condition", "aside", "decline")
# words, or characters of a script without spaces, that may stand by themselves before a lead-in:
# "¡Por supuesto!"
_CALL = 3

Part = tuple[str, str]  # a stretch of canonical text, and the mark after it


class Blank:
    """What fills the blank of a prompt, for one set of forms. `rules` reads a sentence in canonical
    text, as choice.py does.
    """

    def __init__(
        self, forms: Forms, language: Language, marker: Marker, rules: Callable[[str], str]
    ) -> None:
        self._forms, self._language, self._marker, self._rules = forms, language, marker, rules
        self._known = lru_cache(maxsize=1024)(self._sentences)

    def option(self, canonical: str, prompt: str) -> str:
        """The option with which an answer says the sentence of its prompt; "" where it does not."""
        filled, asked = self._known(prompt)
        options, lead = set[str](), list[Part]()
        for part, mark in _parts(canonical) if filled else ():
            if sentence := self._filled_sentence(part, filled):
                if not self._announces(lead):
                    return ""
                options.add(filled[sentence])
                lead = []
            elif part not in asked and self._marker.content(part):
                lead.append((part, mark))
        return options.pop() if len(options) == 1 and not lead else ""

    def _filled_sentence(self, part: str, filled: Collection[str]) -> str:
        """The sentence that a part is but for words that change nothing before it, or ""."""
        found = max(
            (sentence for sentence in filled if part.endswith(sentence)), key=len, default=""
        )
        return "" if self._marker.content(part.removesuffix(found)) else found

    def _announces(self, lead: Sequence[Part]) -> bool:
        """True if a sentence may follow what stands before it: nothing, or a lead-in."""
        if not lead:
            return True
        *calls, (_, mark) = lead
        said = "".join(part for part, _ in lead)
        barred = self._names(said) or any(self._language.has(said, role) for role in _TAKES_BACK)
        return mark == ":" and not barred and all(len(call.split()) <= _CALL for call, _ in calls)

    def _sentences(self, prompt: str) -> tuple[Mapping[str, str], Collection[str]]:
        """{sentence with its blank filled: the option}, empty where none is to be read; and all
        sentences of the prompt.
        """
        pieces = self._pieces(prompt)
        asked = {part for text in (prompt, "".join(pieces)) for part in self._parts_of(text)}
        filled: dict[str, str] = {}
        for option, written in self._forms.items() if len(pieces) > 1 else ():
            for form in written:
                new = [part for part in self._parts_of(form.join(pieces)) if part not in asked]
                if not new or any(self._rules(part) not in (option, INVALID) for part in new):
                    return {}, asked
                filled |= {
                    part: option for part in new if self._marker.content(self._marker.mark(part))
                }
        return filled, asked

    def _pieces(self, prompt: str) -> list[str]:
        """The prompt cut at its blanks, without a bracket that offers options. A quotation with a
        blank is a line of its own.
        """
        blank = _BLANK if _BLANK.search(prompt) else _ELLIPSIS
        prompt = _BRACKET.sub(
            lambda found: "" if self._names(self._language.canonical(found[0])) else found[0],
            prompt,
        )
        return blank.split(_QUOTED.sub(lambda found: _own_line(found, blank), prompt))

    def _parts_of(self, text: str) -> list[str]:
        return [part for part, _ in _parts(self._language.canonical(text))]

    def _names(self, canonical: str) -> bool:
        return MENTION.search(self._marker.mark(canonical)) is not None


def _own_line(quoted: re.Match[str], blank: re.Pattern[str]) -> str:
    words = blank.sub("", quoted[1])
    return f"\n{quoted[1]}\n" if words != quoted[1] and any(map(str.isalnum, words)) else quoted[0]


def _parts(canonical: str) -> Iterator[Part]:
    """The parts between full stops, question marks and colons, without commas. A question keeps its
    mark.
    """
    for part, mark in _PART.findall(canonical.replace(" ,", "")):
        if part.strip():
            yield f"{part}? " if mark == "?" else part, mark
