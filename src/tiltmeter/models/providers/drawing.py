"""The common parts of the dialects for pictures: the prompt, the forms of the size, and settings in
a model's name.

A model may be named with settings of its provider, `bfl:flux-2-pro?safety_tolerance=2`. They are
sent unchanged (numbers, true and false as such) and override what is sent otherwise. They are part
of the subject's name, and so of the run, the report and the signature: a run with other settings
has another subject.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import gcd
from urllib.parse import parse_qsl

from ...errors import Incapable, UsageError
from ...records import Json, Request
from ..http.dialect import part

# Words by which servers say that a filter, and not the model, ended it. Taken from errors that were
# seen.
_POLICY = re.compile(
    r"nsfw|safety|moderat|content[ _]policy|flagged as sensitive|sensitive content|\bE005\b",
    re.IGNORECASE,
)

_NOT_TAKEN = re.compile(
    r"unknown|unrecogni[sz]ed|unexpected|unsupported|extra|additional|not "
    r"(allowed|permitted|supported)",
    re.IGNORECASE,
)


def split_settings(name: str) -> tuple[str, dict[str, Json]]:
    """Splits a name at `?` into the model and its settings. Raises UsageError if malformed."""
    model, mark, rest = name.partition("?")
    if not mark:
        return model, {}
    try:
        pairs = parse_qsl(rest, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise UsageError(
            f"'{rest}' is not a list of settings. Type for instance: '{model}?name=value&other=2'"
        ) from None
    return model, {key: _value(value) for key, value in pairs}


def _value(text: str) -> bool | float | str:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, bool | int | float) else text


def prompt(request: Request) -> str:
    """Joins the messages into a picture's prompt. Raises Incapable if they have pictures."""
    if request.logprobs or any(each.pictures for each in request.messages):
        raise Incapable(
            f"{request.model} draws pictures: it can neither be shown pictures nor give "
            "log-probabilities."
        )
    return "\n\n".join(each.content for each in request.messages)


def pixels(size: str) -> tuple[int, int]:
    """Parses a size as (width, height): 1024x768 → (1024, 768)."""
    width, _, height = size.partition("x")
    return int(width), int(height)


def ratio(size: str) -> str:
    """Reduces a size to its aspect ratio: 1024x768 → 4:3."""
    width, height = pixels(size)
    both = gcd(width, height)
    return f"{width // both}:{height // both}"


def is_policy(said: str) -> bool:
    """True if an error's text says that a filter caused it, which makes it a refusal."""
    return bool(_POLICY.search(said))


def leave_out(
    wanted: Mapping[str, Json], omitted: frozenset[str], settings: Mapping[str, Json]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Returns (parameters to send, settings before others; the names of omitted parameters)."""
    free = {name: value for name, value in wanted.items() if name not in settings}
    body, left_out = part(free, omitted)
    return {**body, **settings}, tuple(left_out)


def parameter_named(said: str, names: tuple[str, ...]) -> str:
    """Returns the parameter that an error calls unknown; "" if the error says something else."""
    if not _NOT_TAKEN.search(said):
        return ""
    return next(
        (name for name in names if re.search(rf"(?<![a-zA-Z_]){name}(?![a-zA-Z_])", said)), ""
    )
