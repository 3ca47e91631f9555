"""The shape of a protocol's file: the same for the loader, for editors and in the code."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tiltmeter import registry
from tiltmeter.api.start import init
from tiltmeter.protocol import FIGURES, InstrumentSpec, MeasureSpec, Mode, Protocol, Variant
from tiltmeter.protocol.built_in_measures import KINDS
from tiltmeter.protocol.instrument_kinds import InstrumentKind
from tiltmeter.protocol.reading import schema
from tiltmeter.protocol.source import json_schema

from ..test_malformed import RULES, changed

SOURCE = Path(init.__file__).parents[2]
FILES = [
    *SOURCE.glob("protocols/*/protocol.toml"),
    *SOURCE.glob("api/examples/*/audit.toml"),
    *(path for path in SOURCE.glob("api/starts/*.toml") if "= $" not in path.read_text("utf-8")),
]
UNDERSTOOD = {
    "type",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "minLength",
    "pattern",
    "$ref",
    "description",
    "default",
    "examples",
}
EDITOR = registry.schema_for_editors()
VALIDATOR = jsonschema.Draft7Validator(EDITOR)


def kinds() -> list[InstrumentKind]:
    return registry.instrument_kinds()


def schemas(found: Any) -> Iterator[dict[str, Any]]:
    """A schema and all that are in it."""
    yield found
    for part in (*found.get("properties", {}).values(), *found.get("$defs", {}).values()):
        yield from schemas(part)
    for name in ("items", "additionalProperties"):
        if isinstance(found.get(name), dict):
            yield from schemas(found[name])


@pytest.mark.parametrize(
    ("part", "known"),
    [
        (  # controls are written out when a file is read
            "",
            {f.name for f in fields(Protocol)}
            - {
                "inline",
                "source",
                "definition",
                "notes",
                "picture_names",
                "picture_folder",
                "asked_digest",
            }
            | {"controls"},
        ),
        ("mode", {f.name for f in fields(Mode)} - {"name"} | {"aside"}),  # its name in 0.1
        (
            "instrument",
            {f.name for f in fields(InstrumentSpec)} - {"settings", "told", "unsure", "unread"},
        ),
        ("measure", {f.name for f in fields(MeasureSpec)}),
        ("variant", {f.name for f in fields(Variant)} - {"name"}),
    ],
)
def test_the_keys_are_those_of_the_code(part: str, known: set[str]) -> None:
    found = schema.shape()["$defs"][part] if part else schema.shape()
    assert set(found["properties"]) == known


def test_words_are_of_keys_that_exist() -> None:
    """A key is declared in keys.py; schema.toml can name no other."""
    words = tomllib.loads(Path(schema.__file__).with_name("schema.toml").read_text("utf-8"))
    shape = schema.shape()
    inline = [
        part
        for whole in (shape, *shape["$defs"].values())
        for part in whole["properties"].values()
        if "properties" in part
    ]
    properties = [set(part["properties"]) for part in (shape, *shape["$defs"].values(), *inline)]
    for section, keys in words.items():
        assert set(keys) - {schema.WHOLE} in properties, section


def test_the_kinds_of_measures_are_those_that_are_computed() -> None:
    assert all(callable(kind.function()) for kind in KINDS.values())
    assert set(EDITOR["definitions"]["measure"]["properties"]["kind"]["enum"]) == set(KINDS)
    assert all(
        name in EDITOR["definitions"]["measure"]["properties"]["figure"]["pattern"]
        for name in FIGURES
    )


def test_every_key_says_what_it_is() -> None:
    found = [schema.shape(), *(part for name, part in schema.shape()["$defs"].items())]
    assert [
        key
        for one in found
        for key, part in one.get("properties", {}).items()
        if not part.get("description")
    ] == []
    for kind in kinds():
        for setting, part in kind.settings.items():
            assert part.get("description", "").endswith("."), (kind.name, setting)
        assert set(kind.needs) <= set(kind.settings), kind.name


def test_schemas_say_nothing_that_the_loader_does_not_understand() -> None:
    own = [schema.settings(kind) for kind in kinds()]
    for found in (one for whole in (schema.shape(), *own) for one in schemas(whole)):
        assert set(found) - {"$defs"} <= UNDERSTOOD, found


def test_the_schema_for_editors_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(EDITOR)
    assert "$defs" not in json.dumps(EDITOR)
    assert not {"judge", "rewrite_judge"} & set(
        EDITOR["definitions"]["instrument"]["properties"]["kind"]["enum"]
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name + "/" + path.stem)
def test_editors_find_nothing_wrong_in_what_ships(path: Path) -> None:
    assert [
        error.message for error in VALIDATOR.iter_errors(tomllib.loads(path.read_text("utf-8")))
    ] == []


@pytest.mark.parametrize("rule", RULES, ids=[rule["rule"] for rule in RULES])
def test_the_loader_and_a_library_for_json_schema_agree(rule: dict[str, Any]) -> None:
    """What is wrong in shape for one is for the other, but for nan, which JSON does not have."""
    try:
        data = tomllib.loads(changed(rule))
    except tomllib.TOMLDecodeError:
        return
    shape = {
        **{name: part for name, part in schema.shape().items() if name != "$defs"},
        "definitions": schema.shape()["$defs"],
    }
    library = jsonschema.Draft7Validator(
        json.loads(json.dumps(shape).replace("#/$defs/", "#/definitions/"))
    )
    finite = all(
        math.isfinite(measure.get("null", 0))
        for measure in data.get("measures", ())
        if rule["new"] == "null = nan"
    )
    assert (json_schema.fault(data, schema.shape()) is None or not finite) == library.is_valid(data)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            {"instruments": [{"name": "a", "kind": "choice", "attribute": "a"}]},
            "'forms' is a required property",
        ),
        (
            {"instruments": [{"name": "a", "kind": "choise", "attribute": "a"}]},
            "'choise' is not one of",
        ),
        (
            {"instruments": [{"name": "a", "kind": "revision", "attribute": "a", "forms": {}}]},
            "'forms' was unexpected",
        ),
        (
            {"measures": [{"name": "a", "kind": "shar", "attribute": "a", "values": []}]},
            "'shar' is not one of",
        ),
        (
            {"measures": [{"name": "a", "kind": "ratio", "attribute": "a", "values": []}]},
            "'contrast' is a required property",
        ),
        (
            {
                "measures": [
                    {"name": "a", "kind": "share", "attribute": "a", "values": [], "figure": "pie"}
                ]
            },
            "'pie' does not match",
        ),
    ],
)
def test_editors_know_instruments_and_measures(found: dict[str, Any], said: str) -> None:
    good = {
        "name": "a",
        "title": "a",
        "question": "a",
        "prompt": "{b}",
        "factors": ["b"],
        "item": "b",
        "tables": [{"rows": [{"b": "c"}]}],
    }
    assert VALIDATOR.is_valid(good)
    assert any(said in error.message for error in VALIDATOR.iter_errors({**good, **found}))
