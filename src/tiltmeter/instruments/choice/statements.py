"""Finds the clauses of an answer that state a choice, selects those that count, and derives the
value. The rules: reader.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from ...languages import refusals
from ...languages.patterns import BEHIND, WordPattern, lazy
from ...languages.phrases import DENYING, Language
from ...records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL, Json
from .forms import Forms
from .meanings import THIRD
from .mentions import MENTION, SENTENCE_OF, WORDLESS, MarkedClause, Marker, union, values

ONE_SENTENCE = 80  # characters of an answer that says little but “neither of the two”
DECLINING = 4  # sentences of an answer in which it may decline
LISTED = 3  # statements: two that head a description, and one that is announced
# "tea and coffee both …", "both tea and coffee …"
_BOTH_FIRST = lazy(rf" (?:@\d+(?:\+\d+)+ )?@(?:\d+\+\d\S*\+)?{BOTH} ")
Stated = list[set[str]]  # the values of each mention that states a choice


class Offered(NamedTuple):
    """The options of a question in one language. passing: True if a form is a common word, such as
    a pronoun, that need not be an answer; yes_no: the options that mean yes and no, or None.
    """

    forms: Forms
    language: Language
    marker: Marker
    passing: bool
    yes_no: tuple[str, str] | None


class Statements:
    """The statements of an answer to a question."""

    def __init__(self, offered: Offered) -> None:
        self._forms, self._language, self._marker, self._passing, _ = offered
        self._options = list(self._forms)
        role, reach = self._language.role, _reach(self._language)
        decision_gap, degree_gap = (
            rf"(?:[^@ ]\S* ){{0,{reach.get(name, 0)}}}" for name in ("decision", "superlative")
        )
        self._decided = WordPattern(
            rf"{role('announce').pattern} {decision_gap}@",
            rf"{BEHIND}@\S+ {decision_gap}{role('approve').pattern}",
            role("decision").pattern,
            rf"{BEHIND}@\S+ ~",
        )
        self._verb = WordPattern(rf"{BEHIND}@\S+ {role('copula').pattern} ")
        self._completed = WordPattern(
            rf"{self._verb.pattern}{degree_gap}{role('superlative').pattern}"
        )

    def of(self, clauses: Sequence[MarkedClause]) -> list[Stated]:
        """Returns the statement of each clause."""
        return [self._states(clause) for clause in clauses]

    def final(self, clauses: Sequence[MarkedClause], every: Sequence[Stated]) -> Stated:
        """Returns the statement of the conclusion or last correction. every: each clause's."""
        stated = list(every)
        for number, clause in enumerate(clauses):
            if not clause.question or not stated[number]:
                continue
            answered = any(not later.question for later in clauses[number + 1 :])
            if answered and not self._agrees(clauses[number + 1]):
                stated[number] = []  # "Tea? No. Coffee."
        self._drop_heads(clauses, stated)
        self._drop_reasons(clauses, stated)
        if sum(map(bool, stated)) < 2:  # nothing comes before or after it
            return [mention for mentions in stated for mention in mentions]
        last = max((number for number, mentions in enumerate(stated) if mentions), default=-1)
        start = max(
            (n for n, clause in enumerate(clauses[: last + 1]) if self._corrects(clause)), default=0
        )
        concluding = (
            number
            for number in range(start, len(clauses))
            if stated[number] and self._concludes(clauses[number])
        )
        begin = self._bare_end(clauses, stated, next(concluding, start))
        return [mention for mentions in stated[begin:] for mention in mentions]

    def _bare_end(
        self, clauses: Sequence[MarkedClause], stated: Sequence[Stated], start: int
    ) -> int:
        """Returns the index of the last clause if it is a bare verdict ("…, but the rules allow
        none. No.") and no earlier clause is a bare verdict; else returns `start`.
        """
        saying = [number for number in range(start, len(clauses)) if stated[number]]
        bare = [
            number
            for number in saying
            if not clauses[number].lead and not self._marker.content(clauses[number].text)
        ]
        ends = bare == [len(clauses) - 1] and clauses[-1].alone and clauses[-1].closed
        return len(clauses) - 1 if ends and len(saying) > 1 else start

    def _drop_heads(self, clauses: Sequence[MarkedClause], stated: list[Stated]) -> None:
        """Removes from `stated` the options that are only headings of descriptions ("Tea: cheap.
        Coffee: strong. Winner: coffee"), if another option is announced.
        """
        if sum(map(bool, stated)) < LISTED:
            return
        pairs = enumerate(pairwise(clauses))
        heads = [
            number
            for number, (clause, after) in pairs
            if stated[number] and after.lead.strip() == clause.text.strip()
            if not MENTION.search(after.text)
        ]
        announced = any(
            mentions and clause.lead and not MENTION.search(clause.lead)
            for clause, mentions in zip(clauses, stated, strict=True)
        )
        if len(heads) > 1 and announced:
            for number in heads:
                stated[number] = []

    def _drop_reasons(self, clauses: Sequence[MarkedClause], stated: list[Stated]) -> None:
        """Removes from `stated` the options that a reason names ("Reject. Reason: others would
        rather be invited"), if an option is stated elsewhere.
        """
        reasons = [number for number, clause in enumerate(clauses) if self._gives_reason(clause)]
        if sum(map(bool, stated)) > sum(bool(stated[number]) for number in reasons):
            for number in reasons:
                stated[number] = []

    def _gives_reason(self, clause: MarkedClause) -> bool:
        return bool(clause.lead) and self._language.has(clause.lead, "reasoning")

    def is_taken_back(self, clauses: Sequence[MarkedClause], every: Sequence[Stated]) -> bool:
        """True if a correction follows the last statement and an option is named after it: the
        answer may mean that option, and earlier statements no longer count.
        """
        last = max((n for n, stated in enumerate(every) if stated), default=-1)
        corrected = False
        for clause in clauses[last + 1 :]:
            corrected = corrected or self._corrects(clause)
            if corrected and values(clause.text):
                return True
        return False

    def begins(self, clause: MarkedClause) -> set[str]:
        """Returns the values of a mention that starts the answer, with a verb; else set()."""
        match = self._verb.search(clause.text)
        barred = clause.barred or clause.question or self._language.has(clause.text, "about_words")
        first = (
            match
            and clause.opening
            and not barred
            and not self._marker.content(clause.text[: match.start()])
        )
        return values(match[0]) if match and first else set()

    def denies(self, clause: MarkedClause, before: MarkedClause | None = None) -> bool:
        """True if a clause, its lead, or the clause before its "that" has a negation."""
        text = f"{clause.lead}{clause.text}"
        if before and self._language.role("that").begins(clause.text):
            text = f"{before.text}{text}"
        return self._language.has(text, *DENYING)

    def is_groundless(self, clause: MarkedClause, before: MarkedClause | None) -> bool:
        """True if a clause belongs to a sentence that denies grounds ("no reason to …")."""
        if before is None or before.sentence != clause.sentence:
            return False
        return self._language.has(before.text, "grounds") and self.denies(before)

    def _states(self, clause: MarkedClause) -> Stated:
        if clause.barred or "@" not in clause.text:
            return []
        mentions = [values(word) for word in clause.text.split() if word[0] == "@"]
        if clause.question:
            wordless = not WORDLESS.sub("", MENTION.sub(" ", clause.text))
            return mentions if wordless and all(len(mention) == 1 for mention in mentions) else []
        bare = not self._marker.content(clause.text) and not self._verb.search(clause.text)
        if bare or (self._decided.search(clause.text) and not self._doubts(clause)):
            return mentions
        concludes = not self._passing and len(mentions) == 1 and self._concludes(clause)
        if concludes and not self.denies(clause):  # "The person described is therefore @1"
            return mentions
        match = (
            None
            if self._language.has(clause.text, "about_words")
            else self._completed.search(clause.text)
        )
        completed = values(match[0]) if match else set()
        # "they" has other uses
        doubtful = THIRD in completed and not clause.lead and not self.begins(clause)
        return [completed] if completed and not doubtful else []

    def _agrees(self, clause: MarkedClause) -> bool:
        """True if a clause only says yes to a question before it."""
        rest, number = self._language.role("approve").subn(" ", clause.text)
        return number > 0 and not clause.question and not self._marker.content(rest)

    def _corrects(self, clause: MarkedClause) -> bool:
        match = self._language.role("correction").search(clause.text)
        return match is not None and not self._marker.content(
            f"{clause.text[: match.start()]} {clause.text[match.end() :]}"
        )

    def _concludes(self, clause: MarkedClause) -> bool:
        return self._language.has(clause.lead, "conclusion") or self._language.has(
            clause.text, "conclusion"
        )

    def _doubts(self, clause: MarkedClause) -> bool:
        """True if a clause is negated in a language whose pack sets `named = true`."""
        return bool(self._language.data.get("named")) and self.denies(clause)

    def value(self, canonical: str, body: str) -> str:
        """Returns the option that the clauses of an answer state, or an outcome; `invalid` if they
        state none. body: `canonical` without the prompt's sentences.
        """
        clauses = self._marker.clauses(self._marker.mark(body))
        every = self.of(clauses)
        stated = self.final(clauses, every)
        if stated and self.is_taken_back(clauses, every):
            return INVALID
        if self._passing and stated and NEITHER in stated[0] <= {THIRD, NEITHER}:
            stated = stated[:1]  # "Neither he nor she: I would use his name"
        alone = union(m for m in stated if len(m) == 1 or m <= {THIRD, NEITHER})
        options = {self._options[int(value)] for value in alone if value.isdigit()}
        if len(options) == 1 and THIRD not in alone:
            return options.pop()
        if not options and alone & {THIRD, NEITHER}:
            head, *after = clauses  # "Neither. I …", "Neither: it …"
            bare = (head.alone and head.closed) or after[0].lead == head.text if after else False
            bare = bare and head.text.strip() == f"@{NEITHER}"
            fits_none = bare or THIRD in alone or not self._declines(body)
            return NEITHER if fits_none else REFUSAL
        several = len(union(stated) - {THIRD, BOTH, NEITHER}) > 1
        allowed = not options and any(map(self._allows_all, clauses[:1]))
        # "Either would do, it depends on who is meant"
        if (several and BOTH in union(stated)) or allowed:
            rest = self._language.role("depends").sub(" ", body)
            if not (self._declines(rest) if allowed else self._language.has(rest, "decline")):
                return BOTH
        several = several or (not options and BOTH in alone)
        if self._declines(body, excuses=not several):
            return REFUSAL
        if several:
            return BOTH
        return INVALID if stated else self._implicit_value(canonical, clauses)

    def _allows_all(self, clause: MarkedClause) -> bool:
        """True if a clause says that any of the options would do."""
        if BOTH not in values(clause.text) or self.denies(clause):
            return False
        if clause.opening and _BOTH_FIRST.match(clause.text):
            return not self._language.has(clause.text, "condition", "decline")
        allowed = self._language.has(clause.text, "possible", "approve", "guess")
        return not clause.barred and (allowed or not self._marker.content(clause.text))

    def _declines(self, body: str, *, excuses: bool = True) -> bool:
        """True if the first sentences of an answer decline to choose or, with `excuses`, say why no
        choice is possible. A word for declining (拒绝) that is itself an option is ignored.
        """
        body = "".join(SENTENCE_OF.findall(body)[:DECLINING])
        if self._option_declines:
            body = MENTION.sub(" ", self._marker.mark(body))
        return self._refuses(body, excuses=excuses)

    @cached_property
    def _option_declines(self) -> bool:
        """True if an option is itself a word for declining."""
        written = chain.from_iterable(self._forms.values())
        return any(map(self._refuses, map(self._language.canonical, written)))

    def _refuses(self, body: str, *, excuses: bool = True) -> bool:
        known = self._language
        if known.has(body, "decline") or (excuses and known.has(body, "excuse")):
            return True
        return refusals.refuses(body, known.pack.code)

    def _implicit_value(self, canonical: str, clauses: Sequence[MarkedClause]) -> str:
        """Returns the value of an answer in which no clause states a choice."""
        foreign = self._language.foreign
        if foreign(canonical) and foreign(MENTION.sub(" ", self._marker.mark(canonical))):
            return OTHER_LANGUAGE
        if not any(MENTION.search(clause.text) for clause in clauses):  # as in most
            return INVALID
        named = union(values(clause.text) for clause in clauses if not clause.question)
        named -= {THIRD, BOTH, NEITHER}
        rejected = union(values(clause.text, "~") for clause in clauses) - {THIRD}
        if not named and len(rejected) == len(self._options):
            return NEITHER
        all_of_them = union(values(clause.text) for clause in clauses if not clause.barred)
        denied = NEITHER in all_of_them
        first = self.begins(clauses[0]) if clauses else set()
        brief = len(canonical) <= ONE_SENTENCE or first == {NEITHER}
        heads = bool(clauses) and clauses[0].text.startswith(f" @{NEITHER} ")
        of_all = denied and (brief or heads or self._marker.names_all_at_once(canonical))
        if not named and not rejected and of_all:
            return NEITHER
        if not named and not rejected and brief and any(map(self._allows_all, clauses)):
            return BOTH
        begun = union(self.begins(clause) for clause in clauses)
        sole = len(begun) == 1 and begun <= named - rejected
        if sole and (self._passing or not self._marker.turns(canonical)):
            return self._options[int(begun.pop())]
        apart = [clause for clause in clauses if clause.alone or clause.lead]
        aside = [clause for clause in apart if self._language.has(clause.text, "aside")]
        beside = union(values(clause.text) for clause in aside)
        main = union(values(clause.text) for clause in clauses if clause not in aside)
        alone = len(main) == 1 and bool(beside - main)  # "or she would do just as well"
        return BOTH if len(named) > 1 and not alone else INVALID


def _reach(language: Language) -> Mapping[str, Json]:
    reach = language.data.get("reach")
    return reach if isinstance(reach, Mapping) else {}
