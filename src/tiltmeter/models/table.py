"""The table of models, from models.toml: prices with their date, retirement, and the parameters
that each model accepts.

A user's own file (`TILTMETER_MODELS`, else `models.toml` in the user's configuration directory) has
the same form, adds rows and overrides single fields. A name is `kind:name`; an alias means the same
row. A model need not be in the table: then its price is unknown, and the parameters that it refuses
are found by asking.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path

from ..errors import UsageError
from ..records import Json
from ..system import intake
from . import Price
from .table_fields import (
    FIELDS,
    Toml,
    day_of,
    inner_table,
    modality_of,
    name_list,
    price_of,
    refuse_others,
    share_of,
    taken_of,
    text_of,
)

BUILT_IN = Path(__file__).with_name("models.toml")
VARIABLE = "TILTMETER_MODELS"
RETENTION = "retention"  # the table of providers beside those of models
SOON_DAYS = 60  # days before its end from which a model is said to be ending
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


@dataclass(frozen=True, slots=True)
class Listed:
    """A row. name: `kind:name`; batch_share: cost of a batch call, as a share of the price, None if
    unknown; efforts: levels of thinking, from the least, empty if the model does not think; thinks:
    True if it thinks unless asked not to; own: True if a field is the user's; dates are days.
    """

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
        """True if the provider no longer offers the model on that day."""
        return self.retires_on is not None and self.retires_on <= (today or date.today())

    def ends_soon(self, today: date | None = None) -> bool:
        """True if the model retires within SOON_DAYS days."""
        return (
            self.retires_on is not None
            and not self.is_retired(today)
            and ((self.retires_on - (today or date.today())).days <= SOON_DAYS)
        )

    @property
    def omitted(self) -> tuple[str, ...]:
        """The parameters that the model is known to refuse, as the provider's API spells them."""
        refused = tuple(
            word
            for name, words in _LEFT_OUT.items()
            if self.takes.get(name) is False
            for word in words
        )
        return (*refused, LOGPROBS) if self.takes.get(LOGPROBS) == 0 else refused

    def as_dict(self, today: date | None = None) -> dict[str, Json]:
        """Returns the row's fields as plain values, for --json."""
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
    """Returns the path of the user's table; the file need not exist."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return Path(named)
    from platformdirs import user_config_dir

    return Path(user_config_dir("tiltmeter", appauthor=False)) / "models.toml"


@cache
def _built_in() -> Mapping[str, Listed]:
    """Reads the rows that ship, once per process."""
    return {
        name: _row(Listed(name), entry, BUILT_IN) for name, entry in _read_file(BUILT_IN).items()
    }


@cache
def _has_built_in(kind: str) -> bool:
    """True if rows of a kind ship. Searches the text for its name, as TOML is slow to parse."""
    return f'"{kind}:' in BUILT_IN.read_text("utf-8")


def rows(own: Path | None = None, kind: str = "") -> dict[str, Listed]:
    """Returns {name: row}: the built-in rows, overridden by the user's file. kind: the only kind
    whose rows are needed. Raises UsageError with file, entry, field and what to type.
    """
    listed = dict(_built_in()) if not kind or _has_built_in(kind) else {}
    path = own_file() if own is None else own
    if path.is_file():
        for name, entry in _read_file(path).items():
            listed[name] = _row(replace(listed.get(name, Listed(name)), own=True), entry, path)
    elif os.environ.get(VARIABLE, "").strip() and own is None:
        raise UsageError(
            f"{VARIABLE} names {path}, which does not exist. Create the file, or type: unset "
            f"{VARIABLE}"
        )
    return listed


def find(name: str, among: Mapping[str, Listed] | None = None) -> Listed | None:
    """Returns a model's row by name or alias, or None."""
    name = name.partition("?")[0]  # a provider's settings make no other model
    kind, _, bare = name.partition(":")
    among = rows(kind=kind) if among is None else among
    return among.get(name) or next(
        (row for row in among.values() if row.name.startswith(f"{kind}:") and bare in row.aliases),
        None,
    )


def refuse_retired(row: Listed) -> None:
    """Raises UsageError if the provider no longer offers this model."""
    if row.is_retired():
        source = f" ({row.retirement_source})" if row.retirement_source else ""
        raise UsageError(
            f"{row.name} was retired on {row.retires_on}{source}. Choose another (tiltmeter ls "
            "models), or name a server that still has it with --base-url.\nIf that is wrong, "
            f'correct it in {own_file()}: "{row.name}" = {{ retirement = {{ on = 2099-12-31 }} }}'
        )


def price_line(name: str) -> str:
    """Returns the user's file and the line to add to it that sets a model's price."""
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
            f"{path} cannot be read as TOML: {error}. Correct it, or move it away."
        ) from None
    entries.pop(RETENTION, None)  # retention.py reads it
    for name, entry in entries.items():
        kind, _, bare = name.partition(":")
        if not kind or not bare or not isinstance(entry, dict):
            raise UsageError(
                f"{path}, entry '{name}': an entry must be a table with a name kind:name. "
                'Type for instance: ["openai:gpt-4.1-mini"]'
            )
    return entries


def _row(base: Listed, entry: dict[str, Toml], path: Path) -> Listed:
    """Returns a row with the fields of an entry set."""
    where = f"{path}, entry '{base.name}'"
    refuse_others(entry, FIELDS, where)
    row = base
    if "price" in entry:
        price = inner_table(entry, "price", where)
        row = replace(
            row,
            price=price_of(price, where),
            price_date=day_of(price["date"], f"{where}, price.date"),
            price_source=text_of(price.get("source", ""), f"{where}, price.source"),
        )
    if "batch" in entry:
        batch = inner_table(entry, "batch", where)
        row = replace(
            row,
            batch_share=share_of(batch["share"], f"{where}, batch.share"),
            batch_date=day_of(batch["date"], f"{where}, batch.date"),
            batch_source=text_of(batch.get("source", ""), f"{where}, batch.source"),
        )
    if "retirement" in entry:
        end = inner_table(entry, "retirement", where)
        row = replace(
            row,
            retires_on=day_of(end["on"], f"{where}, retirement.on"),
            retirement_source=text_of(end.get("source", ""), f"{where}, retirement.source"),
        )
    if "aliases" in entry:
        row = replace(
            row, aliases=name_list(entry["aliases"], f"{where}, aliases", "gpt-4o-2024-08-06")
        )
    if "takes" in entry:
        row = replace(row, takes={**base.takes, **taken_of(entry["takes"], where)})
    return _with_media(row, entry, where)


def _with_media(row: Listed, entry: dict[str, Toml], where: str) -> Listed:
    """Returns a row with the entry's reasoning, languages and modality set."""
    if "reasoning" in entry:
        declared = inner_table(entry, "reasoning", where)
        default = text_of(declared.get("default", ""), f"{where}, reasoning.default")
        row = replace(
            row,
            efforts=name_list(declared["efforts"], f"{where}, reasoning.efforts", "low"),
            thinks=default != "none",
            reasoning_source=text_of(declared.get("source", ""), f"{where}, reasoning.source"),
        )
    if "languages" in entry:
        declared = inner_table(entry, "languages", where)
        row = replace(
            row,
            languages=name_list(declared["listed"], f"{where}, languages.listed", "en"),
            languages_source=text_of(declared.get("source", ""), f"{where}, languages.source"),
        )
    if "modality" in entry:
        row = replace(row, modality=modality_of(entry["modality"], where))
    return row
