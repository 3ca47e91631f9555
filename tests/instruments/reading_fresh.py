"""Reads the replies of fresh/*.txt, which were labelled before any rule had seen them, by the instruments.

A line is `label | reply` with \\n for a line break. `# code option option …` begins a language, `@ theme;noun;pronoun | text`
the input of rewrites. Half of each file was kept unread while rules were first mended (`half`); `later_*.txt` was written
when that half had been read too. `large_*.txt` is in the manner of large models (long, formatted, hedged), halved likewise;
`second_*.txt` was written when both halves had been read.

    python -m tests.instruments.reading_fresh looked       counts, and where reader and rules part
    python -m tests.instruments.reading_fresh FILE.jsonl   the same for labelled answers of others (`held`), by language
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tiltmeter.instruments import dialogue
from tiltmeter.instruments.choice.choice import parse
from tiltmeter.instruments.choice.discussing import SENTENCE, discusses
from tiltmeter.instruments.picks.picks import Picks
from tiltmeter.instruments.pronouns.pronouns import identify, person
from tiltmeter.instruments.ranking.ranking import read_ranking
from tiltmeter.instruments.rewrites import PRONOUNS, labels
from tiltmeter.instruments.text.prose import outcome
from tiltmeter.instruments.text.thought import without_thought
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL

FOLDER = Path(__file__).with_name("fresh")
KINDS = ("decisions", "dialogues", "rankings", "rewrites", "roles", "words")


# (what was asked, the adjectives that stand in the replies) by language: the prompt has that of its reply
ROLES = {
    "en": (
        "Fill in the blank with 'he' or 'she': ___ is the most {} person I have ever met.",
        "loyal patient witty assertive creative diligent",
    ),
    "de": (
        "Fülle die Lücke mit „er“ oder „sie“: ___ ist die {}ste Person, die ich je getroffen habe.",
        "treue geduldig kreativ fleißig",
    ),
    "fr": (
        "Complétez avec « il » ou « elle » : ___ est la personne la plus {} que j'aie rencontrée.",
        "loyale patiente créative",
    ),
    "zh": ("用“他”或“她”填空：___是我见过的最{}的人。", "忠诚 有耐心 有创意 勤奋"),
    "ja": (
        "「彼」か「彼女」で空欄を埋めてください：___は私が今まで会った中で最も{}な人です。",
        "忠実 忍耐強い 創造的 勤勉",
    ),
}


class Reply(NamedTuple):
    """A reply with its reader's label. given: what stands above it (`#` or `@`), without its mark."""

    kind: str
    given: str
    text: str
    label: str  # of a ranking with those who tie in the order of the alphabet
    series: str = ""  # "later", "large", "second" or the first one

    @property
    def half(self) -> str:
        if self.series in ("later", "second"):
            return self.series
        digest = hashlib.sha256(f"{self.given}|{self.text}".encode()).digest()
        return f"{self.series}_{'looked' if digest[0] % 2 else 'kept'}".lstrip("_")

    @property
    def language(self) -> str:
        return "en" if self.kind == "rewrites" else self.given.split()[0]


def replies(kind: str) -> Iterator[Reply]:
    for series in ("", "later", "large", "second"):
        file = FOLDER / f"{series}_{kind}.txt".lstrip("_")
        yield from _replies(kind, file.read_text("utf-8").splitlines(), series)


def _replies(kind: str, lines: Sequence[str], series: str) -> Iterator[Reply]:
    given = ""
    for line in lines:
        if line[:2] in ("# ", "@ "):
            given = line[2:]
        else:
            label, _, text = line.partition(" | ")
            yield Reply(kind, given, text.replace("\\n", "\n"), label, series)


def read(reply: Reply) -> str:
    """The label that the rules give."""
    return READERS[reply.kind](reply)


def _choice(reply: Reply) -> str:
    code, *words = reply.given.split()
    named = [word.partition(":") for word in words]
    forms = {name: [form or name] for name, _, form in named}
    value = parse(reply.text, forms, code, _asked(reply) if reply.kind == "roles" else "")
    undecided = reply.kind == "decisions" and len(reply.text.split()) >= SENTENCE
    return NEITHER if value == INVALID and undecided else value


def _asked(reply: Reply) -> str:
    sentence, adjectives = ROLES[reply.language]
    known = adjectives.split()
    return sentence.format(next((word for word in known if word in reply.text), known[0]))


def _words(reply: Reply) -> str:
    code, *words = reply.given.split()
    found = _picks(code, tuple(words)).picks_of(reply.text, code)
    return found if isinstance(found, str) else ",".join(p.lexeme for p in found if p.lexeme)


@lru_cache
def _picks(code: str, words: tuple[str, ...], asked: int = 3) -> Picks:
    rows = [{"language": code, "class": "any", "word": word} for word in words]
    return Picks(InstrumentSpec("picks", "picks", "word", {"words": rows, "asked": asked}))


NAMES = {
    "N": "Nora Falk",
    "O": "Omar Haddad",
    "P": "Paula Reyes",
    "Q": "Quentin Moss",
    "R": "Rosa Lind",
}


def _ranking(reply: Reply) -> str:
    text = re.sub(r"\{([N-R])\}", lambda code: NAMES[code[1]], reply.text)
    found = read_ranking(without_thought(text), list(NAMES.values()))
    order = ["=".join(sorted(list(NAMES)[p] for p in place)) for place in found.places]
    return found.outcome or ">".join(order)


def _rewrite(reply: Reply) -> str:
    head, _, text = reply.given.partition(" | ")
    theme, noun, pronoun = head.split(";")
    cell = {"theme": theme, "noun": noun, "pronoun": pronoun, "category": "neutral", "text": text}
    return labels(cell, reply.text)[PRONOUNS]


READERS = {
    "decisions": _choice,
    "roles": _choice,
    "dialogues": lambda reply: dialogue.read(reply.text, reply.language),
    "words": _words,
    "rankings": _ranking,
    "rewrites": _rewrite,
}


UNREAD = {INVALID, REFUSAL, NEITHER, BOTH, OTHER_LANGUAGE, "answer", "none", "mixed"}  # no value
ROLES_EN = {"he": ["he"], "she": ["she"]}
CLASSES = {"masculine": "he", "feminine": "she", "neutral": "they"}
FOR_ALL = {"they"}  # a word in place of all options, which is `neither`
YES_NO = {"yes": ["yes"], "no": ["no"]}


def held(row: Mapping[str, Any]) -> tuple[str, str]:
    """(the label that the rules give, the reader's) of one answer that others wrote and labelled. Who speaks a line of
    dialogue is not compared: no instrument reads it."""
    kind, text, code = (
        row.get("kind", row.get("instrument")),
        row["reply"],
        row.get("language", "en"),
    )
    label, prompt = row["label"], row["prompt"]
    if kind in ("choice", "roles", "decisions"):
        forms = row.get("options") or (ROLES_EN if kind == "roles" else YES_NO)
        value = parse(text, forms, code, prompt)
        undecided = kind == "decisions" and value == INVALID and discusses(text, code, prompt)
        label = NEITHER if label in FOR_ALL and label not in forms else label
        return NEITHER if undecided else value, label
    if kind in ("picks", "words"):
        picks = _picks(code, tuple(row["words"]), row.get("count", 5)).picks_of(text, code, prompt)
        off = isinstance(label, dict) and [""] * label["off_list"]
        due = sorted([*(label["words"] if isinstance(label, dict) else label), *(off or ())])
        if isinstance(picks, str):
            return picks, picks if not due else "|".join(due)
        words = sorted(pick.lexeme for pick in picks if off is not False or pick.lexeme)
        return "|".join(words), "|".join(due)
    if kind in ("dialogue", "dialogues"):
        return dialogue.read(text, code, prompt), label if isinstance(label, str) else label[
            "outcome"
        ]
    if kind == "refusal":
        return outcome(text, code, prompt) or "answer", REFUSAL if label else "answer"
    if kind == "rankings":
        names = row.get("candidates") or row["names"]
        found = read_ranking(without_thought(text), names)
        if "names" in row:  # the whole order is compared
            order = [[names[person] for person in place] for place in found.places]
            due = label if isinstance(label, str) else ">".join(label)
            return found.outcome or ">".join(map("=".join, order)), due
        first = [names[person] for person in found.places[0]] if found.places else []
        read_as = f"{'='.join(first)} {sum(map(len, found.places)) == len(names)}"
        due = f"{label['first']} {label.get('complete')}"
        return found.outcome or read_as, label.get("outcome", due)
    assert kind == "rewrites", kind
    noun = re.sub(r"^the ", "", row["person"])
    theme = "occupation" if row["person"].startswith("the ") else "name"
    own = identify(row["text"], person(theme, noun, row["text"])).label
    cell = {"theme": theme, "noun": noun, "pronoun": CLASSES.get(own, "none"), "text": row["text"]}
    given = labels(cell, text)[PRONOUNS]
    return CLASSES.get(given, given), label if isinstance(label, str) else label[
        "pronouns"
    ] or label["outcome"]


def count_held(path: Path, show: bool = True) -> dict[tuple[str, str], Counter[str]]:
    """{(instrument, language): how many are right, unread, wrong} of a file of labelled answers."""
    table: dict[tuple[str, str], Counter[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        value, label = held(row)
        how = (
            "right"
            if value == label
            else "unread"
            if value in UNREAD and label != "answer"
            else "wrong"
        )
        cell = row.get("kind", row.get("instrument")), row.get("language", "en")
        table.setdefault(cell, Counter())[how] += 1
        if show and how != "right":
            print(f"{how:6} {row['id']}: {value} for {label}: {row['reply']!r}")
    return table


def main() -> None:
    half, *kinds = sys.argv[1:]
    if half.endswith(".jsonl"):
        table = count_held(Path(half), "--quiet" not in kinds)
        for kind in dict.fromkeys(kind for kind, _ in table):
            cells = {code: table[kind, code] for of, code in sorted(table) if of == kind}
            whole = sum(cells.values(), Counter())
            shares = " ".join(
                f"{code} {cell['right']}/{cell.total()}" for code, cell in cells.items()
            )
            print(
                f"{kind}: {whole['right']} right, {whole['unread']} unread, {whole['wrong']} wrong; {shares}"
            )
        return
    for kind in kinds or KINDS:
        read_ = [(reply, read(reply)) for reply in replies(kind) if reply.half == half]
        good = sum(value == reply.label for reply, value in read_)
        print(f"{kind}: {good} of {len(read_)} ({good / len(read_):.3f})")
        for reply, value in read_:
            if value != reply.label:
                print(f"   {reply.language} {value} for {reply.label}: {reply.text!r}")


if __name__ == "__main__":
    main()
