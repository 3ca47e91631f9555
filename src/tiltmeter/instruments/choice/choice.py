"""Which of the offered words an answer chooses: a parser for answers that were drawn. Exact
readings: exact.py.

The question is a sentence with a blank and a closed list of words (options), so an answer is read
for what it puts into the blank. Nothing is guessed and nothing is a default: what these rules do
not decide is `invalid` or `both`.

Before reading. Case, width, quotes, emphasis, tags, emoji and invisible characters do not matter
(language.py). What is marked as thinking or struck through is left out, and so is the prompt where
it is repeated or retold ("Fill in the blank with 'he' or 'she'", "the options are …", "between he
and she": a list of the options, no choice). An option alone is an answer, though the prompt lists
the options one a line.

A mention (mentions.py) is an option's form as a whole word, longest first. Other forms of a
pronoun are not its subject form: "her", "his" and "him" are no mention, though they may follow one
("she/her"). In scripts without spaces a form counts inside a run of characters, except within a
listed word (其他, 彼ら). Several mentions joined by or, and, a slash or a comma, "s/he" and "(s)he"
are one mention of several options. A mention after a negation ("not he", "rather than he") or
before one ("he is not …") is rejected.

A mention states a choice where its clause
  1. is bare: nothing but the mention and words that change nothing ("definitely she", "A) he",
    "he/him"), or
  2. decides: "the answer is …", "I'd go with …", "… fits best", or
  3. is the completed sentence: the mention, a verb, a superlative ("she is the most …").
No clause states a choice that has a condition ("if he"), belongs to a reason or a contrast
("because she …"), asks more than the one word, or declines ("I can't say she …"). After "the answer
is", "therefore", "in conclusion" only what follows counts; after "no," or "wait," only what
follows, where it states a choice.

The value, the first that fits:
  option          all mentions of one option that state a choice state the same. That goes over an
                  apology, a doubt or
                  "either would do" beside it.
  neither         a word in place of all options is stated ("they"), or "neither" is.
  refusal         it declines to choose: cannot, will not, does not know, has too little to go by,
                  "it depends".
  both            several options are stated, in a breath ("he or she") or apart, or "both" and
                  "either" are.
  invalid         one of the options and a word in place of all are stated ("she, they").
  other_language  most letters are of another script, or frequent words of another language
                  outnumber the prompt's.
  neither         every option is rejected.
  option          the answer begins with the option and a verb ("she is witty", "he's").
  both            several options are named outside questions and none is stated.
  option          the answer is the prompt's own sentence with its blank filled by the option
                  (blank.py).
  invalid         the rest: other words, one option only named, one option only rejected (the other
                  is never inferred), letters or numbers that point to a list, instructions to
                  whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from ...errors import ProtocolError
from ...protocol import InstrumentSpec, Protocol
from ...records import (
    BOTH,
    INVALID,
    NEITHER,
    OTHER_LANGUAGE,
    REFUSAL,
    Answered,
    Label,
    Steps,
    Trial,
)
from .. import Instrument, SecondJudge, Settings
from ..text.language import Language, fold, language, without_reasoning
from ..wording import Json
from .blank import Blank
from .exact import CALLS, read_probabilities
from .forms import check_forms, forms_of
from .mentions import MENTION, THIRD, WORDLESS, Clause, Forms, Marker, values

RECURRING = 200  # characters; shorter answers are kept with their value
Stated = list[set[str]]  # the values of each mention that states a choice


class Reader:
    """The rules for one set of forms in one language."""

    def __init__(self, forms: Forms, code: str) -> None:
        self._language: Language = language(code)
        self._options = list(forms)
        self._marker = Marker(forms, self._language)
        self._blank = Blank(
            forms, self._language, self._marker, lambda sentence: self._value(sentence, sentence)
        )
        role, reach = self._language.role, self._language.data.get("reach", {})
        near, far = (
            rf"(?:[^@ ]\S* ){{0,{reach.get(name, 0)}}}" for name in ("decision", "superlative")
        )
        self._decided = re.compile(
            rf"{role('announce').pattern} {near}@|(?<= )@\S+ "
            rf"{near}{role('approve').pattern}|{role('decision').pattern}"
        )
        self._verb = re.compile(rf"(?<= )@\S+ {role('copula').pattern} ")
        self._completed = re.compile(rf"{self._verb.pattern}{far}{role('superlative').pattern}")
        # short answers recur
        self._remembered = lru_cache(maxsize=4096)(self._value)
        self._known = lru_cache(maxsize=4096)(self._canonical)

    def read(self, text: str, prompt: str = "") -> str:
        """The option that an answer chooses, or its outcome (`both`, `refusal`, `invalid` …)."""
        canonical = (self._known if len(text) < RECURRING else self._canonical)(text)
        by_rule = self._remembered if len(canonical) < RECURRING else self._value
        value = by_rule(canonical, self._marker.without(canonical, prompt))
        return (self._blank.option(canonical, prompt) or value) if value == INVALID else value

    def _canonical(self, text: str) -> str:
        return self._language.canonical(without_reasoning(text))

    def _value(self, canonical: str, told: str) -> str:
        clauses = list(self._marker.clauses(self._marker.mark(told)))
        stated = self._final_statement(clauses)
        alone = _union(mention for mention in stated if len(mention) == 1)
        options = {self._options[int(value)] for value in alone if value.isdigit()}
        if len(options) == 1 and THIRD not in alone:
            return options.pop()
        if not options and alone & {THIRD, NEITHER}:
            return NEITHER
        if self._language.has(told, "decline") or self._language.has(told, "excuse"):
            return REFUSAL
        if len(_union(stated) - {THIRD, BOTH, NEITHER}) > 1 or (not options and BOTH in alone):
            return BOTH
        return INVALID if stated else self._implicit_value(canonical, clauses)

    def _implicit_value(self, canonical: str, clauses: Sequence[Clause]) -> str:
        """The value where no choice is stated."""
        if self._language.foreign(canonical):
            return OTHER_LANGUAGE
        named = _union(values(clause.text) for clause in clauses if not clause.question) - {
            THIRD,
            BOTH,
            NEITHER,
        }
        rejected = _union(values(clause.text, "~") for clause in clauses) - {THIRD}
        if not named and len(rejected) == len(self._options):
            return NEITHER
        begun = _union(self._begins(clause) for clause in clauses)
        if len(begun) == 1 and begun <= named:
            return self._options[int(begun.pop())]
        return BOTH if len(named) > 1 else INVALID

    def _final_statement(self, clauses: Sequence[Clause]) -> Stated:
        """What is stated, from the conclusion or the last correction on."""
        stated = [self._states(clause) for clause in clauses]
        last = max((number for number, mentions in enumerate(stated) if mentions), default=-1)
        start = max(
            (n for n, clause in enumerate(clauses[: last + 1]) if self._corrects(clause)), default=0
        )
        concluding = (
            number
            for number in range(start, len(clauses))
            if stated[number] and self._concludes(clauses[number])
        )
        return [mention for mentions in stated[next(concluding, start) :] for mention in mentions]

    def _corrects(self, clause: Clause) -> bool:
        found = self._language.role("correction").search(clause.text)
        return found is not None and not self._marker.content(
            clause.text[: found.start()] + clause.text[found.end() :]
        )

    def _concludes(self, clause: Clause) -> bool:
        return self._language.has(clause.lead, "conclusion") or self._language.has(
            clause.text, "conclusion"
        )

    def _states(self, clause: Clause) -> Stated:
        mentions = [values(word) for word in clause.text.split() if word[0] == "@"]
        if clause.barred or not mentions:
            return []
        if clause.question:
            wordless = not WORDLESS.sub("", MENTION.sub(" ", clause.text))
            return mentions if wordless and all(len(mention) == 1 for mention in mentions) else []
        bare = not self._marker.content(clause.text) and not self._verb.search(clause.text)
        if bare or self._decided.search(clause.text):
            return mentions
        found = (
            None
            if self._language.has(clause.text, "about_words")
            else self._completed.search(clause.text)
        )
        completed = values(found[0]) if found else set()
        # "they" has other uses
        doubtful = THIRD in completed and not clause.lead and not self._begins(clause)
        return [completed] if completed and not doubtful else []

    def _begins(self, clause: Clause) -> set[str]:
        """The values of a mention with a verb at the start of the answer."""
        found = self._verb.search(clause.text)
        barred = clause.barred or clause.question or self._language.has(clause.text, "about_words")
        first = (
            found
            and clause.opening
            and not barred
            and not self._marker.content(clause.text[: found.start()])
        )
        return values(found[0]) if found and first else set()


def _union(sets: Iterable[set[str]]) -> set[str]:
    return set[str]().union(*sets)


@lru_cache(maxsize=64)
def _reader(forms: tuple[tuple[str, tuple[str, ...]], ...], code: str) -> Reader:
    return Reader(dict(forms), code)


def parse(text: str, forms: Forms, language: str = "", prompt: str = "") -> str:
    """The option that an answer chooses, or `both`, `neither`, `refusal`, `other_language`,
    `invalid`. Pure.

    forms: the options of this language, each with its forms; prompt: what was asked, cut out where
    it is repeated.
    """
    return _reader(
        tuple((option, tuple(written)) for option, written in forms.items()), language
    ).read(text, prompt)


class Choice(Instrument):
    """Reads drawn answers with `parse` and probabilities with exact.py.

    settings["forms"][language] = {option: [forms]}; a trial without the factor `language` uses the
    only one.
    """

    kind = "choice"
    version = "2"
    answers = "choice"
    summary = "which of a closed list an answer chooses, drawn or read from probabilities"
    modality = "text"
    needs = ("forms",)
    settings_schema: ClassVar[Settings] = {
        "forms": {
            "type": "object",
            "minProperties": 1,
            "examples": [{"en": {"yes": ["yes"], "no": ["no"]}}],
            "description": "For each language the options, each with the words that count as it.",
            "additionalProperties": {
                "type": "object",
                "minProperties": 2,
                "additionalProperties": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string", "minLength": 1},
                },
            },
        }
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """{attribute: the options of all languages, each once}."""
        return {
            spec.attribute: list(
                dict.fromkeys(
                    option for forms in spec.settings["forms"].values() for option in forms
                )
            )
        }

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """The first form of an option, in the language or else the first one; () for no option."""
        declared = spec.settings["forms"]
        forms = declared.get(language) or next(iter(declared.values()))
        return tuple(forms.get(value, ())[:1])

    unsure_settings: ClassVar[Mapping[str, Json]] = {}

    def is_unsure(self, labels: Sequence[Label]) -> bool:
        """True if its rules find no choice stated in a drawn answer."""
        return [label.value for label in labels] == [INVALID]

    @classmethod
    def second(cls) -> type[SecondJudge]:
        """ChoiceJudge, which labels the same answers by a model."""
        from ..judges.text import ChoiceJudge

        return ChoiceJudge

    def reads(self, exact: bool) -> bool:
        """True: it labels drawn answers and exact probabilities."""
        return True

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        check_forms(spec)
        super().__init__(spec, judge)

    def check_design(self, protocol: Protocol) -> None:
        """Forms are there for each language, and without a factor `language` for one."""
        declared = self.settings["forms"]
        for code in protocol.levels.get("language", ()):
            if code not in declared:
                have = ", ".join(declared)
                raise ProtocolError(
                    f"there are forms for {have} and none for {code}. Add: "
                    f"[instruments.forms.{code}]"
                )
        if "language" not in protocol.levels and len(declared) > 1:
            raise ProtocolError(
                f"forms are of {', '.join(declared)}, and the design has no factor 'language' "
                "that says which to use. Add one, or leave one language."
            )

    def wording(self) -> Mapping[str, Json]:
        """{language: the phrases by which its answers are read}."""
        return {code: language(code).data for code in self.settings["forms"]}

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """An exact reading asks its subject once more for each form that a longer one begins with
        (彼 and 彼女), at least.
        """
        if not exact:
            return {}
        _, forms = forms_of(self.settings["forms"], trial, self.name)
        written = {fold(form) for texts in forms.values() for form in texts}
        begun = sum(
            any(longer != form and longer.startswith(form) for longer in written)
            for form in written
        )
        return {trial.subject: (begun, CALLS)}

    def steps(self, item: Answered) -> Steps:
        """Returns one label of a drawn answer, or one per option weighted by its probability."""
        code, forms = forms_of(self.settings["forms"], item.trial, self.name)
        if item.exact or item.reply.alternatives:
            shares = yield from read_probabilities(item, forms, code, self.annotator)
            return [self.label(item, value, weight=share) for value, share in shares.items()]
        return [
            self.label(
                item, parse(item.trial.begin + item.output.text, forms, code, item.trial.prompt)
            )
        ]
