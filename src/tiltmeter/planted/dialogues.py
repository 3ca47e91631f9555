"""The dialogues of a planted model (`protocol=dialogues`), composed of lines from the language
packs. Pure.

    TOPIC=p, TOPIC.LEVEL=p    share of a topic among dialogues, for any number of topics; the others
                              divide the rest.
                              `appearance.FF=.4`; a level of a later factor outweighs a level of an
                              earlier one
    one=p, more=p             shares of answers of one line and of four (on the sampled topic)
    refuse, invalid, foreign  shares of answers that are no dialogue, or one in another language
                              (`foreign.MM=.3` and so on: each by level too)

Two women are distinguished by numbers or letters, as models do; with dress=varied the way to mark
speakers is sampled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from ..errors import UnknownName, UsageError
from ..languages.pack import pack, shipped
from ..languages.quotes import facts
from ..protocol import Protocol
from ..records import INVALID, OTHER_LANGUAGE, REFUSAL
from .answers import TEXT_OUTCOMES, PlantedValues, kinds
from .settings import Settings
from .speech import declines, dialogues, one_of, pick, speakers

TWO, ONE, MORE, TOPIC = "two_lines", "one_line", "more_lines", "topic"
_NO_DIALOGUE = ("...", "42")
ANOTHER, LABEL_WORDS = "another", 4  # words that a label may have


@lru_cache
def _first_lines() -> Mapping[str, str]:
    """Returns {line: topic} for both lines of each planted dialogue."""
    return {
        line: topic
        for code in shipped()
        for topic, lines in dialogues(code).items()
        for line in lines
    }


def topic_in(text: str) -> str:
    """Returns the topic of a planted dialogue by its lines; "" for any other text."""
    return next((topic for line, topic in _first_lines().items() if line in text), "")


class Dialogues(PlantedValues):
    """The dialogues of one planted model, for every cell of its protocol."""

    answers = "dialogue"
    what = "dialogues"
    lacks = ("both", "neither", "off", "short", "long", "spread", "order")
    planted: ClassVar[Mapping[str, str]] = {**TEXT_OUTCOMES, "one": ONE, "more": MORE}
    whole = TWO

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        unknown = [topic for topic in self.attributes[TOPIC] if topic not in dialogues("en")]
        if unknown:
            raise UsageError(
                f"planted: there is no dialogue about {unknown[0]}. The topics are: "
                f"{', '.join(dialogues('en'))}."
            )
        for cell in self.protocol.cells:
            speakers_of(cell)

    @classmethod
    def plantable(cls, protocol: Protocol) -> Mapping[str, Sequence[str]]:
        """Returns {TOPIC: the topics that the protocol declares, else greetings}."""
        declared = (
            spec.settings["topics"] for spec, _ in kinds(protocol) if "topics" in spec.settings
        )
        return {TOPIC: tuple(next(declared, ("greetings",)))}

    def topics(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns {topic: true share} among dialogues in the prompt's language."""
        return self.shares(cell)[TOPIC]

    def weight(self, cell: Mapping[str, str]) -> float:
        """Returns the share of answers that are a dialogue in the prompt's language."""
        shares = self.outcomes(cell)
        return shares[TWO] + shares[ONE] + shares[MORE]

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """Writes an answer: draws[0] decides its form, draws[2] its topic, draws[3] how speakers
        are marked. Raises UnknownName if the language has no dialogue on the topic.
        """
        form = pick(self.outcomes(cell), draws[0], INVALID)
        code = cell.get("language", "en")
        if form == REFUSAL:
            return self.decline(code, draws[1])
        if form == INVALID:
            return one_of(_NO_DIALOGUE, draws[1], self.settings)
        if form == OTHER_LANGUAGE:
            code = "ja" if code == "en" else "en"
        topic = pick(self.topics(cell), draws[2], otherwise=self.attributes[TOPIC][-1])
        if topic not in dialogues(code):
            languages = [other for other in shipped() if topic in dialogues(other)]
            raise UnknownName(f"language of planted dialogues about {topic}", code, languages)
        lines = dialogues(code)[topic]
        written = [lines[0]] if form == ONE else [*lines, *lines] if form == MORE else list(lines)
        return one_of(ways_to_mark(written, speakers_of(cell, code), code), draws[3], self.settings)

    def meaning(self, task: str, answer: str) -> str:
        """Returns the form of an answer: its number of planted lines; without any, `refusal` for a
        planted refusal, else `invalid`.
        """
        lines = sum(answer.count(line) for line in _first_lines())
        refused = any(answer == text for code in shipped() for text in declines(code))
        none = REFUSAL if refused else INVALID
        return (none, ONE, TWO, MORE)[min(lines, 3)]


def speakers_of(cell: Mapping[str, str], code: str = "en") -> tuple[str, str]:
    """Returns the labels of a cell's two speakers: woman and man in the language's words, others as
    in the cell. For long or equal labels: one of them, or "Person", followed by 1 and 2.
    """
    roles = speakers(code)
    called = [cell.get("first", "woman"), cell.get("second", "man")]
    first, second = (re.sub(r"^an? ", "", one) for one in called)
    if first == second and first in roles:
        return roles[first][1], roles[first][2]
    one, other = (roles[name][0] if name in roles else _capital(name) for name in (first, second))
    if one == other or ANOTHER in called or max(one.count(" "), other.count(" ")) >= LABEL_WORDS:
        one = one if one.count(" ") < LABEL_WORDS - 1 else "Person"
        return f"{one} 1", f"{one} 2"
    return one, other


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def ways_to_mark(lines: Sequence[str], speakers: Sequence[str], code: str) -> list[str]:
    """Returns a dialogue's text in each way to mark the speakers."""
    turns = [(speakers[number % 2], line) for number, line in enumerate(lines)]
    colon = "：" if pack(code).words.get("unspaced") else ":"
    marks = facts(code).quotes
    opened, closed = marks[0], marks[1]
    return [
        "\n".join(f"{who}{colon} {line}".replace("： ", "：") for who, line in turns),
        "\n\n".join(f"**{who}{colon}** {line}" for who, line in turns),
        "\n".join(f"{who}{colon}{opened}{line}{closed}" for who, line in turns),
        "\n".join(f"{'AB'[number % 2]}{colon} {line}" for number, (_, line) in enumerate(turns)),
        "\n".join(f"{opened}{line}{closed}" for _, line in turns),
        "\n".join(f"— {line}" for _, line in turns),
    ]
