"""The question that lets a model choose pictures' attributes, and the parser of its replies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..judges.prompt import json_object
from ..wording import Json, Texts, texts
from . import taxonomy
from .taxonomy import Attribute


@dataclass(frozen=True, slots=True)
class Wanted:
    """The attributes to choose. parts: {part: number}; least, most: the bounds on an attribute's
    number of values; taken: names that must not be chosen.
    """

    parts: Mapping[str, int]
    least: int
    most: int
    taken: Sequence[str]


def question(prompts: Sequence[str], one: str, wanted: Wanted) -> str:
    """Writes the question about pictures of `one` (such as "car"), with each picture's prompt."""
    parts = [
        f"{number} attribute{'s' * (number != 1)} of the {part}"
        for part, number in wanted.parts.items()
    ]
    lines = [f"{number}. {' '.join(prompt.split())}" for number, prompt in enumerate(prompts, 1)]
    return _texts().fill(
        "ask",
        number=len(prompts),
        one=one,
        pictures="\n".join(lines),
        wanted=" and ".join(parts),
        least=wanted.least,
        most=wanted.most,
        taken=", ".join(wanted.taken),
        parts=" or ".join(f'"{part}"' for part in wanted.parts),
    )


def again(wrong: str) -> str:
    """Writes the message that names the faults of a reply and asks for another reply."""
    return _texts().fill("again", problems=wrong)


def schema(wanted: Wanted) -> str:
    """Returns the JSON Schema of a reply."""
    number = sum(wanted.parts.values())
    values = {
        "type": "array",
        "items": {"type": "string"},
        "minItems": wanted.least,
        "maxItems": wanted.most,
    }
    fields = {
        "name": {"type": "string"},
        "part": {"type": "string", "enum": list(wanted.parts)},
        "values": values,
    }
    each = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    several = {"type": "array", "items": each, "minItems": number, "maxItems": number}
    whole = {"type": "object", "properties": {"attributes": several}, "required": ["attributes"]}
    return json.dumps({**whole, "additionalProperties": False})


def read_attributes(
    text: str, wanted: Wanted, of: Mapping[str, str]
) -> tuple[list[Attribute], str]:
    """Parses a reply; returns (attributes, ""), or ([], the fault) if the reply is unusable."""
    data = json_object(text)
    if data is None or set(data) != {"attributes"} or not isinstance(data["attributes"], list):
        return [], 'it is not one JSON object with the key "attributes" and nothing around it'
    attributes: list[Attribute] = []
    for table in data["attributes"]:
        if not isinstance(table, dict):
            return [], "each attribute is an object with name, part and values"
        wrong = taxonomy.problem(
            table, tuple(wanted.parts), (*wanted.taken, *(one.name for one in attributes))
        )
        if wrong:
            return [], wrong
        if not wanted.least <= len(table["values"]) <= wanted.most:
            return (
                [],
                f"{table['name']} has {len(table['values'])} values and should have "
                f"{wanted.least} to {wanted.most}",
            )
        attributes.append(taxonomy.make_attribute(table, of))
    counts = Counter(one.part for one in attributes)
    for part, number in wanted.parts.items():
        if counts[part] != number:
            return [], f"it has {counts[part]} attributes of the {part} and should have {number}"
    return attributes, ""


def wording() -> Mapping[str, Json]:
    """Returns {"choosing": the texts of the question}, for the annotator's hash."""
    return {"choosing": _texts().table}


def _texts() -> Texts:
    return texts("choosing")
