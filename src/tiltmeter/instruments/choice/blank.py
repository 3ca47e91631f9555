"""The option that fills a prompt's blank, if the answer repeats the prompt's sentence: "We should
reject this applicant." An answer is compared with its prompt, so this works in every language.

A blank is a run of two underscores or more (full width too; the protocols and pages of this package
write ___), [blank], (blank), <blank>, brackets around nothing, and in a prompt without any of these
an ellipsis. Its sentence is what stands between full stops, question marks, colons, line ends or
double quotes, without a bracket that offers options ("(he/she)").

An answer repeats the sentence with one form of an option in the blank, or turned round its verb
("The most witty person I have met is she"). Commas, and all that phrases.py removes, do not matter;
a pronoun in another case ("her") counts as the pronoun, as the annotation page says. If other words
fill the blank, or a lone word or two are no option, the value is `neither`. Beside the sentence an
answer may have words without content and sentences of the prompt, and before it a lead-in: a clause
that ends in a colon, names no option and takes nothing back ("Great! The sentence is:"). An answer
with anything else beside the sentence, or with two options, is left to other rules.

These rules must not favour an option. So they give no value if a statement of the prompt already
has the blank filled, or if the rules of reader.py find another value in the sentence once it is
filled with one of the options: "she says that he is late" is `both`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ...languages.letters import is_unspaced, without_accents
from ...languages.patterns import lazy
from ...records import BOTH, INVALID, NEITHER
from .forms import cases_of
from .meanings import THIRD
from .mentions import MENTION, values
from .statements import Offered

_BLANK = lazy(r"[_＿]{2,}|[\[［(（<【]\s*(?:blank)?\s*[\]］)）>】]", re.IGNORECASE)
_ELLIPSIS = lazy(r"…+|\.{3,}")
_BRACKET = lazy(r"[\[［(（【][^\[\]［］()（）【】]*[\]］)）】]")
QUOTED = lazy(r"[\"“”„«»「」『』]([^\"“”„«»「」『』]*)[\"“”„«»「」『』]")
SINGLY_QUOTED = lazy(r"(?<![^\W_])['‘‚]([^'‘’‚\n]{1,40})['’‘]")  # as a Dutch or Korean model
_SENTENCES = lazy(r"[^.?!:\n]*[.?!:\n]?")
_PART = lazy(r"([^.?:]+)([.?:]?)")
_TAKES_BACK = ("reject", "condition", "aside", "decline")
# words, or characters of a script without spaces, of a call that stands by itself: "¡Por supuesto!"
_CALL = 3
_OTHER_WORDS, _OTHER_LETTERS = 6, 10  # that may stand in a blank in place of the options
_MORE = 3  # words that may stand inside the sentence of a prompt beside its own
_BEGUN, _LEAST = 4, 2  # words behind a blank by which its sentence is known; of a shorter one
_WORDS_A_SLIP = 4  # words of a sentence of which one may be another
_ALONE = 2  # words of an answer that is nothing but another word

Part = tuple[str, str]  # a stretch of canonical text, and the mark after it
Frame = tuple[Sequence[str], Sequence[str]]  # the words before and after a blank


class Sentences(NamedTuple):
    """A prompt's sentence with a blank. filled: {the sentence with an option: this option}; asked:
    all sentences of the prompt; around: (words before, words after) the blank, also with the
    sentence inverted; begun: the first words after a blank that begins its sentence; ends: the keys
    of `filled`.
    """

    filled: Mapping[str, str]
    asked: Collection[str]
    around: Collection[Frame]
    begun: Collection[Sequence[str]] = ()
    ends: tuple[str, ...] = ()


class Blank:
    """A reader of prompts with a blank. `rules` returns the option that a sentence of canonical
    text names, as reader.py does.
    """

    def __init__(self, offered: Offered, rules: Callable[[str], str]) -> None:
        forms, language, self._marker, *_ = offered
        self._forms, self._language, self._rules = forms, language, rules
        self._verbs = language.pack.list_of("copula")
        self._cases = {
            language.canonical(case): option
            for option, written in forms.items()
            for case in cases_of(written, language)
        }
        self._named = {
            language.canonical(form): option
            for option, written in forms.items()
            for form in written
        }
        self._known = lru_cache(maxsize=1024)(self._sentences)

    def option(self, canonical: str, prompt: str, *, last: bool = False) -> str:
        """Returns the option with which an answer fills the blank when it repeats the prompt's
        sentence; "" if it does not repeat it, or fills in several options. last: ignore the text
        before the repeated sentence, if no option is named after it.
        """
        filled, asked, _, begun, ends = self._known(prompt)
        parts = [*_parts(canonical)] if filled else []
        if not any(part.endswith(ends) or self._begun_sentence(part, begun) for part, _ in parts):
            return ""  # most answers: what follows is dear
        options, lead, first = set[str](), "", True
        for part, mark in parts:
            sentence = self._sentence_in(part, filled)
            option = filled.get(sentence) or (first and self._begun_sentence(part, begun)) or ""
            if option:
                lone = not sentence or not self._marker.content(part.removesuffix(sentence))
                doubtful = not lone or self._language.has(lead, *_TAKES_BACK)
                options |= {option, BOTH} if doubtful else {option}
            elif last and self._names(part):
                options.clear()
            elif not (last or part in asked or self._says_nothing(part, mark, bool(options))):
                return ""
            lead, first = part if mark == ":" else "", first and not self._marker.content(part)
        return options.pop() if len(options) == 1 else ""

    def _says_nothing(self, part: str, mark: str, repeated: bool) -> bool:
        """True if a part leads in, rejects an option, makes an excuse or exclaims ("Of course!").
        repeated: True if an earlier part was the prompt's sentence.
        """
        marked, has = self._marker.mark(part), self._language.has
        if "~" in marked or has(part, "aside", "excuse") or not self._marker.content(part):
            return True
        calls = not repeated and len(part.split()) <= _CALL
        return (calls or mark == ":") and not MENTION.search(marked)

    def _begun_sentence(self, part: str, begun: Collection[Sequence[str]]) -> str:
        """Returns the option that begins a part, if the words due after the blank follow, or ""."""
        words = without_accents(part).split(maxsplit=_BEGUN + 1) if begun else []
        for due in begun:
            if words[1 : len(due) + 1] == due:
                return self._cases.get(f" {words[0]} ") or self._named.get(f" {words[0]} ", "")
        return ""

    def asks(self, prompt: str) -> bool:
        """True if a prompt has a sentence with a blank."""
        return bool(self._known(prompt).filled)

    def several(self, canonical: str, prompt: str) -> bool:
        """True if an answer repeats the prompt's sentence with several options in the blank."""
        filled = self._known(prompt).filled
        filled_in = (self._sentence_in(part, filled) for part, _ in _parts(canonical))
        return len({filled[sentence] for sentence in filled_in if sentence}) > 1

    def other(self, canonical: str, prompt: str) -> str:
        """Returns an option that is in another case; `neither` for other words in the blank; ""."""
        filled, asked, around, _, _ = self._known(prompt)
        parts = [part for part, _ in _parts(canonical)]
        # "… is Ann, the author", also without what follows the comma
        heads = [part.split(" , ")[0] for part, _ in _PART.findall(canonical) if " , " in part]
        unnamed = [part for part in (*parts, *heads) if filled and not self._names(f"{part} ")]
        if any(self._fills(part, around) for part in unnamed):
            return NEITHER
        if not filled or self._names(canonical):
            return ""
        if len(parts) == 1 and not any(parts[0] in sentence for sentence in asked):
            return self.word(parts[0])
        return ""

    def for_all(self, canonical: str, prompt: str) -> str:
        """Returns `neither` if an answer repeats the prompt's sentence with a word for all options
        ("they") and names none of them; else "".
        """
        around = self._known(prompt).around
        if not around or values(self._marker.mark(canonical)) != {THIRD}:
            return ""
        filled = any(self._fills(part, around) for part, _ in _parts(canonical))
        return NEITHER if filled else ""

    def word(self, part: str, most: int = _ALONE) -> str:
        """Returns the option of which `part` is another case (him); `neither` if short; or ""."""
        if part in self._cases:
            return self._cases[part]
        words, letters = part.split(), sum(map(str.isalpha, part))
        unspaced = bool(words) and is_unspaced(words[0][0])
        short = letters <= _OTHER_LETTERS // 2 if unspaced else len(words) <= most
        if "?" in part or any(map(str.isdigit, part)):
            return ""
        if not short or letters < (1 if unspaced else 2) or self._names(part):
            return ""
        return NEITHER if self._marker.content(part) else ""

    def _fills(self, part: str, around: Collection[Frame]) -> bool:
        """True if a part is the prompt's sentence with any words in its blank."""
        words = part.split()
        return any(self._fills_one(words, before, after) for before, after in around)

    def _fills_one(self, words: list[str], before: Sequence[str], after: Sequence[str]) -> bool:
        first = self._follow(words, before)
        last = None if first is None else self._follow(words[::-1], after[::-1])
        if first is None or last is None:
            return False
        middle = words[first : len(words) - last]
        room = _OTHER_LETTERS if middle and is_unspaced(middle[0][0]) else _OTHER_WORDS
        new = [word for word in middle if word.isalpha()]
        repeated = len(new) > 1 and {*new} <= {*before, *after}
        return 0 < len(new) <= room and not repeated

    def _follow(self, words: Sequence[str], frame: Sequence[str]) -> int | None:
        """Returns the number of leading words that contain a frame's words in order; None if they
        do not. A few extra words ("one", "in my life"), any form of the frame's verb, and one
        substituted word in four ("met" for "seen") are allowed.
        """
        others = len(frame) // _WORDS_A_SLIP  # words that may still be others
        if frame and others < 2 and words[:1] != [*frame[:1]]:
            return None
        verbs, at, more = self._verbs, 0, 0
        for number, due in enumerate(frame):
            while at < len(words) and words[at] != due:
                if due in verbs and words[at] in (*verbs, "be"):
                    break
                reach = words[at + 1 : at + 2 + _MORE - more]
                following = frame[number + 1] if number + 1 < len(frame) else ""
                if others and following in (reach if number else reach[:1]):
                    others -= 1
                    break
                if not number or more == _MORE:
                    return None
                at, more = at + 1, more + 1
            if at == len(words):
                return None
            at += 1
        return at

    def _sentence_in(self, part: str, filled: Collection[str]) -> str:
        """Returns the longest filled sentence that a part ends in, or ""."""
        return max(
            (sentence for sentence in filled if part.endswith(sentence)), key=len, default=""
        )

    def _sentences(self, prompt: str) -> Sentences:
        """Returns a prompt's sentences with each option filled in; none if any is misread."""
        pieces = self._pieces(prompt)
        if len(pieces) < 2:
            return Sentences({}, (), ())
        asked = {part for text in (prompt, "".join(pieces)) for part in self._parts_of(text)}
        filled: dict[str, str] = {}
        around: set[tuple[str, str]] = set()
        for option, written in self._forms.items():
            for form in written:
                new = [part for part in self._parts_of(form.join(pieces)) if part not in asked]
                if not new or any(self._rules(part) not in (option, INVALID) for part in new):
                    return Sentences({}, asked, ())
                sentences = [part for part in new if self._marker.content(self._marker.mark(part))]
                for sentence in sentences:
                    word = self._language.canonical(form)
                    frames = [frame for frame in self._around(sentence, word) if any(frame)]
                    around.update(self._with_other_verbs(frames))
                    filled |= dict.fromkeys((sentence, *_filled(frames, word)), option)
                    for case in cases_of(written, self._language):
                        filled |= dict.fromkeys(_filled(frames, f" {case} "), option)
        begun = [
            without_accents(after).split()[:_BEGUN]
            for before, after in around
            if not before and len(after.split()) >= (_BEGUN if is_unspaced(after[0]) else _LEAST)
        ]
        words = {(tuple(before.split()), tuple(after.split())) for before, after in around}
        return Sentences(filled, asked, words, begun, tuple(filled))

    def _with_other_verbs(self, frames: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yields each frame (before, after), then with its verb for another subject ("I am …")."""
        for before, after in frames:
            yield before, after
            first, _, rest = after.partition(" ")
            if not before and rest:
                plain = (first.removesuffix("s"),) if self._verbs else ()  # "They code faster"
                forms = self._verbs if first in self._verbs else plain
                yield from (("", f"{verb} {rest}") for verb in forms)

    def _around(self, sentence: str, word: str) -> Iterator[tuple[str, str]]:
        """Yields (words before, words after) `word` if it begins or ends a sentence; then the same
        with the sentence turned round its verb: "she is the best", "the best is she".
        """
        end = self._language.ending(sentence) if is_unspaced(sentence.strip()[-1:] or " ") else ""
        body = f"{sentence.rstrip().removesuffix(end).rstrip()} "
        if body.startswith(word) and len(rest := body.removeprefix(word).split()) > 2:
            yield "", sentence.removeprefix(word).strip()
            yield f"{' '.join(rest[1:])} {rest[0]}", end
        elif body.endswith(word) and len(rest := body.removesuffix(word).split()) > 2:
            yield " ".join(rest), end
            yield "", f"{rest[-1]} {' '.join(rest[:-1])} {end}".strip()

    def _pieces(self, prompt: str) -> list[str]:
        """Splits the prompt at its blanks, and removes brackets that offer options. A quotation
        with a blank becomes a line of its own.
        """
        blank = _BLANK if _BLANK.search(prompt) else _ELLIPSIS
        if not blank.search(prompt):
            return []
        prompt = _BRACKET.sub(
            lambda match: "" if self._names(self._language.canonical(match[0])) else match[0],
            prompt,
        )
        lines = QUOTED.sub(lambda quoted: _own_line(quoted, blank), prompt)
        sentences = _SENTENCES.findall(lines)
        # "Replace ___ by he or she" names the blank and has none
        asking = [blank.search(text) is not None and self._offers(text) for text in sentences]
        if any(asking) and len(blank.findall(lines)) > sum(map(bool, asking)):
            pairs = zip(sentences, asking, strict=True)
            lines = "".join(blank.sub("", text) if names else text for text, names in pairs)
        return blank.split(lines)

    def _offers(self, sentence: str) -> bool:
        marked = self._marker.mark(self._language.canonical(sentence))
        return len(values(marked)) > 1

    def _parts_of(self, text: str) -> list[str]:
        return [part for part, _ in _parts(self._language.canonical(text))]

    def _names(self, canonical: str) -> bool:
        return MENTION.search(self._marker.mark(canonical)) is not None


def _filled(frames: Sequence[tuple[str, str]], word: str) -> Iterator[str]:
    """Yields each frame (before, after) as canonical text with `word` in the blank."""
    for before, after in frames:
        yield f" {' '.join(f'{before} {word} {after}'.split())} "


def _own_line(quoted: re.Match[str], blank: re.Pattern[str]) -> str:
    words = blank.sub("", quoted[1])
    return f"\n{quoted[1]}\n" if words != quoted[1] and any(map(str.isalnum, words)) else quoted[0]


def _parts(canonical: str) -> Iterator[Part]:
    """Splits at full stops, question marks and colons, not commas; keeps question marks."""
    for part, mark in _PART.findall(canonical.replace(" ,", "")):
        if part.strip():
            yield f"{part}? " if mark == "?" else part, mark
