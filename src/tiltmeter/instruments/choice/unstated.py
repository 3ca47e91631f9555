"""The readings of an answer that states no choice: the only option that it names, quotes or calls
likely. The rules: reader.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...languages.phrases import DENYING, Language
from ...records import NEITHER, REFUSAL
from ..text.thought import without_thought
from .asked import Asked
from .blank import QUOTED, SINGLY_QUOTED, Blank
from .mentions import MENTION, SENTENCE_OF, THIRD, MarkedClause, Marker, union, values
from .statements import Statements

TWO_SENTENCES = 60  # characters that an answer needs to say its sentence with each option
QUOTED_WORDS = 3  # words of a quotation that stands in the place of the options
RESERVED = 3  # sentences, and what is behind the last of them: an opinion and a reservation
PASSING = 6  # words of an answer in which a pronoun at an end is a choice and not a reference
_LITTLE = 5  # letters beside a denial that is all that a clause says: "not at all"
_ROLES = {"assent": True, "dissent": False}
_WHOLE = {"assent_whole": True, "dissent_whole": False}


class Unstated:
    """The rules for one set of options in one language. yes_no: the options that stand for yes and
    no; passing: True if a form is a word that stands in sentences of any kind, such as a pronoun.
    """

    def __init__(
        self,
        language: Language,
        marker: Marker,
        statements: Statements,
        blank: Blank,
        options: Sequence[str],
        yes_no: tuple[str, str] | None,
        *,
        passing: bool,
    ) -> None:
        self._language, self._marker, self._statements = language, marker, statements
        self._blank, self._options, self._yes_no = blank, options, yes_no
        self._passing, self._asked = passing, Asked(language)
        said_no = map(self._canonical, language.pack.list_of("no"))
        self._by_name = not any(MENTION.search(marker.mark(word)) for word in said_no)

    def only(self, text: str, canonical: str, prompt: str) -> str:
        """The only option that is named, or `neither` for another word that is quoted as the
        answer; "" if the prompt itself has sentences that name one option: it would be read less
        readily than the other.
        """
        if not self._language.data:
            return ""
        marked = self._marker.mark(self._marker.without(canonical, prompt))
        clauses = list(self._marker.clauses(marked))
        whole = [meant for name, meant in _WHOLE.items() if self._language.has(canonical, name)]
        if self._yes_no and len(whole) == 1:  # "no reason not to" has an option in it
            return self._yes_no[not whole[0]]
        if self._marker.favours(prompt):
            return self.in_other_words(clauses, prompt)
        quoted = [self._canonical(found[1]) for found in QUOTED.finditer(without_thought(text))]
        explained = self._language.has(canonical, "about_words")
        options = set() if explained else self.quoted_options(text)
        if named := self._named_alone(canonical, clauses, options):
            return named
        answers = any(self._language.has(canonical, role) for role in ("announce", "approve"))
        new = len(quoted) == 1 and quoted[0].strip() not in self._language.canonical(prompt)
        new = new and len(text) <= TWO_SENTENCES
        other = new and self._blank.word(quoted[0], QUOTED_WORDS) == NEITHER
        if other and answers and not MENTION.search(marked):
            return NEITHER
        return self.in_other_words(clauses, prompt)

    def quoted_options(self, text: str) -> set[str]:
        """The options that stand in quotation marks."""
        told = without_thought(text)
        quoted = (found[1] for marks in (QUOTED, SINGLY_QUOTED) for found in marks.finditer(told))
        named = union(values(self._marker.mark(self._canonical(words))) for words in quoted)
        return {value for value in named if value.isdigit()}

    def in_other_words(self, clauses: Sequence[MarkedClause], prompt: str) -> str:
        """Yes or no as a decision says it without either word ("I would grant it", "Denied"; "Of
        course", alone), if no clause is a condition or a guess and all of them agree.
        """
        if self._yes_no is None:
            return ""
        said = set[bool]()
        if clauses and self._language.has(clauses[0].text, "affirm"):
            rest = self._language.role("affirm").sub(" ", clauses[0].text)
            if not self._marker.content(rest) and not clauses[0].question:
                said.add(True)
        if len(clauses) == 1 and self._asked.is_elliptical(clauses[0].text):
            said.add(not self._statements.denies(clauses[0]))
        around = zip((None, *clauses), clauses, (*clauses[1:], None), strict=False)
        for before, clause, after in around:
            if clause.question and after and self._only_denies(after):  # "Deny it? Not at all."
                said |= {not meant for meant in self._meant(clause)}
            elif not (before and self._weighs(before) and before.sentence == clause.sentence):
                said |= self._says(clause, before, prompt)
        option = self._yes_no[not said.pop()] if len(said) == 1 else ""
        return "" if option and self._puts_another(option, clauses) else option

    def _puts_another(self, option: str, clauses: Sequence[MarkedClause]) -> bool:
        """True if a clause puts the other option by its name, which is not a mere yes or no: "I
        don't agree. We should accept".
        """
        own = str(self._options.index(option))
        return self._by_name and any(
            {value for value in values(clause.text) if value.isdigit()} - {own}
            and not (clause.question or clause.barred or self._statements.denies(clause))
            for clause in clauses
        )

    def _says(self, clause: MarkedClause, before: MarkedClause | None, prompt: str) -> set[bool]:
        """Reads the decision of a clause: True for yes, False for no. before: the one that it goes
        on.
        """
        has = self._language.has
        if clause.question or clause.barred or has(clause.text, "asks_back"):
            return set()
        whole = {meant for name, meant in _WHOLE.items() if has(clause.text, name)}
        if whole:  # with its own negation
            return whole
        goes_on = before is not None and before.sentence == clause.sentence
        groundless = goes_on and before is not None and self._is_groundless(before)
        denied = self._denies(clause) != groundless
        if self._asked.decides(clause.text, prompt):
            return {not denied}
        if has(clause.text, "guess", "possible") or self._denied_twice(clause):
            return set()
        return {meant != denied for meant in self._meant(clause)}

    def _meant(self, clause: MarkedClause) -> set[bool]:
        """Tells if a clause speaks of granting, of denying, or both."""
        found = {meant for role, meant in _ROLES.items() if self._language.has(clause.text, role)}
        if self._language.has(clause.text, "grounds") and self._yes_no and not self._passing:
            numbers = [str(self._options.index(option)) for option in self._yes_no]
            named = values(clause.text) | values(clause.text, "~")
            found |= {not at for at, number in enumerate(numbers) if number in named}
        return found

    def _is_groundless(self, clause: MarkedClause) -> bool:
        """True if a clause says that there is no reason for what follows it."""
        return self._language.has(clause.text, "grounds") and self._statements.denies(clause)

    def _weighs(self, clause: MarkedClause) -> bool:
        """True if a clause says what might be decided: "a refusal would be possible"."""
        return self._language.has(clause.text, "guess", "possible") and bool(
            self._meant(clause) or values(clause.text)
        )

    def _denied_twice(self, clause: MarkedClause) -> bool:
        """True for two negations in a clause, which may cancel each other ("nothing against")."""
        roles = map(self._language.role, DENYING)
        spans = [found.span() for role in roles for found in role.finditer(clause.text)]
        return bool(spans) and min(end for _, end in spans) <= max(start for start, _ in spans)

    def _only_denies(self, clause: MarkedClause) -> bool:
        """True if a clause says no to what was asked before it, and nothing else."""
        rest = clause.text
        for role in DENYING:
            rest = self._language.role(role).sub(" ", rest)
        denies = self._statements.denies(clause) and not clause.question
        return denies and len(self._marker.content(rest)) <= _LITTLE

    def _denies(self, clause: MarkedClause) -> bool:
        """True for a negation in a clause, also one that is an option too ("no grounds for it")."""
        assert self._yes_no is not None
        no = str(self._options.index(self._yes_no[1]))
        within = no in values(clause.text) and bool(self._marker.content(clause.text))
        return within or self._statements.denies(clause)

    def undecided(self, canonical: str) -> str:
        """`refusal` if an answer names all options at once and denies something: "There is too
        little to choose between …". "" for any other.
        """
        lacks = self._language.has(canonical, "lacking", *DENYING)
        return REFUSAL if lacks and self._marker.names_all_at_once(canonical) else ""

    def outweighs(self, told: str) -> str:
        """The option that one or two sentences name, if the others stand in a reservation or are
        denied ("It sounds like tea, although coffee is not impossible"); "" for none.
        """
        marked = self._marker.mark(told)
        joined = "+" in marked or self._language.has(told, "both")
        if joined or len(SENTENCE_OF.findall(told.strip())) > RESERVED:
            return ""
        return self._named_alone(told, list(self._marker.clauses(marked)))

    def called_likely(self, told: str) -> str:
        """The option that an answer calls likely although it has no opinion ("As an AI I …, but it
        is most likely …"); "" for none.
        """
        cuts = [*self._language.role("contrast").finditer(told)]
        rest = told[cuts[-1].end() :] if cuts else ""
        if not self._language.has(rest, "likely"):
            return ""
        return self._named_alone(rest, list(self._marker.clauses(self._marker.mark(rest))))

    def _named_alone(
        self, canonical: str, clauses: Sequence[MarkedClause], quoted: Collection[str] = ()
    ) -> str:
        """The only option that is named, without a condition, a reason, a doubt or a negation in
        its clause. In a language whose pack has phrases instead (English) it counts in an answer
        of one sentence. Pronouns and words like no stand in sentences of any kind: they count at
        an end of a short answer only, or if they are quoted.
        """
        whole = self._language.data.get("named") or len(SENTENCE_OF.findall(canonical.strip())) < 3
        free = [clause for clause in clauses if not clause.question and not clause.barred]
        if self._yes_no and not self._passing:  # "a refusal would be possible"
            has = self._language.has
            free = [clause for clause in free if not has(clause.text, "guess", "possible")]
        named = union(
            values(clause.text)
            for before, clause in zip((None, *clauses), clauses, strict=False)
            if clause in free and not self._statements.denies(clause, before)
            if not (before and before.sentence == clause.sentence and self._is_groundless(before))
        )
        options = {self._options[int(value)] for value in named if value.isdigit()}
        passing = self._passing and not named <= {*quoted}
        passing = passing and not (self._language.data.get("named") and _short(clauses))
        if len(options) != 1 or THIRD in named or passing or not whole:
            return ""
        return options.pop()

    def _canonical(self, text: str) -> str:
        return self._language.canonical(without_thought(text))


def _short(clauses: Sequence[MarkedClause]) -> bool:
    """True if an answer is one clause of a few words that begins or ends with a mention."""
    words = [word for clause in clauses for word in clause.text.split()]
    return len(words) <= PASSING and "@" in (words[0][0], words[-1][0])
