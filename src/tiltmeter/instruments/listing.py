"""What an answer lists: from text to its picks, whatever they are written as. Pure.

An answer is read in several ways and the first that holds is taken: its numbered entries, its bulleted entries, its lines
and sentences (words one a line, or in a row with commas, 、 or spaces), and only where these give nothing, words in a row
inside a sentence, or words in quotes or bold. What an entry holds: entries.py. A word named again is no further pick.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .entries import ASIDE, EDGE, OFF, PROSE, ROW, Entries, Pick, Unit, distinct, listed_in
from .wordlist import WordList, key

LONGEST = 20_000  # characters read: a list of words is over long before

_NUMBER = re.compile(r"(\d(?<![\dA-Za-z]\d)\d?\d?)[*_]*\s?(?:[.)．）、:：\]]+(?!\d)|[-–—]\s)[*_]*[^\S\n]*")
_DIGIT = re.compile(r"\d")
_BULLET = re.compile(r"^([^\S\n]*)(?:[•●○◦▪▫■□◆◇▶►✓✔☑→‣⁃・·★☆✨]\s*|[-–—*+]\s+|-(?=[^\W\d_]))", re.M)
_CIRCLED = re.compile("[\u2460-\u2473]")
_KEYCAP = re.compile("(\\d{1,2})\ufe0f?\u20e3")
_TABLE = re.compile(r"^[^\S\n]*\|(.*)\|[^\S\n]*$", re.M)
_RULE = re.compile(r"^.*\|.*\n(?=.*\|)[\s|:-]*---[\s|:-]*$", re.M)
_JSON = re.compile(r"\[.*\]|\{.*\}", re.S)
_TAG = re.compile(r"<[^<>\n]{1,40}>")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_PAIRS = ((r"\*\*", "*", r"\*\*"), ('"', '"', '"'), ("“", "”", "”"), ("‘", "’", "’"), ("«", "»", "»"), ("「", "」", "」"),
          ("『", "』", "』"), ("《", "》", "》"), ("`", "`", "`"), (r"(?<!\w)'", "'", r"'(?!\w)"),
          (r"(?<![\w*])[*_]", "*_", r"[*_](?![\w*])"))  # fmt: skip
_QUOTED = re.compile("|".join(rf"{opened}([^{inner}\n]{{1,60}}){closed}" for opened, inner, closed in _PAIRS))


class Reader:
    """Reads answers for the words of one list. `asked`: how many words an answer should have."""

    def __init__(self, words: WordList, asked: int) -> None:
        self.words, self.asked, self.entries = words, asked, Entries(words)
        inclusive = words.data.get("inclusive")
        self._inclusive = re.compile(inclusive) if inclusive else None

    def picks(self, text: str) -> list[Pick]:
        """The distinct picks of an answer in their order; empty where it lists nothing."""
        text = self._plain(text[:LONGEST])
        found: list[Pick] = []
        most = -1
        for reading in (self._numbered, self._bulleted, self._lines, self._sentences, self._quoted):
            picks = distinct(reading(text))
            listed = listed_in(picks)
            if found and listed <= most:
                continue
            found, most = picks, listed
            marked = reading in (self._numbered, self._bulleted)
            if (listed > 1 and 2 * listed >= len(picks)) or (marked and 3 * len(picks) >= 2 * self.asked):
                break
        return found

    def _plain(self, text: str) -> str:
        """The text with numbers, tables and JSON in one shape."""
        if '"' in text and ("[" in text or "{" in text):
            text = _from_json(text)
        if not text.isascii():
            if "\u20e3" in text:
                text = _KEYCAP.sub(r"\n\1. ", text)
            text = _CIRCLED.sub(lambda mark: f"\n{ord(mark[0]) - 0x245F}. ", text)
        if "<" in text:
            text = _TAG.sub("\n", text)
        if "|" in text:
            text = _TABLE.sub(lambda row: " – ".join(map(str.strip, row[1].split("|"))), _RULE.sub("", text))
        return self._inclusive.sub("", text) if self._inclusive else text

    def _numbered(self, text: str) -> list[Pick]:
        """Entries that begin with 1, 2, 3, …: each at the start of a line or with the number that is due."""
        if _DIGIT.search(text) is None:
            return []
        marks, due = [], 1
        for mark in _NUMBER.finditer(text):
            number, start = int(mark[1]), mark.start()
            if number == due or not text[text.rfind("\n", 0, start) + 1 : start].strip(EDGE):
                marks.append((start, mark.end()))
                due = number + 1
        found = self._marked(text, marks)
        if marks and "," in text[: marks[0][0]]:  # a row of words before numbered explanations of some of them
            before = distinct(self._lines(text[: marks[0][0]]))
            return before if listed_in(before) > listed_in(distinct(found)) else found
        return found

    def _bulleted(self, text: str) -> list[Pick]:
        """Entries of the outermost bullets."""
        marks = list(_BULLET.finditer(text))
        least = min((len(mark[1]) for mark in marks), default=0)
        return self._marked(text, [(mark.start(), mark.end()) for mark in marks if len(mark[1]) == least])

    def _marked(self, text: str, marks: Sequence[tuple[int, int]]) -> list[Pick]:
        if len(marks) < 2:
            return []
        ends = [start for start, _ in marks[1:]] + [len(text)]
        entries = (text[start:end].strip().partition("\n")[0] for (_, start), end in zip(marks, ends, strict=True))
        return [pick for entry in entries for pick in self.entries.unit(entry).picks]

    def _lines(self, text: str) -> list[Pick]:
        """Words one a line, or in rows. A word off the list counts between listed ones, not before or behind them."""
        units = self._pieces(text)
        rows = [unit for unit in units if not self._repeated(unit)]
        holding = [number for number, unit in enumerate(rows) if listed_in(unit.picks)]
        if holding:
            units = rows
        else:
            holding = [number for number, unit in enumerate(units) if listed_in(unit.picks)]
        if not holding:
            return self._own(units)
        return [pick for unit in units[holding[0] : holding[-1] + 1] if unit.kind != ASIDE for pick in unit.picks]

    def _own(self, units: Sequence[Unit]) -> list[Pick]:
        """Words of the answer's own: a long row of them, or nothing but such words."""
        rows = [unit.picks for unit in units if 2 * len(distinct(unit.picks)) >= self.asked]
        if rows:
            return list(rows[0])
        picks = [pick for unit in units for pick in unit.picks]
        prose = any(unit.kind == PROSE for unit in units)
        return [] if prose or 2 * len(distinct(picks)) < self.asked else picks

    def _pieces(self, text: str) -> list[Unit]:
        """The units of lines and, where a line is none by itself, of its sentences."""
        units = []
        for line in filter(None, map(str.strip, text.split("\n"))):
            unit = self.entries.unit(line)
            parts = _SENTENCE.split(line) if unit.kind in (OFF, ASIDE, PROSE) else ()
            units += [self.entries.unit(part) for part in parts if part.strip()] if len(parts) > 1 else [unit]
        return units

    def _sentences(self, text: str) -> list[Pick]:
        """Words in a row inside sentences: "I would call her wise, kind, and patient with everyone."."""
        return [pick for line in text.split("\n") for part in _SENTENCE.split(line) for pick in self.entries.run(part)]

    def _quoted(self, text: str) -> list[Pick]:
        marked = ("".join(filter(None, groups)) for groups in _QUOTED.findall(text))
        return [Pick(lexeme, key(word)) for word in marked if (lexeme := self.words.find(word))]

    def _repeated(self, unit: Unit) -> bool:
        return unit.kind == ROW and repeats_list(unit.picks, self.words, self.asked)


def repeats_list(picks: Sequence[Pick], words: WordList, asked: int) -> bool:
    """Whether picks are the word list itself: far more than asked, or more than asked and in its own order."""
    if len(picks) <= asked:
        return False
    places = [words.order[lexeme] for lexeme in dict.fromkeys(pick.lexeme for pick in picks) if lexeme]
    if len(places) <= asked:
        return False
    follow = sum(second == first + 1 for first, second in pairwise(places))
    return len(places) > max(2 * asked, len(words.order) / 2) or follow >= 0.8 * (len(places) - 1)


def _from_json(text: str) -> str:
    """The texts of a JSON array, or of the first array in an object, as bullets; of an object in it the first text."""
    found = _JSON.search(text)
    try:
        words = list(_strings(json.loads(found[0]))) if found else []
    except (ValueError, RecursionError):  # no JSON, or nested beyond reason
        return text
    return "\n".join(f"- {word}" for word in words) or text


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        values = [value for value in data.values() if isinstance(value, (str, list))]
        arrays = [value for value in values if isinstance(value, list)]
        yield from _strings(arrays[0] if arrays else values[0] if values else "")
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)
