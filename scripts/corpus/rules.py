"""The rules of check.py for one text: its cell, its noun, its pronouns, words that give a gender
away, its spelling.

Lists are data beside this file: `cells.csv` (Table 1 of the ProText paper), `leaks.csv` (words that
give a gender away), `spelling_ok.txt` (names and British spellings that pyspellchecker lacks).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tiltmeter.protocols.protext.names_of_people import (
    NOUNS,
    PRONOUNS,
    noun_pattern,
    plain,
    pronouns,
)
from tiltmeter.row_files import own_rows

HERE = Path(__file__).parent
Known = Callable[[set[str]], set[str]]  # a word list: those of a set of words that it has
STYLES = (  # section 3.2 of the paper
    "code-mixing",
    "minority dialect",
    "slang",
    "sarcasm",
    "idioms",
    "innuendo",
    "negation",
    "emojis",
    "emotional language",
    "incomplete sentences",
    "run-on sentences",
)
FORMS = ("message", "email", "note", "post", "review")
EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u2b55\u203c\u2049\u231a-\u23ff]"
)
WORDS_EACH = (20, 150)
# Texts in these styles hold words of other languages and varieties, which no English word list can
# judge.
UNSPELLED = {"code-mixing", "minority dialect", "slang"}


@dataclass(frozen=True)
class Text:
    """One text as its line says it; `where` is its id or file:line."""

    where: str
    theme: str
    category: str
    pronoun: str
    noun: str
    form: str  # "" where a corpus of one's own does not say it
    styles: tuple[str, ...]
    text: str
    # pronouns of somebody else: form -> occurrences
    others: dict[str, int] = field(default_factory=dict)
    slips: tuple[str, ...] = ()  # deliberate spelling slips
    leaks_ok: tuple[str, ...] = ()  # gendered words that are about somebody else


@dataclass(frozen=True)
class TextFinding:
    where: str
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}: {self.words}"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file beside this one."""
    return own_rows(HERE / name)


CELLS = {
    (r["theme"], r["category"], p): int(r[p])
    for r in rows("cells.csv")
    for p in ("he", "she", "they", "none")
}
LEAKS = {word for r in rows("leaks.csv") for word in r["words"].split()}
# Harmless uses of words in leaks.csv: exclamations, and "miss" but in front of a name.
NOT_LEAKS = re.compile(
    r"(?i:\b(?:[oa]h|aw|howay),? (?:boy|man)\b|(?:^|[,.!?]\s)(?:boy|man),|\byou "
    r"guys?\b)|\b[Mm]iss\b(?! [A-Z])"
)


def words(text: str) -> list[str]:
    """Words without marks; inner apostrophes stay ("she's")."""
    return re.findall(r"\w+(?:'\w+)*", plain(text))


def word_count(text: str) -> int:
    """Words as Figure 2 counts them: between spaces, with at least one letter or digit."""
    return sum(any(c.isalnum() for c in token) for token in text.split())


def _check_style(text: Text) -> Iterator[TextFinding]:
    """Findings about what only our own texts say of themselves: form, styles, length."""
    yield from [TextFinding(text.where, "form", text.form)] if text.form not in FORMS else []
    if not 1 <= len(set(text.styles)) == len(text.styles) <= 3 or not set(text.styles) <= set(
        STYLES
    ):
        yield TextFinding(text.where, "styles", ", ".join(text.styles) or "none given")
    if bool(EMOJI.search(text.text)) != ("emojis" in text.styles):
        yield TextFinding(
            text.where,
            "emojis",
            "tag and text disagree: " + ("".join(EMOJI.findall(text.text)) or "none"),
        )
    if not WORDS_EACH[0] <= word_count(text.text) <= WORDS_EACH[1]:
        yield TextFinding(text.where, "length", f"{word_count(text.text)} words")


def check_values(text: Text) -> Iterator[TextFinding]:
    """Findings about a text's cell, marked words, and what its style says."""
    if not CELLS.get((text.theme, text.category, text.pronoun)):
        yield TextFinding(
            text.where, "cell", f"{text.theme}/{text.category}/{text.pronoun} is no cell of Table 1"
        )
    if text.form:
        yield from _check_style(text)
    absent = [
        w for w in (*text.slips, *text.leaks_ok) if w.lower() not in " ".join(words(text.text))
    ]
    if absent:
        yield TextFinding(
            text.where, "marks", "in slips or leaks_ok, not in the text: " + ", ".join(absent)
        )


def check_noun(text: Text) -> Iterator[TextFinding]:
    """A finding if the noun is not of its theme and category, or not in the text."""
    if (text.theme, text.category, text.noun) not in NOUNS:
        yield TextFinding(
            text.where, "noun", f"{text.noun} is not in Appendix 2 for {text.theme}/{text.category}"
        )
    elif not noun_pattern(text.theme, text.noun).search(text.text):
        yield TextFinding(
            text.where, "noun", f"{text.noun} is not in the text (titles: with a surname)"
        )


def check_pronouns(text: Text) -> Iterator[TextFinding]:
    """Own category present, others absent or marked, exactly; no plural they beside a singular
    one.
    """
    counts = Counter(pronouns(text.text))
    own = sum(
        n - text.others.get(form, 0) for form, n in counts.items() if PRONOUNS[form] == text.pronoun
    )
    if text.pronoun != "none" and own < 1:
        yield TextFinding(text.where, "pronoun", f"no {text.pronoun} pronoun for the theme person")
    for form in sorted(counts.keys() | text.others.keys()):
        marked, category = text.others.get(form, 0), PRONOUNS.get(form)
        if category is None:
            yield TextFinding(text.where, "others", f"{form} is no third-person pronoun")
        elif category == "they" == text.pronoun and marked:
            yield TextFinding(text.where, "others", f"{form}: plural they in a they-text")
        elif marked > counts[form] or (category != text.pronoun and marked != counts[form]):
            yield TextFinding(
                text.where,
                "pronoun",
                f"{form}: {counts[form]} in the text, {marked} marked in others",
            )


def check_leaks(text: Text) -> Iterator[TextFinding]:
    """A finding if words give a gender away that are not listed in `leaks_ok`."""
    body = NOT_LEAKS.sub(" ", noun_pattern(text.theme, text.noun).sub(" ", text.text))
    found = {re.sub(r"'s?$", "", word) for word in words(body)} & LEAKS
    leaks = sorted(found - {word.lower() for word in text.leaks_ok})
    if leaks:
        yield TextFinding(
            text.where, "leak", ", ".join(leaks) + " (about somebody else: list it in leaks_ok)"
        )


def check_spelling(texts: Iterable[Text], known: Known) -> Iterator[TextFinding]:
    """Words that neither `known` nor spelling_ok.txt nor `slips` has."""
    ours = set((HERE / "spelling_ok.txt").read_text(encoding="utf-8").split())
    for text in texts:
        if not UNSPELLED & set(text.styles):
            found = set(re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", plain(text.text)))
            found = (
                {re.sub(r"'(s|d|ll|ve|re)?$", "", word) for word in found}
                - ours
                - set(map(str.lower, text.slips))
            )
            unknown = sorted(found - known(found))
            yield from [TextFinding(text.where, "spelling", ", ".join(unknown))] if unknown else []
