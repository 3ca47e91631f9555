"""Marks the mentions of options in canonical text and cuts the text into clauses.

`@0` is a mention of the first option, `@0+1` a joint mention of two (he or she, s/he), `@third` a
word that covers all options (they), `@both` and `@neither` those words. `~0` is a mention that is
rejected (not he).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ...languages.patterns import BEHIND, WordPattern, lazy
from ...languages.phrases import DENYING, Language
from ...records import BOTH, NEITHER
from .forms import Forms, is_part
from .meanings import THIRD, meanings, opposite_marks, separated, verbs

LEAD = 24  # characters that a word before a conclusion has at most
_BARRING = ("aside", "decline", "considered")  # roles in whose clause no choice is stated
WORDLESS = lazy(r"[\s.?,:/0-9]+")
_BRACKET = lazy(r"[\[［(（【][^\[\]［］()（）【】]*[\]］)）】]")
MENTION = lazy(r"[@~]\S+")
SENTENCE_OF = lazy(r"[^.?]*[.?]*")  # of canonical text


class MarkedClause(NamedTuple):
    """A clause of marked text. lead: the words before its colon; barred: it cannot state a choice;
    opening: only words without content precede it; alone: it is a whole sentence; closed: its
    sentence has an end mark; sentence: its sentence's number; begins: it begins its sentence.
    """

    text: str
    lead: str
    question: bool
    barred: bool
    opening: bool
    alone: bool = False
    closed: bool = False
    sentence: int = 0
    begins: bool = False


def values(text: str, mark: str = "@") -> set[str]:
    """Returns the values of all mentions in marked text; with "~", of all rejected mentions."""
    return {
        value
        for mention in MENTION.findall(text)
        if mention[0] == mark
        for value in mention[1:].split("+")
    }


def union(sets: Iterable[set[str]]) -> set[str]:
    """Returns the union of some sets."""
    return set[str]().union(*sets)


class Marker:
    """A marker of mentions and clauses, for one set of forms in one language."""

    def __init__(self, forms: Forms, language: Language) -> None:
        self._language, self._number = language, len(forms)
        self._compounds = bool(language.data.get("compounds"))
        written = (form for forms_of_option in forms.values() for form in forms_of_option)
        self._passing = any(form.casefold() in language.in_passing for form in written)
        yes_no = {*language.pack.list_of("yes"), *language.pack.list_of("no")}
        self._yes_no = any(form.casefold() in yes_no for texts in forms.values() for form in texts)
        self._options = {str(number) for number in range(len(forms))}
        self.meanings = meanings(forms, language)
        self.stems = verbs(forms, self.meanings, language)
        mention = language.any_mention((*self.meanings, *language.pack.list_of("blocked"))).pattern
        stems = (rf"{BEHIND}(?:{stem})(?= )" for stem in self.stems.values())
        self._mention = WordPattern(mention, *stems)
        joints = [language.phrase(word) for word in language.pack.list_of("join")]
        self._several = WordPattern(rf"{BEHIND}{_run(['/', ',', *joints], least=1)}(?= )")
        self.opposites = opposite_marks(forms, language)
        self._separated = separated(forms, language)
        self._rejected = self._rejection(_run(["/", *joints]))
        self._lists = bool(language.data.get("named"))
        listing = language.role("listing").pattern
        two = r"(?<= )@\S+(?:(?: \S+){0,2} @\S+)?(?= )"  # all options, in a breath or apart
        self._listed = WordPattern(
            rf"{listing}(?: \S+)? {two}(?=.*@)", rf"{two}(?: \S+)? {listing}(?=.*@)"
        )
        conceding = language.role("contrast").pattern
        self._conceded = lazy(rf"(?<=[.?]) @\S+ (?=,[^.?]*{conceding})")
        self._article = WordPattern(rf"{language.role('articles').pattern} (?=@)")
        self._has_articles = bool(language.pack.list_of("articles"))
        grown = "|".join(map(re.escape, language.pack.list_of("particles")))
        # behind a quotation mark
        self._particle = lazy(rf" (?<=@\d )(?:{grown})(?= )") if grown else None
        concluding = language.pack.list_of("conclusion")[:1]
        self._concluding = language.canonical(concluding[0]).strip() if concluding else ""
        self._idle = language.any_role("filler", "conclusion")
        steps = (
            ("prefer", _keep_first, 2),
            ("prefer_last", _keep_last, 2),
            ("reject_before", _reject_all, 1),
            ("together", _join_all, 2),
        )
        self._pairs = [(language.role(name), change, fewest) for name, change, fewest in steps]
        self._asked = lru_cache(maxsize=1024)(self._sentences)
        # several rules ask for these
        self.mark = lru_cache(maxsize=64)(self._mark)
        self.clauses = lru_cache(maxsize=64)(self._clauses)
        self._cut = lru_cache(maxsize=4096)(self._parts)  # phrases recur in other answers

    def _rejection(self, mentions: str) -> WordPattern:
        """Makes patterns for mentions before a negation, or up to five filler words after one."""
        role = self._language.role
        before = rf"{role('reject').pattern}(?: {role('gap').pattern}){{0,5}} {mentions}(?= )"
        comma = (
            "" if self._yes_no or self.opposites else r"(?: ,(?!(?: \S+){1,2} @))?"
        )  # "Yes, no doubt"
        after = rf"{BEHIND}{mentions}{comma} {role('reject_after').pattern}"
        return WordPattern(role("reject_pair").pattern, before, after)

    def without(self, canonical: str, prompt: str) -> str:
        """Removes the prompt's sentences that name an option from an answer that repeats them."""
        for sentence in self._asked(prompt) if prompt else ():
            canonical = canonical.replace(sentence, " ")
        return canonical

    def favours(self, prompt: str) -> bool:
        """True if a statement of the prompt names exactly one of the options."""
        sentences = (self.mark(sentence) for sentence in self._asked(prompt)) if prompt else ()
        return any(
            "?" not in sentence and len(values(sentence) & self._options) == 1
            for sentence in sentences
            if self.content(sentence)
        )

    def goes_on(self, text: str) -> bool:
        """True if a text begins with a word or mark that joins options: or, a slash, a comma."""
        joined = self._language.role("join").begins(self._language.canonical(text)) > 0
        return joined or text.lstrip()[:1] in tuple("/|,，、")

    def _sentences(self, prompt: str) -> list[str]:
        """Lists the sentences of a prompt that name an option. A line of a list can be an answer,
        so it is joined with the other lines and the mark before them ("Not he. She." repeats no
        list), or with the sentence before it."""
        sentences = re.findall(r"[.?\s]+[^.?\s][^.?]*", f" .{self._language.canonical(prompt)}")
        named: list[str] = []
        for lines, run in groupby(map(_pad, sentences), self._is_line):
            if not lines:
                named += (sentence.lstrip(" .?") for sentence in run)
            elif not self._is_line(listed := "".join(run)):
                named.append(listed)
            elif named and self._mention.search(listed):
                named[-1] += listed
        brackets = map(self._language.canonical, _BRACKET.findall(prompt))
        named += [text for text in brackets if self._names_all(self.mark(text))]
        ends = [
            part
            for line in named
            if ":" in line
            for part in (line.partition(":")[0], line.rpartition(":")[2])
        ]
        named += [end for end in ends if not self._is_line(_pad(end))]  # "C: none" offers none
        return [sentence for sentence in map(_pad, named) if self._mention.search(sentence)]

    def _is_line(self, sentence: str) -> bool:
        """True if a sentence is only an option, perhaps marked ("B) reject"), or only a mark."""
        marked = self.mark(sentence)
        return len(self.content(marked)) < 2 and len(values(marked)) < 2

    def _mark(self, canonical: str) -> str:
        """Marks the mentions of options in a text."""
        role = self._language.role
        for separated_verb, verb in self._separated:
            canonical = separated_verb.sub(rf"\1 {verb}", canonical)
        text = self._mention.sub(self._option_mark, canonical)
        text = self._article.sub("", text) if self._has_articles else text
        text = self._particle.sub("", text) if self._particle else text
        text = _pad(role("forced").sub(self._concluding, text))
        for pairs, change, fewest_mentions in self._pairs:
            if text.count("@") >= fewest_mentions:
                text = pairs.sub(change, text)
        text = role("neither").sub(f"@{NEITHER}", text)
        if "@" in text:
            text = self._rejected.sub(self._reject, text)
            text = self._several.sub(lambda match: _together(match[0].split()), text)
        if self._lists and "@" in text:
            text = self._listed.sub(self._without_list, text)
        if self._yes_no:  # "No. Yes, she has an income, but …"
            text = self._conceded.sub(" ", text)
        text = role("between").sub(",", text)
        return role("both").sub(f"@{BOTH}", text)

    def _reject(self, match: re.Match[str]) -> str:
        """Leaves of a match only its mentions, each as rejected, or as the opposite option."""
        rejected = " ".join(MENTION.findall(match[0])).replace("@", "~")
        return self.opposites.get(rejected, rejected)

    def _without_list(self, match: re.Match[str]) -> str:
        return "," if self._names_all(match[0]) else match[0][1:]

    def _option_mark(self, match: re.Match[str]) -> str:
        word = match[0][1:]
        meaning = self.meanings.get(f" {word} ") or next(
            (number for number, stem in self.stems.items() if re.fullmatch(stem, word)), ""
        )
        if not meaning or (self._compounds and is_part(match)):
            return word
        return f"@{meaning}"

    def _clauses(self, marked: str) -> Sequence[MarkedClause]:
        """Lists the clauses of marked text, except those that list the options. A condition bars
        the rest of its sentence from stating a choice, unless the rest is only an option and the
        condition names none ("If it were up to me, tea").
        """
        clauses: list[MarkedClause] = []
        has, opening = self._language.has, True
        for number, sentence in enumerate(re.findall(r"[^.?]+[.?]?", marked)):
            lead, conditional, conditioned, begins = "", False, False, True
            for piece, mark in re.findall(r"([^,:]+)([,:]?)", sentence.rstrip(".?")):
                for part, reason in self._cut(_pad(piece)) if piece.strip() else ():
                    supposed = conditional and not conditioned and not self._passing
                    supposed = supposed and "@" in part and not self.content(part)
                    barred = (conditional and not supposed) or reason
                    if not barred and has(part, "condition", *_BARRING):
                        conditional, barred = has(part, "condition"), True
                    elif reason and not conditional:
                        conditional = has(part, "condition")
                    conditioned = conditioned or "@" in part
                    if not self._lists_options(lead, part):
                        alone = part.strip() == sentence.strip(" .?")
                        asks = sentence.endswith("?")
                        ended = sentence.endswith((".", "?"))
                        shape = opening, alone, ended, number, begins
                        clauses.append(MarkedClause(part, lead, asks, barred, *shape))
                    begins = False
                    opening = opening and not self.content(part) and not MENTION.search(part)
                led = mark == ":" or (mark == "," and self._only_concludes(_pad(piece)))
                lead = _pad(piece) if led else ""  # "So, …" as "Conclusion: …"
        return clauses

    def _only_concludes(self, piece: str) -> bool:
        """True if a piece only introduces a conclusion ("So,")."""
        short = len(piece) < LEAD and self._language.has(piece, "conclusion")
        return short and not self.content(piece)

    def content(self, text: str) -> str:
        """Returns a clause without its mentions, marks, numbers and words without content."""
        bare = self._idle.sub(" ", f"{text} ")
        return WORDLESS.sub("", MENTION.sub(" ", bare))

    def _parts(self, piece: str) -> list[tuple[str, bool]]:
        """Splits a text at conjunctions into (part, True if a word like "because" precedes it)."""
        if not self._language.has(piece, "subordinate", "coordinate"):
            return [(piece, False)]
        cuts = [
            (*span, role == "subordinate")
            for role in ("subordinate", "coordinate")
            for span in self._language.role(role).spans(piece)
        ]
        parts, start, reason = [], 0, False
        for first, end, gives_reason in sorted(cuts, key=lambda cut: cut[0]):
            parts.append((piece[start:first], reason))
            start, reason = end, gives_reason
        return [*parts, (piece[start:], reason)]

    def turns(self, canonical: str, *, reserves: bool = False) -> bool:
        """True if a text goes on against the named option ("Ann is kind. But …"), or ends in a
        pronoun or a lone word ("So: him.") that names no option: either may mean another option.
        reserves: a contrast counts only if it has a pronoun or a negation.
        """
        marked = self.mark(canonical)
        _, *others = SENTENCE_OF.findall(marked[marked.rfind("@") :])
        rest = [_pad(part) for part in others if part.strip()]
        pack = self._language.pack
        pronouns = {word for name in ("she", "he") for word in pack.list_of(name)}
        against = [self._language.role(name) for name in ("contrast", "coordinate")]
        for part in rest:
            weighs = pronouns & {*part.split()} or self._language.has(part, *DENYING)
            if reserves and part == rest[-1] and self._language.has(part, "surmise"):
                continue  # "But this is only a guess."
            if (weighs or not reserves) and any(role.begins(part) for role in against):
                return True
        *_, last = ["", *(part for part in rest if self.content(part))]
        words = re.findall(r"\w+", self._idle.sub(" ", last))
        return len(words) == 1 or bool({*words[-1:]} & pronouns)

    def names_all_at_once(self, canonical: str) -> bool:
        """True if the text names each option exactly once, at most four words apart."""
        marked = self._mention.sub(self._option_mark, canonical)
        named = MENTION.findall(marked)
        neighbours = re.search(r"@\S+(?: [^@.?:/ ]\S*| ,){0,4}? @\S+", marked)
        return neighbours is not None and len(named) == self._number and self._names_all(marked)

    def _names_all(self, part: str) -> bool:
        return len(values(part) - {THIRD, BOTH, NEITHER}) == self._number

    def _lists_options(self, lead: str, part: str) -> bool:
        """True if a clause or its lead repeats the prompt's list of all options."""
        if "@" not in part or not self._names_all(part):
            return False
        has, echo = self._language.has, self._language.role("echo")
        return any(has(text, "listing") or echo.begins(text) > 0 for text in (lead, part))


def _pad(text: str) -> str:
    return f" {' '.join(text.split())} "


def _run(joints: Sequence[str], least: int = 0) -> str:
    """Makes a pattern of mentions with joining words between; `least` or more follow the first."""
    return rf"@\S+(?:(?: (?:{'|'.join(joints)})){{1,3}} @\S+){{{least},}}"


def _keep_first(match: re.Match[str]) -> str:
    """Keeps the first mention of a match ("rather @0 than @1") and marks the others as rejected."""
    first, *others = MENTION.findall(match[0])
    return " ".join((first, *(f"~{other[1:]}" for other in others)))


def _keep_last(match: re.Match[str]) -> str:
    """Keeps the last mention of a match ("not @0 but @1") and marks the others as rejected."""
    *others, last = MENTION.findall(match[0])
    return " ".join((*(f"~{other[1:]}" for other in others), last))


def _reject_all(match: re.Match[str]) -> str:
    """Marks all mentions as rejected, as in "should not be @0"."""
    return match[0][1:].replace("@", "~")


def _join_all(match: re.Match[str]) -> str:
    """Merges the mentions of a match ("both @0 and @1") into one mention that means `both`."""
    merged = sorted(values(match[0]))
    return f"@{'+'.join((*merged, BOTH) if len(merged) > 1 else merged)}"


def _together(words: Sequence[str]) -> str:
    """Merges mentions into one mention; begins a second one if a value recurs ("he or she, he")."""
    groups: list[set[str]] = [set()]
    for new in map(values, words):
        if new & groups[-1]:
            groups.append(set())
        groups[-1] |= new
    return " , ".join(f"@{'+'.join(sorted(group))}" for group in groups)
