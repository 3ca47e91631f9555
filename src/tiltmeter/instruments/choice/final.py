"""Reads the end of an answer, its conclusion or last sentence, as if it were the whole answer. It
may choose by position ("the latter", "B", "②").

A position counts if its clause has no other content. It refers to the answer's own list ("A) tea"),
else to the prompt's list, else to the order in which the prompt names the options.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ...languages.letters import is_unspaced
from ...languages.patterns import lazy
from ...languages.phrases import DENYING
from ...languages.refusals import shares_word
from .labels import LABELS
from .meanings import THIRD
from .mentions import MENTION, SENTENCE_OF, WORDLESS, values
from .statements import Offered

# roles whose words may stand beside a place
_BESIDE = ("announce", "approve", "conclusion", "filler", "forced", "articles", "option_nouns")
_LONGEST = 200  # characters of a conclusion
_LEAD = lazy(r"[^.?:]+[.?:]?")


class Final:
    """The rules for the ends of answers to a question. read: function (canonical text, prompt, True
    if the text was announced as a conclusion) → the option that the text states, or "".
    """

    def __init__(self, offered: Offered, read: Callable[[str, str, bool], str]) -> None:
        forms, language, self._marker, *_ = offered
        self._language, self._options, self._read = language, list(forms), read
        self._places = [language.any_of(words) for words in language.places]
        self._beside = language.any_role(*_BESIDE)
        labels = "|".join(re.escape(label) for run in LABELS for label in run)
        self._label = lazy(rf"(?<= )(?:{labels})(?= )")
        self._listed = lazy(rf"(?<= )({labels})(?: [.,:/])* @(\d+)(?= )")
        self._asked = lru_cache(maxsize=64)(self._order_of)
        self._question = lru_cache(maxsize=64)(self._question_of)

    def option(self, body: str, prompt: str, *, several: bool = False) -> str:
        """Returns the option that the end of an answer states, or "". body: canonical text without
        the prompt; several: the answer states several options, so its last sentence counts only if
        it chooses by position and names no option.
        """
        for end, announced in ((self._conclusion(body, several), True), (_last(body), False)):
            if not end:
                continue
            value = "" if several and not announced else self._read(end, prompt, announced)
            if value := value or self._by_place(end, body, prompt):
                return value
        return ""

    def verdict(self, body: str, prompt: str) -> str:
        """Returns the only option of the sentences that advise or, if none advises, of a first or
        last sentence that shares a word with the prompt; "" if several options or no option remain.
        """
        marked = self._marker.mark(body).strip()
        sentences = [part for part in SENTENCE_OF.findall(marked) if part.strip(" .?,:/")]
        verdicts = [self._verdict_of(f" {part.strip()} ", prompt) for part in sentences]
        ends = {verdict for verdict in (*verdicts[:1], *verdicts[-1:]) if verdict[0]}
        advised = {verdict for verdict in verdicts if verdict[1]}
        options = {option for option, _ in advised or ends}
        is_clear = len(options) == 1 and (advised or ends) & ends
        return options.pop() if is_clear and not self._marker.turns(body, reserves=True) else ""

    def _verdict_of(self, marked: str, prompt: str) -> tuple[str, bool]:
        """Returns (option, True if the sentence advises): the only option of a marked sentence that
        advises or shares a word with the question; "" if there is no such option, or if the
        sentence begins with the option and only describes it.
        """
        if "@" not in marked or "?" in marked:
            return "", False
        turns, has = map(self._language.role, ("contrast", "coordinate")), self._language.has
        cuts = [match.end() for role in turns for match in role.finditer(marked)]
        marked = marked[max(cuts, default=1) - 1 :]  # "That said, …", "Tea is fine, but …"
        named = values(marked) - {THIRD}  # "Tea, because they …"
        if "~" in marked or len(named) != 1 or not min(named).isdigit():
            return "", False
        if has(marked, *DENYING, "condition", "decline", "guess", "aside"):
            return "", False
        rest, begins = MENTION.sub(" ", marked), marked[1] == "@"
        asks = has(rest, "modal")
        chooses = has(rest, "advise", "announce", "approve") or (asks and not begins)
        concludes = has(marked.partition("@")[0], "conclusion")
        chooses = chooses or concludes or not self._marker.content(marked)
        shares = (asks or not begins) and (
            has(rest, "first_person") or shares_word(rest, self._question(prompt), self._language)
        )
        return (self._options[int(min(named))] if chooses or shares else ""), chooses

    def _question_of(self, prompt: str) -> str:
        """Returns the canonical questions of a prompt; the whole prompt if it asks no question."""
        asked = self._language.canonical(prompt)
        questions = "".join(part for part in SENTENCE_OF.findall(asked) if "?" in part)
        return questions or asked

    def _conclusion(self, body: str, several: bool) -> str:
        """Returns the text after the last announcement of a conclusion, or ""."""
        cuts = self._language.role("forced").spans(body)
        cuts += [lead.span() for lead in _LEAD.finditer(body) if self._announces(lead[0])]
        start, end = max(cuts, default=(0, 0))
        before = f" {body[:start].strip()} "
        if several and len(cuts) > 1 and self._read(before, "", True):
            return ""  # "Answer: tea. Answer: coffee."
        return _stretch(body[end:]) if end else ""

    def _announces(self, lead: str) -> bool:
        """True if the words before a colon, or a heading, announce a conclusion."""
        words = f" {lead.strip(' .:,')} "
        has = self._language.has
        announced = has(words, "conclusion", "announce") and not has(words, "decline", *DENYING)
        if lead[-1] not in ".:" or not announced or MENTION.search(self._marker.mark(words)):
            return False
        return lead[-1] == ":" or not WORDLESS.sub("", self._beside.sub(" ", words))

    def _by_place(self, end: str, body: str, prompt: str) -> str:
        """Returns the option whose position is the only content of a clause, or ends a clause that
        chooses ("Given the usual reading I choose the former"); else "".
        """
        clauses = [f" {part.strip()} " for part in re.split(r"[.,:?/]", end) if part.strip()]
        chosen = [(clause, place) for clause in clauses if (place := self._place(clause))]
        if not chosen and (place := self._chosen_place(end)):
            chosen = [(clauses[-1], place)]
        if len({place for _, place in chosen}) != 1:
            return ""
        clause, (number, by_label) = chosen[-1]
        announced = self._language.has(clause, "announce", "approve")
        if clause != clauses[-1] and not announced:  # "Second, it is cheap"
            return ""
        order, labelled = self._order(body, prompt)
        options = labelled if by_label else labelled or order
        option = options.get(number, "")
        return self._options[int(option)] if option else ""

    def _chosen_place(self, end: str) -> tuple[int, bool] | None:
        """Returns (position, False) if the end chooses by position, naming no option; else None."""
        has = self._language.has
        chooses = has(end, "announce", "approve") and not has(end, *DENYING, "decline")
        if "?" in end or not chooses or MENTION.search(self._marker.mark(end)):
            return None
        places = [(n, [*words.finditer(end)]) for n, words in enumerate(self._places)]
        named = [(number, spans[-1]) for number, spans in places if spans]
        if len(named) != 1 or self._has_content(end[named[0][1].end() :]):
            return None
        return named[0][0], False

    def _place(self, clause: str) -> tuple[int, bool] | None:
        """Returns (position, True if it is a label) if a clause has no other content; else None."""
        for number, words in enumerate(self._places):
            rest, count = words.subn(" ", clause)
            if count == 1 and not self._has_content(rest):
                return number, False
        for label in self._label.finditer(clause):
            rest = f"{clause[: label.start()]} {clause[label.end() :]}"
            if not self._has_content(rest) or self._is_written_on(clause, label):
                run = next(run for run in LABELS if label[0] in run)
                return run.index(label[0]), True
        return None

    def _has_content(self, rest: str) -> bool:
        """True if a text has content beyond words such as "I choose"."""
        return bool(WORDLESS.sub("", self._beside.sub(" ", f" {rest.strip()} ")))

    def _is_written_on(self, clause: str, label: re.Match[str]) -> bool:
        """True if a leading number adjoins one or two words of a script without spaces."""
        rest = clause[label.end() :].split()
        first = label.start() <= 1 and label[0].isdecimal()
        return first and 0 < len(rest) < 3 and is_unspaced(rest[0])

    def _order(self, body: str, prompt: str) -> tuple[dict[int, str], dict[int, str]]:
        """Returns two {position: option}: by order in the prompt, and by the labels of a list."""
        order, labelled = self._asked(prompt)
        return order, self._labels(self._marker.mark(body)) or labelled

    def _order_of(self, prompt: str) -> tuple[dict[int, str], dict[int, str]]:
        asked = self._marker.mark(self._language.canonical(prompt))
        order = list(dict.fromkeys(re.findall(r"(?<= )@(\d+)(?= )", asked.replace("+", " @"))))
        names_all = len(order) == len(self._options)
        return (dict(enumerate(order)) if names_all else {}), self._labels(asked)

    def _labels(self, marked: str) -> dict[int, str]:
        """Returns {position: option} if a labelled list has each option once; else {}."""
        listed = self._listed.findall(marked)
        for run in LABELS:
            places = {run.index(label): option for label, option in listed if label in run}
            if {*places} == {*range(len(self._options))} and len({*places.values()}) == len(places):
                return places
        return {}


def _stretch(text: str) -> str:
    """Strips punctuation from both ends of canonical text; "" if the text is empty or too long."""
    bare = text.strip(" .:,/?")
    return f" {text.strip(' .:,/')} " if bare and len(text) <= _LONGEST else ""


def _last(body: str) -> str:
    """Returns the last sentence of canonical text; "" if it is a question."""
    sentences = [part for part in SENTENCE_OF.findall(body) if part.strip(" .?:,/")]
    asks = not sentences or sentences[-1].rstrip().endswith("?")
    return "" if asks else _stretch(sentences[-1])
