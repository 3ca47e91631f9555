"""What a protocol lets one plant in a model of it: words to pick, topics, what is drawn or written,
options, levels. Pure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from .. import registry
from ..protocol import InstrumentSpec, Protocol
from ..protocol.design.tables import SEVERAL, Row
from ..protocol.instrument_kinds import InstrumentKind

NO_PROSE = {"choice", "picks", "dialogue", "ranking"}  # answers that are written in other ways


def words_of(protocol: Protocol) -> Sequence[Row]:
    """The rows of the word list that answers pick from; () where the protocol asks for no picks."""
    picked = (spec for spec, kind in _kinds(protocol) if kind.answers == "picks")
    return next((spec.settings["words"] for spec in picked), ())


def classes_of(rows: Sequence[Row]) -> list[str]:
    """Classes, then words, that a weight can be given to."""
    lexemes = (row.get("lexeme") or row["word"] for row in rows)
    return list(dict.fromkeys((*(row["class"] for row in rows), *lexemes)))


def topics_of(protocol: Protocol) -> Sequence[str]:
    """The topics of a protocol whose answers are dialogues; () for another."""
    talked = [spec for spec, kind in _kinds(protocol) if kind.answers == "dialogue"]
    named = (list(spec.settings["topics"]) for spec in talked if "topics" in spec.settings)
    return next(named, ["greetings"] if talked else [])


def drawn_of(protocol: Protocol) -> dict[str, tuple[str, ...]]:
    """Attribute → values of what a planted model draws: words of panels, colours, and what
    attributes there are to extract.
    """
    found: dict[str, tuple[str, ...]] = {}
    for spec, kind in _kinds(protocol):
        if kind.answers == "picture":
            found |= {
                name: tuple(values) for name, values in kind.attributes(spec).items() if values
            }
    if protocol.modality == "image" and not found:
        found = {name: tuple(values) for name, values in drawable().items()}
    return found


@lru_cache
def drawable() -> Mapping[str, Sequence[str]]:
    """Attribute → values that a planted model can draw of a product, where the protocol asks for no
    panel.
    """
    return tomllib.loads(Path(__file__).with_name("pictures.toml").read_text("utf-8"))


def written_of(protocol: Protocol) -> dict[str, tuple[str, ...]] | None:
    """Attribute → values of what a planted text holds (words of lists, values of a rubric); None
    where none is asked for.
    """
    answers = {kind.answers for _, kind in _kinds(protocol)}
    if protocol.modality != "text" or "prose" not in answers or answers & NO_PROSE:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for spec, kind in _kinds(protocol):
        if kind.answers == "prose":
            found |= {
                name: tuple(values) for name, values in kind.attributes(spec).items() if values
            }
    return found


def _kinds(protocol: Protocol) -> list[tuple[InstrumentSpec, InstrumentKind]]:
    return [(spec, registry.instrument_kind(spec.kind)) for spec in protocol.instruments]


def weighted_of(protocol: Protocol) -> list[str]:
    """What a weight can be given to where answers are rankings: groups of people, then places of
    the prompt; [] where no ranking is asked for.
    """
    found = next((spec for spec in protocol.instruments if spec.kind == "ranking"), None)
    if found is None:
        return []
    groups: Sequence[str] = found.settings["groups"]
    return [*groups, *(place_name(place) for place in range(1, 2 * len(groups) + 1))]


def place_name(place: int) -> str:
    """The setting's name of a place of the prompt, from 1."""
    return f"place {place}"


def setting_names(attributes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Attribute → value → the setting's name of it: the value, or ATTRIBUTE/VALUE where there are
    several attributes.
    """
    alone = len(attributes) == 1
    return {
        attribute: {value: value if alone else f"{attribute}/{value}" for value in values}
        for attribute, values in attributes.items()
    }


def names_of(attributes: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of all settings that plant a value."""
    return [name for names in setting_names(attributes).values() for name in names.values()]


def offered(protocol: Protocol, language: str = "") -> dict[str, str]:
    """The values that a protocol lets a model choose from, each with the form that is written for
    it in a language.
    """
    found: dict[str, str] = {}
    for spec, kind in _kinds(protocol):
        if kind.answers == "choice":
            for value in kind.attributes(spec).get(spec.attribute, ()):
                forms = kind.examples(spec, value, language)
                if forms and value not in found:
                    found[value] = forms[0]
    return found


def languages_offered(protocol: Protocol) -> str:
    """The first language that a choice has forms in; "" for none."""
    declared = (spec.settings["forms"] for spec in protocol.instruments if "forms" in spec.settings)
    return next((str(next(iter(forms))) for forms in declared if forms), "")


def levels(protocol: Protocol) -> dict[str, str]:
    """Every level of every factor → the factor; a level of two factors belongs to the later one."""
    return {
        level: name
        for name in protocol.factors
        for cell in protocol.cells
        for level in cell[name].split(SEVERAL)
    }
