"""The definitions of outcomes, the values of outputs that are not answers, for annotators, judges
and docs. The texts are in data/outcomes.toml.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..records import NEITHER
from .wording import Json, texts

ANY, UNDECIDED = "any", "undecided"
NOTHING: Mapping[str, Json] = {}


def meanings(answers: str, settings: Mapping[str, Json] = NOTHING) -> Mapping[str, str]:
    """Returns {outcome: its definition} for a kind of answers and an instrument's settings."""
    defined = texts("outcomes")
    result = defined.section(ANY).strings()
    for name in (answers, UNDECIDED if settings.get(UNDECIDED) == NEITHER else ""):
        result |= defined.section(name).strings() if name in defined.table else {}
    return result


def told_to_judges(settings: Mapping[str, Json]) -> Mapping[str, str]:
    """Returns {outcome: its definition} for the outcomes that a judge of choices may reply."""
    listed = texts("outcomes").section("choice").strings()
    return {value: text for value, text in meanings("choice", settings).items() if value in listed}
