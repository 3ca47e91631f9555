"""Checks of values by a JSON Schema: the first fault, in words, with its location and a remedy.

Supported is as much of JSON Schema as a protocol's file needs, with its usual meaning: type, enum,
properties, required, additionalProperties (true, false or a schema), minProperties, items,
minItems, maxItems, minimum, exclusiveMinimum, maximum, minLength, pattern, and $ref to a part of
`$defs`. A complete library takes longer to import than a protocol to load, and suggests neither the
nearest name nor what to write. A test compares the results with such a library's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict

from ...errors import UnknownName
from ...records import Json

Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "$defs": Mapping[str, "Schema"],
        "type": str | Sequence[str],
        "enum": Sequence[Json],
        "const": Json,
        "properties": Mapping[str, "Schema"],
        "required": Sequence[str],
        "additionalProperties": "bool | Schema",
        "minProperties": int,
        "items": "Schema",
        "minItems": int,
        "maxItems": int,
        "minimum": float,
        "exclusiveMinimum": float,
        "maximum": float,
        "minLength": int,
        "pattern": str,
        "description": str,
        "default": Json,
        "examples": Sequence[Json],
        # for editors alone
        "$schema": str,
        "title": str,
        "definitions": Mapping[str, "Schema"],
        "allOf": "Sequence[Schema]",
        "if": "Schema",
        "then": "Schema",
    },
    total=False,
)
Path = tuple[str | int, ...]  # keys of tables, numbers (from 0) of list entries
Hint = tuple[Schema, Path]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a table",
}


class SchemaFault(NamedTuple):
    """An error in a file, and its location."""

    path: Path
    text: str


def fault(value: Json, schema: Schema) -> SchemaFault | None:
    """Returns the first fault of a value; None if the value fits the schema."""
    return next(_faults(value, schema, schema, (), (schema, ())), None)


def _faults(
    value: Json, schema: Schema, root: Schema, path: Path, like: Hint
) -> Iterator[SchemaFault]:
    """Yields the faults of a value. like: the nearest enclosing schema with an example or a
    description, since a fault deep inside a list is fixed by rewriting the list.
    """
    if "$ref" in schema:
        siblings: Schema = {**schema}
        del siblings["$ref"]
        schema = {**root["$defs"][schema["$ref"].rpartition("/")[2]], **siblings}
    if path and not schema.keys().isdisjoint(("examples", "default", "description")):
        like = (schema, path)
    named = schema.get("type", ())
    kinds = (named,) if isinstance(named, str) else named
    if kinds and not any(_has_kind(value, kind) for kind in kinds):
        wanted = " or ".join(_KINDS[kind] for kind in kinds)
        yield SchemaFault(path, f"{short_toml(value)} is not {wanted}.{_remedy(*like)}")
    elif "enum" in schema and value not in schema["enum"]:
        what = next((part for part in reversed(path) if isinstance(part, str)), "value")
        yield SchemaFault(
            path, str(UnknownName(f"value of {what}", str(value), map(str, schema["enum"])))
        )
    elif isinstance(value, Mapping):
        yield from _of_table(value, schema, root, path, like)
    elif isinstance(value, (list, tuple)):
        yield from _of_list(value, schema, root, path, like)
    else:
        yield from (
            SchemaFault(path, f"{short_toml(value)} {wrong}.{_remedy(*like)}")
            for wrong in _limits(value, schema)
        )


def _of_table(
    value: Mapping[str, Json], schema: Schema, root: Schema, path: Path, like: Hint
) -> Iterator[SchemaFault]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key in value:
        if key not in known and others is False:
            yield SchemaFault((*path, key), str(UnknownName("key", str(key), known)))
    for need in schema.get("required", ()):
        if need not in value:
            yield SchemaFault(
                path,
                f"'{need}' is "
                f"missing.{_remedy(known.get(need, {}), (need,), 'Add') or _remedy(*like)}",
            )
    if len(value) < schema.get("minProperties", 0):
        yield SchemaFault(
            path,
            f"it needs {schema['minProperties']} entries or more and has "
            f"{len(value)}.{_remedy(*like)}",
        )
    for key, part in value.items():
        inner = known.get(key, others if isinstance(others, Mapping) else {})
        yield from _faults(part, inner, root, (*path, key), like)


def _of_list(
    value: Sequence[Json], schema: Schema, root: Schema, path: Path, like: Hint
) -> Iterator[SchemaFault]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        wanted = (
            f"{least}"
            if least == most
            else f"{least} or more"
            if len(value) < least
            else f"{most} at most"
        )
        yield SchemaFault(
            path, f"the list has {len(value)} entries; it needs {wanted}.{_remedy(*like)}"
        )
    for number, part in enumerate(value):
        yield from _faults(part, schema.get("items", {}), root, (*path, number), like)


def _limits(value: Json, schema: Schema) -> Iterator[str]:
    """Yields a text per bound that a number or text breaks."""
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0) or not re.search(
            schema.get("pattern", ""), value
        ):
            yield "does not fit" if value.strip() else "is empty"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            yield f"is below {schema['minimum']}"
        if value <= schema.get("exclusiveMinimum", -math.inf):
            yield f"is not above {schema['exclusiveMinimum']}"
        if value > schema.get("maximum", value):
            yield f"is above {schema['maximum']}"


def _has_kind(value: Json, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return (
                isinstance(value, (int, float))
                and not isinstance(value, bool)
                and math.isfinite(value)
            )
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, (list, tuple))
        case _:
            return isinstance(value, Mapping)


def _remedy(schema: Schema, path: Path, verb: str = "Write") -> str:
    """Returns what to write: the schema's example or default, or else its description."""
    example = schema["examples"][0] if schema.get("examples") else schema.get("default")
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if example is None or not name:
        return f" {schema['description']}" if "description" in schema and path else ""
    return f" {verb} for instance: {name} = {toml(example)}"


def short_toml(value: Json) -> str:
    """Writes a value in TOML's notation, shortened."""
    text = toml(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def toml(value: Json) -> str:
    """Writes a value in TOML's notation, on one line."""
    if isinstance(value, Mapping):
        parts = ", ".join(f"{_key(key)} = {toml(part)}" for key, part in value.items())
        return f"{{ {parts} }}" if parts else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _key(name: object) -> str:
    return str(name) if _BARE.fullmatch(str(name)) else json.dumps(str(name), ensure_ascii=False)
