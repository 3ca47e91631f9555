"""The shape of a protocol's file (schema.toml), for the loader and, as one JSON Schema with all
instruments, for editors.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ...records import Json
from .. import FIGURES
from ..instrument_kinds import InstrumentKind
from ..measures import measure_kind, names
from ..source.json_schema import Schema

DRAFT = "http://json-schema.org/draft-07/schema#"  # what editors' TOML extensions understand


@lru_cache
def shape() -> Schema:
    """JSON Schema of all but what is a matter of the kind of an instrument or a measure."""
    data = tomllib.loads(Path(__file__).with_name("schema.toml").read_text("utf-8"))
    return {
        "type": data["type"],
        "additionalProperties": data["additionalProperties"],
        "required": data["required"],
        "properties": data["properties"],
        "$defs": data["$defs"],
    }


def settings(kind: InstrumentKind) -> Schema:
    """JSON Schema of the settings of a kind of instrument."""
    return {
        "type": "object",
        "properties": dict(kind.settings),
        "required": list(kind.needs),
        "additionalProperties": False,
    }


def editor(instruments: Mapping[str, InstrumentKind]) -> dict[str, Json]:
    """The whole JSON Schema (draft 7), with the settings of these kinds of instruments
    by name.
    """
    parts = dict(shape()["$defs"])
    parts["instrument"] = _with_instrument_kinds(parts["instrument"], instruments)
    parts["measure"] = _with_measure_kinds(parts["measure"])
    whole: Schema = {"$schema": DRAFT, "title": "A protocol of tiltmeter", **shape()}
    del whole["$defs"]
    whole["definitions"] = parts  # as draft 7 has it
    text = json.dumps(whole).replace('"#/$defs/', '"#/definitions/')
    found: dict[str, Json] = json.loads(text)
    return found


def _with_instrument_kinds(part: Schema, instruments: Mapping[str, InstrumentKind]) -> Schema:
    """Which kinds an instrument can have, and the settings of each."""
    own = dict(part["properties"])
    own["kind"] = {**own["kind"], "enum": sorted(instruments)}
    each: list[Schema] = [
        _of_kind(
            name,
            {
                "properties": {**own, **settings(kind)["properties"]},
                "required": list(kind.needs),
                "additionalProperties": False,
            },
        )
        for name, kind in sorted(instruments.items())
    ]
    return {**part, "properties": own, "allOf": each}


def _with_measure_kinds(part: Schema) -> Schema:
    """Which kinds a measure can have, other packages' too, and what their contrasts need."""
    kinds = [measure_kind(name) for name in names()]
    own, figures = dict(part["properties"]), "|".join(FIGURES)
    summaries = "; ".join(f"{kind.name}: {kind.summary}" for kind in kinds)
    own["kind"] = {
        **own["kind"],
        "enum": [kind.name for kind in kinds],
        "description": f"{own['kind']['description']} {summaries}",
    }
    own["figure"] = {**own["figure"], "pattern": f"^({figures})(\\|({figures}))*$"}
    each = [
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
    return {**part, "properties": own, "allOf": each}


def _of_kind(kind: str, then: Schema) -> Schema:
    """What holds of an instrument or a measure of one kind."""
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": then}
