"""The question about a picture's attributes, the schema of its reply, and the reply's parser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...protocol.source.json_schema import Schema
from ..judges.prompt import json_object
from ..wording import Json, Texts, texts
from . import taxonomy
from .taxonomy import NOT_APPLICABLE, Attribute

CHECKS = {"products": ("none", "several", "one"), "people": ("yes", "no")}


def read(
    text: str, wanted: Sequence[Attribute], printed: Mapping[str, Any] | None = None
) -> tuple[dict[str, str], list[str]]:
    """Returns {attribute: value} of a reply's usable values, and the faults of the others. printed:
    a paper's published prompt, if it was the question; it offers no `not_applicable`.
    """
    data = json_object(text)
    if data is None:
        return {}, ["it is not one JSON object with nothing around it"]
    lists: dict[str, tuple[str, ...]] = {one.name: one.values for one in wanted}
    if printed:
        data = _out_of_sections(data, wanted, printed)
    else:
        lists = {name: values and (*values, NOT_APPLICABLE) for name, values in lists.items()}
        lists |= CHECKS
    wrong = [f"'{name}' was not asked for" for name in data if name not in lists]
    values: dict[str, str] = {}
    for name, allowed in lists.items():
        value = data.get(name)
        if not isinstance(value, str) or not value.strip():
            wrong.append(f"'{name}' is missing" if name not in data else f"'{name}' is no text")
        elif not allowed:
            values[name] = (
                NOT_APPLICABLE
                if taxonomy.stored_name(value) == NOT_APPLICABLE
                else " ".join(value.split())[:60]
            )
        elif taxonomy.stored_name(value) in allowed:
            values[name] = taxonomy.stored_name(value)
        else:
            wrong.append(f"'{value[:40]}' is no value of '{name}'")
    return values, wrong


def ask_about(wanted: Sequence[Attribute], one: str) -> str:
    """Writes the question about the wanted attributes of a picture. one: the object shown."""
    wording = texts_of()
    lines = []
    for each in wanted:
        form = wording.text("listed") if each.values else wording.text("colour")
        lines.append(
            form.format(
                name=each.name,
                part=each.part,
                values=", ".join(f'"{value}"' for value in each.values),
            )
        )
    lines += [wording.fill(check) for check in CHECKS]
    return wording.fill("ask", one=one, lines="\n".join(lines))


def ask_as_printed(wanted: Sequence[Attribute], one: str, printed: Mapping[str, Any]) -> str:
    """Writes a paper's published question about the wanted attributes of a picture."""
    sections: dict[str, list[str]] = {}
    for each in wanted:
        form = printed["listed"] if each.values else printed["colour"]
        values = ", ".join(f'"{value}"' for value in each.values)
        name = printed["names"].get(each.name, each.name)
        sections.setdefault(each.part, []).append(form.format(name=name, values=values))
    lines = {part: ",\n    ".join(forms) for part, forms in sections.items()}
    return str(printed["ask"].strip().format_map({"one": one, **lines}))


def _out_of_sections(
    data: Mapping[str, Json], wanted: Sequence[Attribute], printed: Mapping[str, Any]
) -> dict[str, Json]:
    """Collects {attribute: value} from a reply to a published question, with a section per part."""
    fields: dict[str, Json] = {}
    for one in wanted:
        section, name = data.get(f"{one.part}_features"), printed["names"].get(one.name, one.name)
        if isinstance(section, Mapping) and name in section:
            fields[one.name] = section[name]
    return fields


def answer_schema(wanted: Sequence[Attribute]) -> str:
    """Returns the JSON schema of the reply."""
    fields: dict[str, Schema] = {}
    for one in wanted:
        fields[one.name] = {
            "type": "string",
            **({"enum": [*one.values, NOT_APPLICABLE]} if one.values else {}),
        }
    fields |= {name: {"type": "string", "enum": list(values)} for name, values in CHECKS.items()}
    return json.dumps(
        {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
    )


def article(word: str) -> str:
    """Puts "a" or "an" before a word."""
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


def texts_of() -> Texts:
    """Returns the texts that the question is composed of."""
    return texts("attributes")
