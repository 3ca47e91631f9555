"""Neopronoun versions of the *they* texts: xe, ze/hir, fae, it, ey (section 6 of the ProText paper
proposes them).

A pronoun is replaced by the form for its role (subject, object, determiner, possessive, reflexive),
and the plural verbs of singular *they* become singular: "they are" is "xe is", "they go" is "xe
goes", "do they" is "does xe", "they come in and sort it" is "xe comes in and sorts it". Past tense
and modals stay.

Only a closed set of words needs inflecting: be, have, do, and one regular ending for the rest. The
difficulty is to know *which* words agree, and no inflection library does (`inflect` turns verbs
into the plural only and takes 2.5 s to import; `lemminflect` was last released in 2022). So there
are rules, with words in `verb_words.csv` ("coordinated": may be a second verb after "and") and
`irregular_verbs.csv` (to tell past from present). For passages of our corpus in which rules fail,
`agreement.csv` has a text, a phrase ending in the verb, and whether that verb agrees. Every version
of our corpus was read after it was generated; a text of your own deserves the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from ...instruments.rewrites.neopronouns import PronounSet, pronoun_sets
from ...row_files import own_rows

HERE = Path(__file__).parent
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")  # "they've" is one word
FORMS = {
    "they": "subject",
    "theyre": "subject",
    "theyve": "subject",
    "theyll": "subject",
    "theyd": "subject",
    "them": "object",
    "em": "object",
    "their": "determiner",
    "theirs": "possessive",
    "themself": "reflexive",
    "themselves": "reflexive",
}
AUXILIARIES = {
    "are": "is",
    "aren't": "isn't",
    "were": "was",
    "weren't": "wasn't",
    "have": "has",
    "haven't": "hasn't",
    "do": "does",
    "don't": "doesn't",
    "arent": "isnt",
    "werent": "wasnt",
    "havent": "hasnt",
    "dont": "doesnt",
    "arenae": "isnae",
    "havenae": "hasnae",
    "dinnae": "disnae",
    "wanna": "wants to",
}
MANDATIVE = re.compile(
    r"\b(suggest|recommend|propose|request|demand|lest)\w*( that)?\W*$", re.IGNORECASE
)
# "I like it as much as you do they like it too": no question.
STATED = re.compile(
    r"\b(i|you|we|he|she|they|who|that|it|there) [^\W\d_]+(['\u2019]t)? $", re.IGNORECASE
)
STOP = re.compile(r"[.!?;:()\n\u2026\u2600-\u27bf\U0001f000-\U0001faff]")


@cache
def irregular() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Reads the base forms, past forms and participles of irregular verbs."""
    table = own_rows(HERE / "irregular_verbs.csv")
    base, past, participle = (
        frozenset(row[key] for row in table) for key in ("base", "past", "participle")
    )
    return base, past, participle


@cache
def verb_words(kind: str) -> frozenset[str]:
    """Reads a closed class of words: modal, invariant, adverb, coordinated, …"""
    return frozenset(
        word
        for row in own_rows(HERE / "verb_words.csv")
        if row["kind"] == kind
        for word in row["words"].split()
    )


@cache
def agreement() -> dict[str, dict[str, bool]]:
    """Reads {text's id: {phrase that ends in a verb: True if this verb agrees with the person}}."""
    notes: dict[str, dict[str, bool]] = {}
    for row in own_rows(HERE / "agreement.csv"):
        notes.setdefault(row["id"], {})[row["phrase"]] = row["agrees"] == "yes"
    return notes


def singular(verb: str) -> str:
    """Makes the third person singular of a verb: try -> tries, go -> goes, are -> is."""
    lower = verb.lower()
    if lower in AUXILIARIES:
        return AUXILIARIES[lower]
    if re.search(r"[^aeiou]y$", lower):
        return verb[:-1] + "ies"
    if lower.endswith("quiz"):
        return verb + "zes"
    return verb + ("es" if re.search(r"(s|x|z|ch|sh|[^aeiou]o)$", lower) else "s")


def alike(new: str, old: str) -> str:
    """Writes `new` in the case of `old`: all capitals, a leading capital, or unchanged."""
    if len(old) > 1 and old.upper() == old:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


Kind = Literal["present", "past", "bare"]


def verb_kind(verb: str) -> Kind:
    """Classifies a verb after "they"; ambiguous forms (put, read) are taken as past."""
    lower = verb.lower()
    base, past, participle = irregular()
    if lower in verb_words("modal"):
        return "bare"
    if lower in AUXILIARIES:
        return "present"
    if lower in verb_words("invariant"):
        return "past"
    if lower in base - past:
        return "present"
    if (
        lower in past
        or lower in participle
        or (lower.endswith("ed") and lower not in verb_words("verb in -ed"))
    ):
        return "past"
    if lower.endswith("ing") and lower not in verb_words("verb in -ing"):
        return "past"  # "they cooking": nothing to agree
    return "present"


def straight(word: str) -> str:
    """Returns a word in lower case with straight apostrophes."""
    return word.replace("\u2019", "'").lower()


def after_adverbs(text: str, tokens: list[re.Match[str]], i: int) -> int | None:
    """Finds the first word from `i` that is not an adverb; None if punctuation comes first."""
    while i < len(tokens):
        if re.search(
            r"[^\s,*_~'\"\u2018\u2019\u201c\u201d]", text[tokens[i - 1].end() : tokens[i].start()]
        ):
            return None
        word = straight(tokens[i][0])
        if word not in verb_words("adverb") and (
            not word.endswith("ly") or word in verb_words("no adverb")
        ):
            return i
        i += 1
    return None


def first_verb(text: str, tokens: list[re.Match[str]], i: int) -> tuple[Kind, int, int | None]:
    """Returns (kind of the verb of a "they", last index read, index of the verb to change)."""
    plain = [straight(token[0]) for token in tokens[: i + 1]]
    _, _, clitic = plain[i].partition("'")
    if clitic or plain[i] != "they":
        return (
            ("bare" if plain[i].endswith(("ll", "d")) or clitic.startswith("d") else "present"),
            i,
            None,
        )
    before = plain[i - 1] if i and text[tokens[i - 1].end() : tokens[i].start()] == " " else ""
    if before in AUXILIARIES.keys() | verb_words("modal") and not STATED.search(
        text[: tokens[i].start()]
    ):
        return "bare", i, (i - 1 if before in AUXILIARIES else None)
    aside = re.match(r",[^,.!?\n]*(?=,)", text[tokens[i].end() :])  # "they, of course, are"
    verb = after_adverbs(text, tokens, i + 1 + (len(WORD.findall(aside[0])) if aside else 0))
    # a word that is only mentioned
    if verb is None or re.match(r"[\"\u201d]", text[tokens[i].end() :]):
        return "past", i, None
    while text.startswith("-", tokens[verb].end()) and verb + 1 < len(tokens):
        verb += 1  # "they double-booked"
    form = verb_kind(tokens[verb][0])
    if form == "present" and MANDATIVE.search(text[: tokens[i].start()]):
        form = "bare"
    return form, verb, (verb if form == "present" else None)


def second_verbs(
    text: str, tokens: list[re.Match[str]], start: int, governor: Kind
) -> Iterator[int]:
    """Finds verbs that share the subject of the verb at `start`: "they come in *and sort* it"."""
    pending: list[int] = []
    for i in range(start + 1, len(tokens)):
        gap = text[tokens[i - 1].end() : tokens[i].start()]
        before, word = straight(tokens[i - 1][0]), straight(tokens[i][0])
        if (
            STOP.search(gap)
            or word in verb_words("subject")
            or FORMS.get(word.partition("'")[0]) == "subject"
        ):
            return
        if word == "to" or word in verb_words("modal"):
            governor = "bare"
        elif gap == ", " and word in verb_words("coordinated") and governor == "present":
            pending.append(i)  # "they come in, sit down and leave": only if an "and" follows
        elif before in verb_words("conjunction"):
            verb = after_adverbs(text, tokens, i)
            form = straight(tokens[verb][0]) if verb is not None else ""
            follows = (
                straight(tokens[verb + 1][0]) if verb is not None and verb + 1 < len(tokens) else ""
            )
            if verb is None or follows in verb_words("subject") | {"you"}:  # "and are you coming?"
                continue
            if (form in AUXILIARIES and (governor != "bare" or form[:3] in ("are", "wer"))) or (
                form in verb_words("coordinated") and governor == "present"
            ):
                yield from (*pending, verb)
                pending = []


def agreeing(text: str, notes: Mapping[str, bool]) -> list[re.Match[str]]:
    """Finds the words of `text` that agree with the person, and so must become singular."""
    tokens = list(WORD.finditer(text))
    places: set[int] = set()
    for i, token in enumerate(tokens):
        if FORMS.get(straight(token[0]).partition("'")[0]) == "subject":
            governor, start, verb = first_verb(text, tokens, i)
            places |= {verb} if verb is not None else set()
            places |= set(second_verbs(text, tokens, start, governor))
    for phrase, agrees in notes.items():
        ends = {match.end() for match in re.finditer(re.escape(phrase) + r"(?!\w)", text)}
        noted = {i for i, token in enumerate(tokens) if token.end() in ends}
        if not noted:
            raise ValueError(f"agreement.csv: {phrase!r} is not in the text {text[:40]!r}")
        places = places | noted if agrees else places - noted
    return [tokens[i] for i in sorted(places)]


def replace_form(word: str, pronouns: PronounSet, participle_follows: bool) -> str:
    """Turns a form of "they" into the form of `pronouns`: "They've" → "Xe's" or "Xe has"."""
    apostrophe = "\u2019" if "\u2019" in word else "'"
    base, _, clitic = straight(word).partition("'")
    if base.startswith("they") and base != "they":
        base, clitic = "they", base[4:]
    new = getattr(pronouns, FORMS[base])
    if clitic == "ve" and not participle_follows:
        return alike(new, word) + (" HAS" if word.isupper() else " has")
    clitic = {"re": "s", "ve": "s"}.get(clitic, clitic)
    return alike(new + (apostrophe + clitic if clitic else ""), word)


def is_participle(word: str) -> bool:
    """True if a lower-case word can be a past participle."""
    return word in irregular()[2] | {"got"} or (
        word.endswith("ed") and word not in verb_words("verb in -ed")
    )


def neopronoun_version(text: str, name: str, *, notes: Mapping[str, bool] | None = None) -> str:
    """Replaces the singular *they* of `text` by the pronouns called `name` (xe, ze, fae, it, ey).

    Every they/them/their of `text` must refer to the one person; `scripts/corpus/check.py` checks
    this for our corpus. `notes` has phrases of this text and whether their last word agrees, for
    cases that the rules cannot decide (see `agreement`). Raises KeyError for an unknown name,
    ValueError for a phrase that is not in the text.
    """
    pronouns = pronoun_sets()[name]
    edits = [
        (m.start(), m.end(), alike(singular(straight(m[0])), m[0]))
        for m in agreeing(text, notes or {})
    ]
    edits = [
        (a, b, new.replace("'", "\u2019") if "\u2019" in text[a:b] else new) for a, b, new in edits
    ]
    tokens = list(WORD.finditer(text))
    for i, token in enumerate(tokens):
        base = straight(token[0]).partition("'")[0]
        is_cut = base == "em" and text[: token.start()].endswith(("'", "\u2019"))  # 'em
        if base not in FORMS or (base == "em" and not is_cut):
            continue
        verb = after_adverbs(text, tokens, i + 1)
        is_past = verb is not None and is_participle(straight(tokens[verb][0]))
        edits.append(
            (token.start() - is_cut, token.end(), replace_form(token[0], pronouns, is_past))
        )
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
