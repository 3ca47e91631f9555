"""Facts inferred from a text about its own row: the theme noun if no column has it, a label that
the text contradicts, another language. For files of others, whose columns are not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from .names_of_people import NOUNS, PRONOUNS, noun_pattern, pronouns

GENDERED = ("he", "she")


def noun_in(text: str, theme: str, category: str) -> str:
    """The noun of Appendix 2 that a text names, "" where it names none or several alike.

    >>> noun_in("Jack is late. Jack lost a hat.", "name", "male")
    'Jack'
    """
    named = {
        noun: [match.start() for match in noun_pattern(theme, noun).finditer(text)]
        for kind, of, noun in NOUNS
        if (kind, of) == (theme, category)
    }
    named = {noun: places for noun, places in named.items() if places}
    longest = [
        noun
        for noun in named
        if not any(noun != other and noun.lower() in other.lower() for other in named)
    ]
    longest.sort(key=lambda noun: (-len(named[noun]), named[noun][0]))
    if len(longest) > 1 and len(named[longest[0]]) == len(named[longest[1]]) > 1:
        return ""
    return longest[0] if longest else ""


def contradiction(row: Mapping[str, str]) -> str:
    """Finds the word of a text that contradicts its pronoun label; "" for none.

    >>> contradiction({"pronoun": "none", "text": "She lost her keys."})
    'none, with she'
    """
    label = row["pronoun"]
    there = Counter(PRONOUNS[form] for form in pronouns(row["text"]))
    if label in ("he", "she", "they") and not there[label]:
        return f"{label}, without it"
    against = [one for one in GENDERED if one != label and there[one] > there[label]]
    return f"{label}, with {' and '.join(against)}" if against else ""


def warnings(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """A line for rows whose text contradicts the label: how many, and the first three."""
    found = [(row["id"], said) for row in rows if (said := contradiction(row))]
    if found:
        shown = "; ".join(f"{where}: {said}" for where, said in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        yield (
            f"{len(found)} texts seem to contradict their pronoun label ({shown}{more}): a second "
            "person, or a wrong label? Read them."
        )
