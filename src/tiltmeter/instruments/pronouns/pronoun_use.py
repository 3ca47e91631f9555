"""The third-person pronouns that a text uses for its person; for any text: a letter, a story, a
translation into English.

With `who`, the name of a column of the tables, the person is the one whom that column names, and
pronouns of other people do not count; rules find the referents of pronouns (pronouns.py, with
measured errors in docs/explanation/protext.md). Without `who` all third-person pronouns count, so
the text should be about one person.

Label, for the text and not for a person: feminine (she), masculine (he), neutral (singular they,
"he or she"), neo (xe, ze, …), mixed (several of these), none. English only: set `language = "en"`
if the column `language` differs, as in a translation. A non-answer has its outcome (prose.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from ...errors import ProtocolError, UnknownName
from ...protocol import InstrumentSpec, Protocol
from ...records import Answered, Label
from .. import Settings
from ..text.prose import LANGUAGE, ProseParser, check_english, prose
from ..wording import texts
from .pronouns import CLASSES, MIXED, NONE, VERSION, Person, identify, mentions, person

NAMED_BY = ("name", "occupation", "title", "kinship")
_NOBODY = Person("name", "", frozenset())


class PronounUse(ProseParser):
    """settings: who (a column that names the person), by = "name" (default), "occupation", "title"
    or "kinship".
    """

    kind = "pronouns"
    version = VERSION
    summary = "which pronouns a text in English has for its person"
    settings_schema: ClassVar[Settings] = {
        "who": {
            "type": "string",
            "minLength": 1,
            "examples": ["name"],
            "description": "The column that names the person; otherwise every pronoun of the "
            "text counts.",
        },
        "by": {"enum": list(NAMED_BY), "default": "name", "description": "What the column holds."},
        "language": LANGUAGE,
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the classes of pronouns}."""
        return {spec.attribute: CLASSES}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns an English sentence with pronouns of the class; [] if none is known."""
        sentence = texts("examples").section("pronouns").strings().get(value)
        return [sentence.replace("{who}", _subject_words(spec))] if sentence else []

    def check_design(self, protocol: Protocol) -> None:
        """Raises ProtocolError if the column `who` is missing, or a language is not English."""
        who = self.settings.get("who")
        if who and who not in protocol.cells[0]:
            raise ProtocolError(
                f"instrument {self.name}: {UnknownName('column', who, protocol.cells[0])}"
            )
        check_english(self.name, self.settings, protocol)

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the class of the pronouns of `who`, or of all; or an outcome."""
        text, outcome = prose(item, self.settings)
        if outcome:
            return [self.label(item, outcome)]
        noun = item.cell.get(self.settings.get("who", ""), "")
        # The answer may add a surname ("Emily Clark … Ms. Clark"): so its own words are looked at
        # as well.
        named = f"{item.trial.prompt}\n{text}"
        who = person(self.settings.get("by", "name"), noun, named) if noun.strip() else None
        return [self.label(item, pronoun_class(text, who))]


def _subject_words(spec: InstrumentSpec) -> str:
    """Returns the words for the person that begin a sentence, with a slot for the column `who`."""
    column = spec.settings.get("who", "")
    slot = f"{{{column}}}" if column else "person"
    named = bool(column) and spec.settings.get("by", "name") in ("name", "title")
    return slot if named else f"The {slot}"


def pronoun_class(text: str, who: Person | None = None) -> str:
    """Returns the class of the pronouns that a text uses for a person, or of all its pronouns.

    By hand: "She is a nurse." is feminine; "Kim met Tom, who lost his hat." is none for Kim and
    masculine without a person.
    """
    if who is not None:
        return identify(text, who).label
    values = {mention.value for mention in mentions(text, _NOBODY)}
    return NONE if not values else values.pop() if len(values) == 1 else MIXED
