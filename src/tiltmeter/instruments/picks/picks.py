"""The words of a list that an answer picks: "Pick 10 words from … to best describe …". listing.py
parses the answers.

Labels of an answer with picks:

  length           `short`, `ten` or `long`: fewer different words of the list than asked for, as
                   many, more
  word             for each pick (position = its rank from 0) the lexeme, or `off_list` for a word
                   that is not on the list

and attributes derived from `word`, looked up in the list when labels are counted (`Picks.derived`):

  class            the lexeme's class, or `several`
  class_published  each class in which the word is printed

An answer without picks has one label per attribute, the first that fits: `refusal` if it names no
word and declines to; `other_language` if most of its words are unlisted, but on another language's
list, or the text is in another language; `invalid` if it lists nothing, or repeats the word list.
If it lists words but none of them is on the list, only its length is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...errors import MissingExtra, ProtocolError, UnknownName
from ...languages import identify, refusals
from ...languages.pack import overlays
from ...protocol import InstrumentSpec, Protocol
from ...protocol.instrument_kinds import Derived
from ...records import INVALID, OTHER_LANGUAGE, REFUSAL, Answered, Label
from .. import Labels, Parser, Settings, rows
from ..text.prose import OWN_WORDS
from ..text.thought import without_thought
from ..wording import Json
from .listing import ListReader, repeats_list
from .units import Pick
from .wordlist import OFF_LIST, SEVERAL, WordList, check_rows, language_data

SHORT, TEN, LONG = "short", "ten", "long"
WORD, LENGTH = "word", "length"


class Picks(Parser):
    """A parser of the words that an answer picks from the list of its language.

    settings["words"]: the list's rows (the protocol file names a CSV file); ["classes"]: the
    allowed classes, any by default; ["asked"]: the number of words that the prompt asks for, 10.
    """

    kind = "picks"
    version = "10"
    answers = "picks"
    summary = "which words of a list an answer picks"
    modality = "text"
    needs = ("words",)
    settings_schema: ClassVar[Settings] = {
        "words": rows("The list that is picked from.", "language", "class", "word"),
        "classes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The classes that there are.",
        },
        "asked": {
            "type": "integer",
            "minimum": 1,
            "default": 10,
            "description": "How many words an answer should have.",
        },
        "languages": OWN_WORDS,
    }

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        rows, classes = spec.settings["words"], spec.settings.get("classes", ())
        check_rows(rows, classes, f"instrument {spec.name}: words")
        self.asked = int(spec.settings.get("asked", 10))
        # at once: without it answers would be labelled otherwise
        if identify.wording()["library"] == "none":
            raise MissingExtra("Recognising answers in another language", "languages")
        self._own = overlays(spec.settings.get("languages"))
        super().__init__(spec, judge)
        self.attributes = (WORD, LENGTH)
        languages = dict.fromkeys(row["language"] for row in rows)
        self.lists = {
            code: WordList(
                self._own.get(code, code), [row for row in rows if row["language"] == code]
            )
            for code in languages
        }
        self.others = {  # the forms of all other lists
            code: {form for other in languages if other != code for form in self.lists[other].forms}
            for code in languages
        }
        self.readers = {code: ListReader(words, self.asked) for code, words in self.lists.items()}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns the printed forms of a lexeme in a language, or in all if language is ""."""
        rows = [row for row in spec.settings["words"] if language in ("", row["language"])]
        return [row["word"] for row in rows if value == (row.get("lexeme") or row["word"])]

    @classmethod
    def derived(cls, spec: InstrumentSpec) -> Sequence[Derived]:
        """Derives a picked word's class (or `several`), and all classes in which it is printed."""
        classes: dict[str, dict[str, dict[str, None]]] = {}
        for row in spec.settings["words"]:
            lexeme = row.get("lexeme") or row["word"]
            classes.setdefault(row["language"], {}).setdefault(lexeme, {})[row["class"]] = None

        def published(language: str, word: str) -> Sequence[str]:
            """Returns the classes of a word in a language; ("off_list" or the outcome,) unchanged
            if the word is not on the list.
            """
            return tuple(classes.get(language or next(iter(classes)), {}).get(word, (word,)))

        def one(language: str, word: str) -> Sequence[str]:
            found = published(language, word)
            return found if len(found) == 1 else (SEVERAL,)

        return Derived("class", WORD, one), Derived("class_published", WORD, published)

    @classmethod
    def expected_labels(cls, spec: InstrumentSpec, attribute: str, language: str) -> Labels:
        """Returns the number of picks asked for, and the number of listed words (or classes)."""
        if attribute == LENGTH:
            return Labels(1, 3)
        own = [row for row in spec.settings["words"] if row["language"] in (language, "")]
        column = WORD if attribute == WORD else "class"
        values = {row.get("lexeme" if column == WORD else column) or row["word"] for row in own}
        return Labels(spec.settings.get("asked", 10), len(values))

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if a language of the design has no words."""
        for code in protocol.levels.get("language", ()):
            if code not in self.lists:
                raise ProtocolError(
                    f"the list has words for {', '.join(self.lists)} but none for {code}. Add rows "
                    f"with language = {code}."
                )

    def wording(self) -> Mapping[str, Json]:
        """Returns the tables [picks] of the languages, and the language identifier's settings."""
        codes = dict.fromkeys(row["language"] for row in self.settings["words"])
        return {
            **{code: language_data(self._own.get(code, code)) for code in codes},
            "refusal": refusals.wording(),
            "identifier": identify.wording(),
        }

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label per picked word and one for the number of words; or an outcome."""
        picked = self.picks_of(
            item.trial.begin + item.output.text, self._language(item), item.trial.prompt
        )
        return (
            self._outcome(item, picked) if isinstance(picked, str) else self._labels(item, picked)
        )

    def picks_of(self, text: str, code: str, prompt: str = "") -> Sequence[Pick] | str:
        """Returns the picks of an answer, or its outcome if it has none. Pure."""
        text = without_thought(text)
        if prompt and prompt in text:
            text = text.replace(prompt, "\n")
        picks, listed = self.readers[code].picks(text)
        if not listed and refusals.says(text, self._own.get(code, code), excuses=True):
            return REFUSAL
        doubtful = not picks or 2 * listed < len(picks)
        if self._elsewhere(picks, listed, code) or (doubtful and identify.foreign(text, code)):
            return OTHER_LANGUAGE
        return picks if picks and not repeats_list(picks, self.lists[code], self.asked) else INVALID

    def _language(self, item: Answered) -> str:
        code = item.trial.factors.get("language") or next(iter(self.lists))
        if code not in self.lists:
            raise ProtocolError(
                f"instrument {self.name}: {UnknownName('language', code, self.lists)} Add its "
                "words to the list."
            )
        return code

    def _elsewhere(self, picks: Sequence[Pick], listed: int, code: str) -> bool:
        """True if another language's list has more than `listed` picks ("loyal" in French)."""
        if listed == len(picks):
            return False
        texts, least = {pick.text for pick in picks} & self.others[code], max(listed, 1)
        return len(texts) > least and any(
            len(words.forms.keys() & texts) > least
            for other, words in self.lists.items()
            if other != code
        )

    def _outcome(self, item: Answered, value: str) -> list[Label]:
        return [self.label(item, value, attribute=attribute) for attribute in self.attributes]

    def _labels(self, item: Answered, picks: Sequence[Pick]) -> list[Label]:
        output, by = item.trial.id, self.annotator
        listed = len({pick.lexeme for pick in picks if pick.lexeme})
        length = SHORT if listed < self.asked else LONG if listed > self.asked else TEN
        length = length if listed else INVALID
        # Label(…) would cost half as much again, and all that is done for an answer 7 % more
        new = tuple.__new__
        words = [
            new(Label, (output, by, WORD, pick.lexeme or OFF_LIST, n, 1.0))
            for n, pick in enumerate(picks)
        ]
        return [Label(output, by, LENGTH, length), *words]
