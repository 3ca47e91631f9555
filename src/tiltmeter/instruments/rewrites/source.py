"""The facts that an input states about its person and about others, for told.py to compare."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from ..pronouns.everybody import everybody
from ..pronouns.passage import plain, tokens
from ..pronouns.person import Person, person
from ..pronouns.plurals import PLURAL
from ..pronouns.pronouns import mentions
from ..pronouns.told import OTHER, PRIMARY, Told, marks_of, words_of_mentions

NOBODY = Person("name", "", frozenset())


@lru_cache(maxsize=4096)
def told_by(theme: str, noun: str, given: str, own: str) -> Told:
    """Collects the facts of an input. own: the class of its person's pronouns, or "". Pronouns of
    other classes refer to others; the rules find the referents of pronouns of class `own`.
    """
    who = person(theme, noun, given)
    pronouns = frozenset({mention.value for mention in mentions(given, NOBODY)} - {own})
    found = tokens(plain(given))
    places = {token.begin: at for at, token in enumerate(found)}
    whose = {
        places[mention.begin]: PRIMARY
        if mention.value == own and mention.whose == "primary"
        else OTHER
        for mention in mentions(given, who)
        if mention.begin in places
    }
    primary, others = everybody(found, who)
    people = [(PRIMARY, primary), *((OTHER, other) for other in others if other.gender != PLURAL)]
    mine: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    marks = marks_of(found, people, whose)
    for at, stems in words_of_mentions(found, marks).items():
        (mine if marks[at].whose == PRIMARY else theirs).update(stems)
    words = {stem: (mine[stem], theirs[stem]) for stem in {*mine, *theirs}}
    return Told(pronouns, words)
