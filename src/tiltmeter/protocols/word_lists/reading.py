"""Nouns read from replies, and ratings made into a list: the functions behind `__main__.py`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...records import HUMAN
from ...row_files import Row

# what a model names where it means a numbered or bulleted line
_MARK = re.compile(r"^\s*(?:[-*•·]|\d+[.)])?\s*")
_LINE = re.compile(r"^(?P<noun>[^=→–—:]+?)\s*(?:=|→|–|—|:)\s*(?P<gloss>.+?)\s*[.;,]?$")
ARTICLES = {
    "de": ("der", "die", "das", "ein", "eine"),
    "fr": ("le", "la", "l'", "l’", "un", "une"),
    "es": ("el", "la", "un", "una"),
    "it": ("il", "lo", "la", "l'", "l’", "un", "uno", "una", "un'", "un’"),
}
NO_ARTICLE = "-"  # in the column of articles, as GRAMVIS has it
OPPOSITE = {
    "feminine": "man",
    "masculine": "woman",
}  # grammatical gender → the stereotype that opposes it
COLUMNS = (
    "word",
    "language",
    "resource",
    "article",
    "noun",
    "declined",
    "grammatical_gender",
    "category",
    "gloss",
    "gloss_printed",
    "gloss_by",
    "chinese",
    "concept",
    "gloss_gendered",
    "elision",
    "case",
    "doubtful",
    "doubt",
)  # of GRAMVIS's words.csv
RESOURCE = {"de": "high", "fr": "high", "es": "high"}  # else medium, as the paper has it


@dataclass(frozen=True, slots=True)
class NounCandidate:
    """A noun that models proposed. times: the number of replies that propose it."""

    language: str
    grammatical_gender: str
    article: str
    noun: str
    gloss: str
    times: int = 1


def candidates(language: str, gender: str, replies: Iterable[str]) -> list[NounCandidate]:
    """Extracts the nouns from replies, sorted by number of replies; repeats in a reply count once.

    A noun's line has the noun, a sign (=, :, → or a dash) and its meaning; other lines are skipped.
    By hand: "1. die Wache = guard" is (die, Wache, guard); "Here are twenty nouns:" is skipped.
    """
    by_noun: dict[str, NounCandidate] = {}
    times: Counter[str] = Counter()
    for reply in replies:
        in_reply: dict[str, NounCandidate] = {}
        for one in (_read(language, gender, line) for line in reply.splitlines()):
            if one:
                in_reply.setdefault(one.noun.casefold(), one)
        times.update(in_reply.keys())
        by_noun = in_reply | by_noun
    return [
        NounCandidate(one.language, gender, one.article, one.noun, one.gloss, number)
        for key, number in times.most_common()
        for one in [by_noun[key]]
    ]


def _read(language: str, gender: str, line: str) -> NounCandidate | None:
    match = _LINE.match(_MARK.sub("", line.replace("*", "").replace("_", " ")))
    if not match:
        return None
    article, noun = split_article(language, match["noun"])
    gloss = match["gloss"].strip(" \"'“”„()")
    is_plain = noun and gloss and len(noun.split()) <= 3 and len(gloss) <= 60
    return NounCandidate(language, gender, article, noun, gloss) if is_plain else None


def split_article(language: str, text: str) -> tuple[str, str]:
    """Returns (article, noun); article is `-` if there is none. "l'idolo" is ("l'", "idolo")."""
    text = text.strip(' "“”„()')
    for article in sorted(ARTICLES.get(language, ()), key=len, reverse=True):
        joined = article if article[-1] in "'’" else article + " "
        if text.casefold().startswith(joined):
            return article, text[len(joined) :].strip()
    return NO_ARTICLE, text


@dataclass(frozen=True, slots=True)
class Rated:
    """A word and its ratings. votes: {rater: value}; category: that on which raters agree."""

    row: Row
    votes: Mapping[str, str]
    category: str

    @property
    def opposite(self) -> int:
        """Counts the raters that named the stereotype opposite to the grammatical gender."""
        stereotype = OPPOSITE.get(self.row["grammatical_gender"], "")
        return sum(value == stereotype for value in self.votes.values())


def rate_words(
    rows: Sequence[Row], said: Iterable[tuple[str, str, str, str]], raters: str
) -> list[Rated]:
    """Returns each word with its ratings. said: (word, rater, attribute, value); raters: whose
    stereotypes count, "people" or "judges". The category is that of a majority of judges (at least
    two); people's category replaces it, if they gave any.
    """
    stereotypes: dict[str, dict[str, str]] = defaultdict(dict)
    categories: dict[str, dict[str, str]] = defaultdict(dict)
    for word, rater, attribute, value in said:
        human = rater.startswith(HUMAN)
        if attribute == "stereotype" and human == (raters == "people"):
            stereotypes[word][rater] = value
        if attribute == "category":
            categories[word][rater] = value
    return [
        Rated(row, stereotypes.get(row["word"], {}), _category(categories.get(row["word"], {})))
        for row in rows
    ]


def _category(votes: Mapping[str, str]) -> str:
    people = {rater: value for rater, value in votes.items() if rater.startswith(HUMAN)}
    counted = Counter((people or votes).values()).most_common(2)
    if not counted or 2 * counted[0][1] <= len(people or votes):
        return ""
    return counted[0][0] if people or counted[0][1] > 1 else ""


def list_rows(words: Iterable[Rated]) -> list[Row]:
    """Returns the rows of a words.csv for GRAMVIS: keeps known columns; empty ones get their usual
    values (not declined, not doubtful, the gloss as concept).
    """
    table_rows = []
    for word in words:
        row = word.row
        usual = {
            "resource": RESOURCE.get(row["language"], "medium"),
            "declined": row["noun"],
            "category": word.category,
            "gloss_by": "ours",
            "concept": re.sub(r"\W+", "_", row["gloss"].casefold()).strip("_"),
            **dict.fromkeys(("gloss_gendered", "elision", "case", "doubtful"), "no"),
        }
        table_rows.append({name: row.get(name, "") or usual.get(name, "") for name in COLUMNS})
    return table_rows
