"""JSON Schema of a protocol's file, made from the types of its keys (source/keys.py) and their
descriptions (schema.toml): for the loader and, with all instruments, for editors.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import (
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ...records import Json
from .. import FIGURES
from ..instrument_kinds import InstrumentKind
from ..measures import measure_kind, names
from ..source.json_schema import Schema
from ..source.keys import FileKeys, InstrumentKeys

Part: TypeAlias = dict[str, Json]  # of a schema while it is made
Words: TypeAlias = Mapping[str, Mapping[str, Part]]  # {TypedDict: {key: description, bounds, …}}
WHOLE = "this"  # in place of a key: the words of the whole table
DRAFT = "http://json-schema.org/draft-07/schema#"  # what editors' TOML extensions understand


_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@lru_cache
def shape() -> Schema:
    """Returns the JSON Schema, without settings of single kinds of instruments or measures."""
    words = tomllib.loads(Path(__file__).with_name("schema.toml").read_text("utf-8"))
    parts: Part = {}
    whole, instrument = (_of_keys(kind, words, parts) for kind in (FileKeys, InstrumentKeys))
    del instrument["additionalProperties"]
    return cast(Schema, {**whole, "$defs": {**parts, "instrument": instrument}})


def _of_keys(kind: type, words: Words, parts: Part) -> Part:
    """Makes a TypedDict's JSON Schema from types and descriptions; inner schemas go to `parts`."""
    notes, total = words[_name(kind)], kind.__dict__["__total__"]
    properties: Part = {}
    required: list[str] = []
    for key, hint in get_type_hints(kind, include_extras=True).items():
        mark = get_origin(hint)
        if mark is Required or (total and mark is not NotRequired):
            required.append(key)
        value = get_args(hint)[0] if mark in (Required, NotRequired) else hint
        properties[key] = _merge_notes(_of_type(value, words, parts), notes[key])
    schema: Part = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**schema, **({"required": required} if required else {}), **notes.get(WHOLE, {})}


def _of_type(hint: type, words: Words, parts: Part) -> Part:
    """Makes the JSON Schema for the type of a key."""
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    if is_typeddict(hint):
        return _of_keys(hint, words, parts)
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return {"enum": inner}
    if kind is Sequence:
        return {"type": "array", "items": _of_content(inner[0], words, parts)}
    if kind is Mapping and NoneType in get_args(inner[1]):  # any value of JSON
        return {"type": "object"}
    if kind is Mapping:
        return {"type": "object", "additionalProperties": _of_content(inner[1], words, parts)}
    either = [_of_type(each, words, parts) for each in inner]
    merged = {key: value for each in either for key, value in each.items()}
    return {**merged, "type": [each["type"] for each in either]}


def _of_content(hint: type, words: Words, parts: Part) -> Part:
    """Makes the JSON Schema for the content of a list or table; a reference for a TypedDict."""
    if not is_typeddict(hint):
        return _of_type(hint, words, parts)
    name = _name(hint)
    if name not in parts:
        parts[name] = {}  # it may hold itself
        parts[name] = _of_keys(hint, words, parts)
    return {"$ref": f"#/$defs/{name}"}


def _name(kind: type) -> str:
    """Returns the name of a TypedDict in schema.toml: PaperTableKeys is paper_table."""
    return re.sub("(?<!^)([A-Z])", r"_\1", kind.__name__.removesuffix("Keys")).lower()


def _merge_notes(types: Part, words: Part) -> Part:
    """Merges a key's descriptions into its types, also in inner tables."""
    merged = {**types, **words}
    for key in types.keys() & words.keys():
        below, above = types[key], words[key]
        if isinstance(below, dict) and isinstance(above, dict):
            merged[key] = _merge_notes(below, above)
    return merged


def settings(kind: InstrumentKind) -> Schema:
    """Returns the JSON Schema of the settings of a kind of instrument."""
    return {
        "type": "object",
        "properties": dict(kind.settings),
        "required": list(kind.needs),
        "additionalProperties": False,
    }


def editor(instruments: Mapping[str, InstrumentKind]) -> dict[str, Json]:
    """Returns the whole JSON Schema (draft 7), with the settings of these kinds of instruments."""
    parts = dict(shape()["$defs"])
    parts["instrument"] = _with_instrument_kinds(parts["instrument"], instruments)
    parts["measure"] = _with_measure_kinds(parts["measure"])
    schema: Schema = {"$schema": DRAFT, "title": "A protocol of tiltmeter", **shape()}
    del schema["$defs"]
    schema["definitions"] = parts  # as draft 7 has it
    text = json.dumps(schema).replace('"#/$defs/', '"#/definitions/')
    whole_schema: dict[str, Json] = json.loads(text)
    return whole_schema


def _with_instrument_kinds(part: Schema, instruments: Mapping[str, InstrumentKind]) -> Schema:
    """Adds the kinds that an instrument can have, and the settings of each kind."""
    common = dict(part["properties"])
    common["kind"] = {**common["kind"], "enum": sorted(instruments)}
    conditions: list[Schema] = [
        _of_kind(
            name,
            {
                "properties": {**common, **settings(kind)["properties"]},
                "required": list(kind.needs),
                "additionalProperties": False,
            },
        )
        for name, kind in sorted(instruments.items())
    ]
    return {**part, "properties": common, "allOf": conditions}


def _with_measure_kinds(part: Schema) -> Schema:
    """Adds the kinds that a measure can have (also of other packages), with their contrasts."""
    kinds = [measure_kind(name) for name in names()]
    common, figures = dict(part["properties"]), "|".join(FIGURES)
    summaries = "; ".join(f"{kind.name}: {kind.summary}" for kind in kinds)
    common["kind"] = {
        **common["kind"],
        "enum": [kind.name for kind in kinds],
        "description": f"{common['kind']['description']} {summaries}",
    }
    common["figure"] = {**common["figure"], "pattern": f"^({figures})(\\|({figures}))*$"}
    conditions = [
        _of_kind(
            kind.name,
            {
                "required": ["contrast"],
                "properties": {"contrast": {"required": list(kind.contrast)}},
            },
        )
        for kind in kinds
        if kind.contrast
    ]
    return {**part, "properties": common, "allOf": conditions}


def _of_kind(kind: str, then: Schema) -> Schema:
    """Makes a JSON Schema that applies `then` only to instruments or measures of one kind."""
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": then}
