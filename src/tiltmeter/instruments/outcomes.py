"""The meaning of each value of outputs that are not answers, as defined for annotators, judges and
docs. The texts are in data/outcomes.toml.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..records import NEITHER
from .wording import Json, texts

ANY, UNDECIDED = "any", "undecided"
NOTHING: Mapping[str, Json] = {}


def meanings(answers: str, settings: Mapping[str, Json] = NOTHING) -> Mapping[str, str]:
    """Returns {value: its meaning} for a kind of answers, by the instrument's settings."""
    defined = texts("outcomes")
    result = defined.section(ANY).strings()
    for name in (answers, UNDECIDED if settings.get(UNDECIDED) == NEITHER else ""):
        result |= defined.section(name).strings() if name in defined.table else {}
    return result


def told_to_judges(settings: Mapping[str, Json]) -> Mapping[str, str]:
    """Returns {value: its meaning} for the outcomes that a judge of a choice may name."""
    listed = texts("outcomes").section("choice").strings()
    return {value: text for value, text in meanings("choice", settings).items() if value in listed}
