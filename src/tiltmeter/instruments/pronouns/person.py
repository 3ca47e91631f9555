"""The primary person of a text: the person meant by the input's theme noun, and words that name
them.

The theme noun is a name (Emery), an occupation (firefighter), a title with a surname (Mrs.
Thompson) or a kinship term (husband). Names beside a kinship term ("my partner, Parker", "Jack is
Molly's husband") mean that person too. Everybody else: everybody.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from .passage import WordToken, opposites, people, plain, tokens, words

_KIN = {
    "husband": "husband hubby",
    "wife": "wife wifey",
    "brother": "brother bro",
    "sister": "sister sis",
    "son": "son",
    "daughter": "daughter",
    "father": "father dad daddy papa pop",
    "dad": "dad daddy father papa pop",
    "mother": "mother mom mum mam mama mommy mummy",
    "mom": "mom mum mother mam mama mommy mummy",
    "partner": "partner husband wife boyfriend girlfriend",
    "spouse": "spouse husband wife",
    "sibling": "sibling brother sister",
    "child": "child kid baby son daughter",
    "parent": "parent father mother dad mom mum",
}


@dataclass(frozen=True, slots=True)
class Person:
    """The person that a text is about. heads: words that name the person; exact: True if heads
    count only with a capital letter.

    gender: the gender that the noun implies (the cue): "m", "f" or "". flipped: the noun's
    counterparts (niece for nephew), which name the person if the text does not use the noun. roles:
    words that name the person after a determiner ("the judge" for Judge Marchetti).
    """

    theme: str
    noun: str
    heads: frozenset[str]
    exact: bool = False
    gender: str = ""
    title: str = ""
    flipped: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def person(theme: str, noun: str, text: str = "") -> Person:
    """Makes the person of a theme (name, occupation, title, kinship) and noun; a surname is taken
    from the input text.
    """
    parts = [part for part in (token.word for token in tokens(plain(noun))) if part[0].isalnum()]
    if not parts:
        raise ValueError(f"'{noun}' does not name a person")
    last = parts[-1]
    if theme == "kinship":
        kin = next((part for part in reversed(parts) if part in _KIN), "")
        kin = kin or next((part for part in parts if ("kin", part) in opposites()), last)
        gender = people()["noun"].get(kin, "n")
        heads = frozenset(_KIN.get(kin, kin).split())
        if parts[0] == kin and len(parts) > 1:
            heads |= frozenset(part for part in parts[1:] if part not in words("determiners"))
        described = Person(theme, noun, heads, False, gender if gender in "mf" else "")
        given = tokens(plain(text))
        flipped = _words_of_other_gender("kin", kin) - {token.word for token in given}
        return Person(
            theme, noun, heads | beside(given, described), False, described.gender, "", flipped
        )
    if theme == "title":
        gender = people()["title"].get(parts[0], "n")
        surnames = frozenset(parts[1:]) or _after_title(text, parts[0]) or frozenset(parts)
        cue = gender if gender in "mf" else ""
        return Person(theme, noun, surnames, True, cue, parts[0], roles=_role(parts[0]) - surnames)
    if theme == "name":
        return Person(
            theme,
            noun,
            frozenset(parts) | _after_title(text, last),
            noun != noun.lower() and last in _words_too(),
        )
    heads = frozenset({last, *_gendered_forms(last)})
    head = next((part for part in (last, *parts) if ("occupation", part) in opposites()), "")
    roles = _doctor(last, text)
    if not head:
        return Person(theme, noun, heads, roles=roles)
    flipped = _words_of_other_gender("occupation", head) - {
        token.word for token in tokens(plain(text))
    }
    gender = opposites()["occupation", head][0]
    return Person(theme, noun, heads | {head}, False, gender, "", flipped)


_SHORT = {
    "dr": "doctor",
    "prof": "professor",
    "rev": "reverend",
    "capt": "captain",
    "sgt": "sergeant",
}
_FORMS_OF_ADDRESS = frozenset(("mr", "mrs", "ms", "mx", "miss", "mister", "madam", "sir", "lady"))
_DOCTORS = ("ologist", "iatrist", "iatrician", "surgeon", "physician", "dentist", "gp")


def _role(title: str) -> frozenset[str]:
    """Returns the noun for a title's bearer (judge, for Judge Marchetti); the empty set for Mr."""
    return frozenset() if title in _FORMS_OF_ADDRESS else frozenset((_SHORT.get(title, title),))


def _doctor(noun: str, text: str) -> frozenset[str]:
    """Returns "doctor" if the noun names a kind of doctor and the input lacks that word."""
    is_doctor = noun.endswith(_DOCTORS) and "doctor" not in text.lower()
    return frozenset(("doctor",)) if is_doctor else frozenset()


def _words_of_other_gender(kind: str, word: str) -> frozenset[str]:
    """Returns the counterparts of a noun in the other gender (niece for nephew)."""
    return opposites().get((kind, word), ("", frozenset[str]()))[1]


def _after_title(text: str, before: str) -> frozenset[str]:
    """Returns surnames: capitalised words that follow the title or first name `before`."""
    found = tokens(plain(text))
    names = set()
    for at, token in enumerate(found):
        if token.word != before or token.own:
            continue
        follows = at + 2 if at + 1 < len(found) and found[at + 1].word == "." else at + 1
        if (
            follows < len(found)
            and found[follows].raw[0].isupper()
            and len(found[follows].word) > 1
            and found[follows].word
            not in (
                words("pronouns", "determiners", "boundary", "auxiliaries")
                | people()["not_name"].keys()
            )
            and not (follows > at + 1 and found[follows].sentence != token.sentence)
        ):
            names.add(found[follows].word)
    return frozenset(names)


def beside(found: Sequence[WordToken], person: Person) -> frozenset[str]:
    """Returns the names in apposition to a kinship term: "husband Tom", "partner (Parker)", "Jack
    is Molly's husband".
    """
    names: set[str] = set()
    first_names = people()["name"]
    for at, token in enumerate(found):
        if token.word not in person.heads:
            continue
        follows = at + 1
        if follows < len(found) and found[follows].word in (",", "("):
            follows += 1
        if (
            follows < len(found)
            and found[follows].word in first_names
            and found[follows].raw[0].isupper()
            and not token.own
        ):
            names.add(found[follows].word)
        for back in range(at - 1, max(at - 6, -1), -1):
            if found[back].sentence != token.sentence:
                break
            if (
                found[back].word in ("is", "was", ",")
                and back
                and found[back - 1].word in first_names
                and not found[back - 1].own
            ):
                names.add(found[back - 1].word)
    return frozenset(names)


def _gendered_forms(word: str) -> list[str]:
    """Lists salesman, saleswoman, … for salesperson; [] for words without -person."""
    return (
        [word.removesuffix("person") + end for end in ("man", "woman", "lady")]
        if word.endswith("person")
        else []
    )


@cache
def _words_too() -> frozenset[str]:
    """Returns first names that are also English words, and so are names only if capitalised."""
    return frozenset(people()["word_name"])


def is_named(found: Sequence[WordToken], at: int, who: Person) -> bool:
    """True if a token names the person."""
    token = found[at]
    if token.word not in who.heads:
        return False
    before = found[at - 1].word if at else ""
    if who.theme in ("name", "title"):
        if who.exact and not token.raw[0].isupper():
            return before in people()["title"]
        if who.theme == "title" and before and who.gender:
            if before == "." and at > 1:
                before = found[at - 2].word
            other = people()["title"].get(before, "")
            if (
                other in "mf"
                and other
                and other != who.gender
                and any(t.word == who.title for t in found)
            ):
                return False
        return True
    return not (
        who.theme == "occupation"
        and (before == "in" or before in ("i", "you", "we", "they", "to", "not", "cannot", "who"))
    )
