"""What a protocol says in its own words: titles of levels, and a sentence for each verdict.

A sentence is a template of its measure: `sentence.tilt = "{subject} says {counted} in {value} of
answers."`. A slot is one of `SLOTS`, or the name of a factor or attribute, for the title of its
level.
"""

from __future__ import annotations

from collections.abc import Collection
from string import Formatter

from ..errors import ProtocolError
from . import FIGURES, Protocol
from .names import refuse_unknown, refuse_unknown_levels
from .source_lines import SourceLocation

# slot → what stands in its place
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
    "changed_in": "the attribute, or the level, in which it did",
    "share": "its share there",
    "other_share": "its share elsewhere",
    "order": "the level of a nuisance factor with the higher number",
}
FIRST_FIGURES = (*FIGURES, "moved")  # of a first screen


def title(protocol: Protocol, name: str, level: str) -> str:
    """What a person reads in place of a level of a factor, or of a value of an attribute."""
    return protocol.titles.get(name, {}).get(level, level)


def check(protocol: Protocol, place: SourceLocation, attributes: Collection[str]) -> None:
    """Raises ProtocolError for a slot, a factor, a level or a measure that nothing has."""
    named = (*protocol.factors, *sorted(attributes), "attribute", "mode")
    for name, titles in protocol.titles.items():
        refuse_unknown("factor or attribute", name, named, place.at("titles", name))
        if name in protocol.factors:
            here = place.at("titles", name)
            refuse_unknown_levels(name, list(titles), protocol.levels[name], here)
    for name in protocol.annotation:
        refuse_unknown("attribute", name, sorted(attributes), place.at("annotation", name))
    for number, measure in enumerate(protocol.measures):
        for verdict, text in measure.sentence.items():
            here = place.at("measures", number, "sentence", verdict)
            _slots(str(text), (*SLOTS, *named), here)
    if protocol.first:
        _first(protocol, place.at("first"))


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
