"""The checks of the paired corpus: versions differ in pronoun, agreement and noun, and in no more.

They work on the expanded texts, not on the slots. Within a family and noun, the he and she versions
are what neopronoun_texts.py makes of the they version, with he and she in place of xe: it knows
nothing of the slots and decides by itself which verbs agree. Within a family and version, texts are
equal once the theme noun is cut. Labels, other people's pronouns, leaks, spelling and near copies
go through check.py, whose mode `--paired` this is.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from scripts.corpus.copies import check_copies
from scripts.corpus.rules import (
    Known,
    Text,
    TextFinding,
    check_leaks,
    check_pronouns,
    check_spelling,
    word_count,
)

from tiltmeter.protocols.protext.names_of_people import PRONOUNS, noun_pattern, pronouns
from tiltmeter.protocols.protext.neopronoun_texts import agreement, neopronoun_version
from tiltmeter.protocols.protext.paired import VERSIONS, PairedText, forms

WORDS_EACH = {"short": (40, 120), "long": (200, 400)}
LEAST_PRONOUNS = {"short": 2, "long": 3}
_PIECE = re.compile(r"\w+(?:['\u2019-]\w+)*|[^\w\s]")


def check_paired(texts: Sequence[PairedText], known: Known | None = None) -> list[TextFinding]:
    """All findings; with a word list (`known`) spelling too."""
    cells: dict[tuple[str, str], dict[str, PairedText]] = defaultdict(dict)
    columns: dict[tuple[str, str], list[PairedText]] = defaultdict(list)
    for text in texts:
        cells[text.family, text.noun_gender][text.pronoun] = text
        columns[text.family, text.pronoun].append(text)
    ids = Counter(text.id for text in texts)
    findings = [TextFinding(where, "id", f"{n} times") for where, n in ids.items() if n > 1]
    for cell in cells.values():
        findings += _versions(cell)
    for column in columns.values():
        findings += _nouns(column)
    for text in texts:
        findings += _each(text)
    firsts = [as_text(text) for text in {text.family: text for text in texts}.values()]
    spelling = check_spelling(firsts, known) if known else ()
    return [*findings, *check_copies(firsts), *spelling]


def _versions(cell: dict[str, PairedText]) -> Iterator[TextFinding]:
    """One noun of one family: all versions there, and each what the they version makes it."""
    some = next(iter(cell.values()))
    if not set(VERSIONS) <= set(cell):
        yield TextFinding(some.id, "versions", f"only {', '.join(cell)}")
        return
    notes = agreement().get(some.family, {})
    for pronoun, text in cell.items():
        if pronoun not in ("they", "none"):
            made = from_they(cell["they"].text, pronoun, notes)
            if made != text.text:
                yield TextFinding(text.id, "version", difference(made, text.text))


def from_they(text: str, pronoun: str, notes: dict[str, bool]) -> str:
    """The they version with another pronoun, as neopronoun_texts.py makes it."""
    if pronoun not in ("he", "she"):
        return neopronoun_version(text, pronoun, notes=notes)
    xe = forms("xe")

    def form(match: re.Match[str]) -> str:
        word = forms(pronoun)[xe.index(match[1].lower())]
        return word.capitalize() if match[1][0].isupper() else word

    made = neopronoun_version(text, "xe", notes=notes)
    return re.sub(rf"(?i)(?<!\w)({'|'.join(xe)})(?!\w)", form, made)


def difference(one: str, two: str) -> str:
    """The words in which two texts differ: "[was] / [were]; …"."""
    a, b = _PIECE.findall(one), _PIECE.findall(two)
    codes = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return "; ".join(f"{a[i:j]} / {b[k:m]}" for tag, i, j, k, m in codes if tag != "equal")


def _nouns(column: list[PairedText]) -> Iterator[TextFinding]:
    """Texts of one family and version are equal once theme nouns are cut."""
    for text in column[1:]:
        if _cut(text) != _cut(column[0]):
            yield TextFinding(text.id, "noun", difference(_cut(column[0]), _cut(text)))


def _cut(text: PairedText) -> str:
    noun = re.escape(text.noun)
    return re.sub(rf"(?<!\w)(?:{noun}|{noun[0].upper() + noun[1:]})(?!\w)", "NOUN", text.text)


def _each(text: PairedText) -> Iterator[TextFinding]:
    yield from check_pronouns(as_text(text))
    yield from check_leaks(as_text(text))
    least, most = WORDS_EACH[text.length]
    if not least <= word_count(text.text) <= most:
        yield TextFinding(text.id, "length", f"{word_count(text.text)} words")
    if not noun_pattern(text.theme, text.noun).search(text.text):
        yield TextFinding(text.id, "noun", f"{text.noun} is not in the text")
    own = sum(PRONOUNS[form] == text.pronoun for form in pronouns(text.text))
    own -= sum(n for form, n in text.others.items() if PRONOUNS[form] == text.pronoun)
    if text.pronoun in ("he", "she", "they") and own < LEAST_PRONOUNS[text.length]:
        yield TextFinding(text.id, "pronouns", f"only {own}")


def as_text(text: PairedText) -> Text:
    """A text as check.py takes it."""
    return Text(
        where=text.id,
        theme=text.theme,
        category=text.category,
        pronoun=text.pronoun,
        noun=text.noun,
        form=text.form,
        styles=text.styles,
        text=text.text,
        others=text.others,
        leaks_ok=text.leaks_ok,
    )
