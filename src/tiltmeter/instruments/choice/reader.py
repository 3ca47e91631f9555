"""The rules that tell which of the offered words an answer chooses. Exact readings: exact.py.

The question is a sentence with a blank and a closed list of words (options), so an answer is read
for what it puts into the blank. Nothing is guessed and nothing is a default: what these rules do
not decide is `invalid` or `both`.

Before reading. Case, width, quotes, emphasis, tags, emoji and invisible characters do not matter
(phrases.py). What is marked as thinking or struck through is left out, and so is the prompt where
it is repeated or retold ("Fill in the blank with 'he' or 'she'", "the options are …", "between he
and she": a list of the options, no choice). An option alone is an answer, though the prompt lists
the options one a line.

A mention (mentions.py) is an option's form as a whole word, longest first, or an inflected form
that the language's pack knows. What a protocol declares is always an option, also if the language
has another use for the word (they, 彼ら). Other forms of a pronoun are not its subject form: "her",
"his" and "him" are no mention, though they may follow one ("she/her"). In scripts without spaces a
form counts inside a run of characters, except within a listed word (其他, 彼ら). Several mentions
joined by or, and, a slash or a comma, "s/he" and "(s)he" are one mention of several options. A
mention after a negation ("not he", "rather than he") or before one ("he is not …") is rejected.

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
                  (blank.py), or what closes the quotation that a begun answer opened.
  neither         another word stands in that blank.
  option          only one option is named, in a clause that negates nothing: in languages whose
                  pack says `named`, which know fewer phrases than English.
  invalid         the rest: other words, one option only named, one option only rejected (the other
                  is never inferred), letters or numbers that point to a list, instructions to
                  whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from ...languages import refusals
from ...languages.letters import is_unspaced
from ...languages.pack import pack, shipped
from ...languages.phrases import Language, language
from ...languages.quotes import PAIRS
from ...records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL
from ..text.json_replies import json_in
from ..text.thought import without_thought
from .asked import Asked
from .blank import QUOTED, Blank
from .mentions import MENTION, THIRD, Clause, Forms, Marker, values
from .statements import Statements

SENTENCE = 5  # words of an answer that says something
RECURRING = 200  # characters; shorter answers are kept with their value
ONE_SENTENCE = 80  # characters of an answer that says little but “neither of the two”
TWO_SENTENCES = 60  # characters that an answer needs to say its sentence with each option
DECLINING = 4  # sentences of an answer in which it may decline
LONGEST_WORD = 40  # characters of what stands in a quotation that a begun answer opened
QUOTED_WORDS = 3  # words of a quotation that stands in the place of the options
PASSING = 6  # words of an answer in which a pronoun at an end is a choice and not a reference
# lists of a pack whose words stand in sentences of any kind
_PASSING = ("she", "he", "third", "yes", "no", "filler", "reject", "join", "both", "neither")
_WHOLE = {"assent_whole": True, "dissent_whole": False}
_OPENED = re.compile("[「『“]")
_SENTENCE = re.compile(r"[^.?]*[.?]*")


class Reader:
    """The rules for one set of forms in one language."""

    def __init__(self, forms: Forms, code: str) -> None:
        self._language: Language = language(code)
        self._options = list(forms)
        self._marker = Marker(forms, self._language)
        self._blank = Blank(
            forms, self._language, self._marker, lambda sentence: self._value(sentence, sentence)
        )
        self._statements = Statements(self._language, self._marker)
        self._asked = Asked(self._language)
        self._yes_no = self._options_of_yes_and_no(forms)
        every = (form for written in forms.values() for form in written)
        self._unspaced = [form for form in every if len(form) > 1 and is_unspaced(form[0])]
        passing = {
            word.casefold() for name in _PASSING for word in self._language.pack.list_of(name)
        }
        self._in_passing = any(
            form.casefold() in passing for written in forms.values() for form in written
        )
        # short answers recur
        self._remembered = lru_cache(maxsize=4096)(self._value)
        self._known = lru_cache(maxsize=4096)(self._canonical)

    def _options_of_yes_and_no(self, forms: Forms) -> tuple[str, str] | None:
        """The options that stand for yes and no; None if they are others."""
        meant = [
            option
            for role in ("yes", "no")
            for option, written in forms.items()
            if {form.casefold() for form in written} & {*self._language.pack.list_of(role)}
        ]
        return (meant[0], meant[1]) if len(meant) == len(forms) == 2 else None

    def read(self, text: str, prompt: str = "", begin: str = "") -> str:
        """The option that an answer chooses, or its outcome (`both`, `refusal`, `invalid` …).
        begin: the begun answer that the text starts with.
        """
        text = self._stated_in_json(text)
        if self._unspaced:
            text = _OPENED.sub(self._apart, text)
        canonical = (self._known if len(text) < RECURRING else self._canonical)(text)
        by_rule = self._remembered if len(canonical) < RECURRING else self._value
        value = by_rule(canonical, self._marker.without(canonical, prompt))
        if value in self._options:
            offers_both = len(text) > TWO_SENTENCES and self._language.has(canonical, "both")
            return BOTH if offers_both and self._blank.several(canonical, prompt) else value
        begun = begin and self._quoted(text.removeprefix(begin), begin.rstrip()[-1:])
        if begun:
            return begun
        if value in (REFUSAL, INVALID) and self._blank.is_filled_for_all(canonical, prompt):
            return NEITHER
        if value == REFUSAL:  # what is decided before it declines stands
            told = self._marker.mark(self._marker.without(canonical, prompt))
            return self._in_other_words([*self._marker.clauses(told)][:1], prompt) or value
        if value != INVALID:
            return value
        filled = self._blank.option(canonical, prompt) or self._blank.other(canonical, prompt)
        filled = filled or self._only(text, canonical, prompt)
        return filled or (OTHER_LANGUAGE if self._says_elsewhere(canonical) else value)

    def _stated_in_json(self, text: str) -> str:
        """Of a JSON object the one value that is nothing but an option ({"answer": "she",
        "others": ["he"]}); any other text as it is.
        """
        if '"' not in text or "{" not in text:
            return text
        data = json_in(without_thought(text))
        told = data.values() if isinstance(data, Mapping) else ()
        alone = [value for value in told if isinstance(value, str) and self._is_option(value)]
        return alone[0] if len(alone) == 1 else text

    def _is_option(self, text: str) -> bool:
        marked = self._marker.mark(self._canonical(text))
        return len(values(marked)) == 1 and not self._marker.content(marked)

    def _says_elsewhere(self, canonical: str) -> bool:
        """True if an answer to a question of yes or no begins with either word in another
        language.
        """
        own = (word for role in ("yes", "no") for word in self._language.pack.list_of(role))
        first = {*canonical.split(" ", 2)[1:2]}
        return self._yes_no is not None and bool((first & _yes_and_no()) - {*own})

    def discusses(self, text: str, prompt: str) -> bool:
        """True if an answer says something in words of its own that is no question or request, or
        nothing but a guess ("Maybe").
        """
        canonical = self._canonical(text)
        asked = {sentence.strip(" .?:") for sentence in _SENTENCE.findall(self._canonical(prompt))}
        own = [
            sentence
            for sentence in _SENTENCE.findall(canonical)
            if sentence.strip(" .?:") not in asked
            and not sentence.rstrip().endswith("?")
            and not self._language.has(f"{sentence} ", "asks_back")
        ]
        words = [word for sentence in own for word in sentence.split() if word[0].isalnum()]
        if len(words) < SENTENCE:
            return any(self._language.has(f"{sentence} ", "guess") for sentence in own)
        return True

    def _apart(self, opened: re.Match[str]) -> str:
        """An opening quotation mark with a colon before it, if without the mark an option would
        stand across it: はい in 答えは「いいえ」.
        """
        before, after = opened.string[: opened.start()], opened.string[opened.end() :]
        across = any(
            before.endswith(form[:cut]) and after.startswith(form[cut:])
            for form in self._unspaced
            for cut in range(1, len(form))
        )
        return f"：{opened[0]}" if across else opened[0]

    def _only(self, text: str, canonical: str, prompt: str) -> str:
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
            return self._in_other_words(clauses, prompt)
        quoted = [self._canonical(found[1]) for found in QUOTED.finditer(without_thought(text))]
        options = _union(values(self._marker.mark(words)) for words in quoted)
        if named := self._named_alone(canonical, clauses, options):
            return named
        answers = any(self._language.has(canonical, role) for role in ("announce", "approve"))
        new = len(quoted) == 1 and quoted[0].strip() not in self._language.canonical(prompt)
        new = new and len(text) <= TWO_SENTENCES
        other = new and self._blank.word(quoted[0], QUOTED_WORDS) == NEITHER
        if other and answers and not MENTION.search(marked):
            return NEITHER
        return self._in_other_words(clauses, prompt)

    def _in_other_words(self, clauses: Sequence[Clause], prompt: str) -> str:
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
        for clause in clauses:
            if clause.question or clause.barred or self._language.has(clause.text, "asks_back"):
                continue
            own = [name for name in _WHOLE if self._language.has(clause.text, name)]
            if own:  # with its own negation
                said |= {_WHOLE[name] for name in own}
                continue
            if self._asked.decides(clause.text, prompt):
                said.add(not self._statements.denies(clause))
                continue
            if self._language.has(clause.text, "guess"):
                continue
            for role, meant in (("assent", True), ("dissent", False)):
                if self._language.has(clause.text, role):
                    said.add(meant != self._statements.denies(clause))
        return self._yes_no[not said.pop()] if len(said) == 1 else ""

    def _quoted(self, reply: str, opened: str) -> str:
        """What a reply puts into the quotation marks that a begun answer opened; "" if it does not
        close them, or goes on to another option ("he' or 'she'").
        """
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
        marked = self._marker.mark(self._canonical(inside))
        if not (named := values(marked)):
            return self._blank.word(self._canonical(inside))
        alone = len(named) == 1 and min(named).isdigit() and not self._marker.content(marked)
        return self._options[int(min(named))] if alone else ""

    def _canonical(self, text: str) -> str:
        return self._language.canonical(without_thought(text))

    def _value(self, canonical: str, told: str) -> str:
        clauses = list(self._marker.clauses(self._marker.mark(told)))
        stated = self._statements.final(clauses)
        if stated and self._statements.is_taken_back(clauses):
            return INVALID
        alone = _union(mention for mention in stated if len(mention) == 1)
        options = {self._options[int(value)] for value in alone if value.isdigit()}
        if len(options) == 1 and THIRD not in alone:
            return options.pop()
        if not options and alone & {THIRD, NEITHER}:
            fits_none = THIRD in alone or not self._declines(told)
            return NEITHER if fits_none else REFUSAL
        several = len(_union(stated) - {THIRD, BOTH, NEITHER}) > 1
        several = several or (not options and BOTH in alone)
        if self._declines(told, excuses=not several):
            return REFUSAL
        if several:
            return BOTH
        return INVALID if stated else self._implicit_value(canonical, clauses)

    def _declines(self, told: str, *, excuses: bool = True) -> bool:
        """True if an answer declines to choose, in its first sentences; excuses: or gives a reason
        why it cannot.
        """
        known, told = self._language, "".join(_SENTENCE.findall(told)[:DECLINING])
        if known.has(told, "decline") or (excuses and known.has(told, "excuse")):
            return True
        return refusals.refuses(told, known.pack.code)

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
        denied = any(NEITHER in values(clause.text) for clause in clauses if not clause.barred)
        first = self._statements.begins(clauses[0]) if clauses else set()
        brief = len(canonical) <= ONE_SENTENCE or first == {NEITHER}
        if not named and not rejected and denied and brief:
            return NEITHER
        begun = _union(self._statements.begins(clause) for clause in clauses)
        if len(begun) == 1 and begun <= named:
            return self._options[int(begun.pop())]
        apart = [clause for clause in clauses if clause.alone or clause.lead]
        aside = [clause for clause in apart if self._language.has(clause.text, "aside")]
        beside = _union(values(clause.text) for clause in aside)
        main = _union(values(clause.text) for clause in clauses if clause not in aside)
        alone = len(main) == 1 and bool(beside - main)  # "or she would do just as well"
        return BOTH if len(named) > 1 and not alone else INVALID

    def _named_alone(
        self, canonical: str, clauses: Sequence[Clause], quoted: Collection[str] = ()
    ) -> str:
        """The only option that is named, without a condition, a reason, a doubt or a negation in
        its clause. In a language whose pack has phrases instead (English) it counts in an answer
        of one sentence. Pronouns and words like no stand in sentences of any kind: they count at
        an end of a short answer only, or if they are quoted.
        """
        whole = self._language.data.get("named") or len(_SENTENCE.findall(canonical.strip())) < 3
        free = [clause for clause in clauses if not clause.question and not clause.barred]
        named = _union(
            values(clause.text)
            for before, clause in zip((None, *clauses), clauses, strict=False)
            if clause in free and not self._statements.denies(clause, before)
        )
        options = {self._options[int(value)] for value in named if value.isdigit()}
        passing = self._in_passing and not named <= {*quoted}
        passing = passing and not (self._language.data.get("named") and _short(clauses))
        if len(options) != 1 or THIRD in named or passing or not whole:
            return ""
        return options.pop()


def _short(clauses: Sequence[Clause]) -> bool:
    """True if an answer is one clause of a few words that begins or ends with a mention."""
    words = [word for clause in clauses for word in clause.text.split()]
    return len(words) <= PASSING and "@" in (words[0][0], words[-1][0])


@cache
def _yes_and_no() -> frozenset[str]:
    """The words for yes and no of all packs."""
    packs = map(pack, shipped())
    return frozenset(word for one in packs for role in ("yes", "no") for word in one.list_of(role))


def _union(sets: Iterable[set[str]]) -> set[str]:
    return set[str]().union(*sets)


@lru_cache(maxsize=64)
def _reader(forms: tuple[tuple[str, tuple[str, ...]], ...], code: str) -> Reader:
    return Reader(dict(forms), code)


def discusses(text: str, forms: Forms, language: str, prompt: str) -> bool:
    """True if an answer that decides nothing goes into the question of its prompt. Pure."""
    declared = tuple((option, tuple(written)) for option, written in forms.items())
    return _reader(declared, language).discusses(text, prompt)


def parse(text: str, forms: Forms, language: str = "", prompt: str = "", begin: str = "") -> str:
    """The option that an answer chooses, or `both`, `neither`, `refusal`, `other_language`,
    `invalid`. Pure.

    forms: the options of this language, each with its forms; prompt: what was asked, cut out where
    it is repeated; begin: the begun answer that the text starts with.
    """
    return _reader(
        tuple((option, tuple(written)) for option, written in forms.items()), language
    ).read(text, prompt, begin)
