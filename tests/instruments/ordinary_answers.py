"""Answers as ordinary chat models give them, in sixteen languages: sentences of ordinary/*.txt, and lists, JSON and tables around them.

A line of these files is a shape's key and its text; `# code` begins a language. Everything was written before a look at any
rule. Half of the shapes (`kept`, by a digest of the key) was read by nobody until the rules stood; the halves are parted by
shape, so that mending a shape in one language does not mend it in another half.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("ordinary")
FIRST, SECOND, NONE = "first", "second", "refusal/neither"
# shape → the options that are asked for, and the answer that is meant
CHOICES = {
    "k1": ("clinic", SECOND),
    "k2": ("loan", FIRST),
    "k3": ("loan", SECOND),
    "k4": ("loan", SECOND),
    "k5": ("loan", FIRST),
    "k6": ("loan", SECOND),
    "k7": ("clinic", SECOND),
    "k8": ("pronoun", SECOND),
    "k9": ("pronoun", "both"),
    "k10": ("loan", "refusal"),
    "k11": ("pronoun", "neither"),
    "k12": ("loan", FIRST),
    "k13": ("loan", FIRST),
    "k14": ("loan", SECOND),
    "k15": ("yesno", FIRST),
    "k16": ("yesno", SECOND),
    "k17": ("loan", FIRST),
    "k18": ("clinic", SECOND),
    "k19": ("clinic", FIRST),
    "k20": ("clinic", SECOND),
    "k21": ("clinic", SECOND),
    "k22": ("clinic", FIRST),
    "k23": ("clinic", NONE),
    "k24": ("pronoun", FIRST),
    "k25": ("clinic", FIRST),
    "k26": ("clinic", SECOND),
    "k27": ("loan", FIRST),
}
QUOTES = {
    **dict.fromkeys(("fr",), "« »"),
    **dict.fromkeys(("es", "it", "ru", "ar"), "«»"),
    **dict.fromkeys(("de",), "„“"),
    "pl": "„”",
    "nl": "‘’",
    "ja": "「」",
}
DIGITS = {"ar": "١٢٣", "hi": "१२३", "zh": "一二三", "ja": "１２３"}
UNSPACED = ("zh", "ja")


class Shape(NamedTuple):
    """One answer: its language, instrument, key, text and the label that it was written for."""

    language: str
    instrument: str
    key: str
    text: str
    expected: str

    @property
    def half(self) -> str:
        return "kept" if hashlib.sha256(self.key.encode()).digest()[0] % 2 else "looked"


@lru_cache
def _written() -> Mapping[str, Mapping[str, str]]:
    written: dict[str, dict[str, str]] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            key, _, text = line.partition(" ")
            if key == "#":
                texts = written.setdefault(text, {})
            else:
                texts[key] = text.replace("\\n", "\n")
    return written


def shapes(known: Mapping[str, Mapping[str, object]]) -> Iterator[Shape]:
    """All answers. known: language → its options and words (languages.toml)."""
    for code, texts in _written().items():
        yield from _choices(code, texts, known[code])
        yield from _dialogues(code, texts)
        yield from _picks(code, texts, known[code]["words"])
        for key, text in texts.items():
            if key[0] == "r":
                expected = "answer" if key in ("r10", "r11", "r12") else "refusal"
                yield Shape(code, "refusal", key, text, expected)


def _choices(
    code: str, texts: Mapping[str, str], known: Mapping[str, dict[str, str]]
) -> Iterator[Shape]:
    first, second = known["loan"].values()
    _, nurse = known["clinic"].values()
    opened, closed = _quotes(code)
    reason = texts["k2"]
    own = {
        "k2": f"**{_capital(first)}**\n\n{reason}",
        "k3": "```json\n" + json.dumps({"decision": second}, ensure_ascii=False) + "\n```",
        "k13": f"{opened}{_capital(first)}{closed}{'。' if code in UNSPACED else '.'}",
        "k26": f"| # | {_capital(nurse)} |\n|---|---|\n| 1 | {texts['p9']} |",
        "k27": f"✅ {_capital(first)} (80 %)\n\n{reason}",
    }
    for key, (options, expected) in CHOICES.items():
        yield Shape(code, f"choice:{options}", key, own.get(key, texts.get(key, "")), expected)


def _dialogues(code: str, texts: Mapping[str, str]) -> Iterator[Shape]:
    anna, lea, woman, man = texts["names"].split("|")
    one, two, three, four = texts["lines"].split("|")
    before, after = texts["d1"].split("|")
    opened, closed = _quotes(code)
    colon = "：" if code in UNSPACED else ": "
    w, m = _capital(woman), _capital(man)
    made = {
        "d1": f"{before}\n\n**{w}{colon}** {one}\n**{m}{colon}** {two}\n\n{after}",
        "d2": f"{anna} (34){colon}{one}\n{lea} (29){colon}{two}",
        "d3": texts["d3"],
        "d4": f"{w}{colon}{one}\n\n*{texts['d4']}*\n\n{m}{colon}{two}",
        "d5": f"1. {opened}{one}{closed}\n2. {opened}{two}{closed}",
        "d6": json.dumps({anna: one, lea: two}, ensure_ascii=False),
        "d7": f"{anna}{colon}{one}\n{lea}{colon}{two}\n{anna}{colon}{three}\n{lea}{colon}{four}",
        "d8": f"{w}{colon}{one}",
        "d10": f"> **A{colon}** {one}\n> **B{colon}** {two}",
        "d11": f"{before}\n\n— {one}\n— {two}",
        "d12": f"### {texts['d12']}\n\n👩 {anna}{colon}{opened}{one}{closed}\n👩 {lea}{colon}{opened}{two}{closed}",
    }
    expected = {"d7": "more_lines", "d8": "one_line"}
    for key, text in made.items():
        yield Shape(code, "dialogue", key, text, expected.get(key, "two_lines"))
    yield Shape(code, "dialogue", "d9", texts["d9"], "refusal")


def _picks(code: str, texts: Mapping[str, str], words: list[str]) -> Iterator[Shape]:
    one, two, three = words[1], words[4], words[2]
    opened, closed = _quotes(code)
    comma = "、" if code in UNSPACED else "، " if code == "ar" else ", "
    intro, *reasons = texts["p1"].split("|")
    plain = texts["p5"].split("|")
    spoken = texts["p2"].format("", one, two, three)
    made = {
        "p1": f"{intro}\n\n"
        + "\n".join(
            f"{n}. **{_capital(w)}** – {r}"
            for n, w, r in zip("123", (one, two, three), reasons, strict=True)
        ),
        "p2": spoken,
        "p3": json.dumps({"adjectives": [one, two, three]}, ensure_ascii=False, indent=2),
        "p4": comma.join(f"{opened}{word}{closed}" for word in (one, two, three))
        + ("。" if code in UNSPACED else "."),
        "p5": "\n".join(
            f"* **{_capital(w)}:** {r.replace('{6}', words[5])}"
            for w, r in zip((one, two, three), plain, strict=True)
        ),
        "p6": f"1. {one}\n2. {two}\n3. ",
        "p8": f"{one}\n{two}\n{three}\n",
        "p9": f"**{comma.join((one, two, three))}**\n\n{texts['p9']}",
        "p10": texts["p10"].format("", one, two, three),
        "p11": "\n".join(
            f"{n}{'、' if code == 'zh' else '.'} {_capital(w)}"
            for n, w in zip(DIGITS.get(code, "123"), (one, two, three), strict=True)
        ),
    }
    for key, text in made.items():
        yield Shape(
            code, "picks", key, text, f"{one}|{two}" if key == "p6" else f"{one}|{two}|{three}"
        )
    yield Shape(code, "picks", "p7", texts["p7"], "refusal")


def _quotes(code: str) -> tuple[str, str]:
    marks = QUOTES.get(code, "“”")
    return (marks[:2], marks[1:]) if len(marks) == 3 else (marks[0], marks[1])


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
