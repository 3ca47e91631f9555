"""Facts inferred from a text about its own row: the theme noun if no column has it, a label that
the text contradicts, another language. For files from elsewhere, whose columns are unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from .names_of_people import NOUNS, PRONOUNS, noun_pattern, pronouns

GENDERED = ("he", "she")


def noun_in(text: str, theme: str, category: str) -> str:
    """Finds the noun of Appendix 2 in a text; "" if it has none, or several equally often.

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
    """Finds the word of a text that contradicts its pronoun label; "" if no word does.

    >>> contradiction({"pronoun": "none", "text": "She lost her keys."})
    'none, with she'
    """
    label = row["pronoun"]
    counts = Counter(PRONOUNS[form] for form in pronouns(row["text"]))
    if label in ("he", "she", "they") and not counts[label]:
        return f"{label}, without it"
    against = [other for other in GENDERED if other != label and counts[other] > counts[label]]
    return f"{label}, with {' and '.join(against)}" if against else ""


def warnings(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yields a line if texts contradict their labels: how many do, and the first three."""
    contradictions = [(row["id"], word) for row in rows if (word := contradiction(row))]
    if contradictions:
        shown = "; ".join(f"{where}: {word}" for where, word in contradictions[:3])
        more = f" and {len(contradictions) - 3} more" if len(contradictions) > 3 else ""
        yield (
            f"{len(contradictions)} texts seem to contradict their pronoun label ({shown}{more}): "
            "a second person, or a wrong label? Read them."
        )
