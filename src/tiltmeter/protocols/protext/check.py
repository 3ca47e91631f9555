"""Check the texts of our corpus for gendering and misgendering: `python3 check.py FILE.jsonl [...]
[--full]`.

`check(texts)` is pure: texts in, findings out; each finding names the text, the rule and the words.
Rules that speak of the corpus as a whole (cells, lengths, style shares) run with `full=True`. Exit
code 1 when anything was found.

Lists are data beside this file: `nouns.csv` (Appendix 2 of the ProText paper), `cells.csv` (its
Table 1), `pronouns.csv`, `leaks.csv` (words that give a gender away), `spelling_ok.txt` (names and
British spellings that pyspellchecker lacks). Standard library only, but for the spelling rule,
which needs that development dependency.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...csv_rows import own_rows

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
# the paper: 66 on average; Figure 2 prints no spread, so ours
MEAN_WORDS, SD_WORDS = (
    (60.0, 72.0),
    (18.0, 32.0),
)
MAX_COSINE, MAX_SIXGRAM_TEXTS, MIN_DISTINCT_OPENINGS, MIN_STYLE_SHARE, MAX_OTHERS_SHARE = (
    0.5,
    3,
    0.95,
    0.08,
    0.08,
)
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
    form: str
    styles: tuple[str, ...]
    text: str
    # pronouns of somebody else: form -> occurrences
    others: dict[str, int] = field(default_factory=dict)
    slips: tuple[str, ...] = ()  # deliberate spelling slips
    leaks_ok: tuple[str, ...] = ()  # gendered words that are about somebody else


@dataclass(frozen=True)
class Finding:
    where: str
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}: {self.words}"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file beside this one."""
    return own_rows(HERE / name)


NOUNS = {(r["theme"], r["category"], r["noun"]) for r in rows("nouns.csv")}
CELLS = {
    (r["theme"], r["category"], p): int(r[p])
    for r in rows("cells.csv")
    for p in ("he", "she", "they", "none")
}
# Every form of a pronoun, standard, dialect and with the apostrophe left out ("hell", "shed" are
# words of their own).
PRONOUNS = {form: r["category"] for r in rows("pronouns.csv") for form in r["forms"].split()}
LEAKS = {word for r in rows("leaks.csv") for word in r["words"].split()}
# Harmless uses of words in leaks.csv: exclamations, and "miss" but in front of a name.
NOT_LEAKS = re.compile(
    r"(?i:\b(?:[oa]h|aw|howay),? (?:boy|man)\b|(?:^|[,.!?]\s)(?:boy|man),|\byou "
    r"guys?\b)|\b[Mm]iss\b(?! [A-Z])"
)


def plain(text: str) -> str:
    """Lower case, straight apostrophes, no emphasis marks."""
    return re.sub(r"[*_~]", "", text.replace("\u2019", "'").replace("\u2018", "'")).lower()


def words(text: str) -> list[str]:
    """Words without marks; inner apostrophes stay ("she's")."""
    return re.findall(r"\w+(?:'\w+)*", plain(text))


def word_count(text: str) -> int:
    """Words as Figure 2 counts them: between spaces, with at least one letter or digit."""
    return sum(any(c.isalnum() for c in token) for token in text.split())


def pronouns(text: str) -> list[str]:
    """Third-person personal pronouns of people, clitics off, in order: "they've" is "they"; it/its
    are not counted.
    """
    tokens = re.findall(r"(?<!\w)'?[^\W\d_]+(?:'[^\W\d_]+)*", plain(text))
    bases = [re.sub(r"(?<=\w)'(s|d|ll|ve|re)\b.*$", "", token) for token in tokens]
    # 'em, but not the quote of 'they
    bases = [base if base in PRONOUNS else base.lstrip("'") for base in bases]
    return [base for base in bases if base in PRONOUNS]


def noun_pattern(theme: str, noun: str) -> re.Pattern[str]:
    """The theme noun in the singular, possessive allowed; titles stand with a surname, but for the
    "Sir" of schools.
    """
    core = re.escape(noun.rstrip(".")).replace(r"\-", "[- ]").replace(r"\ ", r"[\s-]+")
    surname = r"\.?\s(?=[^\W\d_a-z])" if theme == "title" and noun != "Sir" else ""
    return re.compile(rf"(?<!\w)(?i:{core})(?!\w){surname}")


def read(path: Path) -> tuple[list[Text], list[Finding]]:
    """The texts of a JSON Lines file, and what is wrong with its lines."""
    kinds = dict.fromkeys(("theme", "category", "pronoun", "noun", "form", "text"), str)
    items = {
        "styles": (list, str),
        "slips": (list, str),
        "leaks_ok": (list, str),
        "others": (dict, int),
    }
    texts, findings = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        try:
            row: dict[str, Any] = {"leaks_ok": []} | json.loads(line)
        except (ValueError, TypeError) as error:
            findings.append(Finding(where, "schema", f"no JSON object: {error}"))
            continue
        where = row.pop("id", where)
        wrong = [key for key, kind in kinds.items() if not isinstance(row.get(key), kind)]
        for key, (kind, item) in items.items():
            values = (
                list(row[key].values() if kind is dict else row[key])
                if isinstance(row.get(key), kind)
                else [None]
            )
            wrong += [] if all(isinstance(value, item) for value in values) else [key]
        wrong += row.keys() - kinds.keys() - items.keys()
        if wrong:
            findings.append(
                Finding(where, "schema", "missing, unknown or of a wrong type: " + ", ".join(wrong))
            )
        else:
            lists = {key: tuple(row[key]) for key, (kind, _) in items.items() if kind is list}
            texts.append(Text(where, **(row | lists)))
    return texts, findings


def check_values(text: Text) -> Iterator[Finding]:
    """Findings about a text's cell, form, styles, emojis, length in words, and marked words."""
    if not CELLS.get((text.theme, text.category, text.pronoun)):
        yield Finding(
            text.where, "cell", f"{text.theme}/{text.category}/{text.pronoun} is no cell of Table 1"
        )
    yield from [Finding(text.where, "form", text.form)] if text.form not in FORMS else []
    if not 1 <= len(set(text.styles)) == len(text.styles) <= 3 or not set(text.styles) <= set(
        STYLES
    ):
        yield Finding(text.where, "styles", ", ".join(text.styles) or "none given")
    if bool(EMOJI.search(text.text)) != ("emojis" in text.styles):
        yield Finding(
            text.where,
            "emojis",
            "tag and text disagree: " + ("".join(EMOJI.findall(text.text)) or "none"),
        )
    if not WORDS_EACH[0] <= word_count(text.text) <= WORDS_EACH[1]:
        yield Finding(text.where, "length", f"{word_count(text.text)} words")
    absent = [
        w for w in (*text.slips, *text.leaks_ok) if w.lower() not in " ".join(words(text.text))
    ]
    if absent:
        yield Finding(
            text.where, "marks", "in slips or leaks_ok, not in the text: " + ", ".join(absent)
        )


def check_noun(text: Text) -> Iterator[Finding]:
    """A finding if the noun is not of its theme and category, or not in the text."""
    if (text.theme, text.category, text.noun) not in NOUNS:
        yield Finding(
            text.where, "noun", f"{text.noun} is not in Appendix 2 for {text.theme}/{text.category}"
        )
    elif not noun_pattern(text.theme, text.noun).search(text.text):
        yield Finding(
            text.where, "noun", f"{text.noun} is not in the text (titles: with a surname)"
        )


def check_pronouns(text: Text) -> Iterator[Finding]:
    """Own category present, others absent or marked, exactly; no plural they beside a singular
    one.
    """
    counts = Counter(pronouns(text.text))
    own = sum(
        n - text.others.get(form, 0) for form, n in counts.items() if PRONOUNS[form] == text.pronoun
    )
    if text.pronoun != "none" and own < 1:
        yield Finding(text.where, "pronoun", f"no {text.pronoun} pronoun for the theme person")
    for form in sorted(counts.keys() | text.others.keys()):
        marked, category = text.others.get(form, 0), PRONOUNS.get(form)
        if category is None:
            yield Finding(text.where, "others", f"{form} is no third-person pronoun")
        elif category == "they" == text.pronoun and marked:
            yield Finding(text.where, "others", f"{form}: plural they in a they-text")
        elif marked > counts[form] or (category != text.pronoun and marked != counts[form]):
            yield Finding(
                text.where,
                "pronoun",
                f"{form}: {counts[form]} in the text, {marked} marked in others",
            )


def check_leaks(text: Text) -> Iterator[Finding]:
    """A finding if words give a gender away that are not listed in `leaks_ok`."""
    body = NOT_LEAKS.sub(" ", noun_pattern(text.theme, text.noun).sub(" ", text.text))
    found = {re.sub(r"'s?$", "", word) for word in words(body)} & LEAKS
    leaks = sorted(found - {word.lower() for word in text.leaks_ok})
    if leaks:
        yield Finding(
            text.where, "leak", ", ".join(leaks) + " (about somebody else: list it in leaks_ok)"
        )


def check_spelling(texts: Iterable[Text], known: Known) -> Iterator[Finding]:
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
            yield from [Finding(text.where, "spelling", ", ".join(unknown))] if unknown else []


def near_copies(texts: Sequence[Text], above: float) -> Iterator[tuple[float, Text, Text]]:
    """Pairs with that much TF-IDF cosine over word 1-2-grams (smooth idf, L2), as scikit-learn
    defines it.
    """
    grams = []
    for text in texts:
        tokens = re.findall(r"\b\w\w+\b", text.text.lower())
        grams.append(Counter[Any](tokens) + Counter(itertools.pairwise(tokens)))
    documents = Counter(gram for counts in grams for gram in counts)
    idf = {gram: math.log((1 + len(texts)) / (1 + n)) + 1 for gram, n in documents.items()}
    index: dict[Any, list[tuple[int, float]]] = defaultdict(list)
    for i, counts in enumerate(grams):
        norm = math.hypot(*(n * idf[gram] for gram, n in counts.items()))
        dots: dict[int, float] = defaultdict(float)
        for gram, n in counts.items():
            weight = n * idf[gram] / norm
            for j, other in index[gram]:
                dots[j] += weight * other
            index[gram].append((i, weight))
        yield from ((dot, texts[j], texts[i]) for j, dot in dots.items() if dot >= above)


def holders(texts: Iterable[Text], pieces: Callable[[list[str]], set[str]]) -> dict[str, list[str]]:
    """Which texts hold each piece of the words, as `pieces` cuts them."""
    seen: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for piece in pieces(words(text.text)):
            seen[piece].append(text.where)
    return seen


def check_variety(texts: Sequence[Text]) -> Iterator[Finding]:
    """Findings of near copies, repeated runs of six words, and repeated openings."""
    for value, one, two in near_copies(texts, MAX_COSINE):
        yield Finding(two.where, "near copy", f"cosine {value:.2f} with {one.where}")
    grams = holders(
        texts, lambda tokens: {" ".join(tokens[i : i + 6]) for i in range(len(tokens) - 5)}
    )
    starts = holders(texts, lambda tokens: {" ".join(tokens[:5])})
    yield from (
        Finding(", ".join(w), "six-gram", g) for g, w in grams.items() if len(w) > MAX_SIXGRAM_TEXTS
    )
    if len(starts) < MIN_DISTINCT_OPENINGS * len(texts):
        yield from (
            Finding(", ".join(w), "opening", start) for start, w in starts.items() if len(w) > 1
        )


def check_whole(texts: Sequence[Text]) -> Iterator[Finding]:
    """Rules over the full corpus: ids, cells of Table 1, lengths, style shares, marked pronouns."""
    ids = Counter(t.where for t in texts)
    yield from (Finding(where, "id", f"used {n} times") for where, n in ids.items() if n > 1)
    cells = Counter((t.theme, t.category, t.pronoun) for t in texts)
    for cell, wanted in CELLS.items():
        if cells[cell] != wanted:
            yield Finding(
                "corpus", "cells", f"{'/'.join(cell)}: {cells[cell]}, Table 1 has {wanted}"
            )
    lengths = [word_count(t.text) for t in texts] or [0]
    mean, sd = statistics.fmean(lengths), statistics.pstdev(lengths)
    if not MEAN_WORDS[0] <= mean <= MEAN_WORDS[1] or not SD_WORDS[0] <= sd <= SD_WORDS[1]:
        yield Finding("corpus", "lengths", f"mean {mean:.1f}, standard deviation {sd:.1f} words")
    for style in STYLES:
        share = sum(style in t.styles for t in texts) / max(1, len(texts))
        if share < MIN_STYLE_SHARE:
            yield Finding("corpus", "style share", f"{style} in {share:.1%} of the texts")
    marked = sum(bool(t.others) for t in texts) / max(1, len(texts))
    if marked >= MAX_OTHERS_SHARE:
        yield Finding(
            "corpus", "others", f"{marked:.1%} of the texts mark a second person's pronoun"
        )


def check(
    texts: Sequence[Text], *, full: bool = False, known: Known | None = None
) -> list[Finding]:
    """All findings: text by text, over pairs, with a word list (`known`) spelling, and over the
    whole with `full`.
    """
    each = (check_values, check_noun, check_pronouns, check_leaks)
    findings = [finding for text in texts for rule in each for finding in rule(text)]
    findings += check_variety(texts)
    findings += check_spelling(texts, known) if known else ()
    return findings + (list(check_whole(texts)) if full else [])


def summary(texts: Sequence[Text]) -> str:
    """Two lines on the texts: how many, their lengths in words, and the share of each style."""
    lengths = [word_count(t.text) for t in texts] or [0]
    styles = ", ".join(
        f"{s} {sum(s in t.styles for t in texts) / max(1, len(texts)):.1%}" for s in STYLES
    )
    return (
        f"{len(texts)} texts; words: mean {statistics.fmean(lengths):.1f}, standard deviation "
        f"{statistics.pstdev(lengths):.1f}, {min(lengths)} to {max(lengths)}; with others "
        f"{sum(bool(t.others) for t in texts)}, with leaks_ok "
        f"{sum(bool(t.leaks_ok) for t in texts)}\nstyles: {styles}"
    )


def _word_list() -> Known | None:
    """pyspellchecker's words, where it is installed."""
    try:
        from spellchecker import SpellChecker
    except ImportError:
        return None
    known: Known = SpellChecker().known
    return known


def _paired() -> int:
    from tiltmeter.protocols.protext import check_paired, paired

    texts = paired.texts()
    findings = check_paired.check_paired(texts, _word_list())
    families = len({text.family for text in texts})
    print(*findings, f"{families} families, {len(texts)} texts", sep="\n")
    print(f"{len(findings)} findings")
    return 1 if findings else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks the files of the command line and prints findings; returns 1 if there are any."""
    parser = argparse.ArgumentParser(description="Check texts of the corpus.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--paired", action="store_true", help="the paired corpus: its versions against each other"
    )
    parser.add_argument("--full", action="store_true", help="also the rules over the whole corpus")
    options = parser.parse_args(arguments)
    if options.paired:
        return _paired()
    if not options.files:
        parser.error("name a file, or --paired")
    for path in options.files:
        if not path.is_file():
            parser.error(f"no file {path}")
    parts = [read(path) for path in options.files]
    texts, findings = [t for part, _ in parts for t in part], [f for _, part in parts for f in part]
    known = _word_list()
    findings += check(texts, full=options.full or len(texts) == sum(CELLS.values()), known=known)
    spelling = "" if known else "; spelling not checked (pip install pyspellchecker)"
    print("\n".join([*map(str, findings), summary(texts), f"{len(findings)} findings{spelling}"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
