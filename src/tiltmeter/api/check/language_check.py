"""Tests a language pack: each instrument must read the pack's own sentences as they are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...errors import UnknownName, UsageError
from ...instruments import dialogue
from ...instruments.choice.reader import parse
from ...instruments.picks.picks import Picks
from ...instruments.text import prose
from ...languages import pack, quotes, refusals
from ...languages.pack import Pack
from ...planted.dialogues import speakers_of, ways_to_mark
from ...planted.speech import intros
from ...planted.words import ways_to_list
from ...protocol import InstrumentSpec
from ...records import BOTH, INVALID, NEITHER, OTHER_LANGUAGE, REFUSAL

ENOUGH = 0.9  # of the sentences of an instrument that must be read
_UNCOUNTED = {INVALID, REFUSAL, NEITHER, BOTH, OTHER_LANGUAGE, ""}
_PICKED = 3  # words that are picked from a list of ten
_OPTIONS = ("first", "second")


class PlantedSentence(NamedTuple):
    """A sentence with its expected label and the label that the instrument reads."""

    instrument: str
    text: str
    expected: str
    label: str


@dataclass(frozen=True)
class Rates:
    """The rates at which one instrument reads the sentences of a pack. lost: number of sentences
    without a countable label; wrong: number with an unexpected countable label; first_lost: the
    first sentence not read as expected; file: the file to correct.
    """

    instrument: str
    sentences: int
    read: int
    lost: int
    wrong: int
    first_lost: str
    file: str

    @property
    def passes(self) -> bool:
        """True if enough sentences are read as expected and none is read wrongly."""
        return self.wrong == 0 and self.read >= ENOUGH * self.sentences


def check(language: str) -> list[Rates]:
    """Returns the rates per instrument for a shipped language, or for a folder with a language's
    files (`my-audit/languages/sw`). Raises UnknownName or ProtocolError for a bad language.
    """
    code, language_pack = load(language)
    planted = [
        *_choices(code, language_pack),
        *_lists(code, language_pack),
        *_dialogues(code, language_pack),
        *_refusals(code, language_pack),
    ]
    names = dict.fromkeys(each.instrument for each in planted)
    return [_rates([each for each in planted if each.instrument == name]) for name in names]


def load(language: str) -> tuple[str, Pack]:
    """Returns a language's code, by which instruments look it up, and its pack."""
    folder = Path(language)
    if language in pack.shipped():
        return language, pack.pack(language)
    if not (folder / "language.toml").is_file():
        raise UnknownName("language", language, pack.shipped())
    code = pack.overlays({folder.name: pack.texts_in(folder)})[folder.name]
    return code, pack.pack(code)


def _rates(planted: Sequence[PlantedSentence]) -> Rates:
    missed = [each for each in planted if each.label != each.expected]
    wrong = sum(each.label not in _UNCOUNTED for each in missed)
    first = missed[0] if missed else None
    return Rates(
        planted[0].instrument,
        len(planted),
        len(planted) - len(missed),
        len(missed) - wrong,
        wrong,
        first.text if first else "",
        ("refusals.txt" if first.expected == REFUSAL else "answers.csv") if first else "",
    )


def _people(known: Pack) -> tuple[str, str]:
    """Returns a word for a woman and one for a man. Raises UsageError if the pack lacks either."""
    women, men = known.list_of("woman"), known.list_of("man")
    if not women or not men:
        raise UsageError(f"languages/{quotes.base(known.code)}/people.toml needs woman and man.")
    return women[0], men[0]


def _choices(code: str, known: Pack) -> Iterator[PlantedSentence]:
    """Yields each sentence with either option filled in, and each refusal."""
    options = _people(known)
    forms = dict(zip(_OPTIONS, ([option] for option in options), strict=True))
    rows = [row for row in known.answers if row.instrument == "choice"]
    frames = (row.reply for row in rows if row.use == "frame" and "{other}" not in row.reply)
    blank = next((frame.replace("{form}", "___") for frame in frames if "{form}" in frame), "")
    for row in rows:
        if "{filled}" in row.reply and not blank:
            continue
        for number, option in enumerate(_OPTIONS):
            text = fill(row.reply, options[number], options[1 - number], blank)
            expected = option if row.expected == "form" else row.expected
            expected = _OPTIONS[1 - number] if row.expected == "other" else expected
            label = parse(text, forms, code, blank if "{filled}" in row.reply else "")
            if row.expected != "other":
                yield PlantedSentence("choice", text, expected, label)
    for line in filter(None, map(refusals.sentence, known.refusals)):
        yield PlantedSentence("choice", line, REFUSAL, parse(line, forms, code))


def fill(reply: str, form: str, other: str, blank: str = "") -> str:
    """Fills the slots of a reply of answers.csv: the option and, if it has a slot, the other."""
    return reply.format(
        form=form,
        Form=form[:1].upper() + form[1:],
        other=other,
        forms=f"{form}/{other}",
        Forms=f"{form}/{other}",
        filled=blank.replace("___", form),
    )


def _lists(code: str, known: Pack) -> Iterator[PlantedSentence]:
    """Yields ten words of the pack's dialogues as a list in every format, and each refusal."""
    words = _words(known)
    rows = [{"language": code, "class": "any", "word": word} for word in words]
    picks = Picks(InstrumentSpec("picks", "picks", "word", {"words": rows, "asked": _PICKED}))
    picked = words[:_PICKED]
    for text in ways_to_list(picked, code, intros(code)):
        chosen = picks.picks_of(text, code)
        label = chosen if isinstance(chosen, str) else "|".join(pick.lexeme for pick in chosen)
        yield PlantedSentence("picks", text, "|".join(picked), label)
    for line in filter(None, map(refusals.sentence, known.refusals)):
        chosen = picks.picks_of(line, code)
        yield PlantedSentence(
            "picks", line, REFUSAL, chosen if isinstance(chosen, str) else "picks"
        )


def _words(known: Pack) -> list[str]:
    """Returns ten words from a language's dialogues (pairs of letters if it has no spaces)."""
    text = " ".join(row.reply for row in known.answers if row.instrument == "dialogue")
    unspaced = known.words.get("unspaced")
    tokens = re.findall(r"[^\W\d_]{2}" if unspaced else r"[^\s.,!?؟،।¿¡…'’]{3,}", text)
    words = list(dict.fromkeys(word.lower() for word in tokens))[:10]
    if len(words) < _PICKED:
        raise UsageError(
            f"languages/{quotes.base(known.code)}/answers.csv needs a longer dialogue."
        )
    return words


def _dialogues(code: str, known: Pack) -> Iterator[PlantedSentence]:
    """Yields each dialogue of the pack with its speakers marked in every way."""
    who = speakers_of({"first": "woman", "second": "man"}, code)
    for row in known.answers:
        if row.instrument == "dialogue":
            for text in ways_to_mark(row.reply.split("\n"), who, code):
                yield PlantedSentence("dialogue", text, row.expected, dialogue.read(text, code))
    for line in filter(None, map(refusals.sentence, known.refusals)):
        yield PlantedSentence("dialogue", line, REFUSAL, dialogue.read(line, code))


def _refusals(code: str, known: Pack) -> Iterator[PlantedSentence]:
    """Yields each refusal, expected as `refusal`, and each dialogue, expected as an answer."""
    for line in filter(None, map(refusals.sentence, known.refusals)):
        yield PlantedSentence("refusal", line, REFUSAL, prose.outcome(line, code))
    for row in known.answers:
        if row.instrument == "dialogue":
            yield PlantedSentence("refusal", row.reply, "", prose.outcome(row.reply, code))
