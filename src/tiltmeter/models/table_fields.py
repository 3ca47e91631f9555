"""Checks the fields of a models table; raises UsageError with the field and the expected form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TypeAlias

from ..errors import UnknownName, UsageError
from . import Price

FIELDS = ("price", "batch", "retirement", "aliases", "takes", "reasoning", "modality", "languages")
_INNER = {
    "price": ("prompt", "completion", "picture", "date", "source"),
    "batch": ("share", "date", "source"),
    "retirement": ("on", "date", "source"),
    "languages": ("listed", "source"),
    "reasoning": ("efforts", "default", "date", "source"),
}
_NEEDED = {
    "price": ("date",),
    "batch": ("share", "date"),
    "retirement": ("on",),
    "languages": ("listed",),
    "reasoning": ("efforts",),
}
_EXAMPLES = {
    "batch": "{ share = 0.5, date = 2026-11-21 }",
    "retirement": "{ on = 2027-01-14 }",
    "reasoning": '{ efforts = ["none", "low", "medium", "high"], default = "medium" }',
    "languages": '{ listed = ["en", "fr"], source = "https://…" }',
}
_PRICE = (
    "price = { prompt = 2.5, completion = 10, date = 2026-11-21 }, or { picture = 0.04, "
    "date = 2026-11-21 }"
)
_TAKES = (
    *("temperature", "top_p", "seed", "begin", "schema", "vision", "logprobs"),
    *("max_tokens", "stop", "think_off", "chat"),
)
Toml: TypeAlias = "bool | int | float | str | date | list[Toml] | dict[str, Toml]"


def name_list(given: Toml, where: str, example: str) -> tuple[str, ...]:
    """Checks that a field is a list of names; returns it as a tuple."""
    names = tuple(one for one in given if isinstance(one, str)) if isinstance(given, list) else ()
    if not isinstance(given, list) or len(names) < len(given):
        raise UsageError(f'{where}: a list of names expected, for instance ["{example}"]')
    return names


def modality_of(modality: Toml, where: str) -> str:
    """Checks that a modality is "text" or "image"."""
    if modality not in ("text", "image") or not isinstance(modality, str):
        raise UsageError(f"{where}, modality: 'text' or 'image' expected, not {modality!r}")
    return modality


def inner_table(entry: Mapping[str, Toml], name: str, where: str) -> dict[str, Toml]:
    """Checks the table in a field of an entry: all required fields, no unknown ones."""
    inner = entry[name]
    example = _EXAMPLES.get(name, _PRICE.removeprefix("price = "))
    if not isinstance(inner, dict):
        raise UsageError(
            f"{where}, {name}: a table expected. Type for instance: {name} = {example}"
        )
    refuse_others(inner, _INNER[name], f"{where}, {name}")
    for need in _NEEDED[name]:
        if need not in inner:
            raise UsageError(
                f"{where}, {name}: '{need}' is missing. Type for instance: {name} = {example}"
            )
    return inner


def price_of(given: Mapping[str, Toml], where: str) -> Price:
    """Checks and returns a price: of prompt and completion, or of a picture, or of all three."""
    for need in (
        ("prompt", "completion")
        if "picture" not in given or {"prompt", "completion"} & set(given)
        else ()
    ):
        if need not in given:
            raise UsageError(f"{where}, price: '{need}' is missing. Type for instance: {_PRICE}")
    prompt, completion = (
        _number(given.get(name, 0.0), f"{where}, price.{name}") for name in ("prompt", "completion")
    )
    return Price(
        prompt,
        completion,
        _number(given.get("picture", 0.0), f"{where}, price.picture", "one picture"),
    )


def taken_of(takes: Toml, where: str) -> dict[str, bool | int]:
    """Checks the table of parameters that a model accepts or refuses."""
    if not isinstance(takes, dict):
        raise UsageError(
            f"{where}, takes: a table expected. Type for instance: takes = {{ temperature = "
            "false }"
        )
    refuse_others(takes, _TAKES, f"{where}, takes")
    return {
        name: _check_taken(name, value, f"{where}, takes.{name}") for name, value in takes.items()
    }


def _check_taken(name: str, value: Toml, where: str) -> bool | int:
    """Checks a value of `takes`: true or false, or the number of log-probabilities."""
    if name == "logprobs":
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise UsageError(f"{where}: a number of alternatives or 0 expected, not {value!r}")
        return value
    if not isinstance(value, bool):
        raise UsageError(f"{where}: true or false expected, not {value!r}")
    return value


def refuse_others(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raises UsageError for a field that is not known."""
    for name in given:
        if ":" in name:
            raise UsageError(
                f"{where}: the entry '{name}' stands inside this entry. Put its line above the "
                "first [header]."
            )
        if name not in known:
            raise UsageError(f"{where}: {UnknownName('field', name, known)}")


def _number(value: Toml, where: str, what: str = "a million tokens") -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise UsageError(f"{where}: US dollars for {what} expected, not {value!r}")
    return float(value)


def share_of(value: Toml, where: str) -> float:
    """Checks that a value is a share of the price, from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: a share of the price from 0 to 1 expected, not {value!r}")
    return float(value)


def day_of(value: Toml, where: str) -> date:
    """Parses a day, given as a TOML date or as text in ISO 8601."""
    try:
        return (
            value
            if type(value) is date
            else date.fromisoformat(value if isinstance(value, str) else "")
        )
    except (ValueError, TypeError):
        raise UsageError(
            f"{where}: a day expected, for instance 2026-11-21, not {str(value)!r}"
        ) from None


def text_of(value: Toml, where: str) -> str:
    """Checks that a value is text."""
    if not isinstance(value, str):
        raise UsageError(f"{where}: text in quotes expected, not {value!r}")
    return value
