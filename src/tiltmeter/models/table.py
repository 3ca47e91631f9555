"""The table of models: prices with their date, ends, and what each model takes. Data in
models.toml.

A user's own file (`TILTMETER_MODELS`, else `models.toml` in the user's configuration directory) has
the same form, adds rows and overrides single fields. A name is `kind:name`; an alias stands for the
same row. A model that is not in the table
is no error: its price is unknown and what it refuses is found out when it is asked.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TypeAlias

from .. import intake
from ..errors import UnknownName, UsageError
from ..records import Json
from . import Price

BUILT_IN = Path(__file__).with_name("models.toml")
VARIABLE = "TILTMETER_MODELS"
RETENTION = "retention"  # the table of providers beside those of models
SOON_DAYS = 60  # days before its end from which a model is said to be ending
_FIELDS = ("price", "batch", "retirement", "aliases", "takes", "reasoning", "modality", "languages")
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
LOGPROBS = "logprobs"
# The dialects' names for what can be left out.
_LEFT_OUT = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
    "schema": ("response_format",),
    "begin": ("begin", "continue_final_message"),
    "max_tokens": ("max_tokens",),
    "stop": ("stop",),
    "chat": ("chat",),
}


Toml: TypeAlias = "bool | int | float | str | date | list[Toml] | dict[str, Toml]"


@dataclass(frozen=True, slots=True)
class Listed:
    """A row. name: `kind:name`; batch_share: what a call in a batch costs, as a share of the price,
    None where nobody knows; efforts: how much it can be told to think, from the least, none of them
    for a model that does not think; thinks: True if it does so unless it is told otherwise; own: a
    field of it comes from the user's file; dates are days."""

    name: str
    modality: str = "text"
    price: Price | None = None
    price_date: date | None = None
    price_source: str = ""
    batch_share: float | None = None
    batch_date: date | None = None
    batch_source: str = ""
    retires_on: date | None = None
    retirement_source: str = ""
    aliases: tuple[str, ...] = ()
    takes: Mapping[str, bool | int] = field(default_factory=dict)
    efforts: tuple[str, ...] = ()
    thinks: bool = False
    reasoning_source: str = ""
    languages: tuple[str, ...] = ()
    languages_source: str = ""
    own: bool = False

    def is_retired(self, today: date | None = None) -> bool:
        """True if the provider no longer answers on that day."""
        return self.retires_on is not None and self.retires_on <= (today or date.today())

    def ends_soon(self, today: date | None = None) -> bool:
        """True if its end is at most SOON_DAYS days away."""
        return (
            self.retires_on is not None
            and not self.is_retired(today)
            and ((self.retires_on - (today or date.today())).days <= SOON_DAYS)
        )

    @property
    def omitted(self) -> tuple[str, ...]:
        """The parameters that the model is known to refuse, in the dialects' words."""
        refused = tuple(
            word
            for name, words in _LEFT_OUT.items()
            if self.takes.get(name) is False
            for word in words
        )
        return (*refused, LOGPROBS) if self.takes.get(LOGPROBS) == 0 else refused

    def as_dict(self, today: date | None = None) -> dict[str, Json]:
        """Plain values, for --json."""
        price = self.price and {
            **{name: getattr(self.price, name) for name in ("prompt", "completion", "picture")},
            "date": str(self.price_date),
            "source": self.price_source,
        }
        batch: dict[str, Json] = {
            "share": self.batch_share,
            "date": str(self.batch_date),
            "source": self.batch_source,
        }
        return {
            "name": self.name,
            "modality": self.modality,
            "price": price,
            "batch": batch if self.batch_share is not None else None,
            "retires_on": str(self.retires_on) if self.retires_on else None,
            "retired": self.is_retired(today),
            "retirement_source": self.retirement_source,
            "aliases": list(self.aliases),
            "takes": dict(self.takes),
            "efforts": list(self.efforts),
            "languages": list(self.languages),
            "languages_source": self.languages_source,
            "own": self.own,
        }


def own_file() -> Path:
    """Returns the path of a user's rows; the file need not exist."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return Path(named)
    from platformdirs import user_config_dir

    return Path(user_config_dir("tiltmeter", appauthor=False)) / "models.toml"


def rows(own: Path | None = None) -> dict[str, Listed]:
    """All rows by name: the built-in ones, with those of the user's file over them.

    UsageError names file, entry, field and what to type.
    """
    found = {
        name: _row(Listed(name), entry, BUILT_IN) for name, entry in _read_file(BUILT_IN).items()
    }
    path = own_file() if own is None else own
    if path.is_file():
        for name, entry in _read_file(path).items():
            found[name] = _row(replace(found.get(name, Listed(name)), own=True), entry, path)
    elif os.environ.get(VARIABLE, "").strip() and own is None:
        raise UsageError(
            f"{VARIABLE} names {path}, which is not there. Make the file, or type: unset {VARIABLE}"
        )
    return found


def find(name: str, among: Mapping[str, Listed] | None = None) -> Listed | None:
    """The row of a model by its name or an alias, or None."""
    among = rows() if among is None else among
    name = name.partition("?")[0]  # a provider's settings make no other model
    kind, _, bare = name.partition(":")
    return among.get(name) or next(
        (row for row in among.values() if row.name.startswith(f"{kind}:") and bare in row.aliases),
        None,
    )


def refuse_retired(row: Listed) -> None:
    """UsageError where the provider no longer answers."""
    if row.is_retired():
        source = f" ({row.retirement_source})" if row.retirement_source else ""
        raise UsageError(
            f"{row.name} was retired on {row.retires_on}{source}. Choose another (tiltmeter ls "
            "models), or name a server that still has it with --base-url.\nIf that is wrong, mend "
            f"it in {own_file()}: "
            f'"{row.name}" = {{ retirement = {{ on = 2099-12-31 }} }}'
        )


def price_line(name: str) -> str:
    """The line that gives a model a price for good, with the file to put it into (above the first
    [header]).
    """
    return (
        f'{own_file()}: "{name}" = {{ price = {{ prompt = 2.5, completion = 10, '
        f"date = {date.today()} }} }}"
    )


def _read_file(path: Path) -> dict[str, dict[str, Toml]]:
    try:
        entries = tomllib.loads(intake.read_text(path, intake.MOST_DECLARED_BYTES))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be read as TOML: {error}. Mend it, or move it away."
        ) from None
    entries.pop(RETENTION, None)  # retention.py reads it
    for name, entry in entries.items():
        kind, _, bare = name.partition(":")
        if not kind or not bare or not isinstance(entry, dict):
            raise UsageError(
                f"{path}, entry '{name}': an entry is named kind:name and is a table. "
                'Type for instance: ["openai:gpt-4.1-mini"]'
            )
    return entries


def _row(base: Listed, entry: dict[str, Toml], path: Path) -> Listed:
    """A row with the fields of an entry over it."""
    where = f"{path}, entry '{base.name}'"
    _only(entry, _FIELDS, where)
    row = base
    if "price" in entry:
        price = _inner(entry, "price", where)
        row = replace(
            row,
            price=_price(price, where),
            price_date=_day(price["date"], f"{where}, price.date"),
            price_source=_text(price.get("source", ""), f"{where}, price.source"),
        )
    if "batch" in entry:
        batch = _inner(entry, "batch", where)
        row = replace(
            row,
            batch_share=_share(batch["share"], f"{where}, batch.share"),
            batch_date=_day(batch["date"], f"{where}, batch.date"),
            batch_source=_text(batch.get("source", ""), f"{where}, batch.source"),
        )
    if "retirement" in entry:
        end = _inner(entry, "retirement", where)
        row = replace(
            row,
            retires_on=_day(end["on"], f"{where}, retirement.on"),
            retirement_source=_text(end.get("source", ""), f"{where}, retirement.source"),
        )
    if "aliases" in entry:
        row = replace(
            row, aliases=_name_list(entry["aliases"], f"{where}, aliases", "gpt-4o-2024-08-06")
        )
    if "takes" in entry:
        row = replace(row, takes={**base.takes, **_takes(entry["takes"], where)})
    if "reasoning" in entry:
        known = _inner(entry, "reasoning", where)
        default = _text(known.get("default", ""), f"{where}, reasoning.default")
        row = replace(
            row,
            efforts=_name_list(known["efforts"], f"{where}, reasoning.efforts", "low"),
            thinks=default != "none",
            reasoning_source=_text(known.get("source", ""), f"{where}, reasoning.source"),
        )
    if "languages" in entry:
        known = _inner(entry, "languages", where)
        row = replace(
            row,
            languages=_name_list(known["listed"], f"{where}, languages.listed", "en"),
            languages_source=_text(known.get("source", ""), f"{where}, languages.source"),
        )
    if "modality" in entry:
        row = replace(row, modality=_modality(entry["modality"], where))
    return row


def _name_list(given: Toml, where: str, example: str) -> tuple[str, ...]:
    names = tuple(one for one in given if isinstance(one, str)) if isinstance(given, list) else ()
    if not isinstance(given, list) or len(names) < len(given):
        raise UsageError(f'{where}: a list of names expected, for instance ["{example}"]')
    return names


def _modality(modality: Toml, where: str) -> str:
    if modality not in ("text", "image") or not isinstance(modality, str):
        raise UsageError(f"{where}, modality: 'text' or 'image' expected, not {modality!r}")
    return modality


def _inner(entry: Mapping[str, Toml], name: str, where: str) -> dict[str, Toml]:
    inner = entry[name]
    example = _EXAMPLES.get(name, _PRICE.removeprefix("price = "))
    if not isinstance(inner, dict):
        raise UsageError(
            f"{where}, {name}: a table expected. Type for instance: {name} = {example}"
        )
    _only(inner, _INNER[name], f"{where}, {name}")
    for need in _NEEDED[name]:
        if need not in inner:
            raise UsageError(
                f"{where}, {name}: '{need}' is missing. Type for instance: {name} = {example}"
            )
    return inner


def _price(given: Mapping[str, Toml], where: str) -> Price:
    """Of tokens, both; or of a picture; or of all three, where a provider bills both."""
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


def _takes(takes: Toml, where: str) -> dict[str, bool | int]:
    if not isinstance(takes, dict):
        raise UsageError(
            f"{where}, takes: a table expected. Type for instance: takes = {{ temperature = "
            "false }"
        )
    _only(takes, _TAKES, f"{where}, takes")
    return {
        name: _check_taken(name, value, f"{where}, takes.{name}") for name, value in takes.items()
    }


def _check_taken(name: str, value: Toml, where: str) -> bool | int:
    """True or false; of log-probabilities how many."""
    if name == "logprobs":
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise UsageError(f"{where}: how many alternatives expected, 0 for none, not {value!r}")
        return value
    if not isinstance(value, bool):
        raise UsageError(f"{where}: true or false expected, not {value!r}")
    return value


def _only(given: Iterable[str], known: Iterable[str], where: str) -> None:
    for name in given:
        if ":" in name:
            raise UsageError(
                f"{where}: the entry '{name}' lies inside this one. Put its line above the first "
                "[header]."
            )
        if name not in known:
            raise UsageError(f"{where}: {UnknownName('field', name, known)}")


def _number(value: Toml, where: str, what: str = "a million tokens") -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise UsageError(f"{where}: US dollars for {what} expected, not {value!r}")
    return float(value)


def _share(value: Toml, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: a share of the price from 0 to 1 expected, not {value!r}")
    return float(value)


def _day(value: Toml, where: str) -> date:
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


def _text(value: Toml, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: text in quotes expected, not {value!r}")
    return value
