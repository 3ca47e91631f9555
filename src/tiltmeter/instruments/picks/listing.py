"""Finds the picks of an answer that lists them, in any layout. Pure.

An answer is parsed in several ways, and the first that finds picks counts: its numbered entries,
its bulleted entries, its lines and sentences (words one per line, or in a row with commas, 、 or
spaces); only if these find nothing, words in a row inside a sentence, or words in quotes or bold.
How an entry is parsed: entries.py. A repeated word is not a further pick.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from ...languages import refusals
from ...languages.letters import key
from ...languages.phrases import language
from ...languages.remembered import Remembered
from ..text.lists import json_as_bullets, numbers_as_digits
from .clauses import Clauses
from .entries import EDGE, Entries
from .units import ASIDE, LINE, OFF, PROSE, ROW, Pick, PicksReading, Unit, distinct
from .wordlist import WordList

SENTENCES_CHARACTERS = 400  # of an answer that names as many words as were asked for in sentences
LONGEST_CHARACTERS = 20_000  # characters read: a list of words is over long before

# A text is split at marks: group 1 is all of the mark, group 2 its number or indentation, and
# behind it stands the entry. A bullet begins with the end of the line before, which the one before
# leaves to it.
_NUMBER = re.compile(
    r"((\d(?<![\dA-Za-z]\d)\d?\d?)[*_]*\s?(?:[.)．）、:：\]]+(?!\d)|[-–—]\s)[*_]*[^\S\n]*)"
)
_BULLET = re.compile(
    r"(\n([^\S\n]*)(?:[•●○◦▪▫■□◆◇▶►✓✔☑→‣⁃・·★☆✨]\s*(?<!\n)|[-–—*+](?:\s+(?<!\n)|(?=\n))|-(?=[^\W\d_]))"
    r"(?:\[[ xX✓✔]\]\s+)?)"
)
# letters before entries: a) b) c)
_LETTERED = re.compile(r"(?:^[^\S\n]*\(?[^\W\d_](?:\)|\.(?=\s))[^\S\n]*(?=\S).*(?:\n|$)){2,}", re.M)
_LETTER = re.compile(r"^[^\S\n]*\(?[^\W\d_][.)]\s*", re.M)
_TABLE = re.compile(r"^[^\S\n]*\|(.*)\|[^\S\n]*$", re.M)
_RULE = re.compile(r"^.*\|.*\n(?=.*\|)[\s|:-]*---[\s|:-]*$", re.M)
_TAG = re.compile(r"<[^<>\n]{1,40}>")
_BOX = re.compile(r"\\(?:boxed|text(?:bf|rm)?)\{|\}")  # LaTeX around an answer
_BRACKET = re.compile(r"[(（][^()（）]*[)）]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_PAIRS = (
    (r"\*\*", "*", r"\*\*"),
    ('"', '"', '"'),
    ("“", "”", "”"),
    ("‘", "’", "’"),
    ("«", "»", "»"),
    ("「", "」", "」"),
    ("『", "』", "』"),
    ("《", "》", "》"),
    ("`", "`", "`"),
    (r"(?<!\w)'", "'", r"'(?!\w)"),
    (r"(?<![\w*])[*_]", "*_", r"[*_](?![\w*])"),
)
_QUOTED = re.compile(
    "|".join(rf"{opened}([^{inner}\n]{{1,60}}){closed}" for opened, inner, closed in _PAIRS)
)


class ListReader:
    """A parser of answers, for one list. asked: the number of words that the prompt asks for."""

    def __init__(self, words: WordList, asked: int) -> None:
        self.words, self.asked, self.entries = words, asked, Entries(words)
        self.clauses = Clauses(words, self.entries)
        self._room = (5, 8) if words.unspaced else (12, 20)  # characters a word, and beside a row
        inclusive = words.data.get("inclusive")
        self._neutral = (
            Remembered(partial(re.compile(inclusive).sub, ""), LINE) if inclusive else None
        )
        self._readings = (
            (True, self._numbered_entries),
            (True, self._bullet_entries),
            (False, self._lines),
            (False, self._sentences),
            (False, self._quotations),
        )

    def picks(self, text: str) -> PicksReading:
        """Returns the picks of an answer; a PicksReading without picks if it lists nothing."""
        text = self._plain(text[:LONGEST_CHARACTERS]).strip()
        concluded = self._concluded(text) if ":" in text else ""
        if concluded and (final := self._read(concluded)).listed == self.asked:
            return final
        return self._read(text)

    def _concluded(self, text: str) -> str:
        """Returns the text after the conclusion that the last line announces ("Final answer:"), if
        text stands before that line; else "".
        """
        before, _, rest = text.rpartition(":")
        lead = before.rpartition("\n")[2].strip(EDGE)
        if not 0 < len(lead) <= LINE or lead[0].isdigit() or "\n" not in before.strip():
            return ""
        phrases = language(self.words.code)
        return rest if phrases.has(phrases.canonical(lead), "conclusion") else ""

    def _read(self, text: str) -> PicksReading:
        best = PicksReading((), 0)
        for marked, read in self._readings:
            listing = read(text)
            if not listing:
                continue
            picks, listed = reading = distinct(listing)
            if best.picks and listed <= best.listed:
                continue
            best = reading
            if (listed > 1 and 2 * listed >= len(picks)) or (
                marked and 3 * len(picks) >= 2 * self.asked
            ):
                break
        few, (each, more) = best.listed < self.asked, self._room
        if not few and len(text) <= each * best.listed + more:
            return best
        if len(text) <= SENTENCES_CHARACTERS and "\n" not in text:
            named, denied = self.clauses.named(text)
            denied -= {pick.lexeme for pick in named}
            named_once = distinct(named)
            if any(pick.lexeme in denied for pick in best.picks):
                best = distinct([pick for pick in best.picks if pick.lexeme not in denied])
                few = True
            if few and self._is_fuller(named_once, best, text):
                return named_once
        return best

    def _is_fuller(self, named: PicksReading, best: PicksReading, text: str) -> bool:
        """True if the words that clauses name are the answer's picks rather than `best`: if they
        are as many as asked for; or if they are several and more than in `best`, whose words are
        listed except perhaps a last entry that contains a named word ("… and somewhat forgetful").
        """
        if named.listed == self.asked:
            return True
        *first, last = [*best.picks] or [Pick("", "")]
        is_in_last = bool(last.lexeme) or any(pick.text in last.text for pick in named.picks)
        is_in_last = all(pick.lexeme for pick in first) and (is_in_last or not best.picks)
        fuller = max(1, best.listed) < named.listed < self.asked and is_in_last
        return fuller and not refusals.says(text, self.words.code, excuses=True)

    def _plain(self, text: str) -> str:
        """Rewrites numbers, tables and JSON in a text in one common notation each."""
        text = json_as_bullets(text) if '"' in text else text
        text = text if text.isascii() else numbers_as_digits(text)
        text = _BOX.sub("", text) if "\\" in text else text
        if "<" in text:
            text = _TAG.sub("\n", text)
        if "|" in text:
            text = _TABLE.sub(
                lambda row: " – ".join(map(str.strip, row[1].split("|"))), _RULE.sub("", text)
            )
        if ")" in text or "." in text:
            text = _LETTERED.sub(lambda lines: _LETTER.sub("- ", lines[0]), text)
        if self._neutral is not None:  # word by word: words recur
            text = " ".join([self._neutral[word] for word in text.split(" ")])
        return text

    def _numbered_entries(self, text: str) -> list[Pick]:
        """Parses the entries numbered 1, 2, 3, …; other numbers count only at a line's start."""
        before, *pieces = _NUMBER.split(text)
        if not pieces:
            return []
        entries, due, last = [before], 1, "\n"
        for mark, digits, entry in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            number = int(digits)
            if number == due or _ends_in_new_line(last + entries[-1]):
                entries.append(entry)
                due, last = number + 1, mark
            else:
                entries[-1] += mark + entry
        first_lines = self._first_lines(entries)
        # a row of words before numbered explanations of some of them
        if len(entries) > 1 and "," in entries[0]:
            row = self._lines(entries[0])
            return row if distinct(row).listed > distinct(first_lines).listed else first_lines
        return first_lines

    def _bullet_entries(self, text: str) -> list[Pick]:
        """Parses the entries with the least indented bullets."""
        before, *pieces = _BULLET.split("\n" + text)
        if not pieces:
            return []
        entries, least = [before], min(map(len, pieces[1::3]))
        for mark, indent, entry in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            if len(indent) == least:
                entries.append(entry)
            else:
                entries[-1] += mark + entry
        return self._first_lines(entries)

    def _first_lines(self, entries: Sequence[str]) -> list[Pick]:
        """Parses the first line of each entry; skips the text before the first entry."""
        if len(entries) < 3:
            return []
        units = self.entries.units
        return [
            pick for entry in entries[1:] for pick in units[entry.strip().partition("\n")[0]].picks
        ]

    def _lines(self, text: str) -> list[Pick]:
        """Parses words one per line, or in rows. An unlisted word counts between listed words;
        elsewhere it counts only alone on its line, if the answer has too few words.
        """
        units = self._pieces(text)
        rows = [
            unit
            for unit in units
            if unit.kind != ROW or not repeats_list(unit.picks, self.words, self.asked)
        ]
        holding = [number for number, unit in enumerate(rows) if unit.listed]
        if holding:
            units = rows
        else:
            holding = [number for number, unit in enumerate(units) if unit.listed]
        if not holding:
            return self._own(units)
        first, last = self._with_bare_ends(text, units, holding)
        return [
            pick for unit in units[first : last + 1] if unit.kind != ASIDE for pick in unit.picks
        ]

    def _with_bare_ends(
        self, text: str, units: Sequence[Unit], holding: Sequence[int]
    ) -> tuple[int, int]:
        """Returns the (first, last) index in `units` of a list of words one per line. Includes
        adjoining lines of one unlisted word each while there are fewer words than the prompt asked
        for."""
        first, last = holding[0], holding[-1]
        single = all(len(units[number].picks) == 1 for number in holding)
        if not single or 2 * len(holding) < self.asked:
            return first, last
        while last + 1 - first < self.asked:
            if first > 0 and _is_bare(units[first - 1], text):
                first -= 1
            elif last + 1 < len(units) and _is_bare(units[last + 1], text):
                last += 1
            else:
                break
        return first, last

    def _own(self, units: Sequence[Unit]) -> list[Pick]:
        """Returns the first long row of unlisted words, or all unlisted words if no row is long."""
        rows = [unit.picks for unit in units if 2 * len(distinct(unit.picks).picks) >= self.asked]
        if rows:
            return list(rows[0])
        picks = [pick for unit in units for pick in unit.picks]
        prose = any(unit.kind == PROSE for unit in units)
        return [] if prose or 2 * len(distinct(picks).picks) < self.asked else picks

    def _pieces(self, text: str) -> list[Unit]:
        """Returns one Unit per line, or per sentence of a line that lists nothing as a whole."""
        units = []
        for line in filter(None, map(str.strip, text.split("\n"))):
            unit = self.entries.units[line]
            parts = () if unit.listed else _SENTENCE.split(line)
            units += (
                [self.entries.units[part] for part in parts if part.strip()]
                if len(parts) > 1
                else [unit]
            )
        return units

    def _sentences(self, text: str) -> list[Pick]:
        """Parses rows of words inside sentences: "I would call her wise, kind, and patient."."""
        return [
            pick
            for line in text.split("\n")
            for part in _SENTENCE.split(line)
            for pick in self.entries.run(_BRACKET.sub(self._affirmed, part))
        ]

    def _affirms(self, sentence: str) -> bool:
        """True unless a sentence has a negation before its first quotation: I left out "strict"."""
        before = _QUOTED.split(sentence, maxsplit=1)[0]
        return not self.entries.denies(before)

    def _affirmed(self, bracket: re.Match[str]) -> str:
        """Returns a bracket unchanged, or "" if it has a negation: "(rather than calm)"."""
        return "" if self.entries.denies(bracket[0]) else bracket[0]

    def _quotations(self, text: str) -> list[Pick]:
        sentences = [part for line in text.split("\n") for part in _SENTENCE.split(line)]
        affirmed = "\n".join(
            _BRACKET.sub(self._affirmed, part) for part in sentences if self._affirms(part)
        )
        marked = ("".join(filter(None, groups)) for groups in _QUOTED.findall(affirmed))
        return [Pick(lexeme, key(word)) for word in marked if (lexeme := self.words.find(word))]


def _is_bare(unit: Unit, text: str) -> bool:
    """True if a Unit is one unlisted word, alone on its line and without a final mark (unlike
    "Sure!", "Words:").
    """
    if unit.kind != OFF or len(unit.picks) != 1:
        return False
    word = re.escape(unit.picks[0].text)
    return re.search(rf"(?im)^[\s*_\"'“”]*{word}[\s*_\"'“”]*$", text) is not None


def _ends_in_new_line(text: str) -> bool:
    """True if the last line of a text is empty, ignoring markup."""
    _, broken, line = text.rpartition("\n")
    return bool(broken) and not line.strip(EDGE)


def repeats_list(picks: Sequence[Pick], words: WordList, asked: int) -> bool:
    """True if picks repeat the given list: they are far too many, or too many and in its order."""
    if len(picks) <= asked:
        return False
    places = [
        words.order[lexeme] for lexeme in dict.fromkeys(pick.lexeme for pick in picks) if lexeme
    ]
    if len(places) <= asked:
        return False
    follow = sum(second == first + 1 for first, second in pairwise(places))
    return len(places) > max(2 * asked, len(words.order) / 2) or follow >= 0.8 * (len(places) - 1)
