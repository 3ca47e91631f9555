"""A server's rate limits by its headers: seconds to wait, and calls and tokens that are left."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# What is left, and when it is whole again. OpenAI and those who follow it: platform.openai.com/docs
# /guides/rate-limits, "6m0s", "20ms"; Anthropic: docs.anthropic.com/en/api/rate-limits, a date.
_OPENAI = tuple(
    (f"x-ratelimit-remaining-{what}", f"x-ratelimit-reset-{what}", what == "tokens")
    for what in ("requests", "tokens")
)
_ANTHROPIC = tuple(
    (f"anthropic-ratelimit-{what}-remaining", f"anthropic-ratelimit-{what}-reset", is_tokens)
    for what, is_tokens in (
        ("requests", False),
        ("tokens", True),
        ("input-tokens", True),
        ("output-tokens", True),
    )
)
_SPAN = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_UNITS = (86_400.0, 3600.0, 60.0, 1.0, 0.001)
SHORTEST_S = 0.05  # until a limit is whole again: what is shorter limits nothing


class Allowance:
    """The allowance of calls and tokens that the last reply reported. The remainder is spread
    evenly over the time until the allowance is full again. So an allowance that fills steadily (a
    bucket) is used at its rate of filling, with half of it left; one that fills at once (so many
    per minute) is used up."""

    def __init__(self) -> None:
        self._left: list[tuple[float, float, bool]] = []  # number, until, of tokens

    @property
    def is_known(self) -> bool:
        """True if the last rate-limit headers stated a limit."""
        return bool(self._left)

    def note(self, headers: Mapping[str, str], now: float) -> None:
        """Reads a reply's rate-limit headers. now: seconds on the monotonic clock."""
        if _OPENAI[0][0] in headers or _OPENAI[1][0] in headers:
            names = _OPENAI
        elif _ANTHROPIC[0][0] in headers:
            names = _ANTHROPIC
        else:
            return
        self._left = []
        for remaining, reset, is_tokens in names:
            number, seconds = number_of(headers.get(remaining, "")), span(headers.get(reset, ""))
            if number is not None and seconds is not None and seconds >= SHORTEST_S:
                self._left.append((number, now + seconds, is_tokens))

    def rate(self, tokens: float, now: float) -> tuple[float, float] | None:
        """Returns (calls per second that are allowed, seconds for which this holds); None if
        unknown. tokens: the mean number per call.
        """
        rates = []
        for number, until, is_tokens in self._left:
            if until > now:
                calls = max(1.0, number / max(1.0, tokens) if is_tokens else number)
                rates.append((calls / (until - now), until - now))
        return min(rates, default=None)


def number_of(text: str) -> float | None:
    """Parses a number; None unless it is finite and not negative."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def span(text: str) -> float | None:
    """Parses "1m30.5s", "20ms", "7" or a date as seconds from now; None for anything else."""
    seconds = number_of(text)
    if seconds is not None or not text:
        return seconds
    match = _SPAN.fullmatch(text)
    if match and any(match.groups()):
        return sum(
            float(part) * unit for part, unit in zip(match.groups(), _UNITS, strict=True) if part
        )
    return _until(text)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds to wait that a server states: `retry-after-ms` (Azure, OpenAI), else
    Retry-After in either form (RFC 9110, 10.2.3). None if the time is past, negative or missing.
    """
    exact = number_of(headers.get("retry-after-ms", ""))
    if exact is not None:
        seconds: float | None = exact / 1000
    else:
        value = headers.get("Retry-After", "")
        seconds = number_of(value)
        if seconds is None and value:
            seconds = _until(value)
    return seconds or None


def _until(text: str) -> float | None:
    """Returns the seconds until a date in HTTP's form or ISO 8601: 0 if past, None if malformed."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = parse(text)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            return max(0.0, (date - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, OverflowError):
            continue
    return None
