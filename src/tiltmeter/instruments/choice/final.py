"""The last statement of an answer, read as an answer of its own: what its conclusion, its last line
or its last sentence chooses, also by a place ("the latter", "B", "②").

A place counts if a clause says nothing else. It is that of the answer's own list ("A) tea"), else
of the prompt's, else of the order in which the prompt names the options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from ...languages.letters import is_unspaced
from ...languages.phrases import DENYING, NEVER, Language
from .mentions import MENTION, SENTENCE_OF, WORDLESS, Marker

_LABELS = ("abcdefgh", "12345678", "一二三四五六七八", "甲乙丙丁", "абвгдежз", "ابجدهوزح")
# roles whose words may stand beside a place
_BESIDE = ("announce", "approve", "conclusion", "filler", "forced", "articles", "option_nouns")
_LONGEST = 200  # characters of a conclusion


class Final:
    """The rules for one set of options in one language. read: the option that a stretch of
    canonical text states in whatever words, for a prompt, if it was announced; "" for none.
    """

    def __init__(
        self,
        language: Language,
        marker: Marker,
        options: Sequence[str],
        read: Callable[[str, str, bool], str],
    ) -> None:
        self._language, self._marker = language, marker
        self._options, self._read = options, read
        self._places = [language.any_of(words) for words in language.places]
        beside = [language.role(name).pattern for name in _BESIDE]
        self._beside = re.compile("|".join(name for name in beside if name != NEVER) or NEVER)
        labels = "|".join(re.escape(label) for run in _LABELS for label in run)
        self._label = re.compile(rf"(?<= )(?:{labels})(?= )")
        self._listed = re.compile(rf"(?<= )({labels})(?: [.,:/])* @(\d+)(?= )")
        self._asked = lru_cache(maxsize=64)(self._order_of)

    def option(self, told: str, prompt: str, *, whole: bool = True) -> str:
        """The option that the end of an answer states; "" for none. told: canonical text without
        the prompt; whole: the last sentence counts too, and not only what is announced.
        """
        for end, announced in self._ends(told, whole):
            value = self._read(end, prompt, announced)
            if value := value or self._by_place(end, told, prompt):
                return value
        return "" if whole else self._chosen_place(told, prompt)

    def _chosen_place(self, told: str, prompt: str) -> str:
        """The option whose place the last sentence chooses and names at its end ("Given the usual
        reading I choose the former"); "" for none.
        """
        last = f" {(SENTENCE_OF.findall(told.strip(' .'))[:-1] or [''])[-1].strip(' .:,')} "
        has = self._language.has
        chooses = has(last, "announce", "approve") and not has(last, *DENYING, "decline")
        if "?" in last or not chooses or MENTION.search(self._marker.mark(last)):
            return ""
        if value := self._by_place(last, told, prompt):
            return value
        places = [(n, [*words.finditer(last)]) for n, words in enumerate(self._places)]
        named = [(number, spans[-1]) for number, spans in places if spans]
        if len(named) != 1 or self._says(last[named[0][1].end() :]):
            return ""
        order, labelled = self._order(told, prompt)
        option = (labelled or order).get(named[0][0], "")
        return self._options[int(option)] if option else ""

    def _ends(self, told: str, whole: bool) -> Iterator[tuple[str, bool]]:
        """Yields the text after the last words that announce a conclusion, or a condition that is
        none; then the last sentence; with each True if it was announced.
        """
        cuts = [found.span() for found in self._language.role("forced").finditer(told)]
        for lead in re.finditer(r"[^.?:]+[.?:]?", told):
            words = f" {lead[0].strip(' .:,')} "
            announced = self._language.has(words, "conclusion", "announce")
            announced = announced and not self._language.has(words, "decline", *DENYING)
            if lead[0][-1] in ".:" and announced and not MENTION.search(self._marker.mark(words)):
                cuts += [lead.span()] if self._is_lead(words, lead[0][-1]) else []
        start, last = max(cuts, default=(0, 0))
        before = f" {told[:start].strip()} "
        if (
            not whole and len(cuts) > 1 and self._read(before, "", True)
        ):  # "Answer: tea. Answer: coffee."
            return
        if last and len(told) - last <= _LONGEST and told[last:].strip(" .?:,/"):
            yield f" {told[last:].strip(' .:,/')} ", True
        sentences = [part for part in SENTENCE_OF.findall(told) if part.strip(" .?:,/")]
        if (
            whole
            and sentences
            and len(sentences[-1]) <= _LONGEST
            and not sentences[-1].rstrip().endswith("?")
        ):
            yield f" {sentences[-1].strip(' .:,/')} ", False

    def _is_lead(self, words: str, mark: str) -> bool:
        """True if words announce what follows: before a colon, or as a heading."""
        return mark == ":" or not WORDLESS.sub("", self._beside.sub(" ", words))

    def _by_place(self, end: str, told: str, prompt: str) -> str:
        """The option whose place is all that a clause of the end says."""
        clauses = [f" {part.strip()} " for part in re.split(r"[.,:?/]", end) if part.strip()]
        said = [(clause, place) for clause in clauses if (place := self._place(clause))]
        if len({place for _, place in said}) != 1:
            return ""
        clause, place = said[-1]
        announced = self._language.has(clause, "announce", "approve")
        if clause != clauses[-1] and not announced:  # "Second, it is cheap"
            return ""
        order, labelled = self._order(told, prompt)
        number, by_label = place
        known = labelled if by_label else labelled or order
        option = known.get(number, "")
        return self._options[int(option)] if option else ""

    def _place(self, clause: str) -> tuple[int, bool] | None:
        """(the place, True for a letter or a number) if a clause says a place and nothing else."""
        for number, words in enumerate(self._places):
            rest, count = words.subn(" ", clause)
            if count == 1 and not self._says(rest):
                return number, False
        for label in self._label.finditer(clause):
            rest = f"{clause[: label.start()]} {clause[label.end() :]}"
            if not self._says(rest) or self._is_written_on(clause, label):
                run = next(run for run in _LABELS if label[0] in run)
                return run.index(label[0]), True
        return None

    def _says(self, rest: str) -> bool:
        """True if a clause says more than that it chooses."""
        return bool(WORDLESS.sub("", self._beside.sub(" ", f" {rest.strip()} ")))

    def _is_written_on(self, clause: str, label: re.Match[str]) -> bool:
        """True for a number in a script without spaces with two characters or fewer behind it."""
        rest = clause[label.end() :].split()
        first = label.start() <= 1 and label[0].isdecimal()
        return first and 0 < len(rest) < 3 and is_unspaced(rest[0])

    def _order(self, told: str, prompt: str) -> tuple[dict[int, str], dict[int, str]]:
        """The options by the order in which the prompt names them, and by the labels of a list."""
        order, labelled = self._asked(prompt)
        return order, self._labels(self._marker.mark(told)) or labelled

    def _order_of(self, prompt: str) -> tuple[dict[int, str], dict[int, str]]:
        asked = self._marker.mark(self._language.canonical(prompt))
        order = list(dict.fromkeys(re.findall(r"(?<= )@(\d+)(?= )", asked.replace("+", " @"))))
        whole = len(order) == len(self._options)
        return (dict(enumerate(order)) if whole else {}), self._labels(asked)

    def _labels(self, marked: str) -> dict[int, str]:
        """Place → option of a list that has each option once, from its first label on."""
        listed = self._listed.findall(marked)
        for run in _LABELS:
            places = {run.index(label): option for label, option in listed if label in run}
            if {*places} == {*range(len(self._options))} and len({*places.values()}) == len(places):
                return places
        return {}
