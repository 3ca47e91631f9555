"""Recognises yes and no in other words: "I would grant it", "Denied"; also in the words of the
question ("Should the bank approve the loan?" – "The bank should approve it."): the answer is
compared with its prompt, so no list of verbs is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from ...languages import refusals
from ...languages.letters import is_unspaced
from ...languages.pack import pack, shipped
from ...languages.patterns import WordPattern, lazy
from ...languages.phrases import DENYING, Language
from ...records import OTHER_LANGUAGE
from .mentions import MENTION, SENTENCE_OF, MarkedClause, values
from .statements import Offered, Statements

_ENDINGS = ("ing", "ed", "es", "e", "s")
_SHORTEST = 3  # letters of a stem
_LAST, _CHARACTERS = 2, 8  # words at an end that may be a verb; characters without spaces
_LITTLE = 5  # letters beside a denial that is all that a clause says: "not at all"
_ROLES = {"assent": True, "dissent": False}
_WHOLE = {"assent_whole": True, "dissent_whole": False}


class Decisions:
    """The rules by which an answer to a question means yes or no."""

    def __init__(self, offered: Offered, statements: Statements) -> None:
        forms, language, marker, self._passing, self._yes_no = offered
        self._language, self._marker, self._statements = language, marker, statements
        self._options, self._asked = list(forms), Asked(language)
        self._asks = lru_cache(maxsize=1024)(self._asks_of)
        said_no = map(language.canonical, language.pack.list_of("no"))
        self._by_name = not any(MENTION.search(marker.mark(word)) for word in said_no)

    def as_a_whole(self, canonical: str) -> str:
        """Returns the option of a set phrase that means yes or no ("no reason not to"), or ""."""
        verdicts = [yes for name, yes in _WHOLE.items() if self._language.has(canonical, name)]
        return self._yes_no[not verdicts[0]] if self._yes_no and len(verdicts) == 1 else ""

    def elsewhere(self, canonical: str) -> str:
        """Returns `other_language` if an answer begins with a yes or no of another language."""
        own_words = (word for role in ("yes", "no") for word in self._language.pack.list_of(role))
        first = {*canonical.split(" ", 2)[1:2]}
        return OTHER_LANGUAGE if (first & _yes_and_no()) - {*own_words} else ""

    def option(self, clauses: Sequence[MarkedClause], prompt: str) -> str:
        """Returns the option if an answer decides without yes or no ("I would grant it", "Denied";
        "Of course" alone), and its clauses agree, without condition or guess; else "".
        """
        if self._yes_no is None:
            return ""
        decided = set[bool]()
        if clauses and self._language.has(clauses[0].text, "affirm"):
            rest = self._language.role("affirm").sub(" ", clauses[0].text)
            if not self._marker.content(rest) and not clauses[0].question:
                decided.add(True)
        denies = self._language.role("reject")
        if clauses and clauses[0].alone and denies.begins(clauses[0].text):  # "Not at all."
            decided |= self._answer(False, prompt) if self._only_denies(clauses[0]) else set()
        decided |= self._answers(clauses, prompt)
        if len(clauses) == 1 and self._asked.is_elliptical(clauses[0].text):
            decided.add(not self._statements.denies(clauses[0]))
        around = zip((None, *clauses), clauses, (*clauses[1:], None), strict=False)
        for before, clause, after in around:
            if clause.question and after and self._only_denies(after):  # "Deny it? Not at all."
                decided |= {not verdict for verdict in self._leanings(clause)}
            elif not (before and self._weighs(before) and before.sentence == clause.sentence):
                decided |= self._verdict(clause, before, prompt)
        option = self._yes_no[not decided.pop()] if len(decided) == 1 else ""
        return "" if option and self._puts_another(option, clauses) else option

    def _answers(self, clauses: Sequence[MarkedClause], prompt: str) -> set[bool]:
        """Returns {True} if a first yes or no grants what a question asks, {False} if it denies it;
        set() without such a word, or if the question offers both options.
        """
        if not (clauses and self._by_name and prompt) or clauses[0].question:
            return set()
        word = clauses[0].text
        said = [name == "yes" for name in ("no", "yes") if self._language.has(word, name)]
        for name in ("no", "yes"):
            word = self._language.role(name).sub(" ", word)
        if len(said) != 1 or self._marker.content(word) or len(self._asks(prompt)) != 1:
            return set()
        return self._answer(said[0], prompt)

    def _answer(self, said: bool, prompt: str) -> set[bool]:
        """Returns the meaning of yes (True) or no to the question of a prompt."""
        denied = self._by_name and self._asks(prompt) == {False}
        return {said != denied}

    def _asks_of(self, prompt: str) -> frozenset[bool]:
        """Returns a set: with True if a question asks whether to grant, with False if to deny; also
        by the name of an option, unless these are yes and no.
        """
        sentences = SENTENCE_OF.findall(self._language.canonical(prompt))
        questions = [sentence for sentence in sentences if sentence.endswith("?")]
        if self._by_name:
            questions = [*map(self._marker.mark, questions)]
        return frozenset[bool]().union(
            *(self._meant(question) | self._named(question) for question in questions)
        )

    def _meant(self, text: str) -> set[bool]:
        """Returns a set: with True if a text has words of granting, with False if of denying."""
        return {verdict for role, verdict in _ROLES.items() if self._language.has(text, role)}

    def _puts_another(self, option: str, clauses: Sequence[MarkedClause]) -> bool:
        """True if a clause names the other option in place of a rejected proposal: "I don't agree.
        We should accept".
        """
        index = str(self._options.index(option))
        return self._by_name and any(
            {value for value in values(clause.text) if value.isdigit()} - {index}
            and not (clause.question or clause.barred or self._statements.denies(clause))
            for clause in clauses
        )

    def _verdict(self, clause: MarkedClause, before: MarkedClause | None, prompt: str) -> set[bool]:
        """Returns {True} if a clause says yes, {False} if no, else set(). before: the previous."""
        has = self._language.has
        if clause.question or clause.barred or has(clause.text, "asks_back"):
            return set()
        whole = {verdict for name, verdict in _WHOLE.items() if has(clause.text, name)}
        if whole:  # with its own negation
            return whole
        denied = self._denies(clause) != self._statements.is_groundless(clause, before)
        leanings = self._leanings(clause)
        denies_before = before is not None and not clause.lead and self._only_denies(before)
        if self._by_name and (denies_before or (denied and has(clause.text, *DENYING))):
            leanings |= self._named(clause.text)
        if denied and not leanings and self._is_bare_modal(clause.text):  # "Not advisable"
            return self._answer(False, prompt)
        names = self._by_name and (leanings == {False} or MENTION.search(clause.text))
        # of a question that offers both, the shared verb may be either
        asks = self._asks(prompt) if self._by_name else set()
        if not names and len(asks) < 2 and self._asked.decides(clause, prompt, denied):
            return {denied == (asks == {False})}
        if has(clause.text, "guess", "possible") or self._denied_twice(clause):
            return set()
        if not self._by_name and self._asks(prompt) == {False}:
            # "Should it be refused? I would grant it."
            return {denied} if leanings == {True} else set()
        return {each != denied for each in leanings}

    def _leanings(self, clause: MarkedClause) -> set[bool]:
        """Returns a set: with True if a clause has words of granting, or names what it has grounds
        for; with False if so of denying.
        """
        grounds = self._language.has(clause.text, "grounds") and not self._passing
        return self._meant(clause.text) | (self._named(clause.text) if grounds else set())

    def _named(self, text: str) -> set[bool]:
        """Returns a set: with True if a marked text names the option that grants, with False if the
        option that denies.
        """
        numbers = [str(self._options.index(option)) for option in self._yes_no or ()]
        named = values(text) | values(text, "~")
        return {not at for at, number in enumerate(numbers) if number in named}

    def _weighs(self, clause: MarkedClause) -> bool:
        """True if a clause calls a decision merely possible: "a refusal would be possible"."""
        return self._language.has(clause.text, "guess", "possible") and bool(
            self._leanings(clause) or values(clause.text)
        )

    def _denied_twice(self, clause: MarkedClause) -> bool:
        """True if a clause has two negations, which may cancel each other ("nothing against")."""
        roles = map(self._language.role, DENYING)
        spans = [span for role in roles for span in role.spans(clause.text)]
        return bool(spans) and min(end for _, end in spans) <= max(start for start, _ in spans)

    def _only_denies(self, clause: MarkedClause) -> bool:
        """True if a clause says no and hardly anything else."""
        rest = clause.text
        for role in DENYING:
            rest = self._language.role(role).sub(" ", rest)
        denies = self._statements.denies(clause) and not clause.question
        denies = denies and not (self._by_name and MENTION.search(clause.text))
        return denies and len(self._marker.content(rest)) <= _LITTLE

    def _is_bare_modal(self, clause: str) -> bool:
        """True if a clause is a modal verb and a negation."""
        rest, number = self._language.role("modal").subn(" ", clause)
        for role in DENYING:
            rest = self._language.role(role).sub(" ", rest)
        return number > 0 and not self._marker.content(rest)

    def _denies(self, clause: MarkedClause) -> bool:
        """True if a clause is negated, or has an option that means no among other words."""
        assert self._yes_no is not None
        no = str(self._options.index(self._yes_no[1]))
        within = not self._by_name and no in values(clause.text)
        within = within and bool(self._marker.content(clause.text))
        return within or self._statements.denies(clause)


@cache
def _yes_and_no() -> frozenset[str]:
    """Returns the words for yes and no in the packs of all languages."""
    packs = map(pack, shipped())
    return frozenset(word for one in packs for role in ("yes", "no") for word in one.list_of(role))


class Asked:
    """The verbs of a prompt's questions, in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        between = rf"(?: (?:{'|'.join(map(re.escape, _passing(language)))}))*"
        self._modal, self._permits = (
            WordPattern(rf"{language.role(name).pattern}{between} (\S+)(?= )")
            for name in ("modal", "permits")
        )
        advise = language.role("advise").pattern
        self._advice = WordPattern(rf"{advise}((?: \S+){{1,4}})(?= )")
        object_of = language.role("objects").pattern
        self._begins = lazy(rf"^{between} (\S+)(?= (?:{object_of}|$))")
        self._asked = lru_cache(maxsize=1024)(self._asked_of)

    def decides(self, clause: MarkedClause, prompt: str, denied: bool) -> bool:
        """True if a clause says that something is to be done, or not: with a word of the question
        after "should", "recommend" or, if denied, "can"; by calling it "a mistake" or "the right
        call"; or as a command ("Hire him").
        """
        asked = self._asked(prompt) if prompt else []
        if not asked:
            return False
        verbs = self._verbs(clause.text, denied)
        if not verbs and self._language.has(clause.text, "worthwhile"):
            verbs = clause.text.split()
        if clause.begins:
            verbs += self._begins.findall(clause.text)
        if self._language.code == "en":
            return bool({*map(stem, verbs)} & {*map(stem, asked)})
        return refusals.shares_word(_line(verbs), _line(asked), self._language)

    def _verbs(self, clause: str, denied: bool) -> list[str]:
        """Lists the words of a clause that may be the verb of a decision."""
        words = [word for words in self._advice.findall(clause) for word in words.split()]
        data = self._language.data
        if data.get("verb_last"):  # their modals stand in the pack with the verb before them
            return words + " ".join(self._language.role("modal").findall(clause)).split()
        if data.get("infinitive_last"):
            names = ("modal", "permits") if denied else ("modal",)
            return words + (clause.split()[-_LAST:] if self._language.has(clause, *names) else [])
        words += self._modal.findall(clause)
        return [*words, *self._permits.findall(clause)] if denied else words

    def is_elliptical(self, clause: str) -> bool:
        """True if a clause is only a subject and a modal verb, perhaps negated ("I would not."), in
        English word order.
        """
        modal = self._language.role("modal").search(clause)
        if modal is None:
            return False
        before, after = clause[: modal.start()].split(), clause[modal.end() :].split()
        negations = self._language.pack.list_of("reject")
        return len(before) == 1 and len(after) < 2 and {*after} <= {*negations}

    def _asked_of(self, prompt: str) -> list[str]:
        """Lists the words after the modal verb of each question, or the preceding sentence if the
        question has no further words ("She asks them to waive it. Should they?"); in a language
        with verbs last, the last words of each question.
        """
        asked, before = list[str](), ""
        last = any(map(self._language.data.get, ("verb_last", "infinitive_last")))
        for sentence in SENTENCE_OF.findall(self._language.canonical(prompt)):
            if sentence.endswith("?"):
                modal = self._language.role("modal").search(sentence)
                words = sentence[modal.end() if modal and not last else 0 : -1].split()
                size = _CHARACTERS if self._language.data.get("unspaced") else _LAST
                words = words[-size:] if last else words
                asked += words if len(words) > 1 else before.split()
            before = sentence
        common = {stem(word) for word in self._language.pack.list_of("common")}
        return [word for word in asked if self._is_verb(word) and stem(word) not in common]

    def _is_verb(self, word: str) -> bool:
        return len(word) >= _SHORTEST or is_unspaced(word)


def _line(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def stem(word: str) -> str:
    """Strips the ending of an English verb from a word, and a letter doubled before the ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word.removesuffix(ending)
            return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] else word
    return word


def _passing(language: Language) -> list[str]:
    """Lists the words that may stand between "should" and its verb."""
    return [*language.pack.list_of("modal_gap"), *language.pack.list_of("reject")]
