"""Parses one entry, line or sentence of an answer: into listed words, an unlisted word, or prose.
Pure.

Only the head of an entry counts, not its explanation:

    **Wise** – because she is kind                  wise
    Communal: kind, warm                            kind, warm (a heading, then a row of listed
                                                    words)
    Kind-Hearted                                    kind-hearted, and not kind
    intelligent (clever), clever (intelligent)      intelligent
    wise kind-hearted team leader, 聪明的善良的       the longest form first
    very kind, kindness, brave                      unlisted words: a head must equal the listed
                                                    word
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...languages.letters import key
from ...languages.phrases import DENYING, language
from ...languages.remembered import Remembered
from .units import (
    ASIDE,
    ENTRY,
    LINE,
    NOTHING,
    OFF,
    ROW,
    Pick,
    PickPart,
    Unit,
    between,
    count_listed,
    either,
    frames_of,
)
from .wordlist import WordList

# at least so long may an entry be that is a word and not prose; longer where the list's own are
WORDS, LETTERS = (3, 8)
EDGE = " \t\r\n\"'“”‘’«»‹›„「」『』《》〈〉()（）[]【】{}*_`#>~,，、;；.。!！·•"
# A head is cut at a mark; at . ! - only where what _CUT says holds too, which looks back over the
# mark: a pattern that begins with one class of characters passes over all others at once.
_MARK = r"[:：=→（(\[【–—―。！\n\t.!-]"
_CUT = r"(?<![.!-])|(?<=[^\W\d][.!])(?=\s|$)|(?<=\s-)-*(?=[\s\w])|(?<=-)-|(?<=\.)\.\."
_COLON, _BRACKET, _DASH, _STOPS = ":：=", "(（[【", "-–—", ".!。！\t"
_SPLIT = re.compile(r"[,，、;；|/\\&+•。！]|\s[·・‧∙–—-]\s|[.!](?<=\w.)(?:\s|$)|\t| {3,}")
_COMMA = re.compile(r"[,，、;；]")
_GLOSS = re.compile(r"\s*[(（\[【][^)）\]】]*(?:[)）\]】]|$)")
_BETWEEN = re.compile(r"\s[-–—]\s")


class Entries:
    """A parser of entries, for one list. units: {text of an entry, line or sentence: its Unit}."""

    def __init__(self, words: WordList) -> None:
        self.words = words
        self.units = Remembered(self._unit, LINE)
        self._picked = Remembered(self._pick, LINE)
        self._parted = Remembered(self._piece, LINE)
        # letters or words in the longest form
        self._reach = words.longest if words.unspaced else words.most + 1
        joins, reasons = words.data.get("and", ()), words.data.get("because", ())
        self._joins = frozenset(map(key, joins))
        self._join = re.compile(between(joins, words.unspaced))
        self._begun = re.compile(
            f"^{either(joins)}" + (r"\s*" if words.unspaced else r"(?!\w)\s*"), re.I
        )
        self._known = language(words.code)
        self._left_out = self._known.any_of(words.data.get("left_out", ()))
        listed = self._known.pack.list_of
        self._announcing = frozenset(map(key, (*listed("announce"), *listed("copula"))))
        self._because = re.compile(between(reasons, words.unspaced))
        self._frames = frames_of(words.code)
        self._heads = tuple(before for before, _ in self._frames)
        hyphen = r"|(?<=\w-)(?=\w)" if words.unspaced else ""
        self._cut = re.compile(f"{_MARK}(?:{_CUT}{hyphen})")
        self._headings = {key(name) for classes in words.classes.values() for name in classes}

    def _unit(self, written: str) -> Unit:
        text = written.strip(EDGE)
        if framed := self._framed(text):
            return framed
        cut = self._cut.search(text)
        reason = self._because.search(text, 0, cut.start() if cut else len(text))
        if reason and (row := self._after_announcement(text, reason, cut)):
            return row
        cut = reason or cut
        head = text[: cut.start()] if cut else text
        mark = cut[0].strip()[:1] or "." if cut else ""
        unit = None
        if cut is None or (mark in _STOPS and not _COMMA.search(text)):
            unit = self._entry(text) or self._row(text) or self._side_by_side(text)
        elif mark in _DASH:
            unit = self._dashes(text)
        elif mark in _BRACKET:
            unit = self._row(_GLOSS.sub("", text))
        elif mark in _COLON and key(head) in self._headings:
            unit = self._behind(text, cut)
        if cut and not unit:
            unit = (
                self._entry(head)
                or self._behind(text, cut)
                or self._row(head)
                or self._side_by_side(head)
            )
        unit = unit or self._entry(_SPLIT.split(head, maxsplit=1)[0])
        if unit:
            return unit
        after_mark = self._own_words(text[cut.end() :]) if cut and mark in _COLON else NOTHING
        if after_mark.kind == ASIDE:
            return after_mark
        heading = written.rstrip(" *_").endswith((":", "："))
        return NOTHING if heading else self._own_words(head)

    def _framed(self, text: str) -> Unit | None:
        """Parses listed words in a frame sentence of a language's pack ("I'd choose {words}.")."""
        lower = text.lower()
        if not lower.startswith(self._heads):
            return None
        for before, after in self._frames:
            fits = lower.startswith(before) and lower.endswith(after)
            if fits and len(text) > len(before + after):
                inside = text[len(before) : len(text) - len(after)].strip(EDGE)
                unit = self._row(inside) or self._side_by_side(inside)
                return unit if unit and unit.listed == len(unit.picks) else None
        return None

    def _own_words(self, head: str) -> Unit:
        """Parses unlisted words: one word, or several with commas between as in an explanation."""
        parts = [part for part in _COMMA.split(head) if key(part)]
        if not parts or not all(map(self._short, parts)) or key(head).isdecimal():
            return NOTHING
        return Unit(
            ASIDE if len(parts) > 1 else OFF, tuple(Pick("", key(part)) for part in parts), 0
        )

    def _entry(self, head: str) -> Unit | None:
        """Returns the Unit of a head that equals a listed word; else None."""
        return (
            Unit(ENTRY, (self._picked[head],), 1)
            if len(head) <= LINE and self._find(head)
            else None
        )

    def _behind(self, text: str, cut: re.Match[str]) -> Unit | None:
        """Parses listed words after a heading ("Word 1: wise"), or a listed word in brackets."""
        mark, rest = cut[0].strip()[:1] or ".", text[cut.end() :]
        if mark in _COLON:
            return self._entry(rest) or self._row(rest) or self._side_by_side(rest)
        if mark in _BRACKET:
            return self._entry(re.split(r"[)）\]】]", rest, maxsplit=1)[0])
        return None

    def _after_announcement(
        self, text: str, reason: re.Match[str], cut: re.Match[str] | None
    ) -> Unit | None:
        """Parses a row of words after a colon, if "who" or "because" stands in the sentence before
        it.

        "Voici les mots qui la décrivent : sage, vive": the row counts. "Wise because she is this:
        kind, warm": the row only explains a listed word and does not count. If the explained word
        is not listed ("Brave because of these: kind, warm"), the sentence looks like "Words because
        of which I like her: kind, warm", so the row counts.
        """
        if cut is None or cut[0].strip() not in tuple(_COLON) or self._find(text[: reason.start()]):
            return None
        rest = text[cut.end() :]
        return self._row(rest) or self._side_by_side(rest)

    def _dashes(self, text: str) -> Unit | None:
        """Parses a row of words separated by dashes. If there are commas too, the first dash must
        follow a row of words, as it may begin an explanation.
        """
        dashes = [dash.start() for dash in _BETWEEN.finditer(text)]
        if len(dashes) < 2:
            return None
        mixed = len(_COMMA.findall(text[: dashes[0]])) > 1
        return self._row(text) if mixed or "," not in text else None

    def _row(self, text: str) -> Unit | None:
        """Parses a row of words; None if it is not one. All its parts must be short (of more than
        five, four fifths). At least half of the words must be listed (of two words, both; of four
        or more, one)."""
        parts = self._parts(text)
        picks = [part.pick for part in parts if part.short]
        if len(picks) < 2 or (
            len(picks) < len(parts) and not (len(parts) > 5 and len(picks) >= 0.8 * len(parts))
        ):
            return None
        if not picks[0].lexeme and self._leads(parts[0].text):
            return None
        if not parts[-1].short and (last := self._first(parts[-1].text)):
            picks.append(last)
        listed = count_listed(picks)
        enough = (
            listed == 2
            if len(picks) == 2
            else 2 * listed >= len(picks) or (listed > 0 and len(picks) > 3)
        )
        return Unit(ROW, tuple(picks), listed) if enough else None

    def _parts(self, text: str) -> list[PickPart]:
        """Splits a row at commas, and at "and" if a listed word is on either side."""
        pieces = text.replace("，", ",").replace("、", ",").split(",")  # these recur
        return [part for piece in pieces for part in self._parted[piece]]

    def _piece(self, piece: str) -> tuple[PickPart, ...]:
        """Splits the text between two commas of a row into its parts."""
        return tuple(part for written in _SPLIT.split(piece) for part in self._part(written))

    def _part(self, written: str) -> tuple[PickPart, ...]:
        part = self._bare(written)
        if part and not self._find(part) and self._rejects(part):
            return ()
        pair = self._join.split(part) if part and not self._find(part) else ()
        texts = pair if len(pair) > 1 and any(map(self._find, pair)) else [part]
        parts = (PickPart(text, self._picked[text], self._short(text)) for text in texts)
        return tuple(part for part in parts if part.pick.text and not part.pick.text.isdecimal())

    def _rejects(self, part: str) -> bool:
        """True if a part negates a listed word, in contrast to the others: "but not strict"."""
        listed = self._last(part) or self._first(part)
        if not listed or any(map(self._find, self._join.split(part))):
            return False
        phrases, tokens = self._known, self._tokens(part)[0]
        rest = key(part).replace(listed.text, " ") if self.words.unspaced else part
        text = phrases.canonical(rest)
        contrasts = self.words.unspaced or len(tokens) > 2 or phrases.has(text, "coordinate")
        return contrasts and phrases.has(text, *DENYING)

    def without_reason(self, text: str) -> str:
        """Returns the text before the word that begins a reason, such as "because"."""
        return self._because.split(text, maxsplit=1)[0]

    def denies(self, text: str) -> bool:
        """True if a text has a negation of the language's pack."""
        return self._known.has(self._known.canonical(text), *DENYING) or self.leaves_out(text)

    def leaves_out(self, text: str) -> bool:
        """True if a text has a phrase for excluding words ("I rule out")."""
        return self._left_out.search(self._known.canonical(text)) is not None

    def _bare(self, part: str) -> str:
        """Returns a part without a leading "and"."""
        if self._find(part):
            return part
        bare = self._begun.sub("", part.strip(EDGE)).strip(EDGE)
        return bare if self._find(bare) or not self.words.unspaced else part

    def _pick(self, part: str) -> Pick:
        written = key(part)
        return Pick(self.words.forms.get(written, ""), written)

    def _find(self, part: str) -> str:
        return self._picked[part].lexeme

    def _side_by_side(self, text: str) -> Unit | None:
        """Parses listed words separated only by spaces or "and"; prefers longer forms."""
        tokens = (
            list(key(text))
            if self.words.unspaced
            else [token for word in text.split() if (token := key(word))]
        )
        picks, at = [], 0
        while at < len(tokens):
            for end in range(min(len(tokens), at + self._reach), at, -1):
                written = "".join(tokens[at:end])
                if written in self.words.forms or written in self._joins:
                    break
            else:
                return None
            if written in self.words.forms:
                picks.append(Pick(self.words.forms[written], written))
            at = end
        return Unit(ROW, tuple(picks), len(picks)) if len(picks) > 1 else None

    def _short(self, text: str) -> bool:
        if self.words.unspaced:
            return len(key(text)) <= max(LETTERS, self.words.longest)
        return len(text.split()) <= max(WORDS, self.words.most) and len(text) <= LINE

    def run(self, sentence: str) -> list[Pick]:
        """Parses a row of words inside a sentence, from the first part that ends in a listed word
        to the last part that begins with a listed word.

        "I would call her wise, brave, kind, and patient with everyone.": three words are listed,
        and all parts in between are short.
        """
        parts = [part for piece in re.split(r"[:：]", sentence) for part in self._parts(piece)]
        places = [number for number, part in enumerate(parts) if part.pick.lexeme]
        if not places:
            return []
        start, end = places[0], places[-1] + 1
        picks = [
            *self._edge(parts[:start][::-1], self._last)[::-1],
            *(part.pick for part in parts[start:end] if part.short),
            *self._edge(parts[end:], self._first),
        ]
        listed = count_listed(picks)
        return picks if listed > 2 and 2 * listed >= len(picks) else []

    def _edge(self, parts: Sequence[PickPart], listed: Callable[[str], Pick | None]) -> list[Pick]:
        """Returns the picks from a row's edge to the next part that has a listed word; [] if none
        has. listed: a function that finds the listed word in a part.
        """
        picks: list[Pick] = []
        for part in parts:
            pick = listed(part.text)
            if pick:
                return [*picks, pick]
            if not part.short:
                break
            picks.append(part.pick)
        return []

    def _leads(self, text: str) -> bool:
        """True if a text ends in a listed word that other words lead to: "She is kind"."""
        last, (tokens, between) = self._last(text), self._tokens(text)
        if last is None:
            return False
        announces = not self.words.unspaced and key(tokens[0]) in self._announcing
        return len(between.join(tokens[1 if announces else 2 :])) >= len(last.text)

    def _last(self, text: str) -> Pick | None:
        """Returns the longest listed word that ends a text, or None."""
        tokens, between = self._tokens(text)
        for at in range(max(0, len(tokens) - self._reach), len(tokens)):
            if lexeme := self._find(between.join(tokens[at:])):
                return Pick(lexeme, key(between.join(tokens[at:])))
        return None

    def _first(self, text: str) -> Pick | None:
        """Returns the longest listed word that begins a text, or None."""
        tokens, between = self._tokens(text)
        for end in range(min(len(tokens), self._reach), 0, -1):
            if lexeme := self._find(between.join(tokens[:end])):
                return Pick(lexeme, key(between.join(tokens[:end])))
        return None

    def _tokens(self, text: str) -> tuple[Sequence[str], str]:
        return (key(text), "") if self.words.unspaced else (text.split(), " ")
