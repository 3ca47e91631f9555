"""A protocol's own words: titles of levels, and a sentence for each verdict.

A sentence is a template of its measure: `sentence.tilt = "{subject} says {counted} in {value} of
answers."`. A slot is one of `SLOTS`, or the name of a factor or attribute, which stands for the
title of its level.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from string import Formatter

from ..errors import ProtocolError
from . import FIGURES, MeasureSpec, Protocol
from .design.tables import SEVERAL
from .names import refuse_unknown, refuse_unknown_levels
from .source.source_lines import SourceLocation

# slot → the text that replaces it
SLOTS = {
    "subject": "the short name of the model",
    "value": "the number, as shares are in per cent",
    "interval": "its interval",
    "reference": "the value that is no tilt",
    "points": "how far from it, in points",
    "times": "a ratio, and its inverse where it is below 1",
    "more": "more or less",
    "counted": "the values that count",
    "other": "the values among which they count",
    "level": "what a contrast compares",
    "baseline": "what it compares that with",
    "changed": "the value that moved most",
    "where": "the objects in which it moved",
    "others": "the groups that it is held against",
    "changed_in": "the attribute, or the level, in which it did",
    "share": "its share there",
    "other_share": "its share elsewhere",
    "controls": "the controls that were asked",
    "alone": "the group of items that was asked alone",
    "items": "the item that it is about, or the word for several",
    "slightly": "“ slightly” where the whole interval lies within what matters",
    "order": "the level of a nuisance factor with the higher number",
}
# of the sentences `between` and `over_time` of two runs, which have no `subject`
SLOTS_OF_RUNS = {
    "first_run": "the name of the run that is compared with",
    "second_run": "the name of the later run",
    "first": "the number there",
    "second": "the number here",
    "more": "more or less",
    "rose": "rose or fell",
    "counted": "the values that count",
    "Counted": "the same with a capital",
    "changed": "the value that moved most",
    "level": "what a contrast compares",
    "baseline": "what it compares that with",
    "first_gap": "how many points more or less the level has there",
    "second_gap": "and here",
}
OF_RUNS = ("between", "over_time")
FIRST_FIGURES = (*FIGURES, "moved")  # of a first screen
# first words of a phrase, and of no name ("Asian men ranked first")
_BEGINNINGS = (
    *("A", "An", "The", "Share", "Shares", "Mean", "Rate", "Number", "Difference", "Distance"),
    *("How", "What", "Where", "Words", "Answers", "Pictures", "Ratio", "Gap", "Effect"),
)
# of ISO 639-1, in English, where a protocol has no title for them
LANGUAGES = {
    **{"ar": "Arabic", "bn": "Bengali", "cs": "Czech", "de": "German", "el": "Greek"},
    **{"en": "English", "es": "Spanish", "fa": "Persian", "fr": "French", "he": "Hebrew"},
    **{"hi": "Hindi", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean"},
    **{"nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish"},
    **{"sw": "Swahili", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese"},
}
LONGEST_TEXT = 170  # characters of a measure's words that the first screen has room for


def text_notes(measures: Sequence[MeasureSpec], place: SourceLocation) -> Iterator[str]:
    """Yields a note, with its location in the file, per measure whose `text` does not fit before a
    number ("Share of she among answers: 55 %" does). place: the location of the list of measures.
    """
    for number, measure in enumerate(measures):
        fault = _text_fault(measure.text)
        if fault:
            yield f"{place.at(number, 'text')}: {fault}"


def _text_fault(text: str) -> str:
    """Returns the reason why a text does not read as a phrase before a number; "" if it does."""
    words = text.partition(" (")[0]  # what stands in brackets is left out where room is short
    if text != " ".join(text.split()):
        return "blanks at an end, two together or a new line are in it. Write one line."
    if re.search(r"[.:;,!?…]$", text):
        return f"a number follows it in sentences. Leave the '{text[-1]}' at its end out."
    if re.search(r"[.!?] [A-Z]", words):
        return 'it is more than one sentence. Write a phrase, such as "share of yes among answers".'
    if re.match("[A-Z][a-z]", text) and text.split()[0] in _BEGINNINGS:
        return f"it stands in the middle of sentences. Write '{text[0].lower()}{text[1:12]}…'."
    if len(words) > LONGEST_TEXT:
        return f"{len(words)} characters are cut at {LONGEST_TEXT}. Put details in brackets."
    return ""


def item_noun(protocol: Protocol) -> str:
    """Returns the noun for an item: the protocol's own, else the name of its column if it is
    written as English nouns are ("Stelle" has no English plural).
    """
    is_noun = protocol.item.isascii() and protocol.item.islower() and protocol.item != "id"
    return protocol.first.get("item", "") or (
        protocol.item.replace("_", " ") if is_noun else "item"
    )


def title(protocol: Protocol, name: str, level: str) -> str:
    """Returns the title of a factor's level or an attribute's value; else the level itself."""
    return protocol.titles.get(name, {}).get(level, level)


def language_name(protocol: Protocol, code: str) -> str:
    """Returns the title of a language by its code."""
    return protocol.titles.get("language", {}).get(code) or LANGUAGES.get(code, code)


def check(protocol: Protocol, place: SourceLocation, attributes: Collection[str]) -> None:
    """Raises ProtocolError if a slot, factor, level or measure is unknown."""
    names = (*protocol.factors, *sorted(attributes), "attribute", "mode")
    for name, titles in protocol.titles.items():
        refuse_unknown("factor or attribute", name, names, place.at("titles", name))
        if name in protocol.factors:
            key_place = place.at("titles", name)
            refuse_unknown_levels(name, list(titles), protocol.levels[name], key_place)
    for name in protocol.annotation:
        refuse_unknown("attribute", name, sorted(attributes), place.at("annotation", name))
    for number, measure in enumerate(protocol.measures):
        for verdict, text in measure.sentence.items():
            key_place = place.at("measures", number, "sentence", verdict)
            slots = SLOTS_OF_RUNS if verdict in OF_RUNS else (*SLOTS, *_joint_sides(measure))
            _slots(str(text), (*slots, *names), key_place)
    if protocol.first:
        _first(protocol, place.at("first"))


def _joint_sides(measure: MeasureSpec) -> Iterator[str]:
    """Yields a joint effect's groups, and each pair of group and control (`masculine_en`)."""
    controls = (measure.contrast or {}).get("controls", "").split(SEVERAL)
    for levels in measure.expected.values():
        yield from levels
        yield from (f"{level}_{control}" for level in levels for control in controls)


def _slots(text: str, known: Collection[str], place: SourceLocation) -> None:
    try:
        slots = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise ProtocolError(f"{place}: {error}. Write a brace of the text itself twice.") from None
    for name in slots:
        refuse_unknown("slot", name, known, place)


def _first(protocol: Protocol, place: SourceLocation) -> None:
    first = protocol.first
    measures = [measure.name for measure in protocol.measures]
    refuse_unknown("measure", first["measure"], measures, place.at("measure"))
    refuse_unknown("figure", first.get("figure", "forest"), FIRST_FIGURES, place.at("figure"))
    factors = [*first.get("by", ()), *(first[key] for key in ("cue", "badges") if key in first)]
    for factor in factors:
        refuse_unknown("factor", factor, (*protocol.factors, "language"), place)
