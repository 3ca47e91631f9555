"""The shape of a protocol's file (schema.toml), for the loader and, as one JSON Schema with all
instruments, for editors.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import FIGURES, measure_kinds
from .measure_kinds import measure_kind

DRAFT = "http://json-schema.org/draft-07/schema#"  # what editors' TOML extensions understand


@lru_cache
def shape() -> dict[str, Any]:
    """JSON Schema of all but what is a matter of the kind of an instrument or a measure."""
    return tomllib.loads(Path(__file__).with_name("schema.toml").read_text("utf-8"))


def settings(kind: Any) -> dict[str, Any]:
    """JSON Schema of the settings of an instrument's class."""
    return {
        "type": "object",
        "properties": dict(kind.settings_schema),
        "required": list(kind.needs),
        "additionalProperties": False,
    }


def editor(instruments: Mapping[str, Any]) -> dict[str, Any]:
    """The whole JSON Schema (draft 7), with the settings of these classes of instruments by
    kind.
    """
    found = {"$schema": DRAFT, "title": "A protocol of tiltmeter", **copy.deepcopy(shape())}
    instrument, measure = found["$defs"]["instrument"], found["$defs"]["measure"]
    own = instrument["properties"]
    own["kind"]["enum"] = sorted(instruments)
    instrument["allOf"] = [
        _of_kind(
            kind, {**own, **settings(instruments[kind])["properties"]}, instruments[kind].needs
        )
        for kind in sorted(instruments)
    ]
    _add_measure_kinds(measure)
    found["definitions"] = found.pop("$defs")  # as draft 7 has it
    whole: dict[str, Any] = _renamed(found)
    return whole


def _add_measure_kinds(measure: dict[str, Any]) -> None:
    """Which kinds a measure can have, those of other packages too, and what their contrasts need."""
    kinds = [measure_kind(name) for name in measure_kinds.names()]
    rules = measure["properties"]
    rules["kind"]["enum"] = [kind.name for kind in kinds]
    rules["kind"]["description"] += " " + "; ".join(
        f"{kind.name}: {kind.summary}" for kind in kinds
    )
    rules["figure"]["pattern"] = f"^({'|'.join(FIGURES)})(\\|({'|'.join(FIGURES)}))*$"
    measure["allOf"] = [
        {
            "if": _is(kind.name),
            "then": {
                "required": ["contrast"],
                "properties": {"contrast": {"required": list(kind.contrast)}},
            },
        }
        for kind in kinds
        if kind.contrast
    ]


def _of_kind(kind: str, known: Mapping[str, Any], needs: tuple[str, ...]) -> dict[str, Any]:
    return {
        "if": _is(kind),
        "then": {"properties": dict(known), "required": list(needs), "additionalProperties": False},
    }


def _is(kind: str) -> dict[str, Any]:
    return {"properties": {"kind": {"const": kind}}, "required": ["kind"]}


def _renamed(value: Any) -> Any:
    """References to the parts by the name that they have in draft 7."""
    if isinstance(value, dict):
        return {
            key: part.replace("#/$defs/", "#/definitions/") if key == "$ref" else _renamed(part)
            for key, part in value.items()
        }
    return [_renamed(part) for part in value] if isinstance(value, list) else value
