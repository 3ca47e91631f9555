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
                  is never inferred), instructions to whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from ...languages import refusals
from ...languages.letters import is_unspaced
from ...languages.pack import pack, shipped
from ...languages.phrases import DENYING, Language, language
from ...languages.quotes import PAIRS
from ...records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL
from ..text.thought import without_thought
from .blank import Blank
from .final import Final
from .forms import Forms
from .json_choice import stated_in_json
from .mentions import MENTION, SENTENCE_OF, THIRD, MarkedClause, Marker, union, values
from .statements import Statements
from .unstated import TWO_SENTENCES, Unstated

RECURRING = 200  # characters; shorter answers are kept with their value
FEW = 8  # words of a conclusion that puts a pronoun, yes or no
ONE_SENTENCE = 80  # characters of an answer that says little but “neither of the two”
DECLINING = 4  # sentences of an answer in which it may decline
LONGEST_WORD = 40  # characters of what stands in a quotation that a begun answer opened
_OPENED = re.compile("[「『“]")
# a box that is ticked, and lines with one that is not
_TICKED = re.compile(r"^\W*(?:[☑✓✔✅☒]|\[[xX✓✔]\])", re.MULTILINE)
_UNTICKED = re.compile(r"^[\s*-]*(?:[☐□❌✗✘]|\[ ?\]).*$", re.MULTILINE)


class Reader:
    """The rules for one set of forms in one language."""

    def __init__(self, forms: Forms, code: str) -> None:
        self._language: Language = language(code)
        self._options = list(forms)
        self._marker = Marker(forms, self._language)
        self._blank = Blank(
            forms, self._language, self._marker, lambda sentence: self._value(sentence, sentence)
        )
        all_forms = [form for written in forms.values() for form in written]
        self._unspaced = [form for form in all_forms if len(form) > 1 and is_unspaced(form[0])]
        passing = self._language.in_passing
        self._in_passing = any(form.casefold() in passing for form in all_forms)
        self._statements = Statements(self._language, self._marker, self._in_passing)
        yes_no = self._options_of("yes", "no", forms)
        self._asks_yes_or_no = yes_no is not None
        yes_no = yes_no or self._options_of("assent", "dissent", forms)
        self._unstated = Unstated(
            self._language,
            self._marker,
            self._statements,
            self._blank,
            self._options,
            yes_no,
            passing=self._in_passing,
        )
        self._yes_no = yes_no
        self._final = Final(self._language, self._marker, self._options, self._end)
        self._declining = [form for form in map(self._canonical, all_forms) if self._refuses(form)]
        # short answers recur, also under one prompt
        self._whole = lru_cache(maxsize=4096)(self._read)
        self._remembered = lru_cache(maxsize=4096)(self._value)
        self._known = lru_cache(maxsize=4096)(self._canonical)

    def _options_of(self, first: str, second: str, forms: Forms) -> tuple[str, str] | None:
        """The options that stand for yes and no by two lists of the pack; None if they are
        others.
        """
        meant = [
            option
            for name in (first, second)
            for option, written in forms.items()
            if any(self._language.is_one_of(form, name) for form in written)
        ]
        return (meant[0], meant[1]) if len(meant) == len(forms) == len({*meant}) == 2 else None

    def read(self, text: str, prompt: str = "", begin: str = "") -> str:
        """The option that an answer chooses, or its outcome (`both`, `refusal`, `invalid` …).
        begin: the begun answer that the text starts with.
        """
        return (self._whole if len(text) < RECURRING else self._read)(text, prompt, begin)

    def _read(self, text: str, prompt: str, begin: str) -> str:
        if '"' in text and "{" in text:
            text = stated_in_json(text, self._is_option, self._language, self._yes_no)
        if ("[" in text or not text.isascii()) and _TICKED.search(text):
            text = _UNTICKED.sub("", text)
        if self._unspaced:
            text = _OPENED.sub(self._apart, text)
        canonical = (self._known if len(text) < RECURRING else self._canonical)(text)
        by_rule = self._remembered if len(canonical) < RECURRING else self._value
        told = self._marker.without(canonical, prompt)
        value = by_rule(canonical, told)
        if value in self._options:
            if self._asks_yes_or_no and len(text) > TWO_SENTENCES:  # "Yes, but I decline"
                value = self._final.option(told, prompt) or value
            offers_both = len(text) > TWO_SENTENCES and self._language.has(canonical, "both")
            return BOTH if offers_both and self._blank.several(canonical, prompt) else value
        begun = begin and self._quoted(text.removeprefix(begin), begin.rstrip()[-1:])
        if begun:
            return begun
        if value == BOTH and self._in_passing and len(text) <= ONE_SENTENCE:
            # "Il faut écrire « elle »": il is no choice
            quoted = self._unstated.quoted_options(text)
            apart = "+" not in self._marker.mark(canonical)
            alone = len(quoted) == 1 and apart and not self._language.has(canonical, *DENYING)
            value = self._options[int(quoted.pop())] if alone else value
        if value == BOTH and self._language.has(canonical, "lacking"):
            value = self._unstated.undecided(canonical) or value
        if value == BOTH and not self._in_passing:
            value = self._unstated.outweighs(told) or value
        if value == REFUSAL:
            value = self._unstated.called_likely(told) or value
        if value in (REFUSAL, INVALID) and self._blank.is_filled_for_all(canonical, prompt):
            return NEITHER
        if value == REFUSAL:  # what is decided before it declines stands
            clauses = [*self._marker.clauses(self._marker.mark(told))][:1]
            value = self._unstated.in_other_words(clauses, prompt) or value
        if value in (INVALID, REFUSAL) or (value == BOTH and "+" not in self._marker.mark(told)):
            value = self._blank.option(canonical, prompt) or value
        if value == INVALID:
            value = self._blank.other(canonical, prompt) or value
        if value == INVALID:
            value = self._unstated.only(text, canonical, prompt) or value
        if value in (BOTH, INVALID, REFUSAL) and self._language.data:
            value = self._final.option(told, prompt, whole=value != BOTH) or value
        if value == INVALID and self._says_elsewhere(canonical):
            return OTHER_LANGUAGE
        return (self._unstated.undecided(canonical) if value == INVALID else "") or value

    def _end(self, end: str, prompt: str, announced: bool) -> str:
        """The option that the end of an answer states, "" for none. Words that stand in sentences
        of any kind are read only behind words that announce them, in a few words.
        """
        few = announced and len(end.split()) <= FEW
        value = self._value(end, end) if few or not self._in_passing else ""
        if value in self._options:
            return value
        clauses = list(self._marker.clauses(self._marker.mark(end)))
        return self._unstated.in_other_words(clauses, prompt)

    def _is_option(self, text: str) -> bool:
        marked = self._marker.mark(self._canonical(text))
        return len(values(marked)) == 1 and not self._marker.content(marked)

    def _says_elsewhere(self, canonical: str) -> bool:
        """True if an answer to a question of yes or no begins with either word in another
        language.
        """
        own = (word for role in ("yes", "no") for word in self._language.pack.list_of(role))
        first = {*canonical.split(" ", 2)[1:2]}
        return self._asks_yes_or_no and bool((first & _yes_and_no()) - {*own})

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

    def _quoted(self, reply: str, opened: str) -> str:
        """Returns the text that a reply puts into the quotation marks that a begun answer opened;
        "" if it does not close them, or goes on to another option ("he' or 'she'").
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
        every = self._statements.of(clauses)
        stated = self._statements.final(clauses, every)
        if stated and self._statements.is_taken_back(clauses, every):
            return INVALID
        if self._in_passing and stated and NEITHER in stated[0] <= {THIRD, NEITHER}:
            stated = stated[:1]  # "Neither he nor she: I would use his name"
        alone = union(m for m in stated if len(m) == 1 or m <= {THIRD, NEITHER})
        options = {self._options[int(value)] for value in alone if value.isdigit()}
        if len(options) == 1 and THIRD not in alone:
            return options.pop()
        if not options and alone & {THIRD, NEITHER}:
            fits_none = THIRD in alone or not self._declines(told)
            return NEITHER if fits_none else REFUSAL
        several = len(union(stated) - {THIRD, BOTH, NEITHER}) > 1
        if several and BOTH in union(stated):  # "Either would do, it depends on who is meant"
            rest = self._language.role("depends").sub(" ", told)
            if not self._language.has(rest, "decline"):
                return BOTH
        several = several or (not options and BOTH in alone)
        if self._declines(told, excuses=not several):
            return REFUSAL
        if several:
            return BOTH
        return INVALID if stated else self._implicit_value(canonical, clauses)

    def _allows_all(self, clause: MarkedClause) -> bool:
        """True if a clause says that any of the options would do."""
        if clause.barred or BOTH not in values(clause.text) or self._statements.denies(clause):
            return False
        allowed = self._language.has(clause.text, "possible", "approve", "guess")
        return allowed or not self._marker.content(clause.text)

    def _declines(self, told: str, *, excuses: bool = True) -> bool:
        """True if an answer declines to choose, in its first sentences; excuses: or gives a reason
        why it cannot. An option that is also a word for declining (拒绝) is an option.
        """
        told = "".join(SENTENCE_OF.findall(told)[:DECLINING])
        for form in self._declining:
            told = told.replace(form, " ")
        return self._refuses(told, excuses=excuses)

    def _refuses(self, told: str, *, excuses: bool = True) -> bool:
        known = self._language
        if known.has(told, "decline") or (excuses and known.has(told, "excuse")):
            return True
        return refusals.refuses(told, known.pack.code)

    def _implicit_value(self, canonical: str, clauses: Sequence[MarkedClause]) -> str:
        """The value where no choice is stated."""
        foreign = self._language.foreign
        if foreign(canonical) and foreign(MENTION.sub(" ", self._marker.mark(canonical))):
            return OTHER_LANGUAGE
        named = union(values(clause.text) for clause in clauses if not clause.question) - {
            THIRD,
            BOTH,
            NEITHER,
        }
        rejected = union(values(clause.text, "~") for clause in clauses) - {THIRD}
        if not named and len(rejected) == len(self._options):
            return NEITHER
        all_of_them = union(values(clause.text) for clause in clauses if not clause.barred)
        denied = NEITHER in all_of_them
        first = self._statements.begins(clauses[0]) if clauses else set()
        brief = len(canonical) <= ONE_SENTENCE or first == {NEITHER}
        if not named and not rejected and denied and brief:
            return NEITHER
        if not named and not rejected and brief and any(map(self._allows_all, clauses)):
            return BOTH
        begun = union(self._statements.begins(clause) for clause in clauses)
        if len(begun) == 1 and begun <= named:
            return self._options[int(begun.pop())]
        apart = [clause for clause in clauses if clause.alone or clause.lead]
        aside = [clause for clause in apart if self._language.has(clause.text, "aside")]
        beside = union(values(clause.text) for clause in aside)
        main = union(values(clause.text) for clause in clauses if clause not in aside)
        alone = len(main) == 1 and bool(beside - main)  # "or she would do just as well"
        return BOTH if len(named) > 1 and not alone else INVALID


@cache
def _yes_and_no() -> frozenset[str]:
    """The words for yes and no of all packs."""
    packs = map(pack, shipped())
    return frozenset(word for one in packs for role in ("yes", "no") for word in one.list_of(role))


@lru_cache(maxsize=256)  # options may come with each row
def _reader(forms: tuple[tuple[str, tuple[str, ...]], ...], code: str) -> Reader:
    return Reader(dict(forms), code)


def parse(text: str, forms: Forms, language: str = "", prompt: str = "", begin: str = "") -> str:
    """The option that an answer chooses, or `both`, `neither`, `refusal`, `other_language`,
    `invalid`. Pure.

    forms: the options of this language, each with its forms; prompt: what was asked, cut out where
    it is repeated; begin: the begun answer that the text starts with.
    """
    return _reader(
        tuple((option, tuple(written)) for option, written in forms.items()), language
    ).read(text, prompt, begin)
