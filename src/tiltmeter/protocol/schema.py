"""The shape of a protocol's file (schema.toml), for the loader and, as one JSON Schema with all
instruments, for editors.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from . import FIGURES

DRAFT = "http://json-schema.org/draft-07/schema#"  # what editors' TOML extensions understand


@lru_cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("schema.toml").read_text("utf-8"))


@lru_cache
def shape() -> dict[str, Any]:
    """JSON Schema of all but what is a matter of the kind of an instrument."""
    return {name: part for name, part in _data().items() if name != "kinds"}


@lru_cache
def kinds() -> Mapping[str, tuple[str, ...]]:
    """The kinds of measures, each with the keys that its contrast must have, () where it needs
    none.
    """
    return {name: tuple(kind.get("contrast", ())) for name, kind in _data()["kinds"].items()}


def kinds_of_others() -> list[str]:
    """Kinds of measures that other packages bring, by the entry-point group
    `tiltmeter.measures`.
    """
    return [point.name for point in entry_points(group="tiltmeter.measures")]


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
    rules = measure["properties"]
    rules["kind"]["enum"] = list(kinds())
    rules["kind"]["description"] += " " + "; ".join(
        f"{name}: {kind['text']}" for name, kind in _data()["kinds"].items()
    )
    rules["figure"]["pattern"] = f"^({'|'.join(FIGURES)})(\\|({'|'.join(FIGURES)}))*$"
    measure["allOf"] = [
        {
            "if": _is(kind),
            "then": {
                "required": ["contrast"],
                "properties": {"contrast": {"required": list(needs)}},
            },
        }
        for kind, needs in kinds().items()
        if needs
    ]
    found["definitions"] = found.pop("$defs")  # as draft 7 has it
    whole: dict[str, Any] = _renamed(found)
    return whole


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
