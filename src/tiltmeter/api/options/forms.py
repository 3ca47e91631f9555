"""Parsers of typed options. A parser raises ValueError with the text to type instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import UsageError

if TYPE_CHECKING:  # --help must not pay for this import
    from ...models import Price


def price(text: str) -> tuple[str, Price]:
    """Parses MODEL=IN/OUT[/PICTURE], in US dollars per million tokens and per picture."""
    from ...models import Price

    model, _, numbers = text.rpartition("=")
    try:
        value = Price(*map(float, numbers.split("/", 2)))
    except (ValueError, TypeError):
        raise ValueError(
            "give for instance openai:gpt-4.1-mini=0.40/1.60 (US dollars per million tokens of "
            "input/output)"
        ) from None
    if not model or min(value) < 0:
        raise ValueError("needs a model's name, and prices of at least 0")
    return model, value


def short_name(text: str) -> tuple[str, str]:
    """Parses NAME=MODEL as (short name, model)."""
    name, _, model = text.partition("=")
    if not name or not model:
        raise ValueError(f"{text} is not NAME=MODEL. Type: --label A=openai:gpt-4o")
    return name, model


def server(text: str) -> tuple[str, str]:
    """Parses URL, KIND=URL or MODEL=URL as (kind or model, URL); ("", URL) for a URL alone."""
    whom, equals, url = text.partition("=")
    return (whom, url) if equals and "//" not in whom else ("", text)


def factor_levels(text: str) -> tuple[str, tuple[str, ...]]:
    """Parses FACTOR=LEVEL[,LEVEL…] as (factor, levels)."""
    factor, _, levels = text.partition("=")
    if not factor.strip() or not names(levels):
        raise ValueError("give for instance prompt=P1,P2 (prompt=* for all)")
    return factor.strip(), names(levels)


def column(text: str) -> tuple[str, str]:
    """Parses FIELD=COLUMN as (field, column); an empty column leaves the field out."""
    field, equals, name = text.partition("=")
    if not equals or not field.strip():
        raise ValueError("give for instance text=response (prompt= for none)")
    return field.strip(), name.strip()


def names(text: str | None) -> tuple[str, ...]:
    """Splits a text of names at commas and strips blanks."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def by_first(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Groups the second elements of pairs by the first."""
    grouped: dict[str, list[str]] = {}
    for first, second in pairs:
        grouped.setdefault(first, []).append(second)
    return grouped


def seconds(minutes: float) -> float:
    """Converts minutes to seconds."""
    return 60 * minutes


def read_system(path: str | None) -> str | None:
    """Reads a system prompt from a file, without the trailing newline. Returns None if no file is
    named, "" for an empty name, which means no system prompt at all.
    """
    if not path:
        return path
    from ...system import intake

    try:
        return intake.read_text(path, intake.MOST_DECLARED_BYTES).rstrip("\n")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        reason = "is not UTF-8"
    raise UsageError(f"--system {path} {reason}. Name a text file that holds the system prompt.")
