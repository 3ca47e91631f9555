"""The options of the verbs, as they are given in Python → Choices, Limits and Connect. What none of
them has is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import UnknownName, UsageError
from ..stages.connect import Connect
from ..stages.limits import Limits
from ..stages.plan import Choices


@dataclass(frozen=True, slots=True)
class Asking:
    """How models are asked. given: the material that a person gives, by kind."""

    judges: tuple[str, ...]
    given: Mapping[str, str]
    limits: Limits
    connect: Connect


def asking(
    judge: str | Sequence[str], taxonomy: Path | str | None, options: dict[str, Any]
) -> Asking:
    """From the options of a verb that asks models; what is left of them is refused."""
    limits, reach = made(Limits, options), made(Connect, options)
    refuse_rest(options)
    return Asking(
        (judge,) if isinstance(judge, str) else tuple(judge), material(taxonomy), limits, reach
    )


def connect(options: dict[str, Any]) -> Connect:
    """How models are reached, from the options of a verb that asks them; those of a run are of no
    use to it.
    """
    reach: Connect = made(Connect, options)
    made(Limits, options)
    refuse_rest(options)
    return reach


def material(taxonomy: Path | str | None) -> dict[str, str]:
    """The material that a person gives, by kind."""
    if taxonomy is None:
        return {}
    try:
        return {"taxonomy": Path(taxonomy).read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The taxonomy {taxonomy} cannot be read: {error}.") from None


def choices(model: str | Sequence[str], options: dict[str, Any]) -> Choices:
    """What is run, from the options of a verb: `language` and `mode` may be one or several."""
    subjects = (model,) if isinstance(model, str) else tuple(dict.fromkeys(model))
    named = {"language": "languages", "mode": "modes"}
    for short, plural in named.items():
        if short in options:
            value = options.pop(short)
            options[plural] = (value,) if isinstance(value, str) else tuple(value)
    chosen: Choices = made(Choices, options, subjects=subjects)
    return chosen


def made(kind: type[Any], options: dict[str, Any], **fixed: Any) -> Any:
    """Takes out of `options` what the dataclass has fields for."""
    names = {f.name for f in fields(kind)} - set(fixed)
    return kind(**fixed, **{name: options.pop(name) for name in list(options) if name in names})


def refuse_rest(options: Mapping[str, Any]) -> None:
    """UnknownName for an option that nothing took out."""
    if options:
        known = [f.name for kind in (Choices, Limits, Connect) for f in fields(kind)]
        raise UnknownName("option", next(iter(options)), known)
