"""Finds the only option that an answer names, quotes or calls likely, if no clause chooses."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...languages.patterns import lazy
from ...languages.phrases import DENYING
from ...records import NEITHER, REFUSAL
from ..text.thought import without_thought
from .blank import QUOTED, SINGLY_QUOTED, Blank
from .meanings import THIRD
from .mentions import MENTION, SENTENCE_OF, MarkedClause, union, values
from .statements import Offered, Statements

QUOTED_WORDS = 3  # words of a quotation that stands in the place of the options
TWO_SENTENCES = 60  # characters that an answer needs to say its sentence with each option
RESERVED = 3  # sentences, and what is behind the last of them: an opinion and a reservation
_EMPHASISED = lazy(r"(?<![\w*])\*{1,3}([^*\n]{1,40})\*{1,3}(?![\w*])")
_SENTENCE = lazy(r"[^.?!。？！؟।\n]+[.?!。？！؟।]?")
_MARKED = (QUOTED, SINGLY_QUOTED, _EMPHASISED)
PASSING = 6  # words of an answer in which a pronoun at an end is a choice and not a reference


class OnlyNamed:
    """The rules by which an answer to a question names one option."""

    def __init__(self, offered: Offered, statements: Statements, blank: Blank) -> None:
        forms, self._language, self._marker, self._passing, yes_no = offered
        self._statements, self._blank, self._options = statements, blank, list(forms)
        self._decides = yes_no is not None and not self._passing

    def only(self, text: str, canonical: str, prompt: str) -> str:
        """Returns the only option named, `neither` if only another word is quoted, or ""."""
        marked = self._marker.mark(self._marker.without(canonical, prompt))
        quoted = [self._canonical(match[1]) for match in QUOTED.finditer(without_thought(text))]
        explained = self._language.has(canonical, "about_words")
        options = set() if explained else self.quoted_options(text)
        if named := self._named_alone(canonical, self._marker.clauses(marked), options):
            return named
        answers = any(self._language.has(canonical, role) for role in ("announce", "approve"))
        new = len(quoted) == 1 and quoted[0].strip() not in self._language.canonical(prompt)
        new = new and len(text) <= TWO_SENTENCES and answers and not MENTION.search(marked)
        return NEITHER if new and self._blank.word(quoted[0], QUOTED_WORDS) == NEITHER else ""

    def quoted_options(self, text: str) -> set[str]:
        """Returns the options that are in quotation marks or emphasised."""
        answer = without_thought(text)
        quoted = (match[1] for marks in _MARKED for match in marks.finditer(answer))
        named = union(values(self._marker.mark(self._canonical(words))) for words in quoted)
        return {value for value in named if value.isdigit()}

    def quoted_alone(self, text: str, canonical: str) -> str:
        """Returns the only option in quotation marks, if the text names no options jointly and has
        no negation; else "". So the il of "Il faut écrire « elle »" is not a choice.
        """
        quoted = self.quoted_options(text)
        apart = "+" not in self._marker.mark(canonical)
        alone = len(quoted) == 1 and apart and not self._language.has(canonical, *DENYING)
        return self._options[int(quoted.pop())] if alone else ""

    def undecided(self, canonical: str) -> str:
        """Returns `refusal` if an answer with a negation names all options side by side ("There is
        too little to choose between …"); else "".
        """
        lacks = self._language.has(canonical, "lacking", *DENYING)
        return REFUSAL if lacks and self._marker.names_all_at_once(canonical) else ""

    def outweighs(self, body: str) -> str:
        """Returns the only option that one or two sentences name without denying or merely
        conceding it ("It sounds like tea, although coffee is not impossible"); else "".
        """
        marked = self._marker.mark(body)
        joined = "+" in marked or self._language.has(body, "both")
        if joined or len(SENTENCE_OF.findall(body.strip())) > RESERVED:
            return ""
        return self._named_alone(body, self._marker.clauses(marked))

    def emphasised(self, text: str) -> str:
        """Returns the only emphasised option, if its sentence has no doubt or question; else ""."""
        chosen = set[str]()
        for sentence in _SENTENCE.findall(without_thought(text)):
            for match in _EMPHASISED.finditer(sentence):
                marked = self._marker.mark(self._canonical(match[1]))
                chosen |= values(marked) if not self._marker.content(marked) else set()
                if chosen and (sentence[-1:] in "?？؟" or self._doubts(sentence)):
                    return ""
        return self._options[int(min(chosen))] if len(chosen) == 1 and min(chosen).isdigit() else ""

    def _doubts(self, sentence: str) -> bool:
        marked = self._marker.mark(self._canonical(sentence))
        return "~" in marked or self._language.has(marked, *DENYING, "condition", "aside")

    def unrejected(self, body: str) -> str:
        """Returns the only option whose last mention is not rejected, or ""."""
        last = {mention[1:]: mention[0] for mention in MENTION.findall(self._marker.mark(body))}
        options = [value for value, mark in last.items() if mark == "@"]
        alone = len(options) == 1 < len(last) and options[0].isdigit()
        return self._options[int(options[0])] if alone else ""

    def called_likely(self, body: str) -> str:
        """Returns the option that an answer calls likely after a disclaimer ("As an AI I …, but it
        is most likely …"); else "".
        """
        cuts = [*self._language.role("contrast").finditer(body)]
        rest = body[cuts[-1].end() :] if cuts else ""
        if not self._language.has(rest, "likely"):
            return ""
        return self._named_alone(rest, self._marker.clauses(self._marker.mark(rest)))

    def _named_alone(
        self, canonical: str, clauses: Sequence[MarkedClause], quoted: Collection[str] = ()
    ) -> str:
        """Returns the only option named in a clause without condition, reason, doubt or negation;
        else "". Answers of several sentences are read so only in languages whose pack sets
        `named = true`. Pronouns and words such as "no" occur in any sentence, so they count only
        at an end of a short answer, or in quotation marks.
        """
        usable = self._language.data.get("named") or len(SENTENCE_OF.findall(canonical.strip())) < 3
        free = [clause for clause in clauses if not clause.question and not clause.barred]
        if self._decides:  # "a refusal would be possible"
            has = self._language.has
            free = [clause for clause in free if not has(clause.text, "guess", "possible")]
        named = union(
            values(clause.text)
            for before, clause in zip((None, *clauses), clauses, strict=False)
            if clause in free and not self._statements.denies(clause, before)
            if not self._statements.is_groundless(clause, before)
        )
        options = {self._options[int(value)] for value in named if value.isdigit()}
        passing = self._passing and not named <= {*quoted}
        passing = passing and not (self._language.data.get("named") and _short(clauses))
        if len(options) != 1 or THIRD in named or passing or not usable:
            return ""
        if not self._passing and self._marker.turns(canonical):
            return ""
        return options.pop()

    def _canonical(self, text: str) -> str:
        return self._language.canonical(without_thought(text))


def _short(clauses: Sequence[MarkedClause]) -> bool:
    """True if an answer is one clause of a few words that begins or ends with a mention."""
    words = [word for clause in clauses for word in clause.text.split()]
    return len(words) <= PASSING and "@" in (words[0][0], words[-1][0])
