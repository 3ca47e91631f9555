"""The nouns of Appendix 2 of the ProText paper and the pronouns of people, found in a text."""

from __future__ import annotations

import re
from pathlib import Path

from ...row_files import own_rows

HERE = Path(__file__).parent
NOUNS = {(r["theme"], r["category"], r["noun"]) for r in own_rows(HERE / "nouns.csv")}
# Every form of a pronoun, standard, dialect and with the apostrophe left out ("hell", "shed" are
# words of their own).
PRONOUNS = {
    form: r["category"] for r in own_rows(HERE / "pronouns.csv") for form in r["forms"].split()
}


def plain(text: str) -> str:
    """Returns the text in lower case, with straight apostrophes and without emphasis marks."""
    return re.sub(r"[*_~]", "", text.replace("\u2019", "'").replace("\u2018", "'")).lower()


def pronouns(text: str) -> list[str]:
    """Lists third-person pronouns of people in order, without clitics, and without it/its."""
    tokens = re.findall(r"(?<!\w)'?[^\W\d_]+(?:'[^\W\d_]+)*", plain(text))
    bases = [re.sub(r"(?<=\w)'(s|d|ll|ve|re)\b.*$", "", token) for token in tokens]
    # 'em, but not the quote of 'they
    bases = [base if base in PRONOUNS else base.lstrip("'") for base in bases]
    return [base for base in bases if base in PRONOUNS]


def noun_pattern(theme: str, noun: str) -> re.Pattern[str]:
    """Makes a pattern for the noun, with or without 's; titles only match before a surname."""
    core = re.escape(noun.rstrip(".")).replace(r"\-", "[- ]").replace(r"\ ", r"[\s-]+")
    surname = r"\.?\s(?=[^\W\d_a-z])" if theme == "title" and noun != "Sir" else ""
    return re.compile(rf"(?<!\w)(?i:{core})(?!\w){surname}")
