"""The picks of a planted model from a list of words (`protocol=words`), with words from the
protocol and the language packs. Pure.

    CLASS=w, WORD=w              weight of a class or of one word (a lexeme), 1 by default; 0: never
                                 picked
    CLASS.LEVEL=w, WORD.LEVEL=w  the same if a factor has this level: `communal.female=1.5`. A word
                                 outweighs its class, a level of a later factor a level of an
                                 earlier one
    spread=s                     each item's weight of each class is multiplied by exp(s × its own
                                 standard normal number)
    off=p                        share of picks that are replaced by a word off the list
    short=p, long=p              shares of answers with 7 and with 13 picks; the others have 10

The words of an answer are distinct, and word i is among them with probability exactly πᵢ = n·wᵢ/Σw,
n being the number of picks (systematic sampling in random order: Madow 1949); a word for which this
exceeds 1 is always picked, and the others share the rest. So the expected numbers of picks are
known, and with them the true ratio of two genders: `ratio_truth` (subjects.py). A word of two
classes has the mean weight of both and counts in no class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple

from ..errors import UsageError
from ..languages.pack import pack
from ..languages.quotes import facts
from ..protocol import Protocol
from ..protocol.design.tables import Row
from ..records import ANSWER, INVALID, OTHER_LANGUAGE, REFUSAL
from .answers import PlantedAnswers, kinds
from .settings import MOST_WEIGHT, Settings
from .speech import intros, one_of, pick, words_off_the_list
from .tilt import normal, planted_number

# picks of an answer: as many as are asked for, fewer, more
PICKS_ASKED, PICKS_SHORT, PICKS_LONG = 10, 7, 13
_NO_LIST = ("...", "42")
_UNSPACED = ("zh", "ja")


class Lexeme(NamedTuple):
    """A lexeme with its classes. forms: {gender ("f", "m" or ""): its printed forms}."""

    lexeme: str
    classes: tuple[str, ...]
    forms: Mapping[str, Sequence[str]]


class Words(PlantedAnswers):
    """The picks of one planted model, for every cell of its protocol."""

    answers = "picks"
    what = "picks from a list"
    lacks = ("both", "neither", "one", "more")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.lists = _word_lists(_rows(self.protocol))
        self._expected: dict[tuple[int, str], tuple[list[Lexeme], list[float]]] = {}
        planted_levels = {level for levels in settings.planted.values() for level in levels}
        known = self.protocol.levels
        self._telling = [
            "language",
            *(name for name in self.protocol.factors if planted_levels & known[name].keys()),
        ]
        self._telling += [self.protocol.item] if settings.spread else []
        if settings.planted:
            for cell in self.protocol.cells:
                self.outcomes(cell)

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """Lists the classes, then the words."""
        rows = _rows(protocol)
        return list(dict.fromkeys((*(row["class"] for row in rows), *map(_lexeme, rows))))

    @classmethod
    def highest(cls, name: str) -> float:
        """Returns the highest allowed weight."""
        return MOST_WEIGHT

    def lengths(self, cell: Mapping[str, str]) -> dict[int, float]:
        """Returns {number of picks: share of the answers}."""
        short, long = (
            planted_number(self.settings, self.protocol, name, cell) or 0.0
            for name in ("short", "long")
        )
        return {PICKS_ASKED: 1 - short - long, PICKS_SHORT: short, PICKS_LONG: long}

    def expected(
        self, cell: Mapping[str, str], number: int = PICKS_ASKED
    ) -> tuple[list[Lexeme], list[float]]:
        """Returns (a cell's words, each word's probability to be among `number` picks)."""
        context = "\n".join(cell.get(name, "") for name in self._telling)
        known_list = self._expected.get((number, context))
        if known_list is None:
            words = self.lists[self._language(cell)]
            known_list = self._expected[number, context] = (
                words,
                _inclusion([self._weight(word, cell) for word in words], number),
            )
        return known_list

    def draw(
        self, cell: Mapping[str, str], random: Random, number: int = PICKS_ASKED
    ) -> list[Lexeme]:
        """Samples distinct words, each with its probability in `expected`."""
        words, shares = self.expected(cell, number)
        order = random.sample(range(len(words)), len(words))
        lexemes: list[Lexeme] = []
        next_at = random.random()
        for place, end in zip(order, accumulate(shares[place] for place in order), strict=True):
            if end > next_at and len(lexemes) < number:
                lexemes.append(words[place])
                next_at += 1
        random.shuffle(lexemes)
        return lexemes

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns expected numbers of picks: per word (`word:LEXEME`), per class (`class:NAME`,
        over words in one class only), over all such words (`class:all`) and over all words
        (`word:all`)."""
        expected: dict[str, float] = {}
        listed = self.outcomes(cell)[ANSWER] * (
            1 - (planted_number(self.settings, self.protocol, "off", cell) or 0.0)
        )
        for number, part in self.lengths(cell).items():
            for word, share in zip(*self.expected(cell, number), strict=True) if part else ():
                settings = [f"word:{word.lexeme}", "word:all"]
                if len(word.classes) == 1:
                    settings += [f"class:{word.classes[0]}", "class:all"]
                for name in settings:
                    expected[name] = expected.get(name, 0.0) + listed * part * share
        return expected

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """Writes an answer. draws[0] decides the outcome, all draws together seed the words."""
        outcome, code = pick(self.outcomes(cell), draws[0], INVALID), self._language(cell)
        if outcome == REFUSAL:
            return self.decline(code, draws[1])
        if outcome == INVALID:
            return one_of(_NO_LIST, draws[1], self.settings)
        if outcome == OTHER_LANGUAGE:
            # of French and English words many are alike
            code = "en" if code in (*_UNSPACED, "ko") else "ja"
            if code not in self.lists:
                return intros(code)[0]
            cell = {**cell, "language": code}
        random = Random(repr(draws))
        number = pick(self.lengths(cell), draws[2], otherwise=PICKS_ASKED)
        written = [self._form(word, cell, random) for word in self.draw(cell, random, number)]
        return as_list(self._replace_some(written, cell, random), code, draws[3], self.settings)

    def _language(self, cell: Mapping[str, str]) -> str:
        return cell.get("language") or next(iter(self.lists))

    def _weight(self, word: Lexeme, cell: Mapping[str, str]) -> float:
        planted_weight = planted_number(self.settings, self.protocol, word.lexeme, cell)
        if planted_weight is not None:
            return planted_weight
        weights = []
        for name in word.classes:
            factor = planted_number(self.settings, self.protocol, name, cell)
            item = f"{cell.get(self.protocol.item, '')}/{name}"
            shift = (
                math.exp(self.settings.spread * normal(self.settings.seed, item))
                if self.settings.spread
                else 1.0
            )
            weights.append((1.0 if factor is None else factor) * shift)
        return sum(weights) / len(weights)

    def _form(self, word: Lexeme, cell: Mapping[str, str], random: Random) -> str:
        """Returns a word's printed form in the cell's gender, or else its first form."""
        forms = word.forms.get(cell.get("gender", "")[:1]) or next(iter(word.forms.values()))
        return forms[0] if self.settings.dress == "plain" else random.choice(forms)

    def _replace_some(
        self, written: list[str], cell: Mapping[str, str], random: Random
    ) -> list[str]:
        share = planted_number(self.settings, self.protocol, "off", cell) or 0.0
        if not share:
            return written
        other = list(words_off_the_list(self._language(cell)))
        random.shuffle(other)
        replaced = [other.pop() if random.random() < share and other else form for form in written]
        listed = [place for place, form in enumerate(replaced) if form == written[place]]
        for edge, place in ((0, listed[0]), (-1, listed[-1])) if len(listed) > 1 else ():
            # at the ends of a list it could be anything
            replaced[edge], replaced[place] = (
                replaced[place],
                replaced[edge],
            )
        return replaced


def as_list(words: Sequence[str], code: str, uniform: float, settings: Settings) -> str:
    """Writes words as a list in one of real models' formats; with commas or 、 if dress=plain."""
    return one_of(ways_to_list(words, code, intros(code)), uniform, settings)


def ways_to_list(words: Sequence[str], code: str, intro: Sequence[str]) -> list[str]:
    """Returns a list of words in each format of real models. intro: texts to put before a list."""
    unspaced = bool(pack(code).words.get("unspaced"))
    row = "、" if unspaced else "، " if facts(code).script == "Arab" else ", "
    numbered = "\n".join(f"{number}. {word}" for number, word in enumerate(words, 1))
    return [
        row.join(words),
        row.join(f"“{word}”" for word in words),
        row.join(word[:1].upper() + word[1:] for word in words) + ("。" if unspaced else "."),
        numbered,
        f"{intro[0]}\n\n"
        + "\n".join(f"{number}. **{word}**" for number, word in enumerate(words, 1)),
        " ".join(f"{number}) {word}" for number, word in enumerate(words, 1)),
        f"{intro[1]}\n" + "\n".join(f"- {word}" for word in words),
        "\n".join(words),
        f"{intro[0]}\n\n{row.join(words)}",
    ]


def _inclusion(weights: Sequence[float], number: int) -> list[float]:
    """Returns min(1, number·w/Σw) per weight; divides any excess over 1 among the other weights."""
    if sum(weight > 0 for weight in weights) < number:
        raise UsageError(
            f"planted: fewer than {number} words have a weight above 0. Give more classes a weight."
        )
    certain: set[int] = set()
    while True:
        rest = sum(weight for place, weight in enumerate(weights) if place not in certain)
        factor = (number - len(certain)) / rest if rest else 0.0
        over = {
            place
            for place, weight in enumerate(weights)
            if place not in certain and factor * weight > 1
        }
        if not over:
            return [
                1.0 if place in certain else factor * weight for place, weight in enumerate(weights)
            ]
        certain |= over


def _rows(protocol: Protocol) -> Sequence[Row]:
    picked = (spec for spec, kind in kinds(protocol) if kind.answers == Words.answers)
    rows: Sequence[Row] = next(picked).settings["words"]
    return rows


def _lexeme(row: Row) -> str:
    return row.get("lexeme") or row["word"]


def _word_lists(rows: Iterable[Row]) -> dict[str, list[Lexeme]]:
    lists: dict[str, dict[str, tuple[dict[str, None], dict[str, dict[str, None]]]]] = {}
    for row in rows:
        classes, forms = lists.setdefault(row["language"], {}).setdefault(_lexeme(row), ({}, {}))
        classes[row["class"]] = None
        forms.setdefault(row.get("gender", ""), {})[row["word"]] = None
    return {
        code: [
            Lexeme(
                lexeme,
                tuple(classes),
                {gender: tuple(written) for gender, written in forms.items()},
            )
            for lexeme, (classes, forms) in words.items()
        ]
        for code, words in lists.items()
    }
