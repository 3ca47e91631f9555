"""Recognises non-answers among answers in prose: letters, adverts, stories, translations. Pure.

Answers in prose are labelled by their words, so only clear non-answers are left out: a text without
letters (or only the repeated prompt) is `invalid`; one that begins by declining the task is a
`refusal` (languages/refusals.py); one that is mostly in another script, or has mostly frequent
words of another language, is `other_language`. For the last, the language must be known (a setting,
else the design's column) and have a pack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...cues import ATTRIBUTES, mask
from ...errors import ProtocolError
from ...languages import refusals
from ...languages.patterns import lazy
from ...languages.phrases import Language, language
from ...protocol import Protocol
from ...protocol.source.json_schema import Schema
from ...records import INVALID, OTHER_LANGUAGE, REFUSAL, Answered
from .. import Parser
from ..wording import Json
from .thought import without_thought

# the setting that all instruments of prose have
LANGUAGE: Schema = {
    "type": "string",
    "minLength": 2,
    "examples": ["en"],
    "description": "The language that answers should be in, where it is not that of the column "
    "`language`.",
}
# the setting of instruments that read what is left of a text without the cue of its prompt
MASK: Schema = {
    "type": "array",
    "minItems": 1,
    "items": {"enum": list(ATTRIBUTES)},
    "description": "Cues that are masked in answers before they are read: names, words for groups, "
    "gendered words.",
}
# the setting of instruments that a protocol's folder `languages/` is laid over
OWN_WORDS: Schema = {
    "type": "object",
    "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
    "description": "For each language the files that are laid over its pack; the folder "
    "`languages/` beside the protocol, if there is one.",
}
_SENTENCE, _FIRST = lazy("[^.?,:]+"), 60  # of canonical text; characters that are looked at
_LETTER = lazy(r"[^\W\d_]")


class Prose(NamedTuple):
    """An answer's text without prompt and thinking. outcome: why it has no label, or ""."""

    text: str
    outcome: str


def prose(item: Answered, settings: Mapping[str, Json]) -> Prose:
    """Returns the masked text of an output, with an outcome if the text is not an answer."""
    text = without_thought(item.trial.begin + item.output.text)
    prompt = item.trial.prompt.strip()
    text = (text.replace(prompt, "\n") if prompt else text).strip()
    code = str(settings.get("language") or item.trial.factors.get("language", ""))
    why = outcome(text, code, prompt)
    if hidden := settings.get("mask"):
        text = mask(text, tuple(map(str, texts_of(hidden))), code or "en")
    return Prose(text, why)


def texts_of(value: Json) -> Sequence[Json]:
    """Returns the value of a setting if it is a list; else ()."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def outcome(text: str, code: str = "", prompt: str = "") -> str:
    """Returns `invalid`, `refusal`, `other_language`, or "" if a text is an answer. code: its
    language, "" for any. An answer that begins with a name in its prompt ("Ann. I cannot know") is
    not a refusal.

    By hand: "I'm sorry, but I can't help with that." is a refusal; "I can't help but admire her."
    is not.
    """
    if not _LETTER.search(text):
        return INVALID
    phrases = language(code)
    translates = phrases.has(phrases.canonical(prompt), "translate")
    is_refusal_asked = translates and refusals.says(prompt)  # what is to be translated refuses
    answers = is_refusal_asked or _names_somebody(text, prompt, phrases)
    if not answers and refusals.begins(text, code, prompt):
        return REFUSAL
    foreign = not translates and phrases.foreign(phrases.canonical(text))
    return OTHER_LANGUAGE if foreign else ""


def _names_somebody(text: str, prompt: str, known: Language) -> bool:
    """True if the first sentence is one or two words of the prompt, other than yes or no."""
    first = _SENTENCE.match(known.canonical(text[:_FIRST]))
    words = first[0].strip(" .?,").split() if first and prompt else []
    asked = known.canonical(prompt).split() if 0 < len(words) < 3 else []
    return bool(asked) and {*words} <= {*asked} and not {*words} & known.in_passing


def check_english(name: str, settings: Mapping[str, Json], protocol: Protocol) -> None:
    """Raises ProtocolError if a design has answers that are not in English. For instruments that
    can only parse English.
    """
    codes = [str(settings["language"])] if "language" in settings else protocol.languages
    for code in codes:
        if code.partition("-")[0] != "en":
            raise ProtocolError(
                f"instrument {name}: it can only label English, not '{code}'. If the answers are "
                'in English nevertheless, such as translations, write: language = "en"'
            )


class ProseParser(Parser):
    """A parser of answers in prose; a non-answer has its outcome as label."""

    modality = "text"

    def wording(self) -> Mapping[str, Json]:
        """Returns the lists of refusal.toml, by which refusals are recognised."""
        return {"prose": refusals.wording()}
