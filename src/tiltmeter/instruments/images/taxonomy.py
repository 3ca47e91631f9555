"""A taxonomy, as a readable TOML file: the attributes by which outputs are labelled, each with its
closed list of values.

    [[attributes]]
    subject = "openai:gpt-image-2"     # only for outputs of this subject; without it, for all
    object = "car"
    name = "body_type"
    part = "product"                   # the part of the picture that it describes
    values = ["sedan", "SUV", "hatchback"]

A person may edit it; an entry that cannot be used is refused with its line number. A file with only
`attributes = []` means that there are no attributes beyond those of the protocol. The caller
defines the keys that select the outputs of an attribute (`subject`, `object`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...errors import UnknownName, UsageError
from ...records import OUTCOMES
from ..wording import Json, Texts

# the value of an attribute that an output does not show; on no list
NOT_APPLICABLE = "not_applicable"
RESERVED = (
    NOT_APPLICABLE,
    *(value for value in OUTCOMES if value not in ("both", "neither", "other")),
)
RAW = "_raw"  # ends the name of the attribute that holds a value as it was worded
# kind of the artefact that says what was learnt from: {subject: one of the two}
LEARNT_FROM = "learnt_from"
ASIDE, MEASURED = "aside", "measured"
_TABLE = re.compile(r"^\s*\[\[\s*attributes\s*\]\]")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute with its closed list of values. of: {factor: level} of its outputs; {}: any."""

    name: str
    part: str
    values: tuple[str, ...]
    of: Mapping[str, str]

    def belongs(self, to: Mapping[str, str]) -> bool:
        """True if the set `to` ({factor: level}) has all levels that this attribute requires."""
        return all(to.get(key) == level for key, level in self.of.items())


def stored_name(text: str) -> str:
    """Normalises a name for storage: "Body Type" → body_type."""
    return re.sub(r"\W+", "_", text.strip().casefold()).strip("_")


def problem(found: Mapping[str, Json], parts: Sequence[str], taken: Iterable[str]) -> str:
    """Describes the first fault of an attribute's table (name, part, values); "" if it has none."""
    name, part, values = found.get("name"), found.get("part"), found.get("values")
    if not isinstance(name, str) or not stored_name(name):
        return "'name' is missing"
    if stored_name(name) in taken:
        return f"there is an attribute '{stored_name(name)}' already"
    if part not in parts:
        return f"'part' of {name} must be one of {', '.join(parts)}, not {part!r}"
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return f"'values' of {name} must be a list of texts"
    plain = [stored_name(value) for value in values]
    if not all(plain):
        return f"a value of {name} is missing (empty text)"
    if len(plain) < 2:
        return (
            f"{name} has {len(plain)} value{'s' * (len(plain) != 1)}; an attribute needs two "
            "or more"
        )
    doubled = next((value for place, value in enumerate(plain) if value in plain[:place]), None)
    if doubled:
        return f"{name} has the value '{doubled}' twice"
    reserved = next((value for value in plain if value in RESERVED), None)
    return (
        f"'{reserved}' cannot be a value of {name}: it is a word for what has no value"
        if reserved
        else ""
    )


def parse(
    text: str, where: str, *, keys: Sequence[str], parts: Sequence[str], fixed: Iterable[str]
) -> list[Attribute]:
    """Parses a taxonomy's text. keys: the factors that may select an attribute's outputs; parts:
    the allowed parts; fixed: names already taken.

    Raises UsageError with the line of the faulty attribute, or with the position at which the file
    stops being TOML.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(
            f"{where} is not TOML: {error}. Correct it, or leave out --taxonomy to get one."
        ) from None
    for name in data:
        if name != "attributes":
            raise UsageError(f"{where}: {UnknownName('table', name, ['attributes'])}")
    tables = data.get("attributes")
    if not isinstance(tables, list):
        raise UsageError(
            f"{where} has no attribute. Add a table [[attributes]] with name, part and values; or "
            "write attributes = [] if there are none."
        )
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _TABLE.match(line)]
    lines += [0] * (len(tables) - len(lines))
    attributes: list[Attribute] = []
    for line, table in zip(lines, tables, strict=False):
        place = f"{where}, line {line}" if line else where
        for key in table:
            if key not in ("name", "part", "values", *keys):
                raise UsageError(
                    f"{place}: {UnknownName('key', key, ['name', 'part', 'values', *keys])}"
                )
        of = {key: str(table[key]) for key in keys if key in table}
        taken = {*fixed, *(one.name for one in attributes if _meet(one.of, of))}
        wrong = problem(table, parts, taken)
        if wrong:
            raise UsageError(f"{place}: {wrong}.")
        attributes.append(make_attribute(table, of))
    return attributes


def make_attribute(table: Mapping[str, Json], of: Mapping[str, str]) -> Attribute:
    """Makes an attribute from a table that `problem` has accepted."""
    return Attribute(
        stored_name(Texts(table).text("name")),
        Texts(table).text("part"),
        tuple(map(stored_name, Texts(table).words("values"))),
        dict(of),
    )


def text(attributes: Iterable[Attribute]) -> str:
    """Writes attributes as TOML; equal attributes give equal texts."""
    blocks = []
    for attribute in attributes:
        rows = [*attribute.of.items(), ("name", attribute.name), ("part", attribute.part)]
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rows]
        values = ", ".join(json.dumps(value, ensure_ascii=False) for value in attribute.values)
        blocks.append("\n".join(["[[attributes]]", *lines, f"values = [{values}]"]) + "\n")
    return "\n".join(blocks)


def _meet(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """True if some output can belong to both sets ({factor: level})."""
    return all(second.get(key, level) == level for key, level in first.items())
